//! The lenses above computations, functions and kernels.

use crate::TextRange;
use crate::file_context::FileContext;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeLens {
    /// The name of the computation, or of the instruction.
    pub range: TextRange,
    /// `2 callers · 5 instructions · 1.02 kFLOP · 4.1 kB`, and the peak of a scheduled computation; `loop · 24576 × 128 threads · 12.6 MB`
    pub title: String,
    /// The time of a kernel: `≈ 4.1 µs`.
    pub time: Option<String>,
    /// The names at its calls.
    pub callers: Vec<TextRange>,
    /// Whether this is an instruction that launches a kernel.
    pub is_kernel: bool,
}

/// The lenses over the lines of a text.
pub(crate) trait CodeLenses {
    /// Where lenses are, at most `limit`; of kernels only if `kernels`.
    fn code_lens_places(&self, _: &FileContext<'_>, _: bool, _: usize) -> Vec<TextRange> {
        Vec::new()
    }

    /// The lens of the name at `offset`, with its part of the module's memory if `memory`.
    fn code_lens(&self, _: &FileContext<'_>, _: usize, _: bool) -> Option<CodeLens> {
        None
    }
}
