//! Conversions from LSP types.

use ide::{Language, TextEdit};
use ropey::Rope;
use text::position::{self, Position, PositionEncoding};
use tower_lsp::lsp_types::{self, TextDocumentContentChangeEvent, TextDocumentItem};

use super::read::Target;

pub(super) fn position(position: lsp_types::Position) -> Position {
    Position::new(position.line as usize, position.character as usize)
}

pub(super) fn range(
    text: &Rope,
    range: lsp_types::Range,
    encoding: PositionEncoding,
) -> std::ops::Range<usize> {
    if (range.start.line, range.start.character) > (range.end.line, range.end.character) {
        tracing::warn!("the client sent a range that ends before it starts: {range:?}");
    }
    position::offset_range(text, position(range.start)..position(range.end), encoding)
}

pub(super) fn span(text: &Rope, target: &Target, encoding: PositionEncoding) -> std::ops::Range<usize> {
    match *target {
        Target::Document | Target::Workspace | Target::Folder => 0..text.len_bytes(),
        Target::At(at) => {
            let offset = position::offset(text, position(at), encoding);
            offset..offset
        }
        Target::Range(asked) => range(text, asked, encoding),
    }
}

/// Converts one content change to an edit of `text`, the text before it. A change without a range replaces
/// all.
pub(super) fn text_edit(
    text: &Rope,
    change: TextDocumentContentChangeEvent,
    encoding: PositionEncoding,
) -> TextEdit {
    let range = match change.range {
        Some(changed) => range(text, changed, encoding),
        None => 0..text.len_bytes(),
    };
    TextEdit { range, insert: change.text }
}

/// The language by the client's language id, else by the file name, else by the start of the text.
pub(super) fn language(document: &TextDocumentItem) -> Language {
    match document.language_id.to_ascii_lowercase().as_str() {
        "hlo" => return Language::Hlo,
        "mlir" | "stablehlo" => return Language::Mlir,
        _ => {}
    }
    ide::language_of(document.uri.path(), &document.text)
}

#[cfg(test)]
mod tests {
    use tower_lsp::lsp_types::Url;

    use super::*;

    fn check_language(language_id: &str, name: &str, text: &str, expect: Language) {
        let uri = Url::parse(&format!("file:///dump/{name}")).unwrap();
        let document =
            TextDocumentItem { uri, language_id: language_id.into(), version: 1, text: text.into() };
        assert_eq!(language(&document), expect, "{language_id} {name} {text}");
    }

    #[test]
    fn languages() {
        check_language("hlo", "a.mlir", "", Language::Hlo);
        check_language("mlir", "a.hlo", "", Language::Mlir);
        check_language("plaintext", "a.MLIR", "", Language::Mlir);
        check_language(
            "plaintext",
            "module_0.jit_f.after_optimizations.txt",
            "HloModule jit_f",
            Language::Hlo,
        );
        check_language("", "untitled", "// c\n\nmodule @a {", Language::Mlir);
        check_language("", "untitled", "\0", Language::Hlo);
    }

    #[test]
    fn changes() {
        let text = Rope::from_str("a😀b\ncd");
        let at = |line, character| lsp_types::Position { line, character };
        let edit = |range: Option<lsp_types::Range>| {
            let change = TextDocumentContentChangeEvent { range, range_length: None, text: "x".into() };
            text_edit(&text, change, PositionEncoding::Utf16).range
        };
        assert_eq!(edit(None), 0..9);
        assert_eq!(edit(Some(lsp_types::Range { start: at(0, 3), end: at(1, 1) })), 5..8);
        assert_eq!(edit(Some(lsp_types::Range { start: at(1, 1), end: at(0, 3) })), 5..8);
        assert_eq!(edit(Some(lsp_types::Range { start: at(1, 9), end: at(u32::MAX, u32::MAX) })), 9..9);
    }
}
