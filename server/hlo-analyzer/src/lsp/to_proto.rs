//! Conversions to LSP types.

use std::ops::Range;

use ide::Severity;
use ropey::Rope;
use text::position;
use tower_lsp::lsp_types::{
    self, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, Documentation,
    GotoDefinitionResponse, Location, LocationLink, MarkupContent, MarkupKind, NumberOrString, Position,
};

use super::mailbox::Event;
use super::snapshot::View;
use super::source_files::SourceFiles;

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

    pub(super) fn text_edits(&self, edits: Vec<ide::TextEdit>) -> Vec<lsp_types::TextEdit> {
        edits.into_iter().map(|edit| self.text_edit(edit)).collect()
    }

    pub(super) fn text_edit(&self, edit: ide::TextEdit) -> lsp_types::TextEdit {
        lsp_types::TextEdit { range: self.range(edit.range), new_text: edit.insert }
    }

    /// `None` without a target: editors have their own message for that.
    pub(super) fn definitions(&self, targets: Vec<ide::NavigationTarget>) -> Option<GotoDefinitionResponse> {
        let link = |target: ide::NavigationTarget| LocationLink {
            origin_selection_range: Some(self.range(target.origin)),
            target_uri: self.uri.clone(),
            target_range: self.range(target.range),
            target_selection_range: self.range(target.selection_range),
        };
        self.targets(targets.into_iter().map(link).collect())
    }

    /// The lines of those source files that exist here, innermost first. If none does, the user is told where it was looked up.
    pub(super) fn source_lines(
        &self,
        origin: Range<usize>,
        frames: &[ide::SourceFrame],
    ) -> Option<GotoDefinitionResponse> {
        let mut files = SourceFiles::new(&self.session, &self.uri);
        let origin = self.range(origin);
        let link = |frame: &ide::SourceFrame| {
            let start = Position::new(frame.line.unwrap_or(1).saturating_sub(1), 0);
            let range = lsp_types::Range::new(start, start);
            Some(LocationLink {
                origin_selection_range: Some(origin),
                target_uri: files.find(&frame.path)?,
                target_range: range,
                target_selection_range: range,
            })
        };
        let links: Vec<_> = frames.iter().filter_map(link).collect();
        if links.is_empty()
            && let Some(message) = files.missing(frames.iter().map(|frame| frame.path.as_str()))
        {
            self.session.mailbox.post(Event::WarnOnce(message));
        }
        self.targets(links)
    }

    /// Targets as links, or as locations for a client without links.
    pub(super) fn targets(&self, links: Vec<LocationLink>) -> Option<GotoDefinitionResponse> {
        if links.is_empty() {
            return None;
        }
        if self.session.client.definition_links {
            return Some(GotoDefinitionResponse::Link(links));
        }
        let location = |link: LocationLink| Location::new(link.target_uri, link.target_selection_range);
        let mut locations: Vec<_> = links.into_iter().map(location).collect();
        Some(match locations.len() {
            1 => GotoDefinitionResponse::Scalar(locations.remove(0)),
            _ => GotoDefinitionResponse::Array(locations),
        })
    }

    pub(super) fn location(&self, bytes: Range<usize>) -> Location {
        Location::new(self.uri.clone(), self.range(bytes))
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

/// Markdown, or plain text for a client that lists no format.
pub(super) fn documentation(value: String, is_markdown: bool) -> Option<Documentation> {
    if value.is_empty() {
        return None;
    }
    Some(match is_markdown {
        true => Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value }),
        false => Documentation::String(value),
    })
}
