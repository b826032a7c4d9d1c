//! `hlo-analyzer/showKernel`: the tabs of the kernel at a position.

use ide::ShownKernel;
use serde_json::{Value, json};

use super::{Cancellable, PositionParams, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::kernel_tab::tabs;

pub(in crate::lsp) struct ShowKernel;

impl Request for ShowKernel {
    const METHOD: &'static str = "hlo-analyzer/showKernel";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = PositionParams;
    type Found = Option<(ShownKernel, bool)>;
    type Response = Value;

    fn subject(params: &PositionParams) -> Subject {
        Subject::position(&params.text_document, params.position)
    }

    fn run(snapshot: &Snapshot, _: &PositionParams) -> Cancellable<Self::Found> {
        let Snapshot { analysis, view } = snapshot;
        let Some(kernel) = analysis.shown_kernel(view.file, view.span.start)? else { return Ok(None) };
        let has_xla = snapshot.has_xla_kernel(&kernel)?;
        Ok(Some((kernel, has_xla)))
    }

    fn respond(view: &View, _: PositionParams, found: Self::Found) -> Result<Self::Response> {
        let Some((kernel, has_xla)) = found else { return Ok(Value::Null) };
        let tabs = tabs(&view.session, &view.uri, &kernel, has_xla);
        let tabs = tabs.iter().map(|tab| {
            json!({"tab": tab.tab, "title": tab.tab.title(), "uri": tab.uri(), "name": tab.file_name()})
        });
        Ok(json!({
            "instruction": kernel.instruction,
            "computation": kernel.computation,
            "range": view.range(kernel.range.clone()),
            "tabs": tabs.collect::<Value>(),
        }))
    }
}
