//! Ops on the elements of tiles without dimensions become ops on numbers.
//! Source: `codegen/xtile/ir/transforms/convert_elementwise_0d_tensor_to_scalar_pass.cc`.

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Kind, Op, Triton, Type};

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let ty = rewriter.ty(op.result?).clone();
    let is_point = |ty: &Type| matches!(ty, Type::Tile(_, sizes) if sizes.is_empty());
    let is_on_points = is_point(&ty) && is_elementwise(&op.kind);
    if !is_on_points {
        return None;
    }
    let operands = (op.operands.iter())
        .map(|&operand| match is_point(rewriter.ty(operand)) {
            true => {
                let number = Type::Scalar(rewriter.element(operand));
                rewriter.push(Kind::ToElement, vec![operand], number)
            }
            false => operand,
        })
        .collect();
    let number = rewriter.push(op.kind.clone(), operands, Type::Scalar(ty.element()?));
    Some(Rewrite::Value(rewriter.push(Kind::FromElement, vec![number], ty)))
}

fn is_elementwise(kind: &Kind) -> bool {
    matches!(
        kind,
        Kind::Constant(_)
            | Kind::Elementwise(_)
            | Kind::Arithmetic(_)
            | Kind::Cast(_)
            | Kind::Math(_)
            | Kind::Select
            | Kind::Triton(Triton::Bitcast | Triton::FloatToFloat { .. } | Triton::Extern { .. })
    )
}
