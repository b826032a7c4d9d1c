//! Ops that move or make elements to ops of Triton.
//! Source: `backends/gpu/codegen/triton/transforms/stablehlo_lower_to_triton.cc`, `lowering_utils.cc`.

use syntax::hlo::ElementType;

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Kind, Op, Triton, Type, ValueId};

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let ty = rewriter.ty(op.result()?).clone();
    let first = op.operands.first().copied();
    let value = match &op.kind {
        Kind::Broadcast { dims } => broadcast(rewriter, first?, dims, ty),
        Kind::Reshape => reshape(rewriter, first?, ty),
        Kind::Transpose { permutation } => {
            let kind = Kind::Triton(Triton::Transpose { order: permutation.clone() });
            rewriter.push(kind, vec![first?], ty)
        }
        Kind::Iota { dim: 0 } => match (ty.element()?, ty.sizes()) {
            (ElementType::S32, &[end]) => rewriter.push(Kind::Triton(Triton::Range { end }), Vec::new(), ty),
            _ => return None,
        },
        _ => return None,
    };
    Some(Rewrite::Value(value))
}

/// Dimensions of size 1 where the result has more, then copies along them.
fn broadcast(rewriter: &mut Rewriter<'_>, operand: ValueId, dims: &[usize], ty: Type) -> ValueId {
    let mut sizes = rewriter.ty(operand).sizes().to_vec();
    let element = rewriter.element(operand);
    if sizes.is_empty() {
        let number = rewriter.push(Kind::ToElement, vec![operand], Type::Scalar(element));
        let kind = if ty.sizes().is_empty() { Kind::FromElement } else { Kind::Triton(Triton::Splat) };
        return rewriter.push(kind, vec![number], ty);
    }
    let (mut value, mut axis, mut dims) = (operand, 0, dims.iter().peekable());
    for dim in 0..ty.sizes().len() {
        if dims.next_if(|&&of| of == dim).is_some() {
            axis = dim + 1;
            continue;
        }
        sizes.insert(axis.min(sizes.len()), 1);
        let expanded = Type::Tile(element, sizes.clone());
        value = rewriter.push(Kind::Triton(Triton::ExpandDims { axis }), vec![value], expanded);
    }
    rewriter.push(Kind::Triton(Triton::Broadcast), vec![value], ty)
}

fn reshape(rewriter: &mut Rewriter<'_>, operand: ValueId, ty: Type) -> ValueId {
    let element = rewriter.element(operand);
    match (rewriter.ty(operand).sizes().is_empty(), ty.sizes().is_empty()) {
        (true, true) => operand,
        (true, false) => {
            let number = rewriter.push(Kind::ToElement, vec![operand], Type::Scalar(element));
            rewriter.push(Kind::Triton(Triton::Splat), vec![number], ty)
        }
        (false, true) => {
            let number = rewriter.push(Kind::Triton(Triton::Unsplat), vec![operand], Type::Scalar(element));
            rewriter.push(Kind::FromElement, vec![number], ty)
        }
        (false, false) => rewriter.push(Kind::Triton(Triton::Reshape), vec![operand], ty),
    }
}
