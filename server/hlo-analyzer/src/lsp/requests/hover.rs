//! The hover on an instruction, an op or a line of a kernel.

use std::time::Duration;

use ide::{HoverConfig, RichText, TextRange};
use text::position::PositionEncoding;
use tower_lsp::lsp_types::{
    self, HoverContents, HoverParams, MarkupContent, MarkupKind, TextDocumentPositionParams,
};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::kernel_tab::KernelTab;

pub(in crate::lsp) struct Hover;

/// How long a hover matches the stages of a compile: readers wait for a popup, and the next one goes on from there.
const MATCHING_PATIENCE: Duration = Duration::from_millis(200);

impl Request for Hover {
    const METHOD: &'static str = "textDocument/hover";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = HoverParams;
    /// The text, and the range in the document unless it is a kernel's.
    type Found = Option<(RichText, Option<TextRange>)>;
    type Response = Option<lsp_types::Hover>;

    fn subject(params: &HoverParams) -> Subject {
        Subject::in_document_or_kernel(&params.text_document_position_params)
    }

    fn run(snapshot: &Snapshot, params: &HoverParams) -> Cancellable<Self::Found> {
        let Snapshot { analysis, view } = snapshot;
        let config = HoverConfig {
            readable_variables: view.session.settings.readable_variables,
            patience: Some(MATCHING_PATIENCE),
            memory: view.plans_memory(),
        };
        let TextDocumentPositionParams { text_document, position } = &params.text_document_position_params;
        let Ok(tab) = KernelTab::try_from(text_document.uri.clone()) else {
            let mut hover = analysis.hover_with(view.file, view.span.start, &config)?;
            if let Some(hover) = &mut hover
                && view.session.settings.optimizer_hints
                && view.plans_kernels()
            {
                let path = view.uri.to_file_path().ok();
                let path = path.as_deref().and_then(std::path::Path::to_str);
                analysis.add_planned_kernel(view.file, view.span.start, path, hover)?;
            }
            return Ok(hover.map(|hover| (hover.text, Some(hover.range))));
        };
        let rendered = snapshot.render(&tab)?;
        let Some(line) = (position.line as usize).checked_sub(rendered.first) else { return Ok(None) };
        let (query, document) = (tab.kernel.query(), &rendered.document);
        let text = document.body.lines().nth(line).unwrap_or_default();
        let column = byte_column(text, position.character, view.encoding());
        let hover = analysis.kernel_document_hover(view.file, &query, document, line, column, &config)?;
        Ok(hover.map(|text| (text, None)))
    }

    fn respond(view: &View, _: HoverParams, found: Self::Found) -> Result<Self::Response> {
        let Some((text, range)) = found else { return Ok(None) };
        let has_markdown = view.session.client.markdown_hover;
        let kind = if has_markdown { MarkupKind::Markdown } else { MarkupKind::PlainText };
        let value = text.for_client(has_markdown);
        let contents = HoverContents::Markup(MarkupContent { kind, value });
        Ok(Some(lsp_types::Hover { contents, range: range.map(|range| view.range(range)) }))
    }
}

fn byte_column(line: &str, character: u32, encoding: PositionEncoding) -> usize {
    let mut left = character as usize;
    for (at, c) in line.char_indices() {
        let width = match encoding {
            PositionEncoding::Utf8 => c.len_utf8(),
            PositionEncoding::Utf16 => c.len_utf16(),
            PositionEncoding::Utf32 => 1,
        };
        if left < width {
            return at;
        }
        left -= width;
    }
    line.len()
}
