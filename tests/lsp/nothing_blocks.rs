//! An edit does not wait for any running computation, and cancelled computations stop.
//!
//! The requests run on texts made to keep them busy. The test prints the time from an edit to the next
//! response, and the computation after a cancellation: `cargo xtask bench` shows the largest of both. The
//! asserted bounds allow for a busy machine, and are far below the duration of these requests without
//! cancellation.

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

/// Cancels each request while it runs, and then edits while it runs.
fn check(busy: &Busy) {
    let mut client = opened(busy);
    let (uri, process) = (busy.uri(), client.process_id());
    wait_until_idle(process);
    for (method, params) in requests(busy) {
        let id = client.request(method, params);
        client.listen(Duration::from_millis(100));
        let start = processor_time(process);
        client.notify("$/cancelRequest", json!({"id": id}));
        let is_done = expect_answer(&mut client, busy, method, id);
        let used = wait_until_idle(process).since(start);
        let done = if is_done { " (it was done)" } else { "" };
        eprintln!("cancel: {used:?} of processor time after it: {}: {method}{done}", busy.name);
    }
    let mut version = 1;
    for (method, params) in requests(busy) {
        let id = client.request(method, params);
        client.listen(Duration::from_millis(100));
        version += 1;
        let start = Instant::now();
        client.change(&uri, version, json!([{"range": range((0, 0), (0, 0)), "text": " "}]));
        // The text comes from the database, so the edit has been applied when the response arrives.
        let text = client.text(&uri);
        let freeze = start.elapsed();
        assert!(text.starts_with(' '));
        version += 1;
        client.change(&uri, version, json!([{"range": range((0, 0), (0, 1)), "text": ""}]));
        client.notify("$/cancelRequest", json!({"id": id}));
        let is_done = expect_answer(&mut client, busy, method, id);
        let done = if is_done { " (it may have been done before)" } else { "" };
        eprintln!("freeze: {freeze:?} from an edit to an answer: {}: {method}{done}", busy.name);
        assert!(freeze < SOON, "{}: {method}: {freeze:?}", busy.name);
    }
}

/// Whether the response is none of the errors that a cancelled request may get.
fn expect_answer(client: &mut LspClient, busy: &Busy, method: &str, id: i64) -> bool {
    let Err(error) = client.answer(id).result else { return true };
    let code = error["code"].as_i64().unwrap_or_default();
    assert!([-32800, -32801].contains(&code), "{}: {method}: {error}", busy.name);
    false
}

/// The CPU time used by the server when it is idle again.
fn wait_until_idle(process: Option<u32>) -> Time {
    let end = Instant::now() + Duration::from_secs(120);
    let mut last = processor_time(process);
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let now = processor_time(process);
        // Threads may wake up briefly without work.
        if now.since(last) < Duration::from_micros(300) {
            return now;
        }
        assert!(Instant::now() < end, "the server still computes");
        last = now;
    }
}

/// CPU time of the server; 0 where the system does not report it. The time of finished threads has a
/// resolution of a hundredth of a second.
fn processor_time(process: Option<u32>) -> Time {
    let of_thread = |thread: std::io::Result<std::fs::DirEntry>| {
        let stat = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
        stat.split(' ').next()?.parse::<u64>().ok()
    };
    let of_threads = || {
        let threads = std::fs::read_dir(format!("/proc/{}/task", process?)).ok()?;
        Some(threads.filter_map(of_thread).sum())
    };
    let of_all = || {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", process?)).ok()?;
        let fields: Vec<&str> = stat.rsplit_once(") ")?.1.split(' ').collect();
        Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
    };
    let (of_threads, of_all) = (of_threads(), of_all());
    if of_threads.is_none() || of_all.is_none() {
        test_files::needs::print_once("the system does not report CPU times: they are not checked");
    }
    Time {
        of_threads: Duration::from_nanos(of_threads.unwrap_or_default()),
        of_all: Duration::from_millis(of_all.unwrap_or_default() * 10),
    }
}

#[derive(Clone, Copy)]
struct Time {
    of_threads: Duration,
    of_all: Duration,
}

impl Time {
    fn since(self, start: Time) -> Duration {
        let of_threads = self.of_threads.saturating_sub(start.of_threads);
        of_threads.max(self.of_all.saturating_sub(start.of_all))
    }
}

mod needs_shared {
    use generators::on_all_cores;

    use super::*;

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn nothing_waits_for_what_once_froze() {
        let past = busy::of_the_past();
        on_all_cores(past.len() as u64, |i| check(&past[i as usize]));
    }
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

/// An edit does not wait even for a read that does not check for cancellation.
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
    // Cancelling one of the equal requests does not affect the others.
    client.notify("$/cancelRequest", json!({"id": equal[0]}));
    client.notify("$/cancelRequest", json!({"id": equal[7]}));
    for (n, id) in equal.into_iter().enumerate() {
        match n {
            0 | 7 => assert_eq!(client.error_code(id), -32800),
            _ => assert_eq!(client.answer(id).result.expect("it slept"), 1),
        }
    }
    // A notification may change the text, so requests after it are not joined with those before.
    let before = client.request("hlo-analyzer/test/sleep", sleep());
    client.notify("workspace/didChangeConfiguration", json!({"settings": {}}));
    let behind = client.request("hlo-analyzer/test/sleep", sleep());
    let answers = [before, behind].map(|id| client.answer(id).result.expect("it slept").as_u64());
    assert_ne!(answers[0], answers[1]);
}
