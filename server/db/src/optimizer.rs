//! Modules for passes to edit.

use ir::Block;

use crate::File;
use crate::queries::{block, module};

/// A copy of the first module of a file; `None` if it has no entry computation. Not kept: it takes several times as much memory as
/// the text, and is edited at once.
pub fn editable_module(db: &dyn salsa::Database, file: File) -> Option<passes::Module> {
    let blocks: Vec<&Block> = file.pieces(db).iter().map(|&piece| &**block(db, piece)).collect();
    passes::Module::from_blocks(&blocks, module(db, file))
}
