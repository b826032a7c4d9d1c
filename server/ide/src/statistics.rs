//! Counts of a file.

use crate::file_context::FileContext;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileStatistics {
    pub module: String,
    pub computations: usize,
    pub instructions: usize,
    pub pieces: usize,
}

/// The counts of a text.
pub(crate) trait Statistics {
    /// The counts of the file.
    fn statistics(&self, context: &FileContext<'_>) -> FileStatistics;
}
