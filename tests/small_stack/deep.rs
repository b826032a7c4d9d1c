//! Inputs that are deep in one way each: nesting, chains, recursive calls.

mod hlo;
mod mlir;

pub use hlo::hlo;
pub use mlir::mlir;

use hlo_analyzer_tests::soak::texts::Language;

pub struct Deep {
    pub name: &'static str,
    pub language: Language,
    pub text: String,
    /// An instruction for requests.
    pub instruction: &'static str,
}

/// Longer than any stack: recursion per element overflows it.
const CHAIN: usize = 100_000;
/// The length of chains that an analysis composes, where each step costs more.
const STEPS: usize = 5_000;
/// Nesting far beyond the parser's limit.
const NESTED: usize = 20_000;
/// Nesting within the parser's limit, or just above it.
const READ: [usize; 3] = [60, 180, 205];
