//! Comparisons and selections.

use ptx::{Comparison, Name, Type, setp};
use std::cell::RefCell;
use std::ops::{BitAnd, BitOr, Not};

use super::{Part, X};
use crate::ptx::code::Code;
use crate::ptx::machine::Operand;

/// A condition in a formula.
#[derive(Clone, Copy)]
pub(in crate::ptx) struct P<'f> {
    pub(super) flow: &'f RefCell<Code>,
    pub operand: Operand,
}

impl<'f> X<'f> {
    fn test(self, comparison: Comparison, other: X<'f>) -> P<'f> {
        let opcode = setp(comparison, self.kind.ty());
        P { flow: self.flow, operand: self.emit(opcode, &[self, other]) }
    }

    pub fn lt(self, other: impl Part<'f>) -> P<'f> {
        self.test(Comparison::Lt, other.beside(self))
    }

    pub fn gt(self, other: impl Part<'f>) -> P<'f> {
        self.test(Comparison::Gt, other.beside(self))
    }

    pub fn ge(self, other: impl Part<'f>) -> P<'f> {
        self.test(Comparison::Ge, other.beside(self))
    }

    pub fn eq(self, other: impl Part<'f>) -> P<'f> {
        self.test(Comparison::Eq, other.beside(self))
    }

    /// Whether they differ; for floats, also if one of them is NaN.
    pub fn ne(self, other: impl Part<'f>) -> P<'f> {
        self.test(if self.kind.is_float() { Comparison::Neu } else { Comparison::Ne }, other.beside(self))
    }

    /// Less than, for unsigned integers.
    pub fn below(self, other: impl Part<'f>) -> P<'f> {
        let opcode = setp(Comparison::Lt, Type::u(self.kind.bits()));
        P { flow: self.flow, operand: self.emit(opcode, &[self, other.beside(self)]) }
    }

    pub fn is_nan(self) -> P<'f> {
        self.test(Comparison::Nan, self)
    }

    /// Whether one of the two is NaN.
    pub fn is_nan_beside(self, other: X<'f>) -> P<'f> {
        self.test(Comparison::Nan, other)
    }
}

impl<'f> P<'f> {
    /// The first if it holds, else the second.
    pub fn select(self, a: X<'f>, b: X<'f>) -> X<'f> {
        let bits = a.kind.bits();
        let mut code = self.flow.borrow_mut();
        let from = [a.operand, b.operand, self.operand];
        let operand = code.pure(Name::Selp.of(Type::b(bits)), from.map(plain)).into();
        X { flow: self.flow, operand, kind: a.kind }
    }

    /// The first condition if this one holds, else the second.
    pub fn either_way(self, a: P<'f>, b: P<'f>) -> P<'f> {
        (self & a) | (!self & b)
    }

    fn with(self, name: Name, other: P<'f>) -> P<'f> {
        let operand = self.flow.borrow_mut().pure(name.of(Type::Pred), [self.operand, other.operand]).into();
        P { operand, ..self }
    }
}

/// Untyped instructions take constants as integers.
fn plain(operand: Operand) -> Operand {
    match operand {
        Operand::F32(bits) => Operand::Int(i64::from(bits as i32)),
        Operand::F64(bits) => Operand::Int(bits as i64),
        other => other,
    }
}

impl<'f> BitAnd for P<'f> {
    type Output = P<'f>;
    fn bitand(self, other: P<'f>) -> P<'f> {
        self.with(Name::And, other)
    }
}

impl<'f> BitOr for P<'f> {
    type Output = P<'f>;
    fn bitor(self, other: P<'f>) -> P<'f> {
        self.with(Name::Or, other)
    }
}

impl<'f> Not for P<'f> {
    type Output = P<'f>;
    fn not(self) -> P<'f> {
        let operand = self.flow.borrow_mut().pure(Name::Not.of(Type::Pred), [self.operand]).into();
        P { operand, ..self }
    }
}
