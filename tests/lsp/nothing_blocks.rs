//! Whatever is being computed, an edit does not wait for it, and what is cancelled computes no more.
//!
//! The requests run on texts made to keep them busy. How long an answer after an edit takes is printed; what is asserted
//! allows for a machine that does other things too, and is far below what these requests take when nothing stops them.

use std::time::{Duration, Instant};

use hlo_analyzer_tests::busy::{self, Busy};
use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::editor::{Editor, at, document, range};

/// Measured: some 10 ms to 30 ms.
const SOON: Duration = Duration::from_secs(5);

fn everything() -> Value {
    range((0, 0), (100_000, 0))
}

/// Every request that computes, about the last instruction of the text.
fn requests(busy: &Busy) -> Vec<(&'static str, Value)> {
    let uri = busy.uri();
    let with = |mut params: Value, more: Value| {
        let (Value::Object(into), Value::Object(more)) = (&mut params, more) else { unreachable!() };
        into.extend(more);
        params
    };
    let place = || at(&uri, busy.line, 8);
    vec![
        ("hlo-analyzer/evaluate", place()),
        ("hlo-analyzer/convert", document(&uri)),
        ("hlo-analyzer/kernelFunctions", place()),
        ("hlo-analyzer/accessPattern", place()),
        ("hlo-analyzer/showKernel", place()),
        ("hlo-analyzer/heaviestKernels", document(&uri)),
        ("textDocument/inlayHint", with(document(&uri), json!({"range": everything()}))),
        (
            "textDocument/codeAction",
            with(document(&uri), json!({"range": everything(), "context": {"diagnostics": []}})),
        ),
        ("textDocument/codeLens", document(&uri)),
        ("textDocument/hover", place()),
        ("textDocument/documentSymbol", document(&uri)),
        ("textDocument/semanticTokens/full", document(&uri)),
        (
            "textDocument/references",
            with(at(&uri, busy.line, 3), json!({"context": {"includeDeclaration": true}})),
        ),
        (
            "textDocument/formatting",
            with(document(&uri), json!({"options": {"tabSize": 2, "insertSpaces": true}})),
        ),
        ("textDocument/completion", place()),
    ]
}

fn opened(busy: &Busy) -> LspClient {
    let mut client = LspClient::modern();
    let item = json!({"uri": busy.uri(), "languageId": busy.language, "version": 1, "text": busy.text});
    client.notify("textDocument/didOpen", json!({"textDocument": item}));
    client
}

/// Each request is in flight when an edit comes, and again when it is cancelled.
fn check(busy: &Busy) {
    let mut client = opened(busy);
    let uri = busy.uri();
    let mut version = 1;
    for (method, params) in requests(busy) {
        let id = client.request(method, params.clone());
        client.listen(Duration::from_millis(100));
        version += 1;
        let start = Instant::now();
        client.change(&uri, version, json!([{"range": range((0, 0), (0, 0)), "text": " "}]));
        // The text comes from the database: the edit is done when it is answered.
        let text = client.text(&uri);
        let freeze = start.elapsed();
        assert!(text.starts_with(' '));
        client.change(&uri, version, json!([{"range": range((0, 0), (0, 1)), "text": ""}]));
        client.notify("$/cancelRequest", json!({"id": id}));
        let again = client.request(method, params.clone());
        client.listen(Duration::from_millis(100));
        client.notify("$/cancelRequest", json!({"id": again}));
        for id in [id, again] {
            if let Err(error) = client.answer(id).result {
                let code = error["code"].as_i64().unwrap_or_default();
                assert!([-32800, -32801].contains(&code), "{}: {method}: {error}", busy.name);
            }
        }
        let idle = client.process_id().and_then(idle_after);
        let idle = idle
            .map_or_else(String::new, |cpu| format!(", {cpu:?} of processor time after its cancellation"));
        eprintln!("{}: {method}: an answer {freeze:?} after an edit{idle}", busy.name);
        assert!(freeze < SOON, "{}: {method}: {freeze:?}", busy.name);
    }
}

/// Processor time that a process uses until it is idle. It may have work of its own for a moment: the diagnostics after the edit.
fn idle_after(process: u32) -> Option<Duration> {
    let start = processor_time(process)?;
    let end = Instant::now() + Duration::from_secs(30);
    let mut last = start;
    loop {
        std::thread::sleep(Duration::from_millis(150));
        let now = processor_time(process)?;
        if now == last {
            return Some(now - start);
        }
        assert!(Instant::now() < end, "the server still computes: {:?} of processor time", now - start);
        last = now;
    }
}

/// Nothing where the system does not say.
fn processor_time(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 10))
}

#[test]
fn nothing_waits_for_an_evaluation() {
    check(&busy::products());
    check(&busy::sorted());
}

#[test]
fn nothing_waits_for_nested_fusions() {
    check(&busy::nested(48));
}

#[test]
fn nothing_waits_for_a_wide_tuple() {
    check(&busy::wide_tuple(8_000));
}

#[test]
fn nothing_waits_for_a_long_chain() {
    check(&busy::chain(12_000));
}

/// Even a read that forgets to look at its cancellation does not make an edit wait.
#[test]
fn an_edit_leaves_a_read_behind_that_does_not_look() {
    let mut client = LspClient::modern();
    let uri = "file:///dump/a.hlo";
    client.open(uri, hlo_analyzer_tests::sample::MODULE);
    let stuck = json!({"textDocument": {"uri": uri}, "ms": 40_000, "blocking": true});
    let id = client.request("hlo-analyzer/test/sleep", stuck);
    client.listen(Duration::from_millis(100));
    let start = Instant::now();
    for version in 2..6 {
        client.change(uri, version, json!([{"range": range((0, 0), (0, 0)), "text": "\n"}]));
    }
    let text = client.text(uri);
    let took = start.elapsed();
    eprintln!("an edit beside a read that does not look at its cancellation took {took:?}");
    assert_eq!(text, format!("\n\n\n\n{}", hlo_analyzer_tests::sample::MODULE));
    assert!(took < Duration::from_secs(20), "{took:?}");
    client.notify("$/cancelRequest", json!({"id": id}));
    assert_eq!(client.error_code(id), -32800);
    let id = client.hover(uri, 13, 4);
    client.answer(id).result.expect("the new database answers");
}

#[test]
fn repeated_requests_are_computed_once() {
    let mut client = LspClient::modern();
    let uri = "file:///dump/a.hlo";
    client.open(uri, hlo_analyzer_tests::sample::MODULE);
    let sleep = || json!({"textDocument": {"uri": uri}, "ms": 500});
    let equal: Vec<i64> = (0..20).map(|_| client.request("hlo-analyzer/test/sleep", sleep())).collect();
    // One who loses interest does not spoil it for the others.
    client.notify("$/cancelRequest", json!({"id": equal[0]}));
    client.notify("$/cancelRequest", json!({"id": equal[7]}));
    for (n, id) in equal.into_iter().enumerate() {
        match n {
            0 | 7 => assert_eq!(client.error_code(id), -32800),
            _ => assert_eq!(client.answer(id).result.expect("it slept"), 1),
        }
    }
    // The text is another one, as far as anybody knows.
    let before = client.request("hlo-analyzer/test/sleep", sleep());
    client.notify("workspace/didChangeConfiguration", json!({"settings": {}}));
    let behind = client.request("hlo-analyzer/test/sleep", sleep());
    let answers = [before, behind].map(|id| client.answer(id).result.expect("it slept").as_u64());
    assert_ne!(answers[0], answers[1]);
}
