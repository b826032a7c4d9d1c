//! Functions of `math` to calls of libdevice: for shorter floats in 32 bits, by an approximation where there is one.
//! Source: `backends/gpu/codegen/triton/transforms/triton_xla_math_to_libdevice.cc`, `service/gpu/target_util.cc`.

use ir::{ElementTypeExt, Opcode};
use syntax::hlo::ElementType;

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Arithmetic, Cast, Kind, Op, Triton};

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let function = function(&op.kind)?;
    let ty = rewriter.ty(op.result()?).clone();
    let element = ty.element().filter(|element| element.is_floating())?;
    let is_short = matches!(element, ElementType::Bf16 | ElementType::F16);
    let (operands, computed) = match is_short {
        false => (op.operands.clone(), ty.clone()),
        true => {
            let wide = ty.with_element(ElementType::F32);
            let extend =
                |&operand: &u32| rewriter.push(Kind::Cast(Cast::ExtendFloat), vec![operand], wide.clone());
            (op.operands.iter().map(extend).collect(), wide.clone())
        }
    };
    let suffix = if computed.element() == Some(ElementType::F64) { "" } else { "f" };
    let is_fast = is_short && matches!(function, "exp" | "log");
    let fast = if is_fast { "fast_" } else { "" };
    let symbol = format!("__nv_{fast}{function}{suffix}");
    let value = rewriter.push(Kind::Triton(Triton::Extern { symbol }), operands, computed);
    if !is_short {
        return Some(Rewrite::Value(value));
    }
    Some(Rewrite::Value(rewriter.push(Kind::Cast(Cast::TruncateFloat), vec![value], ty)))
}

/// The name of the function in libdevice; `None` where there is none or Triton has an op of its own.
fn function(kind: &Kind) -> Option<&'static str> {
    use Opcode::*;
    match kind {
        Kind::Math("powf") => Some("pow"),
        Kind::Math("roundeven") => Some("rint"),
        Kind::Arithmetic(Arithmetic::Remainder) => Some("fmod"),
        Kind::Elementwise(opcode) => match opcode {
            Acos | Acosh | Asin | Asinh | Atan2 | Atanh | Cosh | Erf | Log | Rsqrt | Sinh | Sqrt | Tan
            | Tanh | Cbrt => Some(opcode.name()),
            Cosine => Some("cos"),
            Exponential => Some("exp"),
            ExponentialMinusOne => Some("expm1"),
            LogPlusOne => Some("log1p"),
            RoundNearestEven => Some("rint"),
            Sine => Some("sin"),
            _ => None,
        },
        _ => None,
    }
}
