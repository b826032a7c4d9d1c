//! Arithmetic and comparisons of `stablehlo` to `arith` and `math`.
//! Source: `codegen/xtile/ir/transforms/lower_stablehlo_to_arith.cc`.

use ir::{ElementTypeExt, Opcode};
use syntax::hlo::ElementType;

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Arithmetic, Cast, Kind, Op, Predicate, ValueId};

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let value = match op.kind {
        Kind::Compare(direction) => compared(rewriter, op, direction),
        Kind::Elementwise(opcode) => computed(rewriter, op, opcode),
        _ => None,
    };
    value.map(Rewrite::Value)
}

fn computed(rewriter: &mut Rewriter<'_>, op: &Op, opcode: Opcode) -> Option<ValueId> {
    use Opcode::*;
    let ty = rewriter.ty(op.result()?).clone();
    let element = ty.element()?;
    let is_float = element.is_floating();
    let is_unsigned = element.is_unsigned_integer();
    let arithmetic = match opcode {
        Add => Arithmetic::Add,
        Subtract => Arithmetic::Subtract,
        Multiply => Arithmetic::Multiply,
        And => Arithmetic::And,
        Or => Arithmetic::Or,
        Xor => Arithmetic::Xor,
        Divide if is_float => return Some(in_32_bits(rewriter, op, Arithmetic::Divide, element)),
        Remainder if is_float => return Some(in_32_bits(rewriter, op, Arithmetic::Remainder, element)),
        Divide if is_unsigned => Arithmetic::CheckedDivideUnsigned,
        Divide => Arithmetic::CheckedDivide,
        Remainder if is_unsigned => Arithmetic::CheckedRemainderUnsigned,
        Remainder => Arithmetic::CheckedRemainder,
        Maximum if is_unsigned => Arithmetic::MaximumUnsigned,
        Maximum => Arithmetic::Maximum,
        Minimum if is_unsigned => Arithmetic::MinimumUnsigned,
        Minimum => Arithmetic::Minimum,
        Negate if is_float => Arithmetic::Negate,
        Negate => {
            let zero = rewriter.number(0, ty.clone());
            let operands = std::iter::once(zero).chain(op.operands.iter().copied()).collect();
            return Some(rewriter.push(Kind::Arithmetic(Arithmetic::Subtract), operands, ty));
        }
        Power => {
            let name = if is_float { "powf" } else { "ipowi" };
            return Some(rewriter.push(Kind::Math(name), op.operands.clone(), ty));
        }
        Abs => {
            let name = if is_float { "absf" } else { "absi" };
            return Some(rewriter.push(Kind::Math(name), op.operands.clone(), ty));
        }
        _ => return None,
    };
    Some(rewriter.push(Kind::Arithmetic(arithmetic), op.operands.clone(), ty))
}

/// Computes floats of 16 bits in 32.
fn in_32_bits(rewriter: &mut Rewriter<'_>, op: &Op, arithmetic: Arithmetic, element: ElementType) -> ValueId {
    let ty = rewriter.ty(op.operands[0]).clone();
    if !matches!(element, ElementType::Bf16 | ElementType::F16) {
        return rewriter.push(Kind::Arithmetic(arithmetic), op.operands.clone(), ty);
    }
    let wide = ty.with_element(ElementType::F32);
    let operands = (op.operands.iter())
        .map(|&operand| rewriter.push(Kind::Cast(Cast::ExtendFloat), vec![operand], wide.clone()))
        .collect();
    let value = rewriter.push(Kind::Arithmetic(arithmetic), operands, wide.clone());
    rewriter.push(Kind::Cast(Cast::TruncateFloat), vec![value], ty)
}

fn compared(rewriter: &mut Rewriter<'_>, op: &Op, direction: &str) -> Option<ValueId> {
    let &first = op.operands.first()?;
    let element = rewriter.element(first);
    let is_unsigned = element.is_unsigned_integer() || element == ElementType::Pred;
    let predicate = match direction {
        "EQ" => Predicate::Equal,
        "NE" => Predicate::NotEqual,
        "LT" if is_unsigned => Predicate::LessUnsigned,
        "LT" => Predicate::Less,
        "LE" if is_unsigned => Predicate::AtMostUnsigned,
        "LE" => Predicate::AtMost,
        "GT" if is_unsigned => Predicate::GreaterUnsigned,
        "GT" => Predicate::Greater,
        "GE" if is_unsigned => Predicate::AtLeastUnsigned,
        "GE" => Predicate::AtLeast,
        _ => return None,
    };
    let ty = rewriter.ty(op.result()?).clone();
    Some(rewriter.push(Kind::Arithmetic(Arithmetic::Compare(predicate)), op.operands.clone(), ty))
}
