//! Conversions. Floats are converted to integers towards zero and clamped to the range; NaN becomes 0.

use ir::ElementTypeExt;
use syntax::hlo::ElementType;

use super::super::lower::Lowering;
use super::super::machine::{Class, Operand};
use super::super::memory::class_of;
use super::super::value::Val;
use crate::constant::Constant;

impl Lowering<'_> {
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
            ElementType::F64 => self.code.pure("setp.neu.f64", Class::Pred, [x, Operand::F64(0)]),
            _ if from.is_floating() => {
                let x = self.as_f32(x, from)?;
                self.code.pure("setp.neu.f32", Class::Pred, [x, Operand::F32(0)])
            }
            _ => self.code.pure(format!("setp.ne.b{}", class.bits()), Class::Pred, [x, Operand::Int(0)]),
        };
        Some(Val::Pred(is_set.into()))
    }

    fn int_to_int(&mut self, x: Operand, from: ElementType, to: ElementType) -> Operand {
        let (a, b) = (class_of(from).bits(), class_of(to).bits());
        let moved = match a.cmp(&b) {
            std::cmp::Ordering::Equal => x,
            std::cmp::Ordering::Less => {
                let sign = if from.is_signed_integer() { "s" } else { "u" };
                self.op(&format!("cvt.{sign}{b}.{sign}{a}"), to, [x]).into()
            }
            std::cmp::Ordering::Greater => self.op(&format!("cvt.u{b}.u{a}"), to, [x]).into(),
        };
        let widens = to.bits() > from.bits() && from.is_signed_integer() == to.is_signed_integer();
        if widens { moved } else { self.in_range(moved, to) }
    }

    fn int_to_float(&mut self, x: Operand, from: ElementType, to: ElementType) -> Option<Val> {
        let sign = if from.is_signed_integer() { "s" } else { "u" };
        let bits = class_of(from).bits();
        match to {
            ElementType::F32 | ElementType::F64 => {
                let name = format!("cvt.rn.{}.{sign}{bits}", to.name());
                Some(Val::Num(self.op(&name, to, [x]).into()))
            }
            ElementType::F16 => Some(Val::Num(self.op(&format!("cvt.rn.f16.{sign}{bits}"), to, [x]).into())),
            ElementType::Bf16 if self.has_bf16() => {
                Some(Val::Num(self.op(&format!("cvt.rn.bf16.{sign}{bits}"), to, [x]).into()))
            }
            _ => {
                let wide = self.op(&format!("cvt.rn.f32.{sign}{bits}"), ElementType::F32, [x]);
                self.float_to_float(wide.into(), ElementType::F32, to).map(Val::Num)
            }
        }
    }

    fn float_to_int(&mut self, x: Operand, from: ElementType, to: ElementType) -> Option<Val> {
        let (x, kind) = match from {
            ElementType::F64 => (x, "f64"),
            _ => (self.as_f32(x, from)?, "f32"),
        };
        let sign = if to.is_signed_integer() { "s" } else { "u" };
        let bits = to.bits()?;
        // The instruction clamps to the range of its own type, so narrow types are converted through 32 bits.
        let width = bits.max(32);
        let class = Class::of_bits(width);
        let whole = self.code.pure(format!("cvt.rzi.{sign}{width}.{kind}"), class, [x]);
        let is_nan = self.code.pure(format!("setp.nan.{kind}"), Class::Pred, [x, x]);
        let mut value = whole;
        if bits < 32 {
            let (least, most) = match to.is_signed_integer() {
                true => (-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1),
                false => (0, (1i64 << bits) - 1),
            };
            value = self.code.pure(format!("min.{sign}32"), class, [value.into(), Operand::Int(most)]);
            if least < 0 {
                value = self.code.pure("max.s32", class, [value.into(), Operand::Int(least)]);
            }
        }
        let from = [Operand::Int(0), value.into(), is_nan.into()];
        let number = self.code.pure(format!("selp.b{width}"), class, from);
        if bits >= 32 {
            return Some(Val::Num(number.into()));
        }
        Some(Val::Num(self.code.pure("cvt.u16.u32", Class::B16, [number.into()]).into()))
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
            (F16, F32) => self.op("cvt.f32.f16", to, [x]).into(),
            (F16, F64) => self.op("cvt.f64.f16", to, [x]).into(),
            (F32, F64) => self.op("cvt.f64.f32", to, [x]).into(),
            (Bf16, F32) if self.has_bf16() => self.op("cvt.f32.bf16", to, [x]).into(),
            // A `bf16` is the upper half of an `f32`.
            (Bf16, F32) => {
                let wide = self.code.pure("cvt.u32.u16", Class::B32, [x]);
                self.op("shl.b32", to, [wide.into(), Operand::Int(16)]).into()
            }
            (F32, F16) => self.op("cvt.rn.f16.f32", to, [x]).into(),
            (F32, Bf16) => self.op("cvt.rn.bf16.f32", to, [x]).into(),
            (F64, F32) => self.op("cvt.rn.f32.f64", to, [x]).into(),
            (F64, Bf16) if self.has_bf16() => self.op("cvt.rn.bf16.f64", to, [x]).into(),
            (F64, Bf16) => {
                let single = self.float_to_float(x, F64, F32)?;
                self.float_to_float(single, F32, Bf16)?
            }
            (F64, F16) => self.op("cvt.rn.f16.f64", to, [x]).into(),
            (Bf16, F64) => {
                let single = self.float_to_float(x, Bf16, F32)?;
                self.op("cvt.f64.f32", to, [single]).into()
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
                self.code.pure("and.b16", Class::B16, [value, Operand::Int(mask as i64)]).into()
            }
            true => value,
            false => self.in_range(value, to),
        }))
    }
}
