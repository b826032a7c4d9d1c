//! Selection ranges: one result per position, in order.

use ide::TextRange;
use text::position;
use tower_lsp::lsp_types::{self, SelectionRangeParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::from_proto;

pub(in crate::lsp) struct SelectionRange;

impl Request for SelectionRange {
    const METHOD: &'static str = "textDocument/selectionRange";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = SelectionRangeParams;
    type Found = Vec<Vec<TextRange>>;
    type Response = Option<Vec<lsp_types::SelectionRange>>;

    fn subject(params: &SelectionRangeParams) -> Subject {
        // Only the first position moves with later edits; clients send more only with several cursors.
        Subject::position(&params.text_document, params.positions.first().copied().unwrap_or_default())
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        params: &SelectionRangeParams,
    ) -> Cancellable<Self::Found> {
        let others = params
            .positions
            .iter()
            .skip(1)
            .map(|&at| position::offset(&view.text, from_proto::position(at), view.encoding()));
        let offsets = std::iter::once(view.span.start).chain(others);
        offsets.map(|offset| analysis.selection_ranges(view.file, offset)).collect()
    }

    fn respond(view: &View, _: SelectionRangeParams, found: Self::Found) -> Result<Self::Response> {
        Ok(Some(found.into_iter().map(|chain| view.selection(chain)).collect()))
    }
}

impl View {
    /// The innermost range, with the enclosing ranges as its parents. Traversing the parents, here and in
    /// clients, takes stack for each one. Long chains therefore drop outer ranges, except the outermost.
    fn selection(&self, mut chain: Vec<TextRange>) -> lsp_types::SelectionRange {
        const DEEPEST: usize = 64;
        if chain.len() > DEEPEST {
            chain.drain(DEEPEST - 1..chain.len() - 1);
        }
        let mut outer: Option<lsp_types::SelectionRange> = None;
        for range in chain.into_iter().rev() {
            outer = Some(lsp_types::SelectionRange { range: self.range(range), parent: outer.map(Box::new) });
        }
        // An empty text has only the empty selection.
        outer
            .unwrap_or_else(|| lsp_types::SelectionRange { range: lsp_types::Range::default(), parent: None })
    }
}
