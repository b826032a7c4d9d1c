//! Errors and warnings.

use crate::diagnostics::Depth;
use crate::file_context::FileContext;
use crate::kernel::coalescing_warnings::CoalescingConfig;
use crate::warnings::WarningsConfig;
use crate::{Diagnostic, Diagnostics};

/// Errors and warnings.
pub(crate) trait Findings {
    /// The errors of a piece.
    fn diagnostics_in(&self, context: &FileContext<'_>, piece: usize, depth: Depth) -> Vec<Diagnostic>;

    /// The error of a file whose pieces have none, if it is empty of code.
    fn empty_file(&self, _: &FileContext<'_>) -> Option<Diagnostic> {
        None
    }

    /// Warnings about code that computes nothing new.
    fn warnings(&self, _: &FileContext<'_>, _: &WarningsConfig, _: usize) -> Diagnostics {
        Diagnostics::default()
    }

    /// Warnings about wasteful kernels.
    fn coalescing_warnings(&self, _: &FileContext<'_>, _: &CoalescingConfig, _: usize) -> Diagnostics {
        Diagnostics::default()
    }
}
