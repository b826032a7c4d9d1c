//! All findings about a file: errors, warnings, accesses that are not coalesced.

use ide::{Analysis, CoalescingConfig, Diagnostics, FileId, Severity, WarningsConfig};

pub struct Wanted {
    /// The most findings.
    pub limit: usize,
    /// Whether hints are wanted, too, and warnings of modules that XLA has not optimized.
    pub hints: bool,
    /// Times the sectors that a kernel needs.
    pub coalescing_threshold: f64,
}

pub struct Findings {
    /// In the order of the text.
    pub diagnostics: Diagnostics,
    /// The number of warnings beyond the limit.
    pub more_warnings: usize,
}

/// The findings of a file; none if the analysis is cancelled.
pub fn findings(analysis: &Analysis, file: FileId, wanted: &Wanted) -> Findings {
    let mut diagnostics = analysis.diagnostics(file, wanted.limit).unwrap_or_default();
    let at_least = if wanted.hints { Severity::Hint } else { Severity::Warning };
    let config = WarningsConfig { at_least, unoptimized: wanted.hints, ..WarningsConfig::default() };
    let room = wanted.limit.saturating_sub(diagnostics.shown.len());
    let found = analysis.warnings(file, &config, room).unwrap_or_default();
    diagnostics.shown.extend(found.shown);
    let config = CoalescingConfig { threshold: wanted.coalescing_threshold, marks_causes: false };
    let room = wanted.limit.saturating_sub(diagnostics.shown.len());
    let wasted = analysis.coalescing_warnings(file, &config, room).unwrap_or_default();
    diagnostics.shown.extend(wasted.shown);
    diagnostics.shown.sort_by_key(|d| (d.range.start, d.range.end));
    diagnostics.omitted_hints += found.omitted_hints;
    Findings { diagnostics, more_warnings: found.omitted + wasted.omitted }
}
