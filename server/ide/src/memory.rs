//! Where the memory of a module goes.

use std::sync::Arc;

use ::memory::Memory;
use db::Language;

use crate::file_context::FileContext;

/// Why there is no plan of a file's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoMemory {
    /// The text is no HLO.
    Mlir,
    /// The first error of the parser, and its offset in bytes.
    Syntax {
        message: String,
        offset: usize,
    },
    NoEntry,
}

pub(crate) fn module_memory(context: &FileContext<'_>) -> Result<Arc<Memory>, NoMemory> {
    if context.view.file.language(context.db) == Language::Mlir {
        return Err(NoMemory::Mlir);
    }
    for piece in 0..context.pieces() {
        if let Some(error) = context.block(piece).parse.errors.first() {
            let offset = context.range(piece, error.span).start;
            return Err(NoMemory::Syntax { message: error.message.clone(), offset });
        }
    }
    db::module_memory(context.db, context.view.file).clone().ok_or(NoMemory::NoEntry)
}
