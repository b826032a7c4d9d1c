//! Loops in the code, with a counter.

use indexing_map::{Expr, Interval};
use ptx::{Comparison, Name, Type, setp};

use super::lower::Lowering;
use super::machine::{Class, Kind, Operand, Reg};

/// A loop that is open in the code.
pub(super) struct Open {
    pub counter: Reg,
    turns: i64,
    top: u32,
}

/// The exit in the middle of the last unrolled iteration, if that is incomplete.
pub(super) struct Leaves {
    counter: Reg,
    turn: i64,
    pub after: i64,
    pub end: u32,
}

impl Lowering<'_> {
    /// Opens a loop of `turns` iterations; returns it with its counter.
    pub(super) fn open_loop(&mut self, turns: i64) -> (Open, Expr) {
        let class = if turns > i64::from(i32::MAX) { Class::B64 } else { Class::B32 };
        let counter = self.code.variable(class, Operand::Int(0));
        let variable = self.indices.variable(Interval::from_size(turns), counter.into());
        let top = self.code.label();
        self.code.place(top);
        self.enter();
        (Open { counter, turns, top }, variable)
    }

    /// Increments the counter and branches back until all iterations are done.
    pub(super) fn close_loop(&mut self, Open { counter, turns, top }: Open) {
        self.leave();
        let width = counter.class.bits();
        let next = self.code.reg(counter.class);
        let from = vec![counter.into(), Operand::Int(1)];
        self.code.push(Kind::Pure { opcode: Name::Add.of(Type::s(width)), from }, vec![next]);
        self.code.set(counter, next.into());
        let again = self.code.reg(Class::Pred);
        let from = vec![counter.into(), Operand::Int(turns)];
        self.code.push(Kind::Pure { opcode: setp(Comparison::Lt, Type::u(width)), from }, vec![again]);
        self.code.branch(top, Some((again, true)));
    }

    /// Opens a loop over `rounds` iterations, unrolled by `factor`; with an exit if the last unrolled
    /// iteration is incomplete.
    pub(super) fn open_rounds(&mut self, rounds: i64, factor: i64) -> (Open, Expr, Option<Leaves>) {
        let (turns, after) = (rounds / factor + i64::from(rounds % factor != 0), rounds % factor);
        let (open, counter) = self.open_loop(turns);
        let leaves = (after != 0).then(|| Leaves {
            counter: open.counter,
            turn: turns - 1,
            after,
            end: self.code.label(),
        });
        (open, counter, leaves)
    }

    pub(super) fn leave_in(&mut self, leaves: &Leaves) {
        let width = leaves.counter.class.bits();
        let from = [leaves.counter.into(), Operand::Int(leaves.turn)];
        let is_last = self.code.pure(setp(Comparison::Eq, Type::s(width)), from);
        self.code.branch(leaves.end, Some((is_last, true)));
    }
}
