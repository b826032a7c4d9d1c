//! `tree-reduction-rewriter`: reduces in two steps what one block of threads cannot reduce, so that no atomics are needed.
//!
//! Source: XLA `backends/gpu/transforms/tree_reduction_rewriter.cc`.

use gpu::ReductionDims;
use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, add_copy, every_until_unchanged, replace};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};
use crate::shapes::of_element;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every_until_unchanged(run, |run, id| {
        if run.module[id].opcode() == Opcode::Reduce {
            rewrite(run, id);
        }
    });
    Ok(())
}

fn rewrite(run: &mut Run<'_>, id: InstructionId) {
    let reduce = &run.module[id];
    if !gpu::is_reduction_hero(reduce.op(), run.options.device) || reduce.has_control_dependencies() {
        return;
    }
    let Some(dims) = ReductionDims::of(reduce.op()) else { return };
    let mut reduced = reduce.dimensions().to_vec();
    reduced.sort_unstable();
    let Some(&minor) = reduced.last() else { return };
    if gpu::is_race_free(&dims) || reduced.len() > 2 {
        return;
    }
    let sizes = run.module[reduce.operands()[0]].dims().to_vec();
    match dims {
        ReductionDims::Row { major_reduced, .. } if major_reduced > gpu::RACE_FREE_MAJOR => {
            let mut kept = sizes;
            kept.remove(minor as usize);
            let inner = add_reduce(run, id, &inputs(run, id), &[minor], &kept);
            finish(run, id, inner, 0, "reduces rows, then their results");
        }
        _ => split(run, id, &dims, &reduced, sizes),
    }
}

/// The reduced arrays.
fn inputs(run: &Run<'_>, id: InstructionId) -> Vec<InstructionId> {
    let operands = run.module[id].operands();
    operands[..operands.len() / 2].to_vec()
}

/// Splits the last reduced dimension in two, after padding where its size is not a product.
fn split(run: &mut Run<'_>, id: InstructionId, dims: &ReductionDims, reduced: &[i64], mut sizes: Vec<i64>) {
    let Some(&dim) = reduced.last() else { return };
    let at = dim as usize;
    let old = sizes[at];
    let Some((outer, inner)) = factors(old, dims) else { return };
    let mut inputs = inputs(run, id);
    if outer * inner != old {
        sizes[at] = outer * inner;
        let padding: Vec<[i64; 3]> =
            (0..sizes.len()).map(|of| [0, if of == at { outer * inner - old } else { 0 }, 0]).collect();
        let initial = run.module[id].operands()[inputs.len()..].to_vec();
        for (input, &initial) in inputs.iter_mut().zip(&initial) {
            let Some(shape) = of_element(run.module[*input].shape(), &sizes) else { return };
            let new = NewOp::new(Opcode::Pad, shape, &[*input, initial])
                .with(AttributeKey::Padding, padding.clone());
            *input = add(run, *input, new);
        }
    }
    sizes.splice(at..=at, [outer, inner]);
    for input in &mut inputs {
        let Some(shape) = of_element(run.module[*input].shape(), &sizes) else { return };
        *input = add(run, *input, NewOp::new(Opcode::Bitcast, shape, &[*input]));
    }
    let mut inner_dims = reduced.to_vec();
    let last = inner_dims.len() - 1;
    inner_dims[last] += 1;
    let kept = (0..).zip(&sizes).filter(|(dim, _)| !inner_dims.contains(dim));
    let kept: Vec<i64> = kept.map(|(_, &size)| size).collect();
    let partial = add_reduce(run, id, &inputs, &inner_dims, &kept);
    finish(run, id, partial, dim - last as i64, "reduces parts of the last dimension, then their results");
}

/// A copy of a reduction with other inputs, whose results have these sizes.
fn add_reduce(
    run: &mut Run<'_>,
    id: InstructionId,
    inputs: &[InstructionId],
    reduced: &[i64],
    kept: &[i64],
) -> InstructionId {
    let initial = &run.module[id].operands()[inputs.len()..];
    let operands: Vec<InstructionId> = inputs.iter().chain(initial).copied().collect();
    let of = |&input: &InstructionId| of_element(run.module[input].shape(), kept).unwrap_or(Shape::Opaque);
    let shape = match run.module[id].shape() {
        Shape::Tuple(_) => Shape::tuple(inputs.iter().map(of)),
        _ => of(&inputs[0]),
    };
    let reduce = add_copy(run, id, &operands, shape);
    run.module.attributes_mut(reduce).set(AttributeKey::Dimensions, reduced.to_vec());
    reduce
}

/// Replaces a reduction by one of the partial results of another.
fn finish(run: &mut Run<'_>, id: InstructionId, partial: InstructionId, dim: i64, what: &str) {
    let count = run.module[id].operands().len() / 2;
    let mut operands = match run.module[partial].shape() {
        Shape::Tuple(_) => (0..count as i64).map(|index| run.module.add_element(partial, index)).collect(),
        _ => vec![partial],
    };
    operands.extend_from_slice(&run.module[id].operands()[count..]);
    let shape = run.module[id].shape().clone();
    let outer = add_copy(run, id, &operands, shape);
    run.module.attributes_mut(outer).set(AttributeKey::Dimensions, vec![dim]);
    replace(run, id, outer, what);
}

/// How many parts a dimension of this size is split into, and the size of each. With the least padding, and numbers of
/// threads that are powers of two where there is a choice.
/// Source: `ComputeSplitParams`.
fn factors(size: i64, dims: &ReductionDims) -> Option<(i64, i64)> {
    let bound = gpu::race_free_bound(dims);
    let most = size.isqrt().min(bound).max(1);
    let padding = |parts: i64| (parts - size % parts) % parts;
    let mut least = padding(most);
    let mut inner = (size + least) / most;
    for parts in (most / 2 + 1..most).rev() {
        let padding = padding(parts);
        if padding < least || padding == least && parts.count_ones() == 1 {
            least = padding;
            inner = (size + padding) / parts;
        }
    }
    let outer = inner;
    let inner = (size + least).checked_div(outer)?;
    let is_row = matches!(dims, ReductionDims::Row { .. });
    Some(if should_swap(outer, inner, size, bound, is_row) { (inner, outer) } else { (outer, inner) })
}

/// Source: `ShouldSwapInnerAndOuterReducedMinorDimension`.
fn should_swap(large: i64, small: i64, size: i64, bound: i64, is_row: bool) -> bool {
    if large > bound || !is_row {
        return large <= bound;
    }
    match small % 2 == 0 && size % 2 == 0 {
        true => small * 2 < large || large % 2 == 0,
        false => size % 2 == 0 || large % 2 != 0,
    }
}
