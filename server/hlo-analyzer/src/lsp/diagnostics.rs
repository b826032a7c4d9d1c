//! The diagnostics of a document.

use ide::{Analysis, Cancellable, CoalescingConfig, WarningsConfig};
use tower_lsp::lsp_types::{self, DiagnosticSeverity, NumberOrString, PublishDiagnosticsParams};

use super::snapshot::View;

/// The code of the notice about omitted diagnostics.
pub(super) const LIMIT_CODE: &str = "diagnostics-limit";

/// All diagnostics. `early` receives those that precede a slow analysis of kernels.
pub(super) fn find_all(
    analysis: &Analysis,
    view: &View,
    early: Option<&dyn Fn(ide::Diagnostics)>,
) -> Cancellable<ide::Diagnostics> {
    let mut found = find(analysis, view)?;
    if view.session.settings.warns_of(ide::UNCOALESCED) {
        if let Some(early) = early
            && has_many_kernels(analysis, view)
        {
            early(found.clone());
        }
        find_in_kernels(analysis, view, &mut found)?;
    }
    Ok(found)
}

fn has_many_kernels(analysis: &Analysis, view: &View) -> bool {
    analysis.has_many_kernels(view.file).unwrap_or(false)
}

/// Whether the diagnostics include those of so many kernels that they take long.
pub(super) fn is_slow(analysis: &Analysis, view: &View) -> bool {
    view.session.settings.warns_of(ide::UNCOALESCED) && has_many_kernels(analysis, view)
}

/// Errors, and up to the limit warnings about unneeded code.
pub(super) fn find(analysis: &Analysis, view: &View) -> Cancellable<ide::Diagnostics> {
    let settings = &view.session.settings;
    let mut found = analysis.diagnostics(view.file, settings.diagnostics_limit)?;
    let is_disabled = |code: &str| settings.disabled_warnings.iter().any(|disabled| disabled == code);
    found.shown.retain(|d| d.severity == ide::Severity::Error || !is_disabled(d.code));
    if settings.warnings {
        let config = WarningsConfig {
            disabled: settings.disabled_warnings.clone(),
            unoptimized: settings.unoptimized_hints,
            ..WarningsConfig::default()
        };
        let room = settings.diagnostics_limit.saturating_sub(found.shown.len());
        let warnings = analysis.warnings(view.file, &config, room)?;
        found.shown.extend(warnings.shown);
        found.omitted += warnings.omitted;
        found.omitted_hints += warnings.omitted_hints;
    }
    Ok(found)
}

/// Warnings about kernels, up to the limit.
fn find_in_kernels(analysis: &Analysis, view: &View, found: &mut ide::Diagnostics) -> Cancellable<()> {
    let settings = &view.session.settings;
    let config = CoalescingConfig { threshold: settings.coalescing_threshold, marks_causes: true };
    let room = settings.diagnostics_limit.saturating_sub(found.shown.len());
    let wasted = analysis.coalescing_warnings(view.file, &config, room)?;
    found.shown.extend(wasted.shown);
    found.omitted += wasted.omitted;
    Ok(())
}

pub(super) fn to_proto(view: &View, found: ide::Diagnostics) -> PublishDiagnosticsParams {
    let limit = view.session.settings.diagnostics_limit;
    let mut diagnostics: Vec<_> = found.shown.into_iter().map(|finding| view.diagnostic(finding)).collect();
    // Omitted hints alone need no notice: the file is clean.
    if found.omitted > 0 {
        let omitted = found.omitted + found.omitted_hints;
        diagnostics.push(lsp_types::Diagnostic {
            severity: Some(DiagnosticSeverity::INFORMATION),
            code: Some(NumberOrString::String(LIMIT_CODE.into())),
            code_description: view.code_description(LIMIT_CODE),
            source: Some(env!("CARGO_PKG_NAME").into()),
            message: format!(
                "{omitted} more findings are not shown; raise the setting hlo-analyzer.diagnostics.limit, which is {limit}"
            ),
            ..Default::default()
        });
    }
    PublishDiagnosticsParams { uri: view.uri.clone(), diagnostics, version: Some(view.version) }
}
