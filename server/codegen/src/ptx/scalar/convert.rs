//! Conversions. Floats are converted to integers towards zero and clamped to the range; NaN becomes 0.

use ir::ElementTypeExt;
use ptx::{Comparison, Name, Rounding, Type, cvt, rounding_cvt, setp};
use syntax::hlo::ElementType;

use super::super::element::{class_of, float_type};
use super::super::machine::{Class, Operand};
use super::super::value::Val;
use super::Scalars;
use crate::constant::Constant;

impl Scalars<'_> {
    pub(in super::super) fn convert(&mut self, a: Val, from: ElementType, to: ElementType) -> Option<Val> {
        if from == to {
            return Some(a);
        }
        if to.is_complex() {
            let part = if to == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            if let Val::Complex(re, im) = a {
                let of = if from == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
                let re = self.convert(Val::Num(re), of, part)?.num();
                let im = self.convert(Val::Num(im), of, part)?.num();
                return Some(Val::Complex(re, im));
            }
            let re = self.convert(a, from, part)?.num();
            let zero = if part == ElementType::F32 { Operand::F32(0) } else { Operand::F64(0) };
            return Some(Val::Complex(re, zero));
        }
        if let Val::Complex(re, _) = a {
            let of = if from == ElementType::C64 { ElementType::F32 } else { ElementType::F64 };
            return self.convert(Val::Num(re), of, to);
        }
        if from == ElementType::Pred {
            return Some(self.of_pred(a.num(), to));
        }
        if to == ElementType::Pred {
            return self.as_pred(a.num(), from);
        }
        let x = self.in_register(a.num(), class_of(from));
        match (from.is_floating(), to.is_floating()) {
            (false, false) => Some(Val::Num(self.int_to_int(x, from, to))),
            (false, true) => self.int_to_float(x, from, to),
            (true, false) => self.float_to_int(x, from, to),
            (true, true) => self.float_to_float(x, from, to).map(Val::Num),
        }
    }

    fn of_pred(&mut self, pred: Operand, to: ElementType) -> Val {
        let (one, zero) = (Constant::of_int(to, 1), Constant::zero(to));
        self.select(Val::Pred(pred), Val::constant(one), Val::constant(zero), to)
    }

    fn as_pred(&mut self, x: Operand, from: ElementType) -> Option<Val> {
        let class = class_of(from);
        let x = self.in_register(x, class);
        let is_set = match from {
            ElementType::F64 => self.code.pure(setp(Comparison::Neu, Type::F64), [x, Operand::F64(0)]),
            _ if from.is_floating() => {
                let x = self.as_f32(x, from)?;
                self.code.pure(setp(Comparison::Neu, Type::F32), [x, Operand::F32(0)])
            }
            _ => self.code.pure(setp(Comparison::Ne, Type::b(class.bits())), [x, Operand::Int(0)]),
        };
        Some(Val::Pred(is_set.into()))
    }

    fn int_to_int(&mut self, x: Operand, from: ElementType, to: ElementType) -> Operand {
        let (a, b) = (class_of(from).bits(), class_of(to).bits());
        let moved = match a.cmp(&b) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Less => {
                let integer = |width| Type::integer(from.is_signed_integer(), width);
                self.code.pure(cvt(integer(b), integer(a)), [x]).into()
            }
            std::cmp::Ordering::Greater => self.code.pure(cvt(Type::u(b), Type::u(a)), [x]).into(),
        };
        let widens = to.bits() > from.bits() && from.is_signed_integer() == to.is_signed_integer();
        if widens { moved } else { self.in_range(moved, to) }
    }

    fn int_to_float(&mut self, x: Operand, from: ElementType, to: ElementType) -> Option<Val> {
        let from = Type::integer(from.is_signed_integer(), class_of(from).bits());
        match to {
            ElementType::F32 | ElementType::F64 => {
                let opcode = rounding_cvt(Rounding::Rn, float_type(to), from);
                Some(Val::Num(self.code.pure(opcode, [x]).into()))
            }
            ElementType::F16 => {
                Some(Val::Num(self.code.pure(rounding_cvt(Rounding::Rn, Type::F16, from), [x]).into()))
            }
            ElementType::Bf16 if self.has_bf16() => {
                Some(Val::Num(self.code.pure(rounding_cvt(Rounding::Rn, Type::Bf16, from), [x]).into()))
            }
            _ => {
                let wide = self.code.pure(rounding_cvt(Rounding::Rn, Type::F32, from), [x]);
                self.float_to_float(wide.into(), ElementType::F32, to).map(Val::Num)
            }
        }
    }

    fn float_to_int(&mut self, x: Operand, from: ElementType, to: ElementType) -> Option<Val> {
        let (x, ty) = match from {
            ElementType::F64 => (x, Type::F64),
            _ => (self.as_f32(x, from)?, Type::F32),
        };
        let integer = |width| Type::integer(to.is_signed_integer(), width);
        let bits = to.bits()?;
        // The instruction clamps to the range of its own type, so narrow types are converted through 32 bits.
        let width = bits.max(32);
        let whole = self.code.pure(rounding_cvt(Rounding::Rzi, integer(width), ty), [x]);
        let is_nan = self.code.pure(setp(Comparison::Nan, ty), [x, x]);
        let mut value = whole;
        if bits < 32 {
            let (least, most) = match to.is_signed_integer() {
                true => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
                false => (0, (1i64 << bits) - 1),
            };
            value = self.code.pure(Name::Min.of(integer(32)), [value.into(), Operand::Int(most)]);
            if least < 0 {
                value = self.code.pure(Name::Max.of(Type::S32), [value.into(), Operand::Int(least)]);
            }
        }
        let from = [Operand::Int(0), value.into(), is_nan.into()];
        let number = self.code.pure(Name::Selp.of(Type::b(width)), from);
        if bits >= 32 {
            return Some(Val::Num(number.into()));
        }
        Some(Val::Num(self.code.pure(cvt(Type::U16, Type::U32), [number.into()]).into()))
    }

    pub(super) fn float_to_float(
        &mut self,
        x: Operand,
        from: ElementType,
        to: ElementType,
    ) -> Option<Operand> {
        use ElementType::*;
        let x = self.in_register(x, class_of(from));
        Some(match (from, to) {
            (F16, F32) => self.code.pure(cvt(Type::F32, Type::F16), [x]).into(),
            (F16, F64) => self.code.pure(cvt(Type::F64, Type::F16), [x]).into(),
            (F32, F64) => self.code.pure(cvt(Type::F64, Type::F32), [x]).into(),
            (Bf16, F32) if self.has_bf16() => self.code.pure(cvt(Type::F32, Type::Bf16), [x]).into(),
            // A `bf16` is the upper half of an `f32`.
            (Bf16, F32) => {
                let wide = self.code.pure(cvt(Type::U32, Type::U16), [x]);
                self.code.pure(Name::Shl.of(Type::B32), [wide.into(), Operand::Int(16)]).into()
            }
            (F32, F16) => self.code.pure(rounding_cvt(Rounding::Rn, Type::F16, Type::F32), [x]).into(),
            (F32, Bf16) => self.code.pure(rounding_cvt(Rounding::Rn, Type::Bf16, Type::F32), [x]).into(),
            (F64, F32) => self.code.pure(rounding_cvt(Rounding::Rn, Type::F32, Type::F64), [x]).into(),
            (F64, Bf16) if self.has_bf16() => {
                self.code.pure(rounding_cvt(Rounding::Rn, Type::Bf16, Type::F64), [x]).into()
            }
            (F64, Bf16) => {
                let single = self.float_to_float(x, F64, F32)?;
                self.float_to_float(single, F32, Bf16)?
            }
            (F64, F16) => self.code.pure(rounding_cvt(Rounding::Rn, Type::F16, Type::F64), [x]).into(),
            (Bf16, F64) => {
                let single = self.float_to_float(x, Bf16, F32)?;
                self.code.pure(cvt(Type::F64, Type::F32), [single]).into()
            }
            (Bf16, F16) | (F16, Bf16) => {
                let single = self.float_to_float(x, from, F32)?;
                self.float_to_float(single, F32, to)?
            }
            _ => return self.small_float(x, from, to),
        })
    }

    /// Reinterprets the bits as a number of another type of the same width.
    pub(super) fn reinterpret(&mut self, a: Val, from: ElementType, to: ElementType) -> Option<Val> {
        if from == to {
            return Some(a);
        }
        let is_one = |element: ElementType| !element.is_complex() && element != ElementType::Pred;
        if !is_one(from) || !is_one(to) || from.bits() != to.bits() {
            return None;
        }
        let bits = to.bits()?;
        let mask = if bits < 64 { (1u64 << bits) - 1 } else { u64::MAX };
        let constant = match a.num() {
            Operand::F32(pattern) => Some(u64::from(pattern)),
            Operand::F64(pattern) => Some(pattern),
            Operand::Int(value) => Some(value as u64 & mask),
            _ => None,
        };
        if let Some(pattern) = constant {
            return Some(Val::constant(Constant { element: to, bits: u128::from(pattern) }));
        }
        let value = a.num();
        Some(Val::Num(match to.is_floating() {
            // The bits above a code are zero.
            true if bits < 16 => {
                let value = self.in_register(value, Class::B16);
                self.code.pure(Name::And.of(Type::B16), [value, Operand::Int(mask as i64)]).into()
            }
            true => value,
            false => self.in_range(value, to),
        }))
    }
}
