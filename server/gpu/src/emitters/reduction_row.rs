//! The row reduction emitter. Dimensions: threads and blocks {kept, reduced}; of the input {reduced major, kept, vectors of
//! the reduced minor, vector}.

use indexing_map::{Expr, ceil_div};
use ir::OpId;

use super::Context;
use super::reduction::{Exchange, ReductionPlan, ReductionVariant, Written};
use crate::reduction_dims::ReductionDims;
use crate::unroll::reduction_vector;

/// The number of elements of a row that a thread reduces.
const ELEMENTS_PER_THREAD: i64 = 16;
/// Rows share a block as long as it has fewer threads than this.
pub(super) const THREADS_PER_BLOCK: i64 = 256;
const MAX_THREADS: i64 = 1024;

/// Source: `RowReductionFusion`, `backends/gpu/codegen/emitters/reduction.cc`.
pub(super) fn plan(context: &Context<'_>, heroes: &[OpId], dims: ReductionDims) -> Option<ReductionPlan> {
    let ReductionDims::Row { major_reduced, kept, minor_reduced } = dims else { return None };
    let warp = context.device.threads_per_warp;
    let needed = ceil_div(minor_reduced, ELEMENTS_PER_THREAD)?;
    let in_row = ceil_div(needed, warp)?.max(1).checked_mul(warp)?.min(MAX_THREADS);
    let rows = match 2 * in_row <= THREADS_PER_BLOCK {
        true if kept.checked_mul(in_row)? <= THREADS_PER_BLOCK => kept,
        true => THREADS_PER_BLOCK / in_row,
        false => 1,
    };
    let vector = reduction_vector(context.fused, heroes, minor_reduced, in_row);
    let vectors = minor_reduced / vector;
    // A tighter bound: the simplifier cannot derive it from the constraints.
    let turns = (ELEMENTS_PER_THREAD / vector).min(ceil_div(vectors, in_row)?).max(1);
    let warps = in_row / warp;
    // One column of padding if all rows would start in the same bank.
    let padded = warps + i64::from(warps % warp == 0);
    Some(ReductionPlan {
        variant: ReductionVariant::Row,
        dims,
        vector,
        threads: vec![rows, in_row],
        tile: vec![major_reduced, turns, vector],
        blocks: vec![ceil_div(kept, rows.max(1))?, ceil_div(vectors, turns.checked_mul(in_row)?)?],
        shared_elements: if warps > 1 { rows * padded } else { 0 },
        warp,
    })
}

pub(super) fn read(plan: &ReductionPlan, t: &[Expr], b: &[Expr], s: &[Expr]) -> (Vec<Expr>, Vec<i64>) {
    let ReductionDims::Row { major_reduced, kept, minor_reduced } = plan.dims else {
        return Default::default();
    };
    let (rows, in_row, turns) = (plan.threads[0], plan.threads[1], plan.tile[1]);
    let column = b[1].clone() * (turns * in_row) + s[1].clone() * in_row + t[1].clone();
    let results = vec![s[0].clone(), b[0].clone() * rows + t[0].clone(), column, s[2].clone()];
    (results, vec![major_reduced, kept, minor_reduced / plan.vector, plan.vector])
}

/// Each warp writes its result; the first warp of a row combines those of the row.
pub(super) fn exchange(plan: &ReductionPlan, t: &[Expr]) -> Option<Exchange> {
    let warps = plan.threads[1] / plan.warp;
    if warps <= 1 {
        return None;
    }
    let lane = t[1].clone().modulo(plan.warp);
    Some(Exchange {
        dims: vec![plan.threads[0], plan.shared_elements / plan.threads[0].max(1)],
        write: vec![t[0].clone(), t[1].clone().floor_div(plan.warp)],
        writes_if_zero: lane.clone(),
        read: vec![t[0].clone(), lane],
        reads_if_below: (t[1].clone(), warps),
        distance: plan.warp / 2,
    })
}

pub(super) fn written(plan: &ReductionPlan, t: &[Expr], b: &[Expr]) -> Written {
    let kept = match plan.dims {
        ReductionDims::Row { kept, .. } => kept,
        ReductionDims::Column { .. } => 0,
    };
    Written {
        results: vec![b[0].clone() * plan.threads[0] + t[0].clone()],
        ranges: Vec::new(),
        sizes: vec![kept],
        writes_if_zero: t[1].clone(),
    }
}
