//! `hlo-analyzer/kernelSource`: the instruction from which a line of a kernel's tab originates.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::kernel_tab::{KernelTab, Rendered};

pub(in crate::lsp) struct KernelSource;

#[derive(Deserialize)]
pub(in crate::lsp) struct SourceParams {
    uri: KernelTab,
    /// A line of the kernel's document, from 0.
    line: usize,
}

impl Request for KernelSource {
    const METHOD: &'static str = "hlo-analyzer/kernelSource";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = SourceParams;
    type Found = Arc<Rendered>;
    type Response = Value;

    fn subject(params: &SourceParams) -> Subject {
        params.uri.subject(Target::Document)
    }

    fn run(snapshot: &Snapshot, params: &SourceParams) -> Cancellable<Self::Found> {
        snapshot.render(&params.uri)
    }

    fn respond(view: &View, params: SourceParams, rendered: Self::Found) -> Result<Self::Response> {
        let Some(line) = params.line.checked_sub(rendered.first) else { return Ok(Value::Null) };
        let document = &rendered.document;
        let Some(instruction) = document.instruction_of(line) else { return Ok(Value::Null) };
        let runs = document.lines.get(line).copied().flatten().map(|place| document.lines_of(&[place]));
        let place = instruction.at.as_ref().map(|(whole, name)| {
            json!({"range": view.range(whole.clone()), "selectionRange": view.range(name.clone())})
        });
        Ok(json!({
            "instruction": instruction.name,
            "at": place,
            "uri": view.uri,
            "lines": rendered.shifted(&runs.unwrap_or_default()),
        }))
    }
}
