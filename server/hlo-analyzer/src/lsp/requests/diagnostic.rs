//! The diagnostics of a document, for a client that asks for them.

use tower_lsp::lsp_types::{
    DocumentDiagnosticParams, DocumentDiagnosticReport, DocumentDiagnosticReportResult,
    RelatedFullDocumentDiagnosticReport, RelatedUnchangedDocumentDiagnosticReport,
};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::diagnostic_reports::{self, Report};

pub(in crate::lsp) struct Diagnostic;

impl Request for Diagnostic {
    const METHOD: &'static str = "textDocument/diagnostic";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = DocumentDiagnosticParams;
    type Found = ide::Diagnostics;
    type Response = DocumentDiagnosticReportResult;

    fn subject(params: &DocumentDiagnosticParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &DocumentDiagnosticParams) -> Cancellable<Self::Found> {
        diagnostic_reports::find(analysis, view)
    }

    fn respond(view: &View, params: DocumentDiagnosticParams, found: Self::Found) -> Result<Self::Response> {
        let report = diagnostic_reports::report(view, found, params.previous_result_id.as_deref());
        let report = match report {
            Report::Full(report) => DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport {
                related_documents: None,
                full_document_diagnostic_report: report,
            }),
            Report::Unchanged(report) => {
                DocumentDiagnosticReport::Unchanged(RelatedUnchangedDocumentDiagnosticReport {
                    related_documents: None,
                    unchanged_document_diagnostic_report: report,
                })
            }
        };
        Ok(report.into())
    }
}

/// The report on a document that is not open, such as the tab of a kernel.
pub(super) fn nothing(_: DocumentDiagnosticParams) -> DocumentDiagnosticReportResult {
    DocumentDiagnosticReport::Full(RelatedFullDocumentDiagnosticReport::default()).into()
}
