//! The lenses above computations, functions and kernels.

use crate::TextRange;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLens {
    /// The name of the computation, or of the instruction.
    pub range: TextRange,
    /// `2 callers · 5 instructions · 1.02 kFLOP · 4.1 kB`; `loop · 24576 × 128 threads · 12.6 MB`
    pub title: String,
    /// The time of a kernel: `≈ 4.1 µs`.
    pub time: Option<String>,
    /// The names at its calls.
    pub callers: Vec<TextRange>,
    /// Whether this is an instruction that launches a kernel.
    pub is_kernel: bool,
}
