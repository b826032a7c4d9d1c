//! Lists that grow with the text are cut, and the user is told.

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at};

/// A value with 12,000 users, and a computation with 1,500 calls.
fn opened() -> LspClient {
    let users = (0..12_000).map(|n| format!("  n{n} = f32[] negate(p)\n"));
    let calls = (0..1_500).map(|n| format!("  call{n} = f32[] call(p), to_apply=f\n"));
    let lines: String = users.chain(calls).collect();
    let mut client = LspClient::modern();
    let text = format!(
        "HloModule m\n\nf {{\n  ROOT x = f32[] parameter(0)\n}}\n\nENTRY e {{\n  p = f32[] parameter(0)\n{lines}  ROOT r = f32[] copy(p)\n}}\n"
    );
    client.open(URI, &text);
    client
}

fn said(client: &mut LspClient, what: &str) -> String {
    let shown = client.notification("window/showMessage", |params| {
        params["message"].as_str().is_some_and(|text| text.contains(what))
    });
    shown["message"].as_str().unwrap_or_default().to_owned()
}

fn count(list: &Value) -> usize {
    list.as_array().map_or(0, Vec::len)
}

#[test]
fn references_are_cut_with_their_number() {
    let mut client = opened();
    let mut params = at(URI, 7, 2);
    params["context"] = json!({"includeDeclaration": false});
    let found = client.ask("textDocument/references", params);
    assert_eq!(count(&found), 10_000);
    let text = said(&mut client, "references");
    assert!(text.ends_with(": the first 10000 of 13501 references are listed"), "{text}");
}

#[test]
fn highlights_and_calls_are_cut() {
    let mut client = opened();
    let found = client.ask("textDocument/documentHighlight", at(URI, 7, 2));
    assert_eq!(count(&found), 10_000);
    let text = said(&mut client, "highlights");
    assert!(text.ends_with(": the first 10000 highlights of a name are shown; there are more"), "{text}");
    let items = client.ask("textDocument/prepareCallHierarchy", at(URI, 2, 0));
    let calls = client.ask("callHierarchy/incomingCalls", json!({"item": items[0]}));
    assert_eq!((count(&calls), count(&calls[0]["fromRanges"])), (1, 1_000));
    let text = said(&mut client, "calls of one");
    assert!(text.ends_with(": the first 1000 of 1500 calls of one computation are listed"), "{text}");
}
