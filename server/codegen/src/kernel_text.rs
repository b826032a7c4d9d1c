//! A kernel as text, and the way back.

use ir::OpId;

use crate::kernel::Missing;

/// The text, and where its lines come from.
#[derive(Debug, Clone)]
pub struct KernelText {
    pub text: String,
    /// Per line, counted from 0: the op of the fused computation that it belongs to.
    pub lines: Vec<Option<OpId>>,
    /// Ops in whose place zero stands.
    pub missing: Vec<Missing>,
    /// Lines that read or write an argument of the kernel, each with the argument's number; in the order of the lines.
    pub accesses: Vec<(usize, usize)>,
    pub shared_bytes: i64,
}
