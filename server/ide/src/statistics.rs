//! Counts of a file.

use crate::locate::FileContext;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileStatistics {
    pub module: String,
    pub computations: usize,
    pub instructions: usize,
    pub pieces: usize,
}

pub(crate) fn statistics(context: &FileContext<'_>) -> FileStatistics {
    let module = context.module();
    FileStatistics {
        module: module.name.to_string(),
        computations: module.computations.len(),
        instructions: module.instructions,
        pieces: context.pieces(),
    }
}
