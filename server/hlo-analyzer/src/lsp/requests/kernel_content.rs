//! `hlo-analyzer/kernelContent`: the text of a kernel's tab, and the instruction of each line.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::kernel_tab::{KernelTab, Rendered};

pub(in crate::lsp) struct KernelContent;

#[derive(Deserialize)]
pub(in crate::lsp) struct ContentParams {
    uri: KernelTab,
}

impl Request for KernelContent {
    const METHOD: &'static str = "hlo-analyzer/kernelContent";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = ContentParams;
    type Found = Arc<Rendered>;
    type Response = Value;

    fn subject(params: &ContentParams) -> Subject {
        params.uri.subject(Target::Document)
    }

    fn run(snapshot: &Snapshot, params: &ContentParams) -> Cancellable<Self::Found> {
        snapshot.render(&params.uri)
    }

    fn respond(_: &View, _: ContentParams, rendered: Self::Found) -> Result<Self::Response> {
        let lines = (0..rendered.document.lines.len()).filter_map(|line| {
            let instruction = &rendered.document.instruction_of(line)?.name;
            Some(json!({"line": rendered.first + line + 1, "instruction": instruction}))
        });
        Ok(json!({
            "source_map": lines.collect::<Value>(),
            "incomplete": rendered.document.is_incomplete(),
            "text": &rendered.text,
        }))
    }
}
