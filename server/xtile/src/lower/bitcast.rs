//! `tensor.bitcast` to `tt.bitcast`, of numbers for tiles without dimensions.
//! Source: `backends/gpu/codegen/triton/transforms/tensor_lower_to_triton.cc`.

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Kind, Op, Triton, Type};

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let (Kind::Bitcast, &[operand]) = (&op.kind, &op.operands[..]) else { return None };
    let ty = rewriter.ty(op.result()?).clone();
    let bits = Kind::Triton(Triton::Bitcast);
    if !ty.sizes().is_empty() {
        return Some(Rewrite::Value(rewriter.push(bits, vec![operand], ty)));
    }
    let from = Type::Scalar(rewriter.element(operand));
    let number = rewriter.push(Kind::ToElement, vec![operand], from);
    let to = Type::Scalar(ty.element()?);
    let number = rewriter.push(bits, vec![number], to);
    Some(Rewrite::Value(rewriter.push(Kind::FromElement, vec![number], ty)))
}
