//! The multi-row reduction emitter, for rows that fit in a warp. Dimensions: threads {kept, reduced}; blocks
//! {kept}; of the input {reduced major, kept, reduced minor}.

use indexing_map::{Expr, ceil_div};
use ir::OpId;

use super::Context;
use super::reduction::{ReductionPlan, ReductionVariant, Written};
use super::reduction_row::{self, THREADS_PER_BLOCK};
use crate::reduction_dims::ReductionDims;

/// `None` if rows are too long, or of a size that is not a power of two, and for reductions with several results.
/// Source: `MultiRowReductionFusion`, `backends/gpu/codegen/emitters/reduction.cc`.
pub(super) fn plan(context: &Context<'_>, heroes: &[OpId], dims: ReductionDims) -> Option<ReductionPlan> {
    let ReductionDims::Row { major_reduced, kept, minor_reduced } = dims else { return None };
    let has_several_results = |&hero: &OpId| context.fused.op(hero).shape.tuple_elements().is_some();
    if heroes.iter().any(has_several_results) {
        return None;
    }
    if !u64::try_from(minor_reduced).ok()?.is_power_of_two() {
        return None;
    }
    // XLA uses the narrowest operand and the narrowest result for both bounds.
    let (input, output) = (context.fused.smallest_input_bits(), context.fused.smallest_output_bits());
    let smallest = input.into_iter().chain(output).min()?;
    let largest = input.into_iter().chain(output).max()?;
    let mut vector = minor_reduced.min(64 / smallest);
    if largest >= 32 {
        vector = vector.min(128 / largest);
    }
    let warp = context.device.threads_per_warp;
    let fits = |vector: i64| vector >= 1 && minor_reduced <= warp * vector;
    if !fits(vector) {
        return None;
    }
    let threads = |vector: i64| {
        let in_row = minor_reduced / vector;
        let rows = match in_row * 2 <= THREADS_PER_BLOCK {
            true if kept.saturating_mul(in_row) <= THREADS_PER_BLOCK => kept,
            true => THREADS_PER_BLOCK / in_row,
            false => 1,
        };
        [rows, in_row]
    };
    let blocks = |vector: i64| ceil_div(kept, threads(vector)[0].max(1));
    while vector > 1 && blocks(vector)? < context.device.cores {
        vector /= 2;
    }
    if !fits(vector) {
        return None;
    }
    Some(ReductionPlan {
        variant: ReductionVariant::MultiRow,
        dims,
        vector,
        threads: threads(vector).to_vec(),
        tile: vec![major_reduced, vector],
        blocks: vec![blocks(vector)?],
        shared_elements: 0,
        warp,
    })
}

pub(super) fn read(plan: &ReductionPlan, t: &[Expr], b: &[Expr], s: &[Expr]) -> (Vec<Expr>, Vec<i64>) {
    let ReductionDims::Row { major_reduced, kept, minor_reduced } = plan.dims else {
        return Default::default();
    };
    let row = b[0].clone() * plan.threads[0] + t[0].clone();
    let results = vec![s[0].clone(), row, t[1].clone() * plan.vector + s[1].clone()];
    (results, vec![major_reduced, kept, minor_reduced])
}

pub(super) fn written(plan: &ReductionPlan, t: &[Expr], b: &[Expr]) -> Written {
    Written { writes_if_zero: t[1].clone().modulo(plan.threads[1]), ..reduction_row::written(plan, t, b) }
}
