//! Completion and signature help in LSP form.

use serde_json::json;
use tower_lsp::lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionResponse, CompletionTextEdit,
    Documentation, InsertTextFormat, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel,
    SignatureHelp, SignatureInformation, TextEdit,
};

use super::snapshot::View;

impl View {
    pub(super) fn completion(&self, completion: ide::Completion) -> CompletionResponse {
        let items = completion.items.into_iter().map(|item| self.completion_item(item)).collect();
        CompletionResponse::List(CompletionList { is_incomplete: completion.is_incomplete, items })
    }

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

    pub(super) fn signature_help(&self, help: ide::SignatureHelp) -> SignatureHelp {
        let markdown = self.session.client.markdown_completion;
        let label = &help.label;
        let units = |end: usize| label[..end].encode_utf16().count().try_into().unwrap_or(u32::MAX);
        let parameters = help.parameters.into_iter().map(|parameter| {
            let text = label.get(parameter.label.clone()).unwrap_or_default().to_owned();
            ParameterInformation {
                label: match self.session.client.label_offsets {
                    true => ParameterLabel::LabelOffsets([
                        units(parameter.label.start),
                        units(parameter.label.end),
                    ]),
                    false => ParameterLabel::Simple(text),
                },
                documentation: documentation(parameter.documentation, markdown),
            }
        });
        let parameters = parameters.collect();
        let active = help.active.and_then(|n| u32::try_from(n).ok());
        let signature = SignatureInformation {
            documentation: documentation(help.documentation, markdown),
            parameters: Some(parameters),
            active_parameter: active,
            label: help.label,
        };
        SignatureHelp { signatures: vec![signature], active_signature: Some(0), active_parameter: active }
    }
}

/// Adds the documentation to the item. Needs no document: keywords of the language have one meaning.
pub(super) fn resolved(mut item: CompletionItem) -> CompletionItem {
    let data = item.data.as_ref();
    let text = data.and_then(|data| ide::completion_documentation(data[0].as_str()?));
    let markdown = data.is_some_and(|data| data[1] == true);
    item.documentation = text.and_then(|text| documentation(text, markdown)).or(item.documentation);
    item
}

fn documentation(text: String, markdown: bool) -> Option<Documentation> {
    if text.is_empty() {
        return None;
    }
    Some(match markdown {
        true => Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: text }),
        // A client that lists no format supports plain text only.
        false => Documentation::String(ide::plain_text(&text, "")),
    })
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
