//! The bounds of requests, and what the user is told of what they cut.

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at, document, hover_text, range};

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

#[test]
fn targets_and_symbols_are_cut() {
    let mut client = opened();
    // The parameter of a computation leads to what its calls pass.
    let found = client.ask("textDocument/definition", at(URI, 3, 20));
    assert_eq!(count(&found), 1_000);
    let text = said(&mut client, "targets");
    assert!(text.ends_with(": the first 1000 of 1500 targets are listed"), "{text}");
    let found = client.ask("workspace/symbol", json!({"query": "n"}));
    assert_eq!(count(&found), 256);
    let text = said(&mut client, "symbols");
    assert_eq!(text, "the first 256 symbols are listed; more letters narrow the list");
}

#[test]
fn links_are_cut() {
    let file = std::env::temp_dir().join(format!("hlo-analyzer-bounds-{}.py", std::process::id()));
    std::fs::write(&file, "x = 1\n").expect("the temporary folder can be written");
    let path = file.display();
    let lines: String = (0..10_050)
        .map(|n| format!("  n{n} = f32[] constant(1), metadata={{source_file=\"{path}\" source_line=1}}\n"))
        .collect();
    let mut client = LspClient::modern();
    client.open(URI, &format!("HloModule m\n\nENTRY e {{\n{lines}  ROOT r = f32[] negate(n0)\n}}\n"));
    let found = client.ask("textDocument/documentLink", document(URI));
    std::fs::remove_file(&file).expect("it is ours");
    assert_eq!(count(&found), 10_000);
    let text = said(&mut client, "links");
    assert!(text.ends_with(": the first 10000 links to source files are shown; there are more"), "{text}");
}

#[test]
fn a_request_ends_at_the_time_limit() {
    let mut client = LspClient::modern();
    let set = |client: &mut LspClient, seconds: f64| {
        let settings = json!({"requests": {"timeLimit": seconds}});
        client.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    };
    set(&mut client, 0.25);
    client.open(URI, sample::MODULE);
    let slow = |ms: u64| json!({"textDocument": {"uri": URI}, "ms": ms});
    let id = client.request("hlo-analyzer/test/sleep", slow(60_000));
    let error = client.answer(id).result.expect_err("it takes longer");
    assert_eq!(error["code"], -32803);
    let text =
        "hlo-analyzer/test/sleep took longer than 0.25 s; the setting requests.timeLimit raises the limit";
    assert_eq!(error["message"], text);
    let id = client.hover(URI, 9, 4);
    assert!(!hover_text(&client.answer(id).result.expect("others are answered")).is_empty());
    set(&mut client, 0.0);
    let id = client.request("hlo-analyzer/test/sleep", slow(600));
    client.answer(id).result.expect("there is no limit");
}

#[test]
fn a_request_ends_at_the_memory_limit() {
    let mut client = LspClient::modern();
    client
        .notify("workspace/didChangeConfiguration", json!({"settings": {"requests": {"memoryLimit": 100}}}));
    client.open(URI, sample::MODULE);
    let held = |mib: u64, ms: u64| json!({"textDocument": {"uri": URI}, "ms": ms, "mib": mib});
    let small = client.request("hlo-analyzer/test/sleep", held(50, 1_000));
    client.answer(small).result.expect("it takes less");
    let large = client.request("hlo-analyzer/test/sleep", held(400, 4_000));
    let error = client.answer(large).result.expect_err("it takes more");
    assert_eq!(error["code"], -32803);
    let text = "hlo-analyzer/test/sleep took more than 100 MiB of memory; the setting requests.memoryLimit raises the limit";
    assert_eq!(error["message"], text);
    let id = client.hover(URI, 9, 4);
    assert!(!hover_text(&client.answer(id).result.expect("others are answered")).is_empty());
}

#[test]
fn work_in_the_background_ends_at_the_time_limit() {
    let mut client = LspClient::modern();
    let settings = json!({"requests": {"timeLimit": 0.25}});
    client.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    client.open(URI, &sample::slow());
    let text = said(&mut client, "took longer");
    let wanted = "the diagnostics of sample.hlo took longer than 0.25 s; the setting requests.timeLimit raises the limit";
    assert_eq!(text, wanted);
}

#[test]
fn a_text_above_the_limit_is_not_analysed_until_it_is_shorter() {
    let mut client = LspClient::modern();
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"documents": {"limit": 1}}}));
    let comment = format!("// {}\n", "x".repeat(1 << 20));
    let hover = |client: &mut LspClient, line: usize| {
        let id = client.hover(URI, line, 4);
        hover_text(&client.answer(id).result.expect("hover")).to_owned()
    };
    client.open(URI, &(comment.clone() + sample::MODULE));
    assert_eq!(hover(&mut client, 10), "");
    let text = said(&mut client, "not analysed");
    let wanted =
        "sample.hlo has more than 1 MiB, so it is not analysed; the setting documents.limit raises that";
    assert_eq!(text, wanted);
    client.change(URI, 2, json!([{"range": range((0, 0), (1, 0)), "text": ""}]));
    assert!(hover(&mut client, 9).contains('x'));
    client.change(URI, 3, json!([{"range": range((0, 0), (0, 0)), "text": comment}]));
    assert_eq!(hover(&mut client, 10), "");
    let settings = json!({"settings": {"documents": {"limit": 2}}});
    client.notify("workspace/didChangeConfiguration", settings);
    assert!(hover(&mut client, 10).contains('x'));
}
