//! The places that change together while the name at the cursor is edited.

use ide::Reference;
use tower_lsp::lsp_types::{LinkedEditingRangeParams, LinkedEditingRanges};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct LinkedEditingRange;

impl Request for LinkedEditingRange {
    const METHOD: &'static str = "textDocument/linkedEditingRange";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = LinkedEditingRangeParams;
    type Found = Vec<Reference>;
    type Response = Option<LinkedEditingRanges>;

    fn subject(params: &LinkedEditingRangeParams) -> Subject {
        Subject::at(&params.text_document_position_params)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &LinkedEditingRangeParams) -> Cancellable<Self::Found> {
        // Only what can be renamed: keywords and opcodes have uses, too.
        match analysis.prepare_rename(view.file, view.span.start)? {
            Ok(_) => analysis.references(view.file, view.span.start, true),
            Err(_) => Ok(Vec::new()),
        }
    }

    fn respond(view: &View, _: LinkedEditingRangeParams, found: Self::Found) -> Result<Self::Response> {
        // The editor repeats the edit of one place at all others, so all have the same text. `%name` in one place and
        // `name` in another are for "Rename".
        let text = |reference: &Reference| {
            let range = reference.range.clone();
            (range.end <= view.text.len_bytes()).then(|| view.text.byte_slice(range))
        };
        let first = found.first().and_then(text);
        let is_same = first.is_some() && found.iter().all(|reference| text(reference) == first);
        Ok((is_same && found.len() > 1).then(|| LinkedEditingRanges {
            ranges: found.into_iter().map(|reference| view.range(reference.range)).collect(),
            word_pattern: Some(r"[%@]?[\w.$-]+".to_owned()),
        }))
    }
}
