//! Formulas that write themselves: an expression over [`X`] becomes instructions, in the order in which it is evaluated.

use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, Mul, Neg, Not, Sub};

use crate::ptx::code::Code;
use crate::ptx::machine::{Class, Operand};

/// What a register is taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::ptx) enum Kind {
    F32,
    F64,
    /// Integers of 32 and 64 bits.
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

    fn name(self) -> &'static str {
        match self {
            Kind::F32 => "f32",
            Kind::F64 => "f64",
            Kind::I32 => "s32",
            Kind::I64 => "s64",
        }
    }
}

/// A number under way.
#[derive(Clone, Copy)]
pub(in crate::ptx) struct X<'f> {
    flow: &'f RefCell<Code>,
    pub operand: Operand,
    pub kind: Kind,
}

/// A condition under way.
#[derive(Clone, Copy)]
pub(in crate::ptx) struct P<'f> {
    flow: &'f RefCell<Code>,
    pub operand: Operand,
}

/// What stands beside an [`X`]: another one, or a constant of its kind.
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

    /// The one of two constants that belongs to the width.
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

    /// The number in a register: constants stand behind registers only.
    pub fn in_register(self) -> X<'f> {
        match self.operand {
            Operand::Reg(_) => self,
            _ => {
                let class = self.kind.class();
                let name = format!("mov.b{}", class.bits());
                let operand = self.flow.borrow_mut().pure(name, class, [self.operand]).into();
                X { operand, ..self }
            }
        }
    }

    /// An instruction on registers and constants; the first operand stands in a register.
    fn call(self, name: &str, kind: Kind, from: &[X<'f>]) -> X<'f> {
        let operand = self.emit(name, kind.class(), from);
        X { flow: self.flow, operand, kind }
    }

    fn emit(self, name: &str, class: Class, from: &[X<'f>]) -> Operand {
        let in_place = |(n, x): (usize, &X<'f>)| if n == 0 { x.in_register().operand } else { x.operand };
        let operands: Vec<Operand> = from.iter().enumerate().map(in_place).collect();
        self.flow.borrow_mut().pure(name.to_owned(), class, operands).into()
    }

    /// `name` with the kind behind it.
    fn same(self, name: &str, others: &[X<'f>]) -> X<'f> {
        let mut from = vec![self];
        from.extend_from_slice(others);
        self.call(&format!("{name}.{}", self.kind.name()), self.kind, &from)
    }

    /// `self · by + plus`, rounded once.
    pub fn fma(self, by: impl Part<'f>, plus: impl Part<'f>) -> X<'f> {
        self.same("fma.rn", &[by.beside(self), plus.beside(self)])
    }

    /// The polynomial with these coefficients, that of the constant term first.
    pub fn poly(self, coefficients: &[f64]) -> X<'f> {
        let Some((&last, rest)) = coefficients.split_last() else { return self.like(0.0) };
        let Some((&next, rest)) = rest.split_last() else { return self.like(last) };
        let start = self.fma(last, next);
        rest.iter().rev().fold(start, |sum, &c| sum.fma(self, c))
    }

    /// Correctly rounded.
    pub fn over(self, by: impl Part<'f>) -> X<'f> {
        self.same("div.rn", &[by.beside(self)])
    }

    pub fn sqrt(self) -> X<'f> {
        self.same("sqrt.rn", &[])
    }

    pub fn abs(self) -> X<'f> {
        self.same("abs", &[])
    }

    /// The lesser one, or the one that is a number.
    pub fn min(self, other: impl Part<'f>) -> X<'f> {
        self.same("min", &[other.beside(self)])
    }

    pub fn max(self, other: impl Part<'f>) -> X<'f> {
        self.same("max", &[other.beside(self)])
    }

    /// To a whole number, ties to even.
    pub fn rint(self) -> X<'f> {
        let name = self.kind.name();
        self.call(&format!("cvt.rni.{name}.{name}"), self.kind, &[self])
    }

    pub fn trunc(self) -> X<'f> {
        let name = self.kind.name();
        self.call(&format!("cvt.rzi.{name}.{name}"), self.kind, &[self])
    }

    /// `value` with the sign of this one.
    pub fn sign_onto(self, value: X<'f>) -> X<'f> {
        self.same("copysign", &[value.in_register()])
    }

    /// An instruction that is an approximation: `ex2.approx.ftz`.
    pub fn approx(self, name: &str) -> X<'f> {
        self.same(name, &[])
    }

    /// As an integer of 32 bits, to the nearest.
    pub fn to_int(self) -> X<'f> {
        self.call(&format!("cvt.rni.s32.{}", self.kind.name()), Kind::I32, &[self])
    }

    /// An integer as a float, or a float as the other kind of float.
    pub fn to(self, kind: Kind) -> X<'f> {
        let rounds = if self.kind == Kind::F32 { "" } else { ".rn" };
        self.call(&format!("cvt{rounds}.{}.{}", kind.name(), self.kind.name()), kind, &[self])
    }

    /// An unsigned integer of 64 bits as a float.
    pub fn unsigned_to(self, kind: Kind) -> X<'f> {
        self.call(&format!("cvt.rn.{}.u{}", kind.name(), self.kind.bits()), kind, &[self])
    }

    /// An integer of 32 bits, with its sign, as wide as `other`.
    pub fn widened(self, other: X<'f>) -> X<'f> {
        if other.kind.bits() == 32 { self } else { self.call("cvt.s64.s32", Kind::I64, &[self]) }
    }

    /// An integer without sign in 64 bits.
    pub fn unsigned_long(self) -> X<'f> {
        self.call("cvt.u64.u32", Kind::I64, &[self])
    }

    /// The lower half of an integer of 64 bits.
    pub fn low_word(self) -> X<'f> {
        if self.kind.bits() == 32 { self } else { self.call("cvt.u32.u64", Kind::I32, &[self]) }
    }

    /// The bits as an integer.
    pub fn bits(self) -> X<'f> {
        let operand = match self.operand {
            Operand::F32(bits) => Operand::Int(i64::from(bits as i32)),
            Operand::F64(bits) => Operand::Int(bits as i64),
            other => other,
        };
        X { operand, kind: if self.kind.bits() == 32 { Kind::I32 } else { Kind::I64 }, ..self }
    }

    /// The bits as a float.
    pub fn float(self) -> X<'f> {
        X { kind: if self.kind.bits() == 32 { Kind::F32 } else { Kind::F64 }, ..self }
    }

    pub fn and(self, mask: impl Part<'f>) -> X<'f> {
        self.call(&format!("and.b{}", self.kind.bits()), self.kind, &[self, mask.beside(self)])
    }

    pub fn or(self, other: impl Part<'f>) -> X<'f> {
        self.call(&format!("or.b{}", self.kind.bits()), self.kind, &[self, other.beside(self)])
    }

    pub fn xor(self, other: impl Part<'f>) -> X<'f> {
        self.call(&format!("xor.b{}", self.kind.bits()), self.kind, &[self, other.beside(self)])
    }

    /// The number of bits may stand in a register of 32 bits.
    pub fn shl(self, by: impl Part<'f>) -> X<'f> {
        self.call(&format!("shl.b{}", self.kind.bits()), self.kind, &[self, by.beside(self)])
    }

    pub fn shr(self, by: impl Part<'f>) -> X<'f> {
        self.call(&format!("shr.u{}", self.kind.bits()), self.kind, &[self, by.beside(self)])
    }

    /// With the sign drawn in.
    pub fn sar(self, by: impl Part<'f>) -> X<'f> {
        self.call(&format!("shr.s{}", self.kind.bits()), self.kind, &[self, by.beside(self)])
    }

    /// The upper half of the product of two integers without sign.
    pub fn mul_high(self, by: X<'f>) -> X<'f> {
        self.call(&format!("mul.hi.u{}", self.kind.bits()), self.kind, &[self, by])
    }

    /// The product of two integers without sign of 32 bits, in 64.
    pub fn mul_wide(self, by: X<'f>) -> X<'f> {
        self.call("mul.wide.u32", Kind::I64, &[self, by])
    }

    /// An instruction without a method of its own.
    pub fn raw(self, name: &str, kind: Kind, others: &[X<'f>]) -> X<'f> {
        let mut from = vec![self];
        from.extend_from_slice(others);
        self.call(name, kind, &from)
    }

    fn test(self, name: &str, other: X<'f>) -> P<'f> {
        let name = format!("setp.{name}.{}", self.kind.name());
        P { flow: self.flow, operand: self.emit(&name, Class::Pred, &[self, other]) }
    }

    pub fn lt(self, other: impl Part<'f>) -> P<'f> {
        self.test("lt", other.beside(self))
    }

    pub fn gt(self, other: impl Part<'f>) -> P<'f> {
        self.test("gt", other.beside(self))
    }

    pub fn ge(self, other: impl Part<'f>) -> P<'f> {
        self.test("ge", other.beside(self))
    }

    pub fn eq(self, other: impl Part<'f>) -> P<'f> {
        self.test("eq", other.beside(self))
    }

    /// Of floats: or one of them is NaN.
    pub fn ne(self, other: impl Part<'f>) -> P<'f> {
        self.test(if self.kind.is_float() { "neu" } else { "ne" }, other.beside(self))
    }

    /// Of integers without sign.
    pub fn below(self, other: impl Part<'f>) -> P<'f> {
        let name = format!("setp.lt.u{}", self.kind.bits());
        P { flow: self.flow, operand: self.emit(&name, Class::Pred, &[self, other.beside(self)]) }
    }

    pub fn is_nan(self) -> P<'f> {
        self.test("nan", self)
    }

    /// Is one of the two NaN?
    pub fn is_nan_beside(self, other: X<'f>) -> P<'f> {
        self.test("nan", other)
    }

    /// 2 to the power of this integer, of the same kind as `other`. Within the exponents of normal numbers.
    pub fn power_of_two(self, other: X<'f>) -> X<'f> {
        let (bias, mantissa) = other.either((127, 23), (1023, 52));
        self.widened(other).plus(bias).shl(mantissa).float()
    }

    /// The sum with a whole number.
    pub fn plus(self, by: i64) -> X<'f> {
        self.same("add", &[by.beside(self)])
    }
}

impl<'f> P<'f> {
    /// The first where it holds, else the second.
    pub fn select(self, a: X<'f>, b: X<'f>) -> X<'f> {
        let bits = a.kind.bits();
        let mut code = self.flow.borrow_mut();
        let from = [a.operand, b.operand, self.operand];
        let operand = code.pure(format!("selp.b{bits}"), a.kind.class(), from.map(plain)).into();
        X { flow: self.flow, operand, kind: a.kind }
    }

    /// The first condition where this one holds, else the second.
    pub fn either_way(self, a: P<'f>, b: P<'f>) -> P<'f> {
        (self & a) | (!self & b)
    }

    fn with(self, name: &'static str, other: P<'f>) -> P<'f> {
        let operand = self.flow.borrow_mut().pure(name, Class::Pred, [self.operand, other.operand]).into();
        P { operand, ..self }
    }
}

/// An untyped instruction takes constants as integers.
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
        self.with("and.pred", other)
    }
}

impl<'f> BitOr for P<'f> {
    type Output = P<'f>;
    fn bitor(self, other: P<'f>) -> P<'f> {
        self.with("or.pred", other)
    }
}

impl<'f> Not for P<'f> {
    type Output = P<'f>;
    fn not(self) -> P<'f> {
        let operand = self.flow.borrow_mut().pure("not.pred", Class::Pred, [self.operand]).into();
        P { operand, ..self }
    }
}

impl<'f, T: Part<'f>> Add<T> for X<'f> {
    type Output = X<'f>;
    fn add(self, other: T) -> X<'f> {
        self.same(if self.kind.is_float() { "add.rn" } else { "add" }, &[other.beside(self)])
    }
}

impl<'f, T: Part<'f>> Sub<T> for X<'f> {
    type Output = X<'f>;
    fn sub(self, other: T) -> X<'f> {
        self.same(if self.kind.is_float() { "sub.rn" } else { "sub" }, &[other.beside(self)])
    }
}

impl<'f, T: Part<'f>> Mul<T> for X<'f> {
    type Output = X<'f>;
    fn mul(self, other: T) -> X<'f> {
        self.same(if self.kind.is_float() { "mul.rn" } else { "mul.lo" }, &[other.beside(self)])
    }
}

impl<'f> Neg for X<'f> {
    type Output = X<'f>;
    fn neg(self) -> X<'f> {
        self.same("neg", &[])
    }
}
