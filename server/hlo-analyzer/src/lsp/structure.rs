//! The structure of a text: folding and selection ranges.

use ide::{Fold, FoldKind};
use text::position;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{self, FoldingRange, FoldingRangeKind, SelectionRange, SelectionRangeParams, Url};

use super::from_proto;
use super::handlers::Handlers;
use super::read::WhenEdited::Retry;
use super::read::{Route, Target};
use super::snapshot::View;

static FOLDING_RANGE: Route = Route { method: "textDocument/foldingRange", when_edited: Retry(32) };
static SELECTION_RANGE: Route = Route { method: "textDocument/selectionRange", when_edited: Retry(8) };

/// The largest number of folding ranges for a client without a limit.
const MAX_FOLDS: usize = 20_000;

impl Handlers {
    pub(super) fn folds(&self, uri: Url) -> impl Future<Output = Result<Option<Vec<FoldingRange>>>> {
        self.ask(
            &FOLDING_RANGE,
            uri,
            Target::Document,
            |analysis, view| {
                let wanted = view.session.client.fold_limit.map_or(MAX_FOLDS, |limit| limit as usize);
                analysis.folding_ranges(view.file, wanted.min(MAX_FOLDS))
            },
            |view, folds| Some(folds.into_iter().map(|fold| view.fold(fold)).collect()),
        )
    }

    /// One result per position, in order.
    pub(super) fn selections(
        &self,
        params: SelectionRangeParams,
    ) -> impl Future<Output = Result<Option<Vec<SelectionRange>>>> {
        let first = params.positions.first().copied().unwrap_or_default();
        let others: Vec<_> = params.positions.into_iter().skip(1).collect();
        self.ask(
            &SELECTION_RANGE,
            params.text_document.uri,
            // Only the first position moves with later edits; clients send more only with several cursors.
            Target::At(first),
            move |analysis, view| {
                let others = others
                    .iter()
                    .map(|&at| position::offset(&view.text, from_proto::position(at), view.encoding()));
                let offsets = std::iter::once(view.span.start).chain(others);
                offsets.map(|offset| analysis.selection_ranges(view.file, offset)).collect()
            },
            |view, chains: Vec<_>| Some(chains.into_iter().map(|chain| view.selection(chain)).collect()),
        )
    }
}

impl View {
    fn fold(&self, fold: Fold) -> FoldingRange {
        let lsp_types::Range { start, end } = self.range(fold.range);
        FoldingRange {
            start_line: start.line,
            start_character: Some(start.character),
            end_line: end.line,
            end_character: Some(end.character),
            kind: match fold.kind {
                FoldKind::Comment => Some(FoldingRangeKind::Comment),
                FoldKind::Header => Some(FoldingRangeKind::Region),
                FoldKind::Computation | FoldKind::Brackets => None,
            },
            collapsed_text: None,
        }
    }

    /// The innermost range, with the enclosing ranges as its parents. Traversing the parents, here and in
    /// clients, takes stack for each one. Long chains therefore drop outer ranges, except the outermost.
    fn selection(&self, mut chain: Vec<ide::TextRange>) -> SelectionRange {
        const DEEPEST: usize = 64;
        if chain.len() > DEEPEST {
            chain.drain(DEEPEST - 1..chain.len() - 1);
        }
        let mut outer: Option<SelectionRange> = None;
        for range in chain.into_iter().rev() {
            outer = Some(SelectionRange { range: self.range(range), parent: outer.map(Box::new) });
        }
        // An empty text has only the empty selection.
        outer.unwrap_or_else(|| SelectionRange { range: lsp_types::Range::default(), parent: None })
    }
}
