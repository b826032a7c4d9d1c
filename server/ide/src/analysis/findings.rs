//! What is wrong with a file, and what could be better.

use super::Analysis;
use crate::*;

impl Analysis {
    /// All findings, those of the verifier included.
    pub fn diagnostics(&self, file: FileId, limit: usize) -> Cancellable<Diagnostics> {
        self.diagnostics_to(file, Depth::Verifier, limit)
    }

    pub fn diagnostics_to(&self, file: FileId, depth: Depth, limit: usize) -> Cancellable<Diagnostics> {
        self.of_language(
            file,
            |context| diagnostics::diagnostics(&context, depth, limit),
            |context| mlir::diagnostics::diagnostics(&context, depth, limit),
        )
    }

    /// Code that computes nothing new. What is wrong is in [`Self::diagnostics`].
    pub fn warnings(&self, file: FileId, config: &WarningsConfig, limit: usize) -> Cancellable<Diagnostics> {
        self.with_file(file, |context| warnings::warnings(&context, config, limit))
    }

    /// Kernels that move much more than they use.
    pub fn coalescing_warnings(
        &self,
        file: FileId,
        config: &CoalescingConfig,
        limit: usize,
    ) -> Cancellable<Diagnostics> {
        self.with_file(file, |context| coalescing_warnings::coalescing_warnings(&context, config, limit))
    }

    /// Computes everything that is shown of the file's kernels: emitters, maps, functions, use of memory, times; how many there are.
    pub fn look_at_kernels(&self, file: FileId) -> Cancellable<usize> {
        self.with_file(file, |context| context.kernels_ahead())
    }

    /// Whether [`Analysis::coalescing_warnings`] takes longer than somebody wants to wait.
    pub fn has_many_kernels(&self, file: FileId) -> Cancellable<bool> {
        self.with_file(file, |context| coalescing_warnings::has_many_kernels(&context))
    }
}
