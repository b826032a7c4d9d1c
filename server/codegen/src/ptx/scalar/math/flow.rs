//! Formulas: an expression over [`X`] emits instructions in evaluation order.

mod conditions;
mod loops;
mod words;

use ptx::{Modifier, Name, Opcode, Rounding, Type, rounding_cvt};
use std::cell::RefCell;
use std::ops::{Add, Mul, Neg, Sub};

use crate::ptx::code::Code;
use crate::ptx::machine::{Class, Operand};

/// The type of a register's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ptx) enum Kind {
    F32,
    F64,
    /// A 32-bit or 64-bit integer.
    I32,
    I64,
}

impl Kind {
    fn class(self) -> Class {
        if self.bits() == 32 { Class::B32 } else { Class::B64 }
    }

    fn bits(self) -> u32 {
        if matches!(self, Kind::F32 | Kind::I32) { 32 } else { 64 }
    }

    fn is_float(self) -> bool {
        matches!(self, Kind::F32 | Kind::F64)
    }

    /// The opcode, which rounds floats to nearest.
    fn rounded(self, name: Name) -> Opcode {
        if self.is_float() { nearest(name) } else { Opcode::new(name) }
    }

    fn ty(self) -> Type {
        match self {
            Kind::F32 => Type::F32,
            Kind::F64 => Type::F64,
            Kind::I32 => Type::S32,
            Kind::I64 => Type::S64,
        }
    }
}

fn nearest(name: Name) -> Opcode {
    Opcode::new(name).with(Rounding::Rn)
}

pub(in crate::ptx) use conditions::P;
pub(in crate::ptx) use loops::repeat;

/// A number in a formula.
#[derive(Clone, Copy)]
pub(in crate::ptx) struct X<'f> {
    flow: &'f RefCell<Code>,
    pub operand: Operand,
    pub kind: Kind,
}

/// An operand next to an [`X`]: another one, or a constant of its kind.
pub(in crate::ptx) trait Part<'f> {
    fn beside(self, other: X<'f>) -> X<'f>;
}

impl<'f> Part<'f> for X<'f> {
    fn beside(self, _: X<'f>) -> X<'f> {
        self
    }
}

impl<'f> Part<'f> for f64 {
    fn beside(self, other: X<'f>) -> X<'f> {
        let operand = match other.kind {
            Kind::F32 => Operand::F32((self as f32).to_bits()),
            Kind::F64 => Operand::F64(self.to_bits()),
            Kind::I32 | Kind::I64 => Operand::Int(self as i64),
        };
        X { operand, ..other }
    }
}

impl<'f> Part<'f> for i64 {
    fn beside(self, other: X<'f>) -> X<'f> {
        X { operand: Operand::Int(self), ..other }
    }
}

impl<'f> X<'f> {
    pub fn new(flow: &'f RefCell<Code>, operand: Operand, kind: Kind) -> X<'f> {
        X { flow, operand, kind }
    }

    pub fn is_double(self) -> bool {
        self.kind == Kind::F64
    }

    /// Selects the constant for the width.
    pub fn either<T>(self, single: T, double: T) -> T {
        if self.kind.bits() == 32 { single } else { double }
    }

    /// A constant of the same kind.
    pub fn like(self, value: f64) -> X<'f> {
        value.beside(self)
    }

    /// An integer constant of the same kind.
    pub fn with_int(self, value: i64) -> X<'f> {
        X { operand: Operand::Int(value), ..self }
    }

    /// The number in a register: instructions take constants only after their first operand.
    pub fn in_register(self) -> X<'f> {
        match self.operand {
            Operand::Reg(_) => self,
            _ => {
                let opcode = Name::Mov.of(Type::b(self.kind.bits()));
                let operand = self.flow.borrow_mut().pure(opcode, [self.operand]).into();
                X { operand, ..self }
            }
        }
    }

    /// Emits an instruction on registers and constants; the first operand must be in a register.
    fn call(self, opcode: Opcode, kind: Kind, from: &[X<'f>]) -> X<'f> {
        let operand = self.emit(opcode, from);
        X { flow: self.flow, operand, kind }
    }

    fn emit(self, opcode: Opcode, from: &[X<'f>]) -> Operand {
        let in_place = |(n, x): (usize, &X<'f>)| if n == 0 { x.in_register().operand } else { x.operand };
        let operands: Vec<Operand> = from.iter().enumerate().map(in_place).collect();
        self.flow.borrow_mut().pure(opcode, operands).into()
    }

    /// Emits the instruction with the type of this number.
    fn same(self, opcode: impl Into<Opcode>, others: &[X<'f>]) -> X<'f> {
        let mut from = vec![self];
        from.extend_from_slice(others);
        self.call(opcode.into().with(self.kind.ty()), self.kind, &from)
    }

    /// `self · by + plus`, rounded once.
    pub fn fma(self, by: impl Part<'f>, plus: impl Part<'f>) -> X<'f> {
        self.same(nearest(Name::Fma), &[by.beside(self), plus.beside(self)])
    }

    /// The polynomial with these coefficients, constant term first.
    pub fn poly(self, coefficients: &[f64]) -> X<'f> {
        let Some((&last, rest)) = coefficients.split_last() else { return self.like(0.0) };
        let Some((&next, rest)) = rest.split_last() else { return self.like(last) };
        let start = self.fma(last, next);
        rest.iter().rev().fold(start, |sum, &c| sum.fma(self, c))
    }

    /// The correctly rounded quotient.
    pub fn over(self, by: impl Part<'f>) -> X<'f> {
        self.same(nearest(Name::Div), &[by.beside(self)])
    }

    pub fn sqrt(self) -> X<'f> {
        self.same(nearest(Name::Sqrt), &[])
    }

    pub fn abs(self) -> X<'f> {
        self.same(Name::Abs, &[])
    }

    /// The smaller number; if one of them is NaN, the other one.
    pub fn min(self, other: impl Part<'f>) -> X<'f> {
        self.same(Name::Min, &[other.beside(self)])
    }

    pub fn max(self, other: impl Part<'f>) -> X<'f> {
        self.same(Name::Max, &[other.beside(self)])
    }

    /// Rounds to an integer, ties to even.
    pub fn rint(self) -> X<'f> {
        let ty = self.kind.ty();
        self.call(rounding_cvt(Rounding::Rni, ty, ty), self.kind, &[self])
    }

    pub fn trunc(self) -> X<'f> {
        let ty = self.kind.ty();
        self.call(rounding_cvt(Rounding::Rzi, ty, ty), self.kind, &[self])
    }

    /// `value` with the sign of this one.
    pub fn sign_onto(self, value: X<'f>) -> X<'f> {
        self.same(Name::Copysign, &[value.in_register()])
    }

    /// An approximate instruction: `lg2.approx`.
    pub fn approx(self, name: Name) -> X<'f> {
        self.same(Opcode::new(name).with(Modifier::Approx), &[])
    }

    /// One that makes subnormal numbers zero: `ex2.approx.ftz`.
    pub fn approx_flushing(self, name: Name) -> X<'f> {
        self.same(Opcode::new(name).with(Modifier::Approx).with(Modifier::Ftz), &[])
    }

    /// An instruction without its own method.
    pub fn raw(self, opcode: Opcode, kind: Kind, others: &[X<'f>]) -> X<'f> {
        let mut from = vec![self];
        from.extend_from_slice(others);
        self.call(opcode, kind, &from)
    }

    /// 2 to the power of this integer, as the kind of `other`. The exponent must be that of a normal number.
    pub fn power_of_two(self, other: X<'f>) -> X<'f> {
        let (bias, mantissa) = other.either((127, 23), (1023, 52));
        self.widened(other).plus(bias).shl(mantissa).float()
    }

    /// The sum with an integer.
    pub fn plus(self, by: i64) -> X<'f> {
        self.same(Name::Add, &[by.beside(self)])
    }
}

impl<'f, T: Part<'f>> Add<T> for X<'f> {
    type Output = X<'f>;
    fn add(self, other: T) -> X<'f> {
        self.same(self.kind.rounded(Name::Add), &[other.beside(self)])
    }
}

impl<'f, T: Part<'f>> Sub<T> for X<'f> {
    type Output = X<'f>;
    fn sub(self, other: T) -> X<'f> {
        self.same(self.kind.rounded(Name::Sub), &[other.beside(self)])
    }
}

impl<'f, T: Part<'f>> Mul<T> for X<'f> {
    type Output = X<'f>;
    fn mul(self, other: T) -> X<'f> {
        let low = Opcode::new(Name::Mul).with(Modifier::Lo);
        self.same(if self.kind.is_float() { nearest(Name::Mul) } else { low }, &[other.beside(self)])
    }
}

impl<'f> Neg for X<'f> {
    type Output = X<'f>;
    fn neg(self) -> X<'f> {
        self.same(Name::Neg, &[])
    }
}
