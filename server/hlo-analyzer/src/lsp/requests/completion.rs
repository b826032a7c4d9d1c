//! Completion.

use serde_json::json;
use tower_lsp::lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionResponse,
    CompletionTextEdit, InsertTextFormat, TextEdit,
};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct Completion;

impl Request for Completion {
    const METHOD: &'static str = "textDocument/completion";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = CompletionParams;
    type Found = ide::Completion;
    type Response = Option<CompletionResponse>;

    fn subject(params: &CompletionParams) -> Subject {
        Subject::at(&params.text_document_position)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &CompletionParams) -> Cancellable<Self::Found> {
        analysis.completion(view.file, view.span.start)
    }

    fn respond(view: &View, _: CompletionParams, found: Self::Found) -> Result<Self::Response> {
        let items = found.items.into_iter().map(|item| view.completion_item(item)).collect();
        Ok(Some(CompletionResponse::List(CompletionList { is_incomplete: found.is_incomplete, items })))
    }
}

impl View {
    fn completion_item(&self, item: ide::CompletionItem) -> CompletionItem {
        let snippet = item.snippet.filter(|_| self.session.client.snippets);
        let format = match snippet {
            Some(_) => InsertTextFormat::SNIPPET,
            None => InsertTextFormat::PLAIN_TEXT,
        };
        let new_text = snippet.unwrap_or(item.insert);
        CompletionItem {
            label: item.label,
            kind: Some(kind(item.kind)),
            detail: Some(item.detail).filter(|detail| !detail.is_empty()),
            filter_text: Some(item.filter),
            sort_text: Some(item.sort),
            insert_text_format: Some(format),
            text_edit: Some(CompletionTextEdit::Edit(TextEdit { range: self.range(item.replace), new_text })),
            data: item.documentation.map(|key| json!([key, self.session.client.markdown_completion])),
            ..Default::default()
        }
    }
}

fn kind(kind: ide::CompletionKind) -> CompletionItemKind {
    match kind {
        ide::CompletionKind::Opcode => CompletionItemKind::OPERATOR,
        ide::CompletionKind::Attribute => CompletionItemKind::PROPERTY,
        ide::CompletionKind::Value => CompletionItemKind::ENUM_MEMBER,
        ide::CompletionKind::Instruction => CompletionItemKind::VARIABLE,
        ide::CompletionKind::Computation => CompletionItemKind::FUNCTION,
        ide::CompletionKind::Type => CompletionItemKind::STRUCT,
        ide::CompletionKind::Keyword => CompletionItemKind::KEYWORD,
    }
}
