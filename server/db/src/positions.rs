//! The positions of pieces in their file.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::{File, Piece};

#[salsa::tracked(no_eq)]
pub(crate) fn piece_index(db: &dyn salsa::Database, file: File) -> Arc<FxHashMap<Piece, usize>> {
    Arc::new(file.pieces(db).iter().enumerate().map(|(at, &piece)| (piece, at)).collect())
}

/// Equal after edits that add or remove pieces below.
#[salsa::tracked(returns(copy))]
fn position(db: &dyn salsa::Database, piece: Piece) -> Option<usize> {
    piece_index(db, piece.file(db)?).get(&piece).copied()
}

/// The file of a piece, and the position of the piece there; `None` if the file is closed.
pub(crate) fn position_of(db: &dyn salsa::Database, piece: Piece) -> Option<(File, usize)> {
    Some((piece.file(db)?, position(db, piece)?))
}
