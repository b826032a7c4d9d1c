//! Conversions between floats and integers, and access to the bits of both.

use ptx::{Modifier, Name, Rounding, Type, cvt, rounding_cvt};

use super::{Kind, Part, X};
use crate::ptx::machine::Operand;

impl<'f> X<'f> {
    /// Converts to a 32-bit integer, rounding to the nearest.
    pub fn to_int(self) -> X<'f> {
        self.call(rounding_cvt(Rounding::Rni, Type::S32, self.kind.ty()), Kind::I32, &[self])
    }

    /// Converts an integer to a float, or a float to the other kind of float.
    pub fn to(self, kind: Kind) -> X<'f> {
        let (to, from) = (kind.ty(), self.kind.ty());
        let opcode = match self.kind {
            Kind::F32 => cvt(to, from),
            _ => rounding_cvt(Rounding::Rn, to, from),
        };
        self.call(opcode, kind, &[self])
    }

    /// Converts an unsigned 64-bit integer to a float.
    pub fn unsigned_to(self, kind: Kind) -> X<'f> {
        self.call(rounding_cvt(Rounding::Rn, kind.ty(), Type::u(self.kind.bits())), kind, &[self])
    }

    /// Sign-extends a 32-bit integer to the width of `other`.
    pub fn widened(self, other: X<'f>) -> X<'f> {
        if other.kind.bits() == 32 { self } else { self.call(cvt(Type::S64, Type::S32), Kind::I64, &[self]) }
    }

    /// Zero-extends an integer to 64 bits.
    pub fn unsigned_long(self) -> X<'f> {
        self.call(cvt(Type::U64, Type::U32), Kind::I64, &[self])
    }

    /// The lower half of a 64-bit integer.
    pub fn low_word(self) -> X<'f> {
        if self.kind.bits() == 32 { self } else { self.call(cvt(Type::U32, Type::U64), Kind::I32, &[self]) }
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
        self.call(Name::And.of(Type::b(self.kind.bits())), self.kind, &[self, mask.beside(self)])
    }

    pub fn or(self, other: impl Part<'f>) -> X<'f> {
        self.call(Name::Or.of(Type::b(self.kind.bits())), self.kind, &[self, other.beside(self)])
    }

    pub fn xor(self, other: impl Part<'f>) -> X<'f> {
        self.call(Name::Xor.of(Type::b(self.kind.bits())), self.kind, &[self, other.beside(self)])
    }

    /// Shifts left. The shift count may be in a 32-bit register.
    pub fn shl(self, by: impl Part<'f>) -> X<'f> {
        self.call(Name::Shl.of(Type::b(self.kind.bits())), self.kind, &[self, by.beside(self)])
    }

    pub fn shr(self, by: impl Part<'f>) -> X<'f> {
        self.call(Name::Shr.of(Type::u(self.kind.bits())), self.kind, &[self, by.beside(self)])
    }

    /// Arithmetic shift to the right.
    pub fn sar(self, by: impl Part<'f>) -> X<'f> {
        self.call(Name::Shr.of(Type::s(self.kind.bits())), self.kind, &[self, by.beside(self)])
    }

    /// The upper half of the product of two unsigned integers.
    pub fn mul_high(self, by: X<'f>) -> X<'f> {
        self.call(Name::Mul.with(Modifier::Hi, Type::u(self.kind.bits())), self.kind, &[self, by])
    }

    /// The 64-bit product of two unsigned 32-bit integers.
    pub fn mul_wide(self, by: X<'f>) -> X<'f> {
        self.call(Name::Mul.with(Modifier::Wide, Type::U32), Kind::I64, &[self, by])
    }
}
