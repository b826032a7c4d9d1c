//! `hlo-analyzer/compileDetails`: the device, flags and thunks of a compile.

use ide::{CompileDetails as Details, ListedThunk};
use ropey::Rope;
use serde::Deserialize;
use serde_json::{Value, json};
use tower_lsp::lsp_types::TextDocumentIdentifier;

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::dump_folders::uri;

/// `{"device", "flags": [{"name", "value", "default"}], "thunks": [{"kind", "parent", "instruction", "kernel", "launch",
/// "at": {"uri", "range"}}]}`; null if the folder has no such compile.
pub(in crate::lsp) struct CompileDetails;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::lsp) struct CompileDetailsParams {
    /// The folder, or a file in it.
    text_document: TextDocumentIdentifier,
    /// Index of the compile.
    compile: usize,
}

impl Request for CompileDetails {
    const METHOD: &'static str = "hlo-analyzer/compileDetails";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = CompileDetailsParams;
    type Found = Option<Details>;
    type Response = Value;

    fn subject(params: &CompileDetailsParams) -> Subject {
        Subject::Part(params.text_document.uri.clone(), Target::Folder)
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        params: &CompileDetailsParams,
    ) -> Cancellable<Self::Found> {
        analysis.compile_details(&view.folder(), params.compile)
    }

    fn respond(view: &View, _: CompileDetailsParams, found: Self::Found) -> Result<Value> {
        let Some(Details { device, flags, thunks }) = found else { return Ok(Value::Null) };
        let flags = flags.map(|flags| -> Value {
            let flags = flags.iter();
            flags
                .map(|flag| json!({"name": flag.name, "value": flag.value, "default": flag.default}))
                .collect()
        });
        // The places are all in one text, which is not searched again for each.
        let texts =
            thunks.iter().find_map(|thunk| thunk.place.as_ref()).map(|place| Rope::from_str(place.text()));
        let thunk = |ListedThunk { kind, parent, instruction, launch, place }: &ListedThunk| {
            let at = place.as_ref().zip(texts.as_ref()).map(|(place, text)| {
                json!({"uri": uri(&place.folder, &place.path), "range": view.range_in(text, place.range.clone())})
            });
            json!({
                "kind": kind,
                "parent": parent,
                "instruction": instruction,
                "kernel": launch.as_ref().map(|launch| &launch.kernel),
                "launch": launch.as_ref().map(|launch| &launch.text),
                "at": at,
            })
        };
        Ok(json!({"device": device, "flags": flags, "thunks": thunks.iter().map(thunk).collect::<Value>()}))
    }
}
