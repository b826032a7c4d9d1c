//! Editor operations of the test client.

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

pub const URI: &str = "file:///dump/sample.hlo";

pub trait Editor {
    fn open(&mut self, uri: &str, text: &str);
    fn change(&mut self, uri: &str, version: i32, changes: Value);
    /// Sends a hover request.
    fn hover(&mut self, uri: &str, line: usize, character: usize) -> i64;
    /// The text of the document in the analysis.
    fn text(&mut self, uri: &str) -> String;
}

impl Editor for LspClient {
    fn open(&mut self, uri: &str, text: &str) {
        let item = json!({"uri": uri, "languageId": "hlo", "version": 1, "text": text});
        self.notify("textDocument/didOpen", json!({"textDocument": item}));
    }

    fn change(&mut self, uri: &str, version: i32, changes: Value) {
        let id = json!({"uri": uri, "version": version});
        self.notify("textDocument/didChange", json!({"textDocument": id, "contentChanges": changes}));
    }

    fn hover(&mut self, uri: &str, line: usize, character: usize) -> i64 {
        self.request("textDocument/hover", at(uri, line, character))
    }

    fn text(&mut self, uri: &str) -> String {
        let text = self.ask("hlo-analyzer/test/text", document(uri));
        text.as_str().unwrap_or_else(|| panic!("{uri} is not open: {text}")).to_owned()
    }
}

pub fn document(uri: &str) -> Value {
    json!({"textDocument": {"uri": uri}})
}

pub fn at(uri: &str, line: usize, character: usize) -> Value {
    json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})
}

pub fn range(start: (usize, usize), end: (usize, usize)) -> Value {
    json!({
        "start": {"line": start.0, "character": start.1},
        "end": {"line": end.0, "character": end.1},
    })
}

/// The text of a hover, or empty.
pub fn hover_text(answer: &Value) -> &str {
    answer["contents"]["value"].as_str().unwrap_or_default()
}

/// Whether a hover is about this name rather than about a longer one with the same start.
pub fn mentions(hover: &Value, name: &str) -> bool {
    hover_text(hover).match_indices(name).any(|(at, _)| {
        let next = hover_text(hover)[at + name.len()..].chars().next();
        next.is_none_or(|c| !c.is_alphanumeric() && c != '.')
    })
}
