//! Floats of at most eight bits: a code in a 16-bit register, with zeros above it.
//!
//! Numbers above the largest one become infinity if the format has it, else NaN if it has that, else the
//! largest number. Source: XLA `lower_tensors`' float conversions, `ml_dtypes`' formats. From Ada on, the two
//! formats with device instructions use these, with a correction for the numbers that they clamp.

use ptx::{Comparison, Modifier, Name, Opcode, Rounding, Type, cvt, rounding_cvt, setp};
use syntax::hlo::{ElementType, FloatFormat, Specials};

use super::super::machine::{Class, Kind as Inst, Operand};
use super::Scalars;
use crate::constant::format;
use crate::ptx::scalar::math::flow::{Kind, X};

impl Scalars<'_> {
    /// Converts between a small float and another float.
    pub(super) fn small_float(&mut self, x: Operand, from: ElementType, to: ElementType) -> Option<Operand> {
        if to == ElementType::F8e8m0fnu || format(to).is_some_and(|f| f.bits() < 16) {
            let single = match from {
                ElementType::F64 if !self.is_own(to) => self.odd_single(x),
                ElementType::F32 => x,
                _ => self.float_to_float(x, from, ElementType::F32)?,
            };
            return self.narrowed(single, to);
        }
        if to == ElementType::F16 && self.is_own(from) {
            let x = self.in_register(x, Class::B16);
            return Some(self.half_of_small(x, from));
        }
        let single = self.of_small(x, from)?;
        match to {
            ElementType::F32 => Some(single),
            _ => self.float_to_float(single, ElementType::F32, to),
        }
    }

    /// Whether the device has instructions for this format.
    fn is_own(&self, element: ElementType) -> bool {
        self.features.has_f8 && matches!(element, ElementType::F8e4m3fn | ElementType::F8e5m2)
    }

    /// Converts an `f64` to an `f32` by rounding to odd, so that a second rounding is correct.
    fn odd_single(&mut self, x: Operand) -> Operand {
        self.formula(|code| {
            let x = X::new(code, x, Kind::F64);
            let near = x.to(Kind::F32);
            let back = near.to(Kind::F64);
            let is_above = back.abs().gt(x.abs());
            let cut = is_above.select(near.bits().plus(-1), near.bits());
            back.ne(x).select(cut.or(1), cut).operand
        })
    }

    fn narrowed(&mut self, x: Operand, to: ElementType) -> Option<Operand> {
        if to == ElementType::F8e8m0fnu {
            let code = self.formula(|code| power_code(X::new(code, x, Kind::F32)).operand);
            return Some(self.code.pure(cvt(Type::U16, Type::U32), [code]).into());
        }
        if self.is_own(to) {
            return Some(self.narrowed_by_device(x, to));
        }
        let format = format(to)?;
        let code = self.formula(|code| rounded(X::new(code, x, Kind::F32), format).operand);
        Some(self.code.pure(cvt(Type::U16, Type::U32), [code]).into())
    }

    /// Converts with the instruction, which clamps large numbers; these are replaced by infinity or NaN.
    fn narrowed_by_device(&mut self, x: Operand, to: ElementType) -> Operand {
        let is_four = to == ElementType::F8e4m3fn;
        let opcode = Opcode::new(Name::Cvt).with(Rounding::Rn).with(Modifier::Satfinite);
        let opcode = opcode.with(pair_type(to)).with(Type::F32);
        let x = self.in_register(x, Class::B32);
        let pair = self.code.pure(opcode, [x, x]);
        // The smallest number that rounds above the largest one.
        let first = if is_four { 0x43e8_0001 } else { 0x4770_0000 };
        let size = self.code.pure(Name::And.of(Type::B32), [x, Operand::Int(0x7fff_ffff)]);
        let above = self.code.pure(Name::Add.of(Type::S32), [size.into(), Operand::Int(-first)]);
        let count = Operand::Int(0x7f80_0001 - first);
        let is_beyond = self.code.pure(setp(Comparison::Lt, Type::U32), [above.into(), count]);
        let sign = self.code.pure(Name::Shr.of(Type::U32), [x, Operand::Int(24)]);
        let sign = self.code.pure(cvt(Type::U16, Type::U32), [sign.into()]);
        let sign = self.code.pure(Name::And.of(Type::B16), [sign.into(), Operand::Int(128)]);
        let top = Operand::Int(if is_four { 127 } else { 124 });
        let beyond = self.code.pure(Name::Or.of(Type::B16), [sign.into(), top]);
        let either = self.code.pure(Name::Selp.of(Type::B16), [beyond.into(), pair.into(), is_beyond.into()]);
        self.code.pure(Name::And.of(Type::B16), [either.into(), Operand::Int(255)]).into()
    }

    /// Converts an 8-bit float exactly to `f16`, with the device's instruction.
    fn half_of_small(&mut self, x: Operand, from: ElementType) -> Operand {
        let pair = self.code.pure(rounding_cvt(Rounding::Rn, Type::F16x2, pair_type(from)), [x]);
        let (low, high) = (self.code.reg(Class::B16), self.code.reg(Class::B16));
        self.code.push(Inst::Unpack { from: pair }, vec![low, high]);
        low.into()
    }

    /// Converts a small float exactly to `f32`.
    fn of_small(&mut self, x: Operand, from: ElementType) -> Option<Operand> {
        let x = self.in_register(x, Class::B16);
        if self.is_own(from) {
            let half = self.half_of_small(x, from);
            return Some(self.code.pure(cvt(Type::F32, Type::F16), [half]).into());
        }
        let wide = self.code.pure(cvt(Type::U32, Type::U16), [x]).into();
        if from == ElementType::F8e8m0fnu {
            return Some(self.formula(|code| {
                let x = X::new(code, wide, Kind::I32);
                let number = x.shl(23i64);
                // The smallest number is subnormal as an `f32`.
                let number = x.eq(0i64).select(x.with_int(0x0040_0000), number);
                x.eq(255i64).select(x.with_int(0x7fc0_0000), number).operand
            }));
        }
        let format = format(from)?;
        Some(self.formula(|code| widened(X::new(code, wide, Kind::I32), format).operand))
    }
}

/// The type of two numbers of a format with device instructions.
fn pair_type(element: ElementType) -> Type {
    if element == ElementType::F8e4m3fn { Type::E4m3x2 } else { Type::E5m2x2 }
}

/// Converts an `f32` to another format, rounding to the nearest, ties to even.
fn rounded(x: X<'_>, format: FloatFormat) -> X<'_> {
    let FloatFormat { exponent, mantissa, bias, .. } = format;
    let bits = x.bits();
    let size = bits.and(0x7fff_ffff);
    let unused = i64::from(23 - mantissa);
    let even = size.shr(unused).and(1);
    let normal = (size + even).plus((1 << (unused - 1)) - 1).shr(unused);
    let normal = normal.plus(-(i64::from(127 - bias) << mantissa));
    // For subnormal results, adding a number with the unit of the format's subnormals rounds.
    let unit = 1 - bias - mantissa as i32;
    let large = x.like(f64::powi(2.0, unit + 23));
    let small = (size.float() + large).bits() - large.bits();
    let least = f64::powi(2.0, 1 - bias) as f32;
    let code = size.below(i64::from(least.to_bits())).select(small, normal);
    let above = x.bits().with_int(format.encode(f64::INFINITY, false) as i64);
    let code = code.gt(format.largest_code() as i64).select(above, code);
    let is_nan = x.is_nan();
    let sign = bits.shr(i64::from(31 - exponent - mantissa)).and(1 << (exponent + mantissa));
    let signed = code.or(sign);
    let nan = code.with_int(format.encode(f64::NAN, false) as i64);
    match format.specials {
        Specials::Ieee | Specials::Finite => is_nan.select(nan.in_register().or(sign), signed),
        Specials::NumbersOnly => is_nan.select(nan, signed),
        // The format has no negative zero.
        Specials::FiniteUnsignedZero | Specials::PowersOfTwo => {
            is_nan.select(nan, code.eq(0i64).select(code, signed))
        }
    }
}

/// Converts a code of another format to `f32`.
fn widened(code: X<'_>, format: FloatFormat) -> X<'_> {
    let FloatFormat { exponent, mantissa, bias, .. } = format;
    let digits = exponent + mantissa;
    let size = code.and((1 << digits) - 1);
    // Interprets the bits with f32's bias, then scales: exact for subnormal numbers too.
    let plain = size.shl(i64::from(23 - mantissa)).float() * f64::powi(2.0, 127 - bias);
    let plain = plain.bits();
    let sign = code.and(1 << digits).shl(i64::from(31 - digits));
    let nan = code.with_int(0x7fc0_0000);
    match format.specials {
        Specials::NumbersOnly | Specials::PowersOfTwo => plain.or(sign),
        Specials::FiniteUnsignedZero => code.eq(1 << digits).select(nan, plain.or(sign)),
        Specials::Finite => size.eq((1 << digits) - 1).select(nan, plain).or(sign),
        Specials::Ieee => {
            let infinity = format.largest_code() as i64 + 1;
            let edge = size.gt(infinity).select(nan, code.with_int(0x7f80_0000));
            size.ge(infinity).select(edge, plain).or(sign)
        }
    }
}

/// A power of two, from 2^-127 on. 255 is NaN, and all non-positive numbers become NaN. Source: the pass
/// itself, which rounds one and a half up, and subnormal numbers up from 2^-127 on.
fn power_code(x: X<'_>) -> X<'_> {
    let bits = x.bits();
    let normal = bits.plus(0x0040_0000).shr(23i64);
    let small = bits.plus(0x003f_ffff).shr(23i64);
    let code = bits.below(0x0080_0000).select(small, normal);
    let is_number = x.gt(0.0) & code.below(255);
    is_number.select(code, code.with_int(255))
}
