//! `hlo-analyzer/convert`, "Convert to StableHLO" and "Convert to HLO".

use ide::{Conversion, Language};
use serde_json::{Value, json};

use super::{Cancellable, DocumentParams, Request, Result, Snapshot, Subject, View, WhenEdited};

/// `{"language", "text", "incomplete": [{"range", "message"}]}`: the module in the other language. `range` refers
/// to the document and is null where unknown.
pub(in crate::lsp) struct Convert;

impl Request for Convert {
    const METHOD: &'static str = "hlo-analyzer/convert";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(4);
    type Params = DocumentParams;
    type Found = Conversion;
    type Response = Value;

    fn subject(params: &DocumentParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &DocumentParams) -> Cancellable<Self::Found> {
        analysis.convert(view.file)
    }

    fn respond(view: &View, _: DocumentParams, conversion: Self::Found) -> Result<Self::Response> {
        let language = match conversion.language {
            Language::Hlo => "hlo",
            Language::Mlir => "mlir",
        };
        let incomplete = conversion.incomplete.iter().map(|missing| {
            json!({"range": missing.range.clone().map(|range| view.range(range)), "message": missing.what})
        });
        let incomplete: Value = incomplete.collect();
        Ok(json!({"language": language, "text": conversion.document(), "incomplete": incomplete}))
    }
}
