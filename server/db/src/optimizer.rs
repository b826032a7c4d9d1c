//! Modules for passes to edit, and what tells one text of a file from the next.

use std::sync::Arc;

use ir::Block;

use crate::queries::{block, module};
use crate::{File, Language, Piece};

/// Stands for one text of a file: the same allocation until the text changes, whatever else does. Who keeps what was computed
/// from a text keeps this with it.
#[derive(Debug)]
pub struct TextVersion;

/// The version of a file's text.
#[salsa::tracked(no_eq)]
pub fn text_version(db: &dyn salsa::Database, file: File) -> Arc<TextVersion> {
    // What depends on no input would never run again.
    _ = file.language(db) == Language::Hlo;
    file.pieces(db).iter().for_each(|&piece: &Piece| _ = piece.text(db));
    Arc::new(TextVersion)
}

/// A copy of the first module of a file; `None` if it has no entry computation. Not kept: it takes several times as much memory as
/// the text, and is edited at once.
pub fn editable_module(db: &dyn salsa::Database, file: File) -> Option<passes::Module> {
    let blocks: Vec<&Block> = file.pieces(db).iter().map(|&piece| &**block(db, piece)).collect();
    passes::Module::from_blocks(&blocks, module(db, file))
}
