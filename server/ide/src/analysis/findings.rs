//! Errors and warnings of a file.

use super::Analysis;
use crate::*;

impl Analysis {
    /// All errors, including the verifier's.
    pub fn diagnostics(&self, file: FileId, limit: usize) -> Cancellable<Diagnostics> {
        self.diagnostics_to(file, Depth::Verifier, limit)
    }

    pub fn diagnostics_to(&self, file: FileId, depth: Depth, limit: usize) -> Cancellable<Diagnostics> {
        self.with_file(file, |context| diagnostics::diagnostics(&context, depth, limit))
    }

    /// Warnings about code that computes nothing new. Errors are in [`Self::diagnostics`].
    pub fn warnings(&self, file: FileId, config: &WarningsConfig, limit: usize) -> Cancellable<Diagnostics> {
        self.with_file(file, |context| context.semantics().warnings(&context, config, limit))
    }

    /// Warnings about kernels that transfer much more than they use.
    pub fn coalescing_warnings(
        &self,
        file: FileId,
        config: &CoalescingConfig,
        limit: usize,
    ) -> Cancellable<Diagnostics> {
        self.with_file(file, |context| context.semantics().coalescing_warnings(&context, config, limit))
    }

    /// Computes all information shown about the file's kernels: emitters, maps, functions, memory accesses,
    /// times. Returns the number of kernels.
    pub fn look_at_kernels(&self, file: FileId) -> Cancellable<usize> {
        self.with_file(file, |context| context.kernels_ahead())
    }

    /// Whether [`Analysis::coalescing_warnings`] is too slow for interactive use.
    pub fn has_many_kernels(&self, file: FileId) -> Cancellable<bool> {
        self.with_file(file, |context| kernel::coalescing_warnings::has_many_kernels(&context))
    }
}
