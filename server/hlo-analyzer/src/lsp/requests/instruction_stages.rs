//! `hlo-analyzer/instructionStages`, "Passes that changed this instruction".

use ide::InstructionHistory;
use serde_json::{Value, json};

use super::{Cancellable, PositionParams, Request, Result, Snapshot, Subject, View, WhenEdited};

/// `{"instruction", "stages": [{"uri", "range", "title", "what"}]}`; null if no instruction of a compile is there.
pub(in crate::lsp) struct InstructionStages;

impl Request for InstructionStages {
    const METHOD: &'static str = "hlo-analyzer/instructionStages";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(4);
    type Params = PositionParams;
    type Found = Option<InstructionHistory>;
    type Response = Value;

    fn subject(params: &PositionParams) -> Subject {
        Subject::position(&params.text_document, params.position)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &PositionParams) -> Cancellable<Self::Found> {
        analysis.instruction_history(view.file, view.span.start)
    }

    fn respond(view: &View, _: PositionParams, found: Self::Found) -> Result<Value> {
        let Some(InstructionHistory { instruction, stages }) = found else { return Ok(Value::Null) };
        let stages = stages.iter().map(|stage| {
            let (uri, range) = view.stage_place(&stage.place);
            json!({"uri": uri, "range": range, "title": stage.title, "what": stage.what})
        });
        Ok(json!({"instruction": instruction, "stages": stages.collect::<Value>()}))
    }
}
