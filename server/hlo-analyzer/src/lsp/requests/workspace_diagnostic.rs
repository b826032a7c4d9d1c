//! The diagnostics of all open documents. The response waits until there is something that the client does not have.

use tower_lsp::lsp_types::{
    FullDocumentDiagnosticReport, Url, WorkspaceDiagnosticParams, WorkspaceDiagnosticReport,
    WorkspaceDiagnosticReportResult, WorkspaceDocumentDiagnosticReport,
    WorkspaceFullDocumentDiagnosticReport, WorkspaceUnchangedDocumentDiagnosticReport,
};

use super::{Cancellable, IsReady, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::diagnostic_reports::{self, Report};

pub(in crate::lsp) struct WorkspaceDiagnostic;

impl Request for WorkspaceDiagnostic {
    const METHOD: &'static str = "workspace/diagnostic";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(u32::MAX);
    type Params = WorkspaceDiagnosticParams;
    type Found = Vec<WorkspaceDocumentDiagnosticReport>;
    type Response = WorkspaceDiagnosticReportResult;

    fn subject(_: &WorkspaceDiagnosticParams) -> Subject {
        Subject::workspace()
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        params: &WorkspaceDiagnosticParams,
    ) -> Cancellable<Self::Found> {
        let previous = |uri: &Url| {
            params
                .previous_result_ids
                .iter()
                .find(|previous| previous.uri == *uri)
                .map(|it| it.value.as_str())
        };
        let mut reports = Vec::new();
        for document in &view.open {
            let view = view.of_open(document);
            let (uri, version) = (document.uri.clone(), Some(i64::from(document.version)));
            let found = diagnostic_reports::find(analysis, &view)?;
            reports.push(match diagnostic_reports::report(&view, found, previous(&uri)) {
                Report::Full(report) => full(uri, version, report),
                Report::Unchanged(report) => {
                    WorkspaceDocumentDiagnosticReport::Unchanged(WorkspaceUnchangedDocumentDiagnosticReport {
                        uri,
                        version,
                        unchanged_document_diagnostic_report: report,
                    })
                }
            });
        }
        // Documents that were closed since have no diagnostics.
        let is_open = |uri: &Url| view.open.iter().any(|document| document.uri == *uri);
        reports.extend(cleared(params, |uri| !is_open(uri)));
        Ok(reports)
    }

    fn is_ready(found: &Self::Found) -> IsReady {
        let is_full = |report: &WorkspaceDocumentDiagnosticReport| {
            matches!(report, WorkspaceDocumentDiagnosticReport::Full(_))
        };
        match found.iter().any(is_full) {
            true => IsReady::Yes,
            false => IsReady::AfterNextChange,
        }
    }

    fn respond(_: &View, _: WorkspaceDiagnosticParams, items: Self::Found) -> Result<Self::Response> {
        Ok(WorkspaceDiagnosticReport { items }.into())
    }
}

fn full(
    uri: Url,
    version: Option<i64>,
    report: FullDocumentDiagnosticReport,
) -> WorkspaceDocumentDiagnosticReport {
    let full_document_diagnostic_report = report;
    WorkspaceDocumentDiagnosticReport::Full(WorkspaceFullDocumentDiagnosticReport {
        uri,
        version,
        full_document_diagnostic_report,
    })
}

/// Empty reports on documents that the client was sent diagnostics of.
fn cleared(
    params: &WorkspaceDiagnosticParams,
    is_closed: impl Fn(&Url) -> bool,
) -> impl Iterator<Item = WorkspaceDocumentDiagnosticReport> {
    let closed = params.previous_result_ids.iter().filter(move |previous| is_closed(&previous.uri));
    closed.map(|closed| full(closed.uri.clone(), None, FullDocumentDiagnosticReport::default()))
}

/// The report while no document is open.
pub(super) fn nothing(params: WorkspaceDiagnosticParams) -> WorkspaceDiagnosticReportResult {
    WorkspaceDiagnosticReport { items: cleared(&params, |_| true).collect() }.into()
}
