//! Dots that are added to a sum become `tt.dot` on matrices.
//! Source: `backends/gpu/codegen/triton/transforms/stablehlo_lower_to_triton.cc`, `lowering_utils.cc`.

use super::dot_algorithm;
use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Arithmetic, DotDims, Kind, Op, Type, ValueId};

/// A dot that one addition uses.
struct Added {
    dims: DotDims,
    operands: [ValueId; 2],
    sum: ValueId,
}

fn added(rewriter: &Rewriter<'_>, op: &Op) -> Option<Added> {
    let (Kind::Arithmetic(Arithmetic::Add), &[a, b]) = (&op.kind, &op.operands[..]) else { return None };
    let of = |dot: ValueId, sum: ValueId| {
        let (kind, operands) = rewriter.definition(dot)?;
        let (Kind::Dot(dims), &[left, right]) = (kind, operands) else { return None };
        let dims = dims.clone();
        rewriter.has_one_use(dot).then_some(Added { dims, operands: [left, right], sum })
    };
    of(a, b).or_else(|| of(b, a))
}

pub(super) fn is_canonical(rewriter: &Rewriter<'_>, dims: &DotDims, operands: &[ValueId]) -> bool {
    let has_rank_2 = |&operand: &ValueId| rewriter.ty(operand).sizes().len() == 2;
    let DotDims { batch, contracted, .. } = dims;
    batch.iter().all(Vec::is_empty)
        && contracted[0] == [1]
        && contracted[1] == [0]
        && operands.iter().all(has_rank_2)
}

/// Makes operands and result matrices, the contracted dimension in the middle.
pub(super) fn canonicalize(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let dot = added(rewriter, op).filter(|dot| !is_canonical(rewriter, &dot.dims, &dot.operands))?;
    let plans =
        [0, 1].map(|side| matrix_plan(rewriter, dot.operands[side], &dot.dims.contracted[side], side == 0));
    let [Some(left), Some(right)] = plans else { return None };
    let [left, right] =
        [(dot.operands[0], left), (dot.operands[1], right)].map(|(value, plan)| plan.apply(rewriter, value));
    let ty = rewriter.ty(op.result()?).clone();
    let element = ty.element()?;
    let (&rows, &columns) = (rewriter.ty(left).sizes().first()?, rewriter.ty(right).sizes().get(1)?);
    // Several matrices at once: XLA takes the batch for rows, and MLIR refuses what it makes of the result.
    if rows.checked_mul(columns) != ty.sizes().iter().try_fold(1i64, |count, &size| count.checked_mul(size)) {
        return None;
    }
    let matrix = Type::Tile(element, vec![rows, columns]);
    let dims = DotDims { batch: Default::default(), contracted: [vec![1], vec![0]], ..dot.dims };
    let product = rewriter.push(Kind::Dot(dims), vec![left, right], matrix.clone());
    let sum = rewriter.push(Kind::Reshape, vec![dot.sum], matrix.clone());
    let sum = rewriter.push(Kind::Arithmetic(Arithmetic::Add), vec![product, sum], matrix);
    Some(Rewrite::Value(rewriter.push(Kind::Reshape, vec![sum], ty)))
}

/// What makes an operand a matrix.
pub(super) struct Plan {
    /// Without dimensions of size 1, where there are any.
    sizes: Option<[i64; 2]>,
    transposes: bool,
}

pub(super) fn matrix_plan(
    rewriter: &Rewriter<'_>,
    operand: ValueId,
    contracted: &[i64],
    is_left: bool,
) -> Option<Plan> {
    let &[contracted] = contracted else { return None };
    let sizes = rewriter.ty(operand).sizes();
    let kept: Vec<usize> = (0..sizes.len()).filter(|&dim| sizes[dim] != 1).collect();
    let &[first, second] = &kept[..] else { return None };
    let place = if is_left { second } else { first };
    let has_unit_dims = sizes.len() != 2;
    let matrix = [sizes[first], sizes[second]];
    Some(Plan { sizes: has_unit_dims.then_some(matrix), transposes: i64::try_from(place) != Ok(contracted) })
}

impl Plan {
    pub(super) fn apply(&self, rewriter: &mut Rewriter<'_>, mut value: ValueId) -> ValueId {
        let element = rewriter.element(value);
        if let Some(sizes) = self.sizes {
            value = rewriter.push(Kind::Reshape, vec![value], Type::Tile(element, sizes.to_vec()));
        }
        if self.transposes {
            let sizes = rewriter.ty(value).sizes().iter().rev().copied().collect();
            let kind = Kind::Transpose { permutation: vec![1, 0] };
            value = rewriter.push(kind, vec![value], Type::Tile(element, sizes));
        }
        value
    }
}

pub(super) fn lower(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let dot = added(rewriter, op).filter(|dot| is_canonical(rewriter, &dot.dims, &dot.operands))?;
    let ty = rewriter.ty(op.result()?).clone();
    let value = dot_algorithm::emit(rewriter, &dot.dims, dot.operands, dot.sum, ty)?;
    Some(Rewrite::Value(value))
}
