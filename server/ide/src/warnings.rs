//! Settings of warnings about code that computes nothing new.

use ir::WarningKind;

use crate::file_context::FileContext;
use crate::{Diagnostics, Severity};

/// Settings of warnings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WarningsConfig {
    /// Disabled codes.
    pub disabled: Vec<String>,
    /// The lowest severity reported.
    pub at_least: Severity,
    /// Whether to report warnings in a module before optimisation, where XLA's passes remove most of this
    /// code.
    pub unoptimized: bool,
}

impl Default for WarningsConfig {
    fn default() -> Self {
        WarningsConfig { disabled: Vec::new(), at_least: Severity::Hint, unoptimized: true }
    }
}

impl WarningsConfig {
    pub(crate) fn wants(&self, kind: WarningKind, is_optimized: bool) -> bool {
        let is_severe = severity(kind) == Severity::Warning || self.at_least == Severity::Hint;
        is_severe
            && (self.unoptimized || is_optimized)
            && !self.disabled.iter().any(|code| code == kind.code())
    }
}

/// Warnings about code that computes nothing new.
pub(crate) trait Warnings {
    /// Warnings about code that computes nothing new.
    fn warnings(&self, _: &FileContext<'_>, _: &WarningsConfig, _: usize) -> Diagnostics {
        Diagnostics::default()
    }
}

/// Whether diagnostics of this code are about removable text, which editors fade.
pub fn is_unnecessary(code: &str) -> bool {
    WarningKind::ALL.iter().any(|kind| kind.code() == code && kind.is_unnecessary())
}

/// The severity of a warning of this kind.
pub(crate) fn severity(kind: WarningKind) -> Severity {
    // Arithmetic on constants is normal in a module before optimisation.
    match kind.is_unnecessary() || kind == WarningKind::ConstantOperands {
        true => Severity::Hint,
        false => Severity::Warning,
    }
}
