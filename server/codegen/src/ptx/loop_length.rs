//! The length of a loop body, and its effect on unrolling.

use indexing_map::Expr;

use super::map_loop::MapLoop;
use super::tiles::Tile;
use super::unrolling::{ReductionBody, full_unroll, partial_unroll, size};
use crate::kernel::{Function, Kernel, Type};

/// The maximum number of elements that a thread reads at once; XLA uses at most 8.
const MAX_COLUMNS: i64 = 16;

/// The length of a loop body by the kind of loop.
#[derive(Debug, Clone, Copy)]
pub(super) enum LoopLength {
    /// Computes and writes elements.
    Elements(i64),
    /// Moves elements through shared memory in words.
    Tile(Tile),
    /// Reduces elements, of several columns in the innermost loop.
    Reduced(ReductionBody, i64),
}

impl LoopLength {
    pub fn of(kernel: &Kernel, function: &Function, map_loop: MapLoop<'_>, innermost: i64) -> LoopLength {
        if let Some(tile) = Tile::of(kernel, function, map_loop) {
            return LoopLength::Tile(tile);
        }
        let types = map_loop.inits.iter().map(|&init| function.ty(init));
        let columns = types.fold(None, |columns: Option<i64>, ty| match ty {
            Type::Scalar(_) => Some(columns.unwrap_or(1)),
            Type::Vector { size, .. } => Some(*size),
            Type::Tensor(_) | Type::Shared(_) => columns,
        });
        match columns {
            None => LoopLength::Elements(size(map_loop.body, kernel)),
            // Each iteration reduces as many elements of a row as are read at once.
            Some(columns) => {
                let innermost = if innermost <= MAX_COLUMNS { innermost } else { 1 };
                let body = ReductionBody::of(function, map_loop.body, kernel, (innermost, columns > 1));
                LoopLength::Reduced(body, innermost)
            }
        }
    }

    /// Whether the loop is fully unrolled; each iteration contains `below` iterations of inner loops.
    pub fn is_unrolled(self, rounds: i64, below: i64, is_innermost: bool) -> bool {
        match self {
            LoopLength::Elements(size) => full_unroll(rounds, size.saturating_mul(below)),
            LoopLength::Tile(tile) => below < tile.in_turn || tile.is_unrolled(rounds),
            LoopLength::Reduced(_, columns) if is_innermost && rounds == columns => true,
            LoopLength::Reduced(body, columns) => {
                body.is_unrolled(rounds.saturating_mul(below / columns.max(1)))
            }
        }
    }

    /// Whether this is an iteration of nested row loops that LLVM has unrolled, after the first one of its
    /// unrolled iteration. Reads there are not joined.
    pub fn is_behind(self, round: i64, changing: &[(Expr, i64)]) -> bool {
        let LoopLength::Reduced(body, columns) = self else { return false };
        let &[(_, outer), (_, inner), (_, innermost)] = changing else { return false };
        if innermost != columns {
            return false;
        }
        let factor = body.factor_of_xla_around(outer, inner);
        let number = round / columns.max(1);
        let (row, within) = (number / inner.max(1), number % inner.max(1));
        row >= factor && (row % factor != 0 || within != 0)
    }

    /// Whether 16-bit numbers are added in pairs. LLVM does so if the reduction has at most two iterations.
    pub fn is_paired(self, rounds: i64, below: i64) -> bool {
        match self {
            LoopLength::Elements(_) | LoopLength::Tile(_) => true,
            LoopLength::Reduced(_, columns) => rounds.saturating_mul(below) / columns.max(1) <= 2,
        }
    }

    pub fn factor(self, rounds: i64, below: i64) -> i64 {
        match self {
            LoopLength::Elements(size) => partial_unroll(rounds, size.saturating_mul(below)),
            LoopLength::Tile(tile) => tile.factor(rounds),
            LoopLength::Reduced(body, columns) if below <= columns => body.factor(rounds),
            LoopLength::Reduced(..) => 1,
        }
    }
}
