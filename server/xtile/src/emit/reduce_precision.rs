//! Rounding of floats to fewer bits, on the bits as integers.
//! Source: `reducePrecision`, `mlir_hlo/mhlo/transforms/transformation_helpers.h`.

use codegen::Constant;
use ir::{AttributeKey, ElementTypeExt, Op};
use syntax::hlo::{ElementType, FloatFormat};

use super::Emission;
use crate::Reason;
use crate::program::{Arithmetic, Kind, Predicate, Type, ValueId, integer_of};

/// The bits that a float is rounded to.
struct Precision {
    exponent: u32,
    mantissa: u32,
}

impl Precision {
    fn of(op: &Op) -> Option<Precision> {
        let bits = |key| op.attributes.int(key).and_then(|bits| u32::try_from(bits).ok());
        Some(Precision {
            exponent: bits(AttributeKey::ExponentBits)?,
            mantissa: bits(AttributeKey::MantissaBits)?,
        })
    }
}

impl Emission<'_> {
    pub(super) fn reduce_precision(&mut self, op: &Op, value: ValueId) -> Result<ValueId, Reason> {
        let element = self.element(value).ok_or("a reduced precision of an index")?;
        let own = FloatFormat::of(element).ok_or("a reduced precision of something that is no float")?;
        let to =
            Precision::of(op).filter(|to| to.exponent > 0).ok_or("a reduced precision without its bits")?;
        if (to.exponent, to.mantissa) == (own.exponent, own.mantissa) {
            return Ok(value);
        }
        let float = self.values[value as usize].clone();
        let integer = integer_of(element).ok_or("a reduced precision of floats of an odd size")?;
        let bits_of_all = integer.bits().unwrap_or(64).clamp(1, 64);
        let sign = 1u64 << (bits_of_all - 1);
        let exponents = ((1u64 << own.exponent) - 1) << own.mantissa;
        let mut rounding = Rounding { emission: self, ty: float.with_element(integer) };
        let mut bits = rounding.emission.push(Kind::Bitcast, vec![value], rounding.ty.clone());
        let magnitude = rounding.with(Arithmetic::And, bits, !sign);
        let is_nan = rounding.compared(Predicate::GreaterUnsigned, magnitude, exponents);
        if to.mantissa < own.mantissa {
            bits = rounding.drop_digits(bits, own.mantissa - to.mantissa);
        }
        if to.exponent < own.exponent {
            let bias = (1u64 << (own.exponent - 1)) - 1;
            let range = (1u64 << (to.exponent - 1)) - 1;
            let exponent = rounding.with(Arithmetic::And, bits, exponents);
            let overflows =
                rounding.compared(Predicate::GreaterUnsigned, exponent, (bias + range) << own.mantissa);
            let underflows =
                rounding.compared(Predicate::AtMostUnsigned, exponent, (bias - range) << own.mantissa);
            let zero = rounding.with(Arithmetic::And, bits, sign);
            let infinity = rounding.with(Arithmetic::Or, zero, exponents);
            bits = rounding.select(overflows, infinity, bits);
            bits = rounding.select(underflows, zero, bits);
        }
        let rounded = self.push(Kind::Bitcast, vec![bits], float.clone());
        Ok(self.push(Kind::Select, vec![is_nan, value, rounded], float))
    }
}

/// Arithmetic on tiles of integers that are the bits of floats.
struct Rounding<'e, 'a> {
    emission: &'e mut Emission<'a>,
    ty: Type,
}

impl Rounding<'_, '_> {
    fn number(&mut self, value: u64) -> ValueId {
        let element = self.ty.element().unwrap_or(ElementType::S64);
        self.emission.constant_of(Constant::of_int(element, value as i64), self.ty.clone())
    }

    fn with(&mut self, arithmetic: Arithmetic, bits: ValueId, value: u64) -> ValueId {
        let value = self.number(value);
        self.emission.arithmetic(arithmetic, bits, value)
    }

    fn compared(&mut self, predicate: Predicate, bits: ValueId, value: u64) -> ValueId {
        self.with(Arithmetic::Compare(predicate), bits, value)
    }

    fn select(&mut self, condition: ValueId, then: ValueId, otherwise: ValueId) -> ValueId {
        self.emission.push(Kind::Select, vec![condition, then, otherwise], self.ty.clone())
    }

    /// Drops `dropped` bits of the mantissa, to the nearest even number. A carry goes to the exponent.
    fn drop_digits(&mut self, bits: ValueId, dropped: u32) -> ValueId {
        let last = 1u64 << dropped;
        let shift = self.number(u64::from(dropped));
        let mask = self.number(last);
        let bias = self.number((last >> 1) - 1);
        let last_bit = self.emission.arithmetic(Arithmetic::And, bits, mask);
        let last_bit = self.emission.arithmetic(Arithmetic::ShiftRightUnsigned, last_bit, shift);
        let bias = self.emission.arithmetic(Arithmetic::Add, last_bit, bias);
        let rounded = self.emission.arithmetic(Arithmetic::Add, bits, bias);
        self.with(Arithmetic::And, rounded, !(last - 1))
    }
}
