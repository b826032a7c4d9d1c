//! A file in a snapshot: its pieces, and offsets in them.

use std::ops::Range;

use db::{Database, FileView};
use syntax::Span;

use crate::TextRange;

/// A file in a snapshot, with the queries that features use. Those of one language are in `hlo/locate.rs` and
/// `mlir/context.rs`.
pub(crate) struct FileContext<'a> {
    pub(crate) db: &'a Database,
    pub(crate) view: &'a FileView,
}

impl<'a> FileContext<'a> {
    pub(crate) fn new(db: &'a Database, view: &'a FileView) -> Self {
        FileContext { db, view }
    }

    pub(crate) fn pieces(&self) -> usize {
        self.view.file.pieces(self.db).len()
    }

    /// The pieces that overlap `range`.
    pub(crate) fn pieces_in(&self, range: &TextRange) -> Range<usize> {
        let starts = &self.view.starts;
        let first = starts.partition_point(|p| p.offset <= range.start).max(1) - 1;
        let behind = starts.partition_point(|p| p.offset < range.end).max(first + 1);
        first..behind.min(self.pieces())
    }

    /// The piece that contains `offset`, and the offset inside it.
    pub(crate) fn locate(&self, offset: usize) -> (usize, usize) {
        let piece = self.view.starts.partition_point(|p| p.offset <= offset).max(1) - 1;
        (piece, offset - self.view.starts[piece].offset)
    }

    pub(crate) fn range(&self, piece: usize, span: Span) -> TextRange {
        let start = self.view.starts[piece].offset;
        start + span.start as usize..start + span.end as usize
    }
}
