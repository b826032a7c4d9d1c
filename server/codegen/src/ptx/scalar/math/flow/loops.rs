//! Branches, loops and table reads in a formula.

use ptx::{Name, Type};

use super::{Kind, P, X};
use crate::ptx::machine::{Address, Operand, Space};

impl<'f> X<'f> {
    /// A mutable register that starts with this number.
    pub fn variable(self) -> X<'f> {
        let operand = self.flow.borrow_mut().variable(self.kind.class(), self.operand).into();
        X { operand, ..self }
    }

    /// Assigns a [`X::variable`].
    pub fn set(self, value: X<'f>) {
        if let Operand::Reg(reg) = self.operand {
            self.flow.borrow_mut().set(reg, value.operand);
        }
    }

    /// The address of a table of [`crate::ptx::library`].
    pub fn table(self, name: &'static str) -> X<'f> {
        let operand = self.flow.borrow_mut().pure(Name::Mov.of(Type::B64), [Operand::Symbol(name)]).into();
        X { operand, kind: Kind::I64, ..self }
    }

    /// The number of this kind `offset` bytes after an address in a table; it is aligned to `align` bytes.
    pub fn read(address: X<'f>, offset: i64, align: i64, kind: Kind) -> X<'f> {
        let at = Address { space: Space::Library, base: address.operand, offset, align };
        let operand = address.flow.borrow_mut().load(at, kind.bits(), true).into();
        X { operand, kind, ..address }
    }
}

impl<'f> P<'f> {
    /// Runs `write` in a branch that is skipped if the condition holds.
    pub fn unless(self, write: impl FnOnce()) {
        let Operand::Reg(guard) = self.operand else { return };
        let end = self.flow.borrow_mut().inner_label();
        self.flow.borrow_mut().branch(end, Some((guard, true)));
        self.flow.borrow_mut().enter();
        write();
        self.flow.borrow_mut().leave();
        self.flow.borrow_mut().place(end);
    }
}

/// Emits a loop over `round` that runs while the returned condition holds.
pub(in crate::ptx) fn repeat<'f>(like: X<'f>, round: impl FnOnce() -> P<'f>) {
    let top = like.flow.borrow_mut().inner_label();
    like.flow.borrow_mut().place(top);
    like.flow.borrow_mut().enter();
    let again = round().operand;
    like.flow.borrow_mut().leave();
    if let Operand::Reg(again) = again {
        like.flow.borrow_mut().branch(top, Some((again, true)));
    }
}
