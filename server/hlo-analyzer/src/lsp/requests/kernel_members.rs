//! `hlo-analyzer/kernelMembers`: the instructions that XLA would fuse with the one at a position, for editors that colour them.

use ide::KernelMembers as Members;
use serde_json::{Value, json};

use super::{Cancellable, PositionParams, Request, Result, Snapshot, Subject, View, WhenEdited};

/// `[{"number", "count", "title", "ranges"}]`, one per kernel that the instruction goes into.
pub(in crate::lsp) struct KernelMembers;

impl Request for KernelMembers {
    const METHOD: &'static str = "hlo-analyzer/kernelMembers";
    const WHEN_EDITED: WhenEdited = WhenEdited::Refuse;
    type Params = PositionParams;
    type Found = Vec<Members>;
    type Response = Value;

    fn subject(params: &PositionParams) -> Subject {
        Subject::position(&params.text_document, params.position)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &PositionParams) -> Cancellable<Self::Found> {
        match view.session.settings.optimizer_hints && view.plans_kernels() {
            true => analysis.kernel_members(view.file, view.span.start),
            false => Ok(Vec::new()),
        }
    }

    fn respond(view: &View, _: PositionParams, found: Self::Found) -> Result<Value> {
        let kernels = found.into_iter().map(|kernel| {
            let ranges = kernel.members.into_iter().map(|range| json!(view.range(range)));
            json!({
                "number": kernel.number,
                "count": kernel.count,
                "title": kernel.title,
                "ranges": ranges.collect::<Value>(),
            })
        });
        Ok(kernels.collect())
    }
}
