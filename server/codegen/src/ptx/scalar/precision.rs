//! Rounding to fewer bits of exponent and mantissa. Source: XLA `EmitReducePrecisionIR`.

use ptx::{Type, cvt};
use syntax::hlo::ElementType;

use super::super::value::Val;
use super::Scalars;
use super::math::flow::{Kind, X};
use crate::constant::format;

impl Scalars<'_> {
    pub(super) fn reduce_precision(
        &mut self,
        a: Val,
        element: ElementType,
        exponent: u32,
        mantissa: u32,
    ) -> Option<Val> {
        if exponent == 0 || exponent > 11 || mantissa > 52 {
            return None;
        }
        let (source, kind) = match element {
            ElementType::F64 => ((11, 52), Kind::I64),
            ElementType::F32 => ((8, 23), Kind::I32),
            ElementType::F16 | ElementType::Bf16 => {
                let format = format(element)?;
                ((format.exponent, format.mantissa), Kind::I32)
            }
            // XLA converts smaller types to these before it emits code. Source: `gpu_compiler.cc`.
            _ => {
                let wider = match element {
                    ElementType::F8e8m0fnu => ElementType::F32,
                    _ => ElementType::F16,
                };
                let wide = self.convert(a, element, wider)?;
                let reduced = self.reduce_precision(wide, wider, exponent, mantissa)?;
                return self.convert(reduced, wider, element);
            }
        };
        if source.0 <= exponent && source.1 <= mantissa {
            return Some(a);
        }
        // bf16 is the upper half of f32, and has an instruction.
        if element == ElementType::F32 && (exponent, mantissa) == (8, 7) {
            let narrow = self.convert(a, element, ElementType::Bf16)?;
            return self.convert(narrow, ElementType::Bf16, element);
        }
        let is_half = source.0 + source.1 < 16;
        let mut bits = self.in_register(a.num(), super::class_of(element));
        if is_half {
            bits = self.code.pure(cvt(Type::U32, Type::U16), [bits]).into();
        }
        let result =
            self.formula(|code| reduced(X::new(code, bits, kind), source, (exponent, mantissa)).operand);
        if !is_half {
            return Some(Val::Num(result));
        }
        Some(Val::Num(self.code.pure(cvt(Type::U16, Type::U32), [result]).into()))
    }
}

/// Operates on the bits: rounds to the nearest, ties to even; numbers beyond the exponent range become
/// infinity or zero.
fn reduced(x: X<'_>, (from_e, from_m): (u32, u32), (to_e, to_m): (u32, u32)) -> X<'_> {
    let sign = match from_e + from_m {
        63 => i64::MIN,
        31 => i64::from(i32::MIN),
        digits => 1 << digits,
    };
    let infinity = ((1i64 << from_e) - 1) << from_m;
    let magnitudes = infinity | ((1i64 << from_m) - 1);
    let mut y = x;
    if to_m < from_m {
        let lost = i64::from(from_m - to_m);
        let even = x.shr(lost).and(1);
        y = (x + even).plus((1 << (lost - 1)) - 1).and(!((1i64 << lost) - 1));
    }
    if to_e < from_e {
        let bias = (1i64 << (from_e - 1)) - 1;
        let reach = (1i64 << (to_e - 1)) - 1;
        let exponent = y.and(infinity);
        let zero = y.and(sign);
        let is_over = !exponent.below(((bias + reach) << from_m) + 1);
        let is_under = exponent.below(((bias - reach) << from_m) + 1);
        y = is_over.select(zero.or(infinity), y);
        y = is_under.select(zero, y);
    }
    let is_nan = !x.and(magnitudes).below(infinity + 1);
    is_nan.select(x, y)
}
