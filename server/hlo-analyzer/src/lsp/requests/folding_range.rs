//! Folding ranges.

use ide::{Fold, FoldKind};
use tower_lsp::lsp_types::{self, FoldingRangeKind, FoldingRangeParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct FoldingRange;

/// The largest number of folding ranges for a client without a limit.
const MAX_FOLDS: usize = 20_000;

impl Request for FoldingRange {
    const METHOD: &'static str = "textDocument/foldingRange";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = FoldingRangeParams;
    type Found = Vec<Fold>;
    type Response = Option<Vec<lsp_types::FoldingRange>>;

    fn subject(params: &FoldingRangeParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &FoldingRangeParams) -> Cancellable<Self::Found> {
        let wanted = view.session.client.fold_limit.map_or(MAX_FOLDS, |limit| limit as usize);
        analysis.folding_ranges(view.file, wanted.min(MAX_FOLDS))
    }

    fn respond(view: &View, _: FoldingRangeParams, found: Self::Found) -> Result<Self::Response> {
        if found.len() >= MAX_FOLDS {
            view.say_more(MAX_FOLDS, "folding ranges");
        }
        Ok(Some(found.into_iter().map(|fold| view.fold(fold)).collect()))
    }
}

impl View {
    fn fold(&self, fold: Fold) -> lsp_types::FoldingRange {
        let lsp_types::Range { start, end } = self.range(fold.range);
        lsp_types::FoldingRange {
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
}
