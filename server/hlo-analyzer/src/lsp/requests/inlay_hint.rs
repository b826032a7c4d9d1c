//! Inlay hints: domains of maps, bytes in use, where a fusion is partitioned, and which kernels instructions would go into.

use tower_lsp::lsp_types::{
    self, InlayHintLabel, InlayHintParams, InlayHintTooltip, MarkupContent, MarkupKind,
};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::bounds::MAX_PLACES;

pub(in crate::lsp) struct InlayHint;

impl Request for InlayHint {
    const METHOD: &'static str = "textDocument/inlayHint";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = InlayHintParams;
    type Found = Vec<ide::InlayHint>;
    type Response = Option<Vec<lsp_types::InlayHint>>;

    fn subject(params: &InlayHintParams) -> Subject {
        Subject::range(&params.text_document, params.range)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &InlayHintParams) -> Cancellable<Self::Found> {
        let mut config = view.session.settings.inlay_hints();
        config.memory = config.memory && view.plans_memory();
        let mut hints = analysis.inlay_hints(view.file, view.span.clone(), &config)?;
        if view.session.settings.optimizer_hints && view.plans_kernels() {
            hints.extend(analysis.planned_kernel_hints(view.file, view.span.clone())?);
        }
        Ok(hints)
    }

    fn respond(view: &View, _: InlayHintParams, found: Self::Found) -> Result<Self::Response> {
        let found = view.first_shown(MAX_PLACES, "inlay hints of a range", found);
        Ok(Some(found.into_iter().map(|hint| view.inlay_hint(hint)).collect()))
    }
}

impl View {
    fn inlay_hint(&self, hint: ide::InlayHint) -> lsp_types::InlayHint {
        let markdown = |text: ide::Line| MarkupContent { kind: MarkupKind::Markdown, value: text.markdown() };
        lsp_types::InlayHint {
            position: self.position(hint.offset),
            label: InlayHintLabel::String(hint.label),
            kind: None,
            text_edits: None,
            tooltip: hint.tooltip.map(markdown).map(InlayHintTooltip::MarkupContent),
            padding_left: Some(true),
            padding_right: None,
            data: None,
        }
    }
}
