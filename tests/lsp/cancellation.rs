//! Slow requests block nothing and can be cancelled.

use std::time::{Duration, Instant};

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, hover_text, range};

/// Measured: below 1 ms. This allows for a busy machine.
const SOON: Duration = Duration::from_millis(500);

fn sleep(ms: u64, blocking: bool) -> Value {
    json!({"textDocument": {"uri": URI}, "ms": ms, "blocking": blocking})
}

#[test]
fn a_cancelled_request_is_answered_at_once_and_others_go_on() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let slow: Vec<_> =
        (0..6).map(|_| client.request("hlo-analyzer/test/sleep", sleep(20_000, false))).collect();
    // The first hover fills the caches for the other hovers and the sleeping requests.
    let id = client.hover(URI, 9, 4);
    client.answer(id).result.expect("hover");
    for id in slow {
        let start = Instant::now();
        client.notify("$/cancelRequest", json!({"id": id}));
        let answer = client.answer(id);
        assert_eq!(answer.result.expect_err("it is cancelled")["code"], -32800);
        let took = answer.at - start;
        eprintln!("cancelled after {took:?}");
        assert!(took < SOON, "{took:?}");

        let start = Instant::now();
        let id = client.hover(URI, 9, 4);
        let answer = client.answer(id);
        let took = answer.at - start;
        assert!(hover_text(&answer.result.expect("hover")).contains('x'));
        assert!(took < SOON, "a hover took {took:?}");
    }
    // The threads are free again: the edit does not wait for cancelled requests.
    client.change(URI, 2, json!([{"range": range((0, 0), (0, 0)), "text": "\n"}]));
    let start = Instant::now();
    assert!(client.text(URI).starts_with("\nHloModule"));
    assert!(start.elapsed() < SOON * 4, "{:?}", start.elapsed());
}

#[test]
fn a_computation_that_does_not_look_up_delays_no_other_request() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let id = client.hover(URI, 9, 4);
    client.answer(id).result.expect("hover");
    let blocked = client.request("hlo-analyzer/test/sleep", sleep(1500, true));
    let start = Instant::now();
    let id = client.hover(URI, 9, 4);
    let answer = client.answer(id);
    answer.result.expect("hover");
    let took = answer.at - start;
    eprintln!("a hover beside a blocked thread took {took:?}");
    assert!(took < Duration::from_secs(1), "{took:?}");
    // Even this one responds at once when it is cancelled, although its thread continues.
    let start = Instant::now();
    client.notify("$/cancelRequest", json!({"id": blocked}));
    let answer = client.answer(blocked);
    assert_eq!(answer.result.expect_err("it is cancelled")["code"], -32800);
    assert!(answer.at - start < SOON, "{:?}", answer.at - start);
}

#[test]
fn an_edit_ends_what_it_makes_pointless() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let slow = client.request("hlo-analyzer/test/sleep", sleep(20_000, false));
    client.listen(Duration::from_millis(50));
    let start = Instant::now();
    client.change(URI, 2, json!([{"range": range((0, 0), (0, 0)), "text": "\n"}]));
    let answer = client.answer(slow);
    assert_eq!(answer.result.expect_err("the text has changed")["code"], -32801);
    let took = answer.at - start;
    eprintln!("refused {took:?} after the edit");
    assert!(took < SOON, "{took:?}");
}
