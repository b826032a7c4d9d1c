//! Counts of a file.

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileStatistics {
    pub module: String,
    pub computations: usize,
    pub instructions: usize,
    pub pieces: usize,
}
