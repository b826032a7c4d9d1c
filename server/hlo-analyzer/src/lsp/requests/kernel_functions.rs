//! `hlo-analyzer/kernelFunctions`: the functions into which a fusion is partitioned.

use ide::KernelFunction;
use serde_json::{Value, json};

use super::{Cancellable, PositionParams, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct KernelFunctions;

impl Request for KernelFunctions {
    const METHOD: &'static str = "hlo-analyzer/kernelFunctions";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = PositionParams;
    type Found = Vec<KernelFunction>;
    type Response = Value;

    fn subject(params: &PositionParams) -> Subject {
        Subject::position(&params.text_document, params.position)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &PositionParams) -> Cancellable<Self::Found> {
        analysis.kernel_functions(view.file, view.span.start)
    }

    fn respond(view: &View, _: PositionParams, found: Self::Found) -> Result<Self::Response> {
        Ok(found.iter().map(|function| view.kernel_function(function)).collect())
    }
}

impl View {
    fn kernel_function(&self, function: &KernelFunction) -> Value {
        let lines: Vec<_> = function.lines.iter().map(|line| self.range(line.clone())).collect();
        json!({
            "number": function.number,
            "name": function.name,
            "reason": function.reason,
            "lines": lines,
        })
    }
}
