//! The column reduction emitter: a tile as wide as a warp goes through shared memory, so that a warp reduces
//! a column. Dimensions: threads {reduced, kept}; blocks {kept major, vectors of the kept minor}; of the
//! input {kept major, reduced, kept minor}.

use indexing_map::{Expr, ceil_div};
use ir::OpId;

use super::Context;
use super::reduction::{Exchange, ReductionPlan, ReductionVariant, Written};
use crate::reduction_dims::ReductionDims;
use crate::thread_map::RANGES;
use crate::unroll::reduction_vector;

/// Source: `ColumnReductionFusion`, `backends/gpu/codegen/emitters/reduction.cc`.
pub(super) fn plan(context: &Context<'_>, heroes: &[OpId], dims: ReductionDims) -> Option<ReductionPlan> {
    let ReductionDims::Column { major_kept, reduced, minor_kept } = dims else { return None };
    let warp = context.device.threads_per_warp;
    // As many warps as a warp has threads, if a block may have that many.
    let warps = warp.min(context.device.threads_per_block_limit / warp);
    let vector = reduction_vector(context.fused, heroes, minor_kept, warp);
    Some(ReductionPlan {
        variant: ReductionVariant::Column,
        dims,
        vector,
        threads: vec![warps, warp],
        tile: vec![ceil_div(reduced, warps)?, vector],
        blocks: vec![major_kept, ceil_div(minor_kept, warp * vector)?],
        shared_elements: warps * (warp * vector + 1),
        warp,
    })
}

pub(super) fn read(plan: &ReductionPlan, t: &[Expr], b: &[Expr], s: &[Expr]) -> (Vec<Expr>, Vec<i64>) {
    let ReductionDims::Column { major_kept, reduced, minor_kept } = plan.dims else {
        return Default::default();
    };
    let row = t[0].clone() + s[0].clone() * plan.threads[0];
    let column = (b[1].clone() * plan.threads[1] + t[1].clone()) * plan.vector + s[1].clone();
    (vec![b[0].clone(), row, column], vec![major_kept, reduced, minor_kept])
}

/// Each warp writes a row of the tile and reads a column of it, or several if a block has fewer warps than a
/// warp has threads.
pub(super) fn exchange(plan: &ReductionPlan, t: &[Expr]) -> Exchange {
    let dims = vec![plan.threads[0], plan.shared_elements / plan.threads[0].max(1)];
    let column = |thread: &Expr, columns: i64| match columns {
        1 => thread.clone(),
        columns => thread.clone() * columns + Expr::var(RANGES),
    };
    if plan.threads[0] == plan.threads[1] {
        return Exchange {
            dims,
            write: vec![t[1].clone(), column(&t[0], plan.vector)],
            writes_if_zero: Expr::ZERO,
            read: vec![t[0].clone(), column(&t[1], plan.vector)],
            reads_if_below: (Expr::ZERO, 1),
            distance: plan.warp / 2,
        };
    }
    Exchange {
        dims,
        write: vec![t[0].clone(), column(&t[1], plan.vector)],
        writes_if_zero: Expr::ZERO,
        read: vec![t[1].clone(), column(&t[0], written_columns(plan))],
        reads_if_below: (t[1].clone(), plan.threads[0]),
        distance: plan.threads[0] / 2,
    }
}

/// The number of columns whose results a thread writes.
pub(super) fn written_columns(plan: &ReductionPlan) -> i64 {
    plan.vector * (plan.threads[1] / plan.threads[0].max(1)).max(1)
}

pub(super) fn written(plan: &ReductionPlan, t: &[Expr], b: &[Expr]) -> Written {
    let (major_kept, minor_kept) = match plan.dims {
        ReductionDims::Column { major_kept, minor_kept, .. } => (major_kept, minor_kept),
        ReductionDims::Row { .. } => (0, 0),
    };
    // After the transposition each warp has a column.
    let vector = Expr::var(crate::thread_map::RANGES);
    let columns = written_columns(plan);
    let column = (b[1].clone() * plan.threads[0] + t[0].clone()) * columns + vector;
    Written {
        results: vec![b[0].clone(), column],
        ranges: vec![columns],
        sizes: vec![major_kept, minor_kept],
        writes_if_zero: t[1].clone(),
    }
}
