//! Dots of scaled operands that are added to a sum become `tt.dot_scaled` on matrices.
//! Source: `backends/gpu/codegen/triton/transforms/xtile_lower_to_triton.cc`.

use syntax::hlo::ElementType;

use super::dot::{is_canonical, matrix_plan};
use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Arithmetic, DotDims, Kind, Op, Triton, Type, ValueId};

/// A dot that one addition uses.
struct Added {
    dims: DotDims,
    has_scales: [bool; 2],
    elements: [ElementType; 2],
    is_packed_along_k: [bool; 2],
    operands: Vec<ValueId>,
    sum: ValueId,
}

impl Added {
    fn of(rewriter: &Rewriter<'_>, op: &Op) -> Option<Added> {
        let (Kind::Arithmetic(Arithmetic::Add), &[a, b]) = (&op.kind, &op.operands[..]) else { return None };
        let of = |dot: ValueId, sum: ValueId| {
            let (Kind::ScaledDot { dims, has_scales, elements, is_packed_along_k }, operands) =
                rewriter.definition(dot)?
            else {
                return None;
            };
            let (dims, operands) = (dims.clone(), operands.to_vec());
            let dot = Added {
                dims,
                has_scales: *has_scales,
                elements: *elements,
                is_packed_along_k: *is_packed_along_k,
                operands,
                sum,
            };
            Some(dot)
        };
        let dot =
            [(a, b), (b, a)].into_iter().find_map(|(dot, sum)| of(dot, sum).map(|added| (dot, added)))?;
        rewriter.has_one_use(dot.0).then_some(dot.1)
    }

    /// Whether each operand is on the left.
    fn is_left(&self) -> impl Iterator<Item = bool> + use<> {
        let scales = [true, false].into_iter().zip(self.has_scales);
        [true, false]
            .into_iter()
            .chain(scales.filter(|(_, has_scale)| *has_scale).map(|(is_left, _)| is_left))
    }
}

/// Makes operands, scales and result matrices.
pub(super) fn canonicalize(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let dot = Added::of(rewriter, op).filter(|dot| !is_canonical(rewriter, &dot.dims, &dot.operands))?;
    let plans: Option<Vec<_>> = (dot.operands.iter().zip(dot.is_left()))
        .map(|(&operand, is_left)| {
            let contracted = &dot.dims.contracted[usize::from(!is_left)];
            matrix_plan(rewriter, operand, contracted, is_left).map(|plan| (operand, plan))
        })
        .collect();
    let operands: Vec<ValueId> =
        plans?.into_iter().map(|(operand, plan)| plan.apply(rewriter, operand)).collect();
    let ty = rewriter.ty(op.result()?).clone();
    let sizes: Vec<i64> = ty.sizes().iter().copied().filter(|&size| size != 1).collect();
    let matrix = Type::Tile(ty.element()?, Some(sizes).filter(|sizes| sizes.len() == 2)?);
    let dims = DotDims { batch: Default::default(), contracted: [vec![1], vec![0]], ..dot.dims };
    let Added { has_scales, elements, is_packed_along_k, .. } = dot;
    let kind = Kind::ScaledDot { dims, has_scales, elements, is_packed_along_k };
    let product = rewriter.push(kind, operands, matrix.clone());
    let sum = rewriter.push(Kind::Reshape, vec![dot.sum], matrix.clone());
    let sum = rewriter.push(Kind::Arithmetic(Arithmetic::Add), vec![product, sum], matrix);
    Some(Rewrite::Value(rewriter.push(Kind::Reshape, vec![sum], ty)))
}

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let dot = Added::of(rewriter, op).filter(|dot| is_canonical(rewriter, &dot.dims, &dot.operands))?;
    let ty = rewriter.ty(op.result()?).clone();
    let Added { has_scales, elements, is_packed_along_k, .. } = dot;
    let kind = Kind::Triton(Triton::ScaledDot { has_scales, elements, is_packed_along_k });
    let operands = dot.operands.into_iter().chain([dot.sum]).collect();
    Some(Rewrite::Value(rewriter.push(kind, operands, ty)))
}
