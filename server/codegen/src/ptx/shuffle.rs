//! Reductions among the threads of a warp.

use ptx::{Comparison, Modifier, Name, Opcode, Type, cvt, setp};

use super::element::class_of;
use super::lower::Lowering;
use super::machine::{Class, Kind, Operand, Reg};
use super::value::Val;

impl Lowering<'_> {
    /// After each step a thread has the combined values of itself and of the thread `distance` above;
    /// `combiner` is a function.
    pub(super) fn shuffle_reduce(
        &mut self,
        mut values: Vec<Val>,
        distance: i64,
        combiner: usize,
    ) -> Vec<Val> {
        let kernel = self.kernel;
        let Some(combiner) = kernel.functions.get(combiner) else { return values };
        let mut distance = distance;
        // Constants are shuffled as well.
        for (value, &arg) in values.iter_mut().zip(&combiner.args) {
            if let Val::Num(number) = *value {
                *value = Val::Num(self.scalars().in_register(number, class_of(combiner.element(arg))));
            }
        }
        while distance >= 1 {
            let others: Vec<Val> = values.iter().map(|&value| self.shuffled(value, distance)).collect();
            let args = values.iter().copied().chain(others).collect();
            values = self.function(combiner, args, Vec::new());
            distance /= 2;
        }
        values
    }

    /// The value of the thread `distance` above this one.
    fn shuffled(&mut self, value: Val, distance: i64) -> Val {
        match value {
            Val::Num(number) => Val::Num(self.shuffled_number(number, distance)),
            Val::Complex(re, im) => {
                Val::Complex(self.shuffled_number(re, distance), self.shuffled_number(im, distance))
            }
            Val::Pred(pred) => {
                let word = match pred {
                    Operand::Reg(_) => {
                        let from = [Operand::Int(1), Operand::Int(0), pred];
                        self.code.pure(Name::Selp.of(Type::B32), from)
                    }
                    known => self.code.pure(Name::Mov.of(Type::B32), [known]),
                };
                let word = self.down(word.into(), distance);
                let is_set = [word.into(), Operand::Int(0)];
                Val::Pred(self.code.pure(setp(Comparison::Ne, Type::B32), is_set).into())
            }
            constant => constant,
        }
    }

    fn shuffled_number(&mut self, number: Operand, distance: i64) -> Operand {
        // A constant is the same for all threads.
        let Operand::Reg(reg) = number else { return number };
        match reg.class {
            Class::B16 => {
                let word = self.code.pure(cvt(Type::U32, Type::U16), [number]);
                let word = self.down(word.into(), distance);
                self.code.pure(cvt(Type::U16, Type::U32), [word.into()]).into()
            }
            Class::B64 => {
                let halves = vec![self.code.reg(Class::B32), self.code.reg(Class::B32)];
                self.code.push(Kind::Unpack { from: reg }, halves.clone());
                let halves = halves.into_iter().map(|half| self.down(half.into(), distance).into()).collect();
                let whole = self.code.reg(Class::B64);
                self.code.push(Kind::Pack { from: halves }, vec![whole]);
                whole.into()
            }
            Class::B32 | Class::Pred => self.down(number, distance).into(),
        }
    }

    fn down(&mut self, word: Operand, distance: i64) -> Reg {
        let to = self.code.reg(Class::B32);
        // All lanes of the warp take part, and none reads beyond the last.
        let opcode = Opcode::new(Name::Shfl).with(Modifier::Sync).with(Modifier::Down).with(Type::B32);
        let from = vec![word, Operand::Int(distance), Operand::Int(31), Operand::Int(-1)];
        self.code.push(Kind::Effect { opcode, from }, vec![to]);
        to
    }
}
