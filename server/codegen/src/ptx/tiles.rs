//! Loops of packed transposes: how many of their rounds XLA writes out, and which of their accesses LLVM joins.

use indexing_map::{BinaryOp, Expr, RangeContext, Simplifier, SimplifyMode};

use super::frame::Frame;
use super::loops::MapLoop;
use super::lower::Lowering;
use super::unrolling::{partial_unroll, size};
use crate::kernel::{Function, Kernel, Op, OpKind, Region, Type};

/// Ops for an element that comes out of shared memory, in XLA's sense.
const ELEMENT_OUT: i64 = 12;
/// What a condition in the loop counts for.
const CONDITION: i64 = 6;
/// Rounds that are written out whatever their size.
const FEW: i64 = 4;
/// What LLVM writes out in the end, in ops of XLA, where XLA left two turns: on the way in, and on the way out.
const LEFT_IN: i64 = 600;
const LEFT_OUT: i64 = 560;
const MAX_SIZE: i64 = 400;
/// A variable of thread maps.
const BL_X: u32 = 3;
/// Summands of a place whose lowest bits LLVM knows in the second row of a turn, too.
const MAX_SUMMANDS: usize = 4;
/// Functions within functions beyond this depth are not looked at.
const MAX_DEPTH: u32 = 8;

/// A loop of a packed transpose, which reads a tile or writes it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tile {
    /// Ops of one round, in XLA's sense, and with the functions that LLVM writes out.
    size: i64,
    whole: i64,
    /// Ops up to which all turns are written out.
    most: i64,
    /// Rounds of one turn.
    pub in_turn: i64,
    /// Rows of elements side by side that are joined; `None` for all.
    joined: Option<i64>,
    /// Elements in such a row.
    vector: i64,
    /// Do several transposes go through shared memory on the way in?
    is_several: bool,
    /// Does the loop write the tile?
    pub is_way_in: bool,
}

impl Tile {
    pub fn is_unrolled(self, rounds: i64) -> bool {
        rounds <= FEW || rounds.saturating_mul(self.whole) <= self.most
    }

    /// Elements of a row, where several transposes read them.
    pub fn of_several(self) -> Option<i64> {
        self.is_several.then_some(self.vector)
    }

    pub fn factor(self, rounds: i64) -> i64 {
        partial_unroll(rounds, self.size)
    }

    /// Is this round behind those whose accesses are joined? Where not all turns are written out, none are.
    pub fn is_parted(self, round: i64, is_whole: bool) -> bool {
        let Some(joined) = self.joined else { return false };
        !is_whole || round / self.vector.max(1) >= joined
    }
}

impl<'k> Lowering<'k> {
    /// Nothing where it is no such loop.
    pub(super) fn tile(&self, frame: &Frame<'k>, map_loop: MapLoop<'k>) -> Option<Tile> {
        let MapLoop { map, body, .. } = map_loop;
        let is_tile = |tensor| match frame.function.ty(tensor) {
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
        let more = (size(body, self.kernel) - 2 * heroes).max(0);
        // A function that is called more than once is not written out by XLA.
        let apart = (size_of_calls(body, self.kernel) - 2 * heroes).max(0);
        if writes > 0 {
            let first = map.num_dims() as u32;
            let is_asked = map.constraints().iter().any(|c| c.expr.uses_var(first));
            let conditions = if is_asked { CONDITION } else { 0 };
            // Two places and the store; a load of a vector, or its elements one by one.
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
                // Of several transposes, XLA itself joins nothing.
                joined: (heroes > 1).then_some(1),
                vector,
                is_several: heroes > 1,
                is_way_in: true,
            });
        }
        let is_alone = reads_of_arrays(frame.function, body, self.kernel, 0) == 0;
        let rows = if is_alone { in_turn / vector.max(1) } else { 1 };
        let joined = rows_joined(frame, map_loop, (rows, self.is_tile_guarded));
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

/// Rows of a turn that are joined on the way out: all where the block counts for one summand of the place at most. Else LLVM sees
/// that elements lie side by side only while it knows the lowest bits of the place, and it looks at sums of few summands
/// (`MaxAnalysisRecursionDepth` of `ValueTracking.h`). The distance of a row is one more summand unless it is a bit of its own.
fn rows_joined(
    frame: &Frame<'_>,
    map_loop: MapLoop<'_>,
    (rows, is_tile_guarded): (i64, bool),
) -> Option<i64> {
    let MapLoop { map, results, .. } = map_loop;
    let first = map.num_dims() as u32;
    let mut linear = Expr::ZERO;
    let mut stride = 1i64;
    // Between rows.
    let mut distance: Option<i64> = None;
    for (expr, &result) in map.results().iter().zip(results).rev() {
        if expr.uses_var(first + 1) {
            distance.get_or_insert(stride);
        }
        linear = linear + expr.clone() * stride;
        let bounds = frame.function.index_vars[result as usize].bounds;
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
    // Rows that ask for themselves are each in a branch of its own.
    let rows = if is_asked(first + 1) { rows.min(1) } else { rows };
    if distance & (distance - 1) == 0 {
        return Some(rows);
    }
    // What the loads in a branch have computed comes out of that branch as a phi, of which LLVM knows no bits at this depth.
    if is_tile_guarded {
        return Some(0);
    }
    // Of all indices: what is the same in all rounds.
    let mut parts = Vec::new();
    map.results().iter().for_each(|expr| split(expr, &mut parts));
    let is_open =
        |part: &&&Expr| part.as_const().is_none() && (first..first + 3).all(|var| !part.uses_var(var));
    let is_shallow = parts.iter().filter(is_open).count() <= MAX_SUMMANDS;
    // The place in a tile of several matrices is added up in another order where stores are guarded.
    let matrices = map.results().iter().filter(|expr| expr.uses_var(first)).count();
    Some(if is_shallow && (map.constraints().is_empty() || matrices <= 1) { rows } else { rows.min(1) })
}

/// Ops of a body of whose functions those count as one op that it calls more than once.
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

/// Does a loop move vectors through shared memory, of which LLVM joins those under the first condition alone?
pub(super) fn moves_vectors(function: &Function, body: &Region) -> bool {
    body.ops.iter().any(|op| match op.kind {
        OpKind::Read { tensor, .. } | OpKind::Write { tensor, .. } => {
            matches!(function.ty(tensor), Type::Shared(array) if array.dims.len() == 3)
        }
        _ => false,
    })
}

/// Elements of arrays in global memory that a body reads.
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
