//! `hlo-analyzer/kernelLines`: the lines of a kernel's tab that originate from a position in the HLO.

use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::Position;

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::kernel_tab::{KernelTab, Rendered};

pub(in crate::lsp) struct KernelLines;

#[derive(Deserialize)]
pub(in crate::lsp) struct LinesParams {
    uri: KernelTab,
    /// A position in the HLO.
    position: Position,
}

impl Request for KernelLines {
    const METHOD: &'static str = "hlo-analyzer/kernelLines";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = LinesParams;
    type Found = (Arc<Rendered>, Vec<Range<usize>>);
    type Response = Value;

    fn subject(params: &LinesParams) -> Subject {
        params.uri.subject(Target::At(params.position))
    }

    fn run(snapshot: &Snapshot, params: &LinesParams) -> Cancellable<Self::Found> {
        let Snapshot { analysis, view } = snapshot;
        let rendered = snapshot.render(&params.uri)?;
        let query = params.uri.kernel.query();
        let runs = analysis.kernel_lines(view.file, &query, &rendered.document, view.span.start)?;
        Ok((rendered, runs))
    }

    fn respond(_: &View, _: LinesParams, (rendered, runs): Self::Found) -> Result<Self::Response> {
        Ok(json!({"lines": rendered.shifted(&runs)}))
    }
}
