//! Formatting: white-space edits, one per difference.

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, document, range};

const OPTIONS: &str = "options";

fn options() -> Value {
    json!({"tabSize": 8, "insertSpaces": false})
}

#[test]
fn what_xla_printed_is_formatted_already() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let mut params = document(URI);
    params[OPTIONS] = options();
    assert_eq!(client.ask("textDocument/formatting", params), json!([]));
}

#[test]
fn a_document_a_range_and_a_line_that_is_typed() {
    let text = "\
HloModule m

ENTRY e {
   p = f32[8]  parameter(0) // keep
 q = f32[8] oops((p
ROOT n = f32[8] negate(p)
}
";
    let mut client = LspClient::modern();
    client.open(URI, text);
    let mut whole = document(URI);
    whole[OPTIONS] = options();
    let edits = client.ask("textDocument/formatting", whole.clone());
    let expect = json!([
        {"range": range((3, 0), (3, 3)), "newText": "  "},
        {"range": range((3, 13), (3, 15)), "newText": " "},
        {"range": range((5, 0), (5, 0)), "newText": "  "},
    ]);
    assert_eq!(edits, expect);
    // A range formats the instructions that it touches.
    whole["range"] = range((5, 0), (5, 4));
    assert_eq!(client.ask("textDocument/rangeFormatting", whole), json!([expect[2]]));
    // After a line break the previous line is formatted, and the new one indented.
    client.change(URI, 2, json!([{"range": range((3, 35), (3, 35)), "text": "\n"}]));
    let typed = json!({
        "textDocument": {"uri": URI},
        "position": {"line": 4, "character": 0},
        "ch": "\n",
        "options": options(),
    });
    let edits = client.ask("textDocument/onTypeFormatting", typed);
    let lines: Vec<_> =
        edits.as_array().expect("a list").iter().map(|e| e["range"]["start"]["line"].clone()).collect();
    assert_eq!(lines, [json!(3), json!(3), json!(4)], "{edits}");
}
