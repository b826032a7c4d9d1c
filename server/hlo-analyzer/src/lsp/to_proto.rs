//! Conversions to LSP types.

use std::ops::Range;

use ide::Severity;
use ropey::Rope;
use text::position;
use tower_lsp::lsp_types::{
    self, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, GotoDefinitionResponse,
    HoverContents, InlayHintLabel, InlayHintTooltip, Location, LocationLink, MarkupContent, MarkupKind,
    NumberOrString,
};

use super::snapshot::View;

impl View {
    pub(super) fn position(&self, offset: usize) -> lsp_types::Position {
        self.position_in(&self.text, offset)
    }

    fn position_in(&self, text: &Rope, offset: usize) -> lsp_types::Position {
        let position = position::position(text, offset, self.encoding());
        let number = |n| u32::try_from(n).unwrap_or(u32::MAX);
        lsp_types::Position { line: number(position.line), character: number(position.column) }
    }

    pub(super) fn range(&self, bytes: Range<usize>) -> lsp_types::Range {
        lsp_types::Range { start: self.position(bytes.start), end: self.position(bytes.end) }
    }

    /// Converts a range of a document other than the request's.
    pub(super) fn range_in(&self, text: &Rope, bytes: Range<usize>) -> lsp_types::Range {
        lsp_types::Range {
            start: self.position_in(text, bytes.start),
            end: self.position_in(text, bytes.end),
        }
    }

    pub(super) fn text_edit(&self, edit: ide::TextEdit) -> lsp_types::TextEdit {
        lsp_types::TextEdit { range: self.range(edit.range), new_text: edit.insert }
    }

    pub(super) fn hover(&self, hover: ide::Hover) -> lsp_types::Hover {
        let kind = match self.session.client.markdown_hover {
            true => MarkupKind::Markdown,
            false => MarkupKind::PlainText,
        };
        let value = match kind {
            MarkupKind::Markdown => hover.markdown,
            MarkupKind::PlainText => ide::plain_text(&hover.markdown, ""),
        };
        lsp_types::Hover {
            contents: HoverContents::Markup(MarkupContent { kind, value }),
            range: Some(self.range(hover.range)),
        }
    }

    /// `None` without a target: editors have their own message for that.
    pub(super) fn definitions(&self, targets: Vec<ide::NavigationTarget>) -> Option<GotoDefinitionResponse> {
        if targets.is_empty() {
            return None;
        }
        if self.session.client.definition_links {
            let link = |target: ide::NavigationTarget| LocationLink {
                origin_selection_range: Some(self.range(target.origin)),
                target_uri: self.uri.clone(),
                target_range: self.range(target.range),
                target_selection_range: self.range(target.selection_range),
            };
            return Some(GotoDefinitionResponse::Link(targets.into_iter().map(link).collect()));
        }
        let mut locations: Vec<_> = targets.into_iter().map(|t| self.location(t.selection_range)).collect();
        Some(match locations.len() {
            1 => GotoDefinitionResponse::Scalar(locations.remove(0)),
            _ => GotoDefinitionResponse::Array(locations),
        })
    }

    pub(super) fn location(&self, bytes: Range<usize>) -> Location {
        Location::new(self.uri.clone(), self.range(bytes))
    }

    pub(super) fn inlay_hint(&self, hint: ide::InlayHint) -> lsp_types::InlayHint {
        let markdown = |value| MarkupContent { kind: MarkupKind::Markdown, value };
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

    pub(super) fn document_symbols(
        &self,
        symbols: Vec<ide::DocumentSymbol>,
    ) -> lsp_types::DocumentSymbolResponse {
        if self.session.client.hierarchical_symbols {
            return symbols.into_iter().map(|symbol| self.nested_symbol(symbol)).collect::<Vec<_>>().into();
        }
        let mut flat = Vec::new();
        symbols.into_iter().for_each(|symbol| self.flatten_symbol(symbol, None, &mut flat));
        flat.into()
    }

    #[expect(deprecated, reason = "the type demands the field")]
    fn nested_symbol(&self, symbol: ide::DocumentSymbol) -> lsp_types::DocumentSymbol {
        let children: Vec<_> = symbol.children.into_iter().map(|child| self.nested_symbol(child)).collect();
        lsp_types::DocumentSymbol {
            name: visible(symbol.name),
            detail: Some(symbol.detail).filter(|detail| !detail.is_empty()),
            kind: symbol_kind(symbol.kind),
            tags: None,
            deprecated: None,
            range: self.range(symbol.range),
            selection_range: self.range(symbol.selection_range),
            children: Some(children).filter(|children| !children.is_empty()),
        }
    }

    #[expect(deprecated, reason = "the type demands the field")]
    fn flatten_symbol(
        &self,
        symbol: ide::DocumentSymbol,
        container: Option<&str>,
        flat: &mut Vec<lsp_types::SymbolInformation>,
    ) {
        let name = visible(symbol.name);
        flat.push(lsp_types::SymbolInformation {
            name: name.clone(),
            kind: symbol_kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: Location::new(self.uri.clone(), self.range(symbol.range)),
            container_name: container.map(str::to_owned),
        });
        symbol.children.into_iter().for_each(|child| self.flatten_symbol(child, Some(&name), flat));
    }

    pub(super) fn diagnostic(&self, diagnostic: ide::Diagnostic) -> lsp_types::Diagnostic {
        let related = diagnostic.related.into_iter().map(|related| DiagnosticRelatedInformation {
            location: Location::new(self.uri.clone(), self.range(related.range)),
            message: related.message,
        });
        let wanted = self.session.client.related_information;
        let related: Vec<_> = related.filter(|_| wanted).collect();
        let is_faded = self.session.client.unnecessary_tag && ide::is_unnecessary(diagnostic.code);
        lsp_types::Diagnostic {
            range: self.range(diagnostic.range),
            severity: Some(match diagnostic.severity {
                Severity::Error => DiagnosticSeverity::ERROR,
                Severity::Warning => DiagnosticSeverity::WARNING,
                Severity::Information => DiagnosticSeverity::INFORMATION,
                Severity::Hint => DiagnosticSeverity::HINT,
            }),
            code: Some(NumberOrString::String(diagnostic.code.into())),
            code_description: self.code_description(diagnostic.code),
            source: Some(env!("CARGO_PKG_NAME").into()),
            message: diagnostic.message,
            related_information: Some(related).filter(|related| !related.is_empty()),
            tags: is_faded.then(|| vec![DiagnosticTag::UNNECESSARY]),
            ..Default::default()
        }
    }
}

/// VS Code rejects a whole outline if one symbol has no name.
pub(super) fn visible(name: String) -> String {
    if name.is_empty() { "?".into() } else { name }
}

pub(super) fn symbol_kind(kind: ide::SymbolKind) -> lsp_types::SymbolKind {
    match kind {
        ide::SymbolKind::Computation => lsp_types::SymbolKind::FUNCTION,
        ide::SymbolKind::Entry => lsp_types::SymbolKind::MODULE,
        ide::SymbolKind::Parameter => lsp_types::SymbolKind::VARIABLE,
        ide::SymbolKind::Constant => lsp_types::SymbolKind::CONSTANT,
        ide::SymbolKind::Instruction => lsp_types::SymbolKind::OPERATOR,
        ide::SymbolKind::Note => lsp_types::SymbolKind::NULL,
    }
}
