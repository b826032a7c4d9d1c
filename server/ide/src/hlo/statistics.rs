//! Counts of a module.

use crate::file_context::FileContext;
use crate::statistics::FileStatistics;

pub(crate) fn statistics(context: &FileContext<'_>) -> FileStatistics {
    let module = context.module();
    FileStatistics {
        module: module.name.to_string(),
        computations: module.computations.len(),
        instructions: module.instructions,
        pieces: context.pieces(),
    }
}
