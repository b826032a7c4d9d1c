//! Functions without an instruction: straight-line sequences of arithmetic, for `f32` and `f64`. Smaller
//! floats are computed as `f32`. Bounds are in units in the last place of the result, measured by
//! `tests/functions.rs`.

mod coefficients;
mod erf;
mod exponential;
pub(super) mod flow;
mod hyperbolic;
mod inverse;
mod logarithm;
mod power;
mod reduction;
mod remainder;
mod roots;
mod trigonometric;

use std::cell::RefCell;

use syntax::hlo::{ElementType, Opcode};

use super::super::machine::Operand;
use super::Scalars;
pub(in crate::ptx) use coefficients::{COS_F64, SIN_F64};
pub(super) use exponential::{exp, expm1};
use flow::{Kind, X};
pub(super) use hyperbolic::{cosh, sinh, tanh};
pub(super) use inverse::atan2;
pub(super) use logarithm::{log, log1p};
pub(super) use power::pow;
pub(super) use roots::{cbrt, hypot};
pub(super) use trigonometric::{cos, sin, tan};

/// The kind of formulas for floats of this type: `f32` and `f64` only.
pub(super) fn kind_of(element: ElementType) -> Option<Kind> {
    match element {
        ElementType::F32 => Some(Kind::F32),
        ElementType::F64 => Some(Kind::F64),
        _ => None,
    }
}

impl Scalars<'_> {
    /// Appends a formula to the code.
    pub(super) fn formula<R>(&mut self, write: impl FnOnce(&RefCell<super::super::code::Code>) -> R) -> R {
        let code = RefCell::new(std::mem::take(self.code));
        let result = write(&code);
        *self.code = code.into_inner();
        result
    }

    /// A function of one number, of an `f32` or an `f64`.
    pub(super) fn math_unary(&mut self, opcode: Opcode, x: Operand, element: ElementType) -> Option<Operand> {
        let kind = kind_of(element)?;
        self.formula(|code| unary(opcode, X::new(code, x, kind)).map(|y| y.operand))
    }

    pub(super) fn math_binary(
        &mut self,
        opcode: Opcode,
        a: Operand,
        b: Operand,
        element: ElementType,
    ) -> Option<Operand> {
        let kind = kind_of(element)?;
        if opcode == Opcode::Remainder {
            return Some(self.float_remainder(a, b, kind));
        }
        self.formula(|code| {
            let (a, b) = (X::new(code, a, kind), X::new(code, b, kind));
            match opcode {
                Opcode::Atan2 => Some(atan2(a, b).operand),
                Opcode::Power => Some(pow(a, b).operand),
                _ => None,
            }
        })
    }
}

fn unary(opcode: Opcode, x: X<'_>) -> Option<X<'_>> {
    Some(match opcode {
        Opcode::Exponential => exp(x),
        Opcode::ExponentialMinusOne => expm1(x),
        Opcode::Log => log(x),
        Opcode::LogPlusOne => log1p(x),
        Opcode::Logistic => exponential::logistic(x),
        Opcode::Tanh => tanh(x),
        Opcode::Sinh => sinh(x),
        Opcode::Cosh => cosh(x),
        Opcode::Sine => sin(x),
        Opcode::Cosine => cos(x),
        Opcode::Tan => tan(x),
        Opcode::Asin => inverse::asin(x),
        Opcode::Acos => inverse::acos(x),
        Opcode::Asinh => inverse::asinh(x),
        Opcode::Acosh => inverse::acosh(x),
        Opcode::Atanh => inverse::atanh(x),
        Opcode::Cbrt => cbrt(x),
        Opcode::Rsqrt => roots::rsqrt(x),
        Opcode::Erf => erf::erf(x),
        _ => return None,
    })
}
