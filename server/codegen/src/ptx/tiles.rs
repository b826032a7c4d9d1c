//! Loops of packed transposes: XLA's unrolling, and the accesses that LLVM joins.

use indexing_map::{BinaryOp, Expr, RangeContext, Simplifier, SimplifyMode};

use super::map_loop::MapLoop;
use super::unrolling::{partial_unroll, size};
use crate::kernel::{Function, Kernel, Op, OpKind, Region, Type};

/// The number of ops, as XLA counts them, for an element that is read from shared memory.
const ELEMENT_OUT: i64 = 12;
/// The number of ops of a condition in the loop.
const CONDITION: i64 = 6;
/// The number of iterations that are unrolled whatever their size.
const FEW: i64 = 4;
/// The maximum size, in ops of XLA, that LLVM finally unrolls if XLA left two iterations: on the way in, and
/// on the way out.
const LEFT_IN: i64 = 600;
const LEFT_OUT: i64 = 560;
const MAX_SIZE: i64 = 400;
/// A variable of thread maps.
const BL_X: u32 = 3;
/// The maximum number of summands of a position whose lowest bits LLVM still knows in the second row of an
/// unrolled iteration.
const MAX_SUMMANDS: usize = 4;
/// The maximum depth of nested functions that are examined.
const MAX_DEPTH: u32 = 8;

/// A loop of a packed transpose that reads or writes a tile.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile {
    /// The number of ops of one iteration as XLA counts them, and with the functions that LLVM inlines.
    size: i64,
    whole: i64,
    /// The maximum number of ops for full unrolling.
    most: i64,
    /// The number of iterations of one unrolled iteration.
    pub in_turn: i64,
    /// The number of rows of adjacent elements that are joined, `None` for all; first if the tile was written
    /// unconditionally, then if it was written in a branch.
    joined: [Option<i64>; 2],
    /// The number of elements in such a row.
    vector: i64,
    /// Whether several transposes go through shared memory on the way in.
    is_several: bool,
    /// Whether the loop writes the tile.
    pub is_way_in: bool,
}

impl Tile {
    pub fn is_unrolled(self, rounds: i64) -> bool {
        rounds <= FEW || rounds.saturating_mul(self.whole) <= self.most
    }

    /// The number of elements of a row, if several transposes read them.
    pub fn of_several(self) -> Option<i64> {
        self.is_several.then_some(self.vector)
    }

    pub fn factor(self, rounds: i64) -> i64 {
        partial_unroll(rounds, self.size)
    }

    /// Whether this iteration comes after those whose accesses are joined. If the loop is not fully unrolled,
    /// none are joined.
    pub fn is_parted(self, round: i64, is_whole: bool, is_guarded: bool) -> bool {
        let Some(joined) = self.joined[usize::from(is_guarded)] else { return false };
        !is_whole || round / self.vector.max(1) >= joined
    }
}

impl Tile {
    /// The loop as a tile loop; `None` if it is not one.
    pub fn of(kernel: &Kernel, function: &Function, map_loop: MapLoop<'_>) -> Option<Tile> {
        let MapLoop { map, body, .. } = map_loop;
        let is_tile = |tensor| match function.ty(tensor) {
            Type::Shared(array) => matches!(array.dims.as_slice(), [rows, columns] if rows == columns),
            _ => false,
        };
        let (mut reads, mut writes) = (0, 0);
        for op in &body.ops {
            match op.kind {
                OpKind::Read { tensor, .. } => reads += i64::from(is_tile(tensor)),
                OpKind::Write { tensor, .. } => writes += i64::from(is_tile(tensor)),
                _ => {}
            }
        }
        let rounds = |n: usize| map.ranges().get(n).and_then(|v| i64::try_from(v.bounds.size()).ok());
        let vector = rounds(map.num_ranges().checked_sub(1)?)?;
        let in_turn: i64 = (1..map.num_ranges()).map(rounds).product::<Option<i64>>()?;
        let heroes = reads.max(writes);
        if heroes == 0 || map.num_ranges() < 2 {
            return None;
        }
        let more = (size(body, kernel) - 2 * heroes).max(0);
        // XLA does not inline a function that is called more than once.
        let apart = (size_of_calls(body, kernel) - 2 * heroes).max(0);
        if writes > 0 {
            let first = map.num_dims() as u32;
            let is_asked = map.constraints().iter().any(|c| c.expr.uses_var(first));
            let conditions = if is_asked { CONDITION } else { 0 };
            // Two positions and the store; a load of a vector, or of its elements one by one.
            let of = |more: i64| match more {
                0 => heroes * (3 + vector) + 1,
                more => {
                    (heroes * (2 + vector * (2 + vector)) + 1).saturating_add(more.saturating_mul(vector))
                }
            };
            let is_direct = more == 0;
            return Some(Tile {
                size: if is_direct { of(0) } else { of(apart.max(1)) } + conditions,
                whole: of(more).saturating_add(conditions),
                most: if is_asked { MAX_SIZE } else { LEFT_IN },
                in_turn,
                // With several transposes, XLA itself joins nothing.
                joined: [(heroes > 1).then_some(1); 2],
                vector,
                is_several: heroes > 1,
                is_way_in: true,
            });
        }
        let is_alone = reads_of_arrays(function, body, kernel, 0) == 0;
        let rows = if is_alone { in_turn / vector.max(1) } else { 1 };
        let joined = [false, true].map(|is_guarded| rows_joined(function, map_loop, (rows, is_guarded)));
        Some(Tile {
            size: (ELEMENT_OUT * heroes + more).saturating_mul(in_turn),
            whole: (ELEMENT_OUT * heroes + more).saturating_mul(in_turn),
            most: LEFT_OUT,
            in_turn,
            joined,
            vector,
            is_several: false,
            is_way_in: false,
        })
    }
}

/// The number of rows of an unrolled iteration that are joined on the way out: all if the block contributes
/// at most one summand to the position. Otherwise LLVM sees that elements are adjacent only while it knows
/// the lowest bits of the position, and it examines sums of few summands (`MaxAnalysisRecursionDepth` of
/// `ValueTracking.h`). The distance of a row is one more summand unless it is a single bit of its own.
fn rows_joined(
    function: &Function,
    map_loop: MapLoop<'_>,
    (rows, is_tile_guarded): (i64, bool),
) -> Option<i64> {
    let MapLoop { map, results, .. } = map_loop;
    let first = map.num_dims() as u32;
    let mut linear = Expr::ZERO;
    let mut stride = 1i64;
    // The distance between rows.
    let mut distance: Option<i64> = None;
    for (expr, &result) in map.results().iter().zip(results).rev() {
        if expr.uses_var(first + 1) {
            distance.get_or_insert(stride);
        }
        linear = linear + expr.clone() * stride;
        let bounds = function.index_vars[result as usize].bounds;
        stride = stride.saturating_mul(i64::try_from(bounds.size()).unwrap_or(i64::MAX));
    }
    let ranges = RangeContext::new(map.variables(), &[]);
    let linear = Simplifier::new(ranges, SimplifyMode::Replace).simplify(&linear);
    let mut summands = Vec::new();
    split(&linear, &mut summands);
    let count = |var: u32| summands.iter().filter(|summand| summand.uses_var(var)).count();
    if count(first) > 1 {
        return Some(0);
    }
    let distance = distance?;
    if count(BL_X) <= 1 {
        return None;
    }
    let is_asked = |var: u32| map.constraints().iter().any(|c| c.expr.uses_var(var));
    // Rows with conditions of their own are in separate branches.
    let rows = if is_asked(first + 1) { rows.min(1) } else { rows };
    if distance & (distance - 1) == 0 {
        return Some(rows);
    }
    // Values that loads in a branch have computed leave it as a phi, whose bits LLVM does not know at this
    // depth.
    if is_tile_guarded {
        return Some(0);
    }
    // The summands of all indices that are the same in all iterations.
    let mut parts = Vec::new();
    map.results().iter().for_each(|expr| split(expr, &mut parts));
    let is_open =
        |part: &&&Expr| part.as_const().is_none() && (first..first + 3).all(|var| !part.uses_var(var));
    let is_shallow = parts.iter().filter(is_open).count() <= MAX_SUMMANDS;
    // The position in a tile of several matrices is summed in another order if stores are guarded.
    let matrices = map.results().iter().filter(|expr| expr.uses_var(first)).count();
    Some(if is_shallow && (map.constraints().is_empty() || matrices <= 1) { rows } else { rows.min(1) })
}

/// The number of ops of a body and of its functions. Functions that it calls more than once count as one op
/// per call.
fn size_of_calls(body: &Region, kernel: &Kernel) -> i64 {
    let called = |op: &Op| match op.kind {
        OpKind::Call { function, .. } => Some(function),
        _ => None,
    };
    let mut sum = 0i64;
    for op in &body.ops {
        let is_apart = called(op).is_some_and(|function| {
            body.ops.iter().filter(|other| called(other) == Some(function)).count() > 1
        });
        sum = sum.saturating_add(match called(op).and_then(|function| kernel.functions.get(function)) {
            _ if is_apart => 1,
            Some(function) => size(&function.body, kernel),
            None => 1,
        });
    }
    sum
}

fn split<'e>(expr: &'e Expr, summands: &mut Vec<&'e Expr>) {
    match expr.as_binary() {
        Some((BinaryOp::Add, left, right)) => {
            split(left, summands);
            split(right, summands);
        }
        _ => summands.push(expr),
    }
}

/// Whether a loop moves vectors through shared memory; of these, LLVM joins only those under the first
/// condition.
pub(super) fn moves_vectors(function: &Function, body: &Region) -> bool {
    body.ops.iter().any(|op| match op.kind {
        OpKind::Read { tensor, .. } | OpKind::Write { tensor, .. } => {
            matches!(function.ty(tensor), Type::Shared(array) if array.dims.len() == 3)
        }
        _ => false,
    })
}

/// The number of elements of arrays in global memory that a body reads.
fn reads_of_arrays(function: &Function, body: &Region, kernel: &Kernel, depth: u32) -> usize {
    let of = |op: &Op| match &op.kind {
        OpKind::Read { tensor, .. } => usize::from(matches!(function.ty(*tensor), Type::Tensor(_))),
        OpKind::Call { function, .. } if depth < MAX_DEPTH => {
            let called = kernel.functions.get(*function);
            called.map_or(0, |called| reads_of_arrays(called, &called.body, kernel, depth + 1))
        }
        _ => 0,
    };
    body.ops.iter().map(of).sum()
}
