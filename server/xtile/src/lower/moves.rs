//! Simpler forms of Triton's ops on tiles. Source: `lib/Dialect/Triton/IR/Ops.cpp` of Triton.

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Kind, Op, Triton, Type};

pub(super) fn simplify(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let (Kind::Triton(triton), &[operand]) = (&op.kind, &op.operands[..]) else { return None };
    let ty = rewriter.ty(op.result()?).clone();
    let (Kind::Triton(inner), &[source]) = rewriter.definition(operand)? else { return None };
    let value = match (triton, inner) {
        (Triton::ExpandDims { .. } | Triton::Reshape | Triton::Broadcast, Triton::Splat) => {
            rewriter.push(Kind::Triton(Triton::Splat), vec![source], ty)
        }
        (Triton::ExpandDims { axis }, Triton::Broadcast) => {
            let mut sizes = rewriter.ty(source).sizes().to_vec();
            sizes.insert((*axis).min(sizes.len()), 1);
            let expanded = Type::Tile(ty.element()?, sizes);
            let expanded =
                rewriter.push(Kind::Triton(Triton::ExpandDims { axis: *axis }), vec![source], expanded);
            rewriter.push(Kind::Triton(Triton::Broadcast), vec![expanded], ty)
        }
        (Triton::Broadcast, Triton::Broadcast) => {
            rewriter.push(Kind::Triton(Triton::Broadcast), vec![source], ty)
        }
        (Triton::Reshape, Triton::Reshape) => rewriter.push(Kind::Triton(Triton::Reshape), vec![source], ty),
        _ => return None,
    };
    Some(Rewrite::Value(value))
}
