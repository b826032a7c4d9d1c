//! Loops and conditions: those of one step or a known condition go, and what a loop carries loses its
//! dimensions of size 1. Source: `mlir/lib/Dialect/SCF/IR/SCF.cpp`,
//! `backends/gpu/codegen/triton/transforms/triton_xla_fold_reshape_around_for_loop_pass.cc`.

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Block, Kind, Op, Triton, Type};

pub(super) fn simplify(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    match op.kind {
        Kind::For => {
            let &[start, end, step, ref inits @ ..] = &op.operands[..] else { return None };
            let [from, to, by] = [start, end, step].map(|value| rewriter.index_constant(value));
            let (from, to, by) = (from?, to?, by?);
            if from >= to {
                return inits.first().map(|&init| Rewrite::Value(init));
            }
            let is_single = from.checked_add(by).is_some_and(|next| next >= to);
            let given = std::iter::once(start).chain(inits.iter().copied()).collect();
            is_single.then(|| Rewrite::Inline(op.blocks.first().cloned().unwrap_or_default(), given))
        }
        Kind::If => {
            let condition = rewriter.constant(*op.operands.first()?)?;
            let taken = op.blocks.get(usize::from(condition.bits == 0))?;
            Some(Rewrite::Inline(taken.clone(), Vec::new()))
        }
        _ => None,
    }
}

/// Carries what a reshape adds dimensions to, and adds them where the loop and its body use the value.
pub(super) fn carry_without_unit_dims(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let (Kind::For, &[start, end, step, init], [body]) = (&op.kind, &op.operands[..], &op.blocks[..]) else {
        return None;
    };
    let (&[counter, carried], &[yielded]) = (&body.arguments[..], &body.yields[..]) else { return None };
    let reshape = body.ops.iter().find(|op| op.result() == Some(yielded))?;
    let (Kind::Triton(Triton::Reshape), &[inner]) = (&reshape.kind, &reshape.operands[..]) else {
        return None;
    };
    let (small, large) = (rewriter.ty(inner).clone(), rewriter.ty(yielded).clone());
    if small.sizes().len() >= large.sizes().len() {
        return None;
    }
    let init = reshaped(rewriter, init, small.clone());
    let argument = rewriter.new_value(small.clone());
    let expanded = Op {
        kind: Kind::Triton(Triton::Reshape),
        operands: vec![argument],
        results: vec![carried],
        blocks: Vec::new(),
        origin: op.origin,
    };
    let ops = std::iter::once(expanded).chain(body.ops.iter().cloned()).collect();
    let body = Block { arguments: vec![counter, argument], ops, yields: vec![inner] };
    let result = rewriter.push_with(Kind::For, vec![start, end, step, init], vec![body], small);
    Some(Rewrite::Value(reshaped(rewriter, result, large)))
}

fn reshaped(rewriter: &mut Rewriter<'_>, value: u32, ty: Type) -> u32 {
    rewriter.push(Kind::Triton(Triton::Reshape), vec![value], ty)
}
