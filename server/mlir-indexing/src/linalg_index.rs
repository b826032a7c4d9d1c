//! `linalg.index`: the current iteration of a loop of the enclosing structured op.
//!
//! Source: mlir.llvm.org/docs/Dialects/Linalg, linalg.index.

use indexing_map::{Expr, Interval};
use mlir::{Definition, OpId, ValueId};
use mlir_ops::{OpKind, OpText, Source};

use crate::access::SymbolSource;
use crate::linalg_ops::structured;
use crate::map_builder::{MapBuilder, result_operand};

/// The largest number of regions between a `linalg.index` and the op whose loops it counts.
const MAX_DEPTH: usize = 64;

impl MapBuilder<'_> {
    /// The variable of a loop, shared by all `linalg.index` ops of that loop.
    pub(crate) fn loop_index(&mut self, text: &OpText<'_>) -> Option<Expr> {
        let source = self.source;
        let (around, dim) = counted(source, text)?;
        let structured_op = OpText::new(source, around)?;
        let OpKind::Linalg(op) = structured_op.op else { return None };
        let op = structured(self, &structured_op, op)?.ok()?;
        let extent = op.loop_extents().ok()?.into_iter().nth(dim)?;
        let range = self.range_of(&extent);
        // A loop that never runs gives no bounds.
        if range.upper < 1 {
            return None;
        }
        let upper = if range.upper == i64::MAX { i64::MAX } else { range.upper - 1 };
        let inside = around + 1..source.parse.op(around).behind;
        let first = inside.into_iter().find_map(|id| {
            (source.op(id) == OpKind::LinalgIndex)
                .then(|| OpText::new(source, id))
                .flatten()
                .filter(|other| counted(source, other) == Some((around, dim)))
        });
        let operand = result_operand(first.as_ref().unwrap_or(text), 0);
        let loop_ = SymbolSource::Loop { value: operand.key()?, name: operand.name.clone() };
        let variable = self.symbol(loop_, Interval::new(0, upper));
        if extent.as_const().is_none() {
            self.constrain(variable.clone() - extent, Interval::new(i64::MIN, -1));
        }
        Some(variable)
    }
}

/// The enclosing structured op, and the number of the loop.
fn counted(source: &Source<'_>, text: &OpText<'_>) -> Option<(OpId, usize)> {
    let dim = text.loop_number()?;
    let around = std::iter::successors(source.parse.parent(text.id), |&id| source.parse.parent(id));
    let mut around = around.take(MAX_DEPTH);
    let op = around.find(|&id| matches!(source.op(id), OpKind::Linalg(_)))?;
    Some((op, dim))
}

/// A sort key for a loop variable: the position of its op, and the loop's number in the op.
pub(crate) fn place_of_loop(source: &Source<'_>, value: ValueId) -> (u32, usize) {
    let Some(found) = source.parse.values.get(value as usize) else { return (0, 0) };
    let counted = match found.definition {
        Definition::Result(op) => OpText::new(source, op).and_then(|text| counted(source, &text)),
        _ => None,
    };
    match counted {
        Some((op, dim)) => (source.parse.op(op).span.start, dim),
        None => (found.name.start, 0),
    }
}
