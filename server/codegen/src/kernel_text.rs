//! The text of a kernel, and the map from its lines to ops.

use ir::OpId;

use crate::kernel::Missing;

/// The text, and the ops to which its lines belong.
#[derive(Debug, Clone, Default)]
pub struct KernelText {
    pub text: String,
    /// Per line, counted from 0: the op of the fused computation that it belongs to.
    pub lines: Vec<Option<OpId>>,
    /// Ops that are replaced by zero because no rule implements them.
    pub missing: Vec<Missing>,
    /// Lines that read or write an argument of the kernel, with the argument's number, in line order.
    pub accesses: Vec<(usize, usize)>,
    pub shared_bytes: i64,
    /// Ops for which XLA's own code, shown here, computes other values than the module says; and why.
    pub doubts: Vec<(OpId, String)>,
}
