//! The canonical text of a file.

use ir::{PrintOptions, TextTooLarge};

use crate::file_context::FileContext;

pub(crate) fn print_module(
    context: &FileContext<'_>,
    options: &PrintOptions,
) -> Result<String, TextTooLarge> {
    let blocks: Vec<&ir::Block> = (0..context.pieces()).map(|piece| &**context.block(piece)).collect();
    ir::print_module(&blocks, context.module(), options)
}
