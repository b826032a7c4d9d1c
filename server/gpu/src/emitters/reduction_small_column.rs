//! The small column reduction emitter: threads follow memory order over several rows of few columns at once.
//! Dimensions: threads and blocks have one; of the input {kept major, reduced times kept minor}.

use indexing_map::{Expr, ceil_div};
use ir::OpId;

use super::Context;
use super::reduction::{Exchange, ReductionPlan, ReductionVariant, Written};
use crate::reduction_dims::ReductionDims;
use crate::thread_map::{RANGES, TH_X};
use crate::unroll::reduction_vector;

const THREADS: i64 = 128;

/// `None` if a warp does not hold a whole number of rows.
/// Source: `SmallColumnReductionFusion`, `backends/gpu/codegen/emitters/reduction.cc`.
pub(super) fn plan(context: &Context<'_>, heroes: &[OpId], dims: ReductionDims) -> Option<ReductionPlan> {
    let ReductionDims::Column { major_kept, reduced, minor_kept } = dims else { return None };
    let warp = context.device.threads_per_warp;
    if minor_kept <= 0 || warp % minor_kept != 0 {
        return None;
    }
    let elements = reduced.checked_mul(minor_kept)?;
    let mut vector = reduction_vector(context.fused, heroes, elements, warp);
    let mut threads = THREADS;
    let mut rows = vector * threads / minor_kept;
    // More rows than a warp reduces at once would need another pass through shared memory.
    while rows > warp && vector > 1 {
        vector /= 2;
        rows /= 2;
    }
    if rows > warp {
        threads /= rows / warp;
        rows = warp;
    }
    Some(ReductionPlan {
        variant: ReductionVariant::SmallColumn,
        dims,
        vector,
        threads: vec![threads],
        tile: vec![ceil_div(elements, threads * vector)?, vector],
        blocks: vec![major_kept],
        shared_elements: rows * (minor_kept + 1),
        warp,
    })
}

/// The number of rows in shared memory, which is the number of partial results of a column.
fn shared_rows(plan: &ReductionPlan, minor_kept: i64) -> i64 {
    plan.threads[0] * plan.vector / minor_kept.max(1)
}

pub(super) fn read(plan: &ReductionPlan, t: &[Expr], b: &[Expr], s: &[Expr]) -> (Vec<Expr>, Vec<i64>) {
    let ReductionDims::Column { major_kept, reduced, minor_kept } = plan.dims else {
        return Default::default();
    };
    let linear = t[0].clone() * plan.vector + s[1].clone() + s[0].clone() * (plan.vector * plan.threads[0]);
    let row = linear.clone().floor_div(minor_kept);
    (vec![b[0].clone(), row, linear.modulo(minor_kept)], vec![major_kept, reduced, minor_kept])
}

/// Neighbouring threads write a row and read a column.
pub(super) fn exchange(plan: &ReductionPlan) -> Option<Exchange> {
    let ReductionDims::Column { minor_kept, .. } = plan.dims else { return None };
    let rows = shared_rows(plan, minor_kept);
    let (thread, turn) = (Expr::var(TH_X), Expr::var(RANGES));
    let (own, next) = match plan.vector {
        1 => (thread.clone(), thread),
        vector => (thread.clone() * vector + turn.clone(), thread + turn * plan.threads[0]),
    };
    Some(Exchange {
        dims: vec![rows, minor_kept + 1],
        write: vec![own.clone().floor_div(minor_kept), own.modulo(minor_kept)],
        writes_if_zero: Expr::ZERO,
        read: vec![next.clone().modulo(rows), next.floor_div(rows)],
        reads_if_below: (Expr::ZERO, 1),
        distance: rows / 2,
    })
}

pub(super) fn written(plan: &ReductionPlan, b: &[Expr]) -> Written {
    let (major_kept, minor_kept) = match plan.dims {
        ReductionDims::Column { major_kept, minor_kept, .. } => (major_kept, minor_kept),
        ReductionDims::Row { .. } => (0, 1),
    };
    let rows = shared_rows(plan, minor_kept);
    let linear = Expr::var(TH_X) + Expr::var(RANGES) * plan.threads[0];
    Written {
        results: vec![b[0].clone(), linear.floor_div(rows)],
        ranges: vec![plan.vector],
        sizes: vec![major_kept, minor_kept],
        writes_if_zero: Expr::var(TH_X).modulo(rows),
    }
}
