//! From an offset of the file to an op of a piece, and back.

use std::sync::Arc;

use db::{MlirModule, MlirPiece};
use mlir::OpId;

use crate::locate::FileContext;

/// An op of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OpRef {
    pub(crate) piece: usize,
    pub(crate) id: OpId,
}

impl<'a> FileContext<'a> {
    pub(crate) fn is_mlir(&self) -> bool {
        self.view.file.language(self.db) == crate::Language::Mlir
    }

    pub(crate) fn mlir_piece(&self, piece: usize) -> &'a Arc<MlirPiece> {
        db::mlir_piece(self.db, self.view.file.pieces(self.db)[piece])
    }

    pub(crate) fn mlir_module(&self) -> &'a Arc<MlirModule> {
        db::mlir_module(self.db, self.view.file)
    }

    /// The innermost op at `offset`.
    pub(crate) fn op_at(&self, offset: usize) -> Option<OpRef> {
        let (piece, local) = self.locate(offset);
        let at = |piece: usize, local: usize| {
            self.mlir_piece(piece).parse.op_at(local).map(|id| OpRef { piece, id })
        };
        // The end of the last line of a piece is the start of the next piece.
        at(piece, local).or_else(|| {
            let before = piece.checked_sub(1).filter(|_| local == 0)?;
            at(before, offset - self.view.starts[before].offset)
        })
    }

    /// Where the first value called `name` (without `%`) is defined.
    pub(crate) fn find_value(&self, name: &str) -> Option<usize> {
        (0..self.pieces()).find_map(|piece| {
            let read = self.mlir_piece(piece);
            let of = |value: &&mlir::Value| value.name.of(&read.text).strip_prefix('%') == Some(name);
            let value = read.parse.values.iter().find(of)?;
            Some(self.range(piece, value.name).start)
        })
    }

    /// The part of the file, between two `// -----`, that holds a place of a piece.
    pub(crate) fn part_at(&self, piece: usize, local: u32) -> usize {
        self.mlir_module().part_at(piece, &self.mlir_piece(piece).parse, local)
    }
}
