//! Diagnostics for a client that asks for them.

use std::time::{Duration, Instant};

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::compiles::Dump;
use crate::editor::{Editor, URI, document, range};

const PULL: &str = "textDocument/diagnostic";
const PULL_ALL: &str = "workspace/diagnostic";
const PUSHED: &str = "textDocument/publishDiagnostics";

fn pulling() -> LspClient {
    LspClient::start(json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {"diagnostic": {"dynamicRegistration": false}},
        "workspace": {"diagnostics": {"refreshSupport": true}},
    }))
}

/// `previous`: the result id of the last report.
fn pull(client: &mut LspClient, uri: &str, previous: &Value) -> Value {
    let mut params = document(uri);
    params["previousResultId"] = previous.clone();
    client.ask(PULL, params)
}

fn codes(report: &Value) -> Vec<&str> {
    let items = report["items"].as_array().unwrap_or_else(|| panic!("no full report: {report}"));
    items.iter().map(|item| item["code"].as_str().unwrap_or_default()).collect()
}

fn previous(ids: &[(&str, &Value)]) -> Value {
    let ids: Vec<Value> = ids.iter().map(|(uri, id)| json!({"uri": uri, "value": id})).collect();
    json!({"previousResultIds": ids})
}

#[test]
fn a_report_is_full_once_and_then_unchanged_until_an_edit() {
    let mut client = pulling();
    client.open(URI, sample::UNUSED);
    let first = pull(&mut client, URI, &Value::Null);
    assert_eq!((&first["kind"], codes(&first)), (&json!("full"), vec!["unused-instruction"]));
    let id = &first["resultId"];
    let again = pull(&mut client, URI, id);
    assert_eq!(again, json!({"kind": "unchanged", "resultId": id}));
    client.change(URI, 2, json!([{"range": range((0, 0), (0, 0)), "text": "\n"}]));
    let moved = pull(&mut client, URI, id);
    assert_eq!(moved["kind"], "full");
    assert_ne!(moved["resultId"], *id);
    let line = |report: &Value| report["items"][0]["range"]["start"]["line"].as_u64().expect("a line");
    assert_eq!(line(&moved), line(&first) + 1);
    let closed = pull(&mut client, "file:///not/open.hlo", &Value::Null);
    assert_eq!(closed, json!({"kind": "full", "items": []}));
}

#[test]
fn what_is_asked_for_is_not_sent() {
    let mut client = pulling();
    client.open(URI, sample::UNUSED);
    pull(&mut client, URI, &Value::Null);
    client.listen(Duration::from_millis(600));
    assert!(client.take(PUSHED).is_none());
    let mut client = LspClient::modern();
    client.open(URI, sample::UNUSED);
    let pushed = client.notification(PUSHED, |params| params["uri"] == URI);
    assert_eq!(pushed["diagnostics"].as_array().map(Vec::len), Some(1));
}

/// It would not see what a setting changes.
#[test]
fn a_client_that_cannot_be_told_to_ask_again_is_sent_them() {
    let mut client =
        LspClient::start(json!({"textDocument": {"diagnostic": {"dynamicRegistration": false}}}));
    client.open(URI, sample::UNUSED);
    let count = |params: &Value| params["diagnostics"].as_array().map(Vec::len);
    client.notification(PUSHED, |params| params["uri"] == URI && count(params) == Some(1));
    let settings = json!({"settings": {"warnings": {"disabled": ["unused-instruction"]}}});
    client.notify("workspace/didChangeConfiguration", settings);
    client.notification(PUSHED, |params| params["uri"] == URI && count(params) == Some(0));
}

#[test]
fn settings_and_folders_ask_for_a_refresh() {
    let mut client = pulling();
    client.open(URI, sample::UNUSED);
    let first = pull(&mut client, URI, &Value::Null);
    let settings = json!({"settings": {"warnings": {"disabled": ["unused-instruction"]}}});
    client.notify("workspace/didChangeConfiguration", settings);
    client.server_request("workspace/diagnostic/refresh");
    assert!(codes(&pull(&mut client, URI, &first["resultId"])).is_empty());
    let dump = Dump::new("pulled");
    client.ask("hlo-analyzer/compiles", document(&dump.uri()));
    client.server_request("workspace/diagnostic/refresh");
}

#[test]
fn the_workspace_waits_for_news() {
    let mut client = pulling();
    let other = "file:///dump/other.hlo";
    client.open(URI, sample::UNUSED);
    client.open(other, sample::MODULE);
    let all = client.ask(PULL_ALL, previous(&[]));
    let report = |all: &Value, uri: &str| -> Value {
        let items = all["items"].as_array().expect("reports").clone();
        items.into_iter().find(|report| report["uri"] == uri).unwrap_or_else(|| panic!("{uri} in {all}"))
    };
    let (first, second) = (report(&all, URI), report(&all, other));
    assert_eq!((codes(&first), &first["version"]), (vec!["unused-instruction"], &json!(1)));
    assert!(codes(&second).is_empty());

    let known = previous(&[(URI, &first["resultId"]), (other, &second["resultId"])]);
    let waiting = client.request(PULL_ALL, known.clone());
    client.listen(Duration::from_millis(400));
    let edited = Instant::now();
    client.change(other, 2, json!([{"range": range((0, 0), (0, 1)), "text": "?"}]));
    let answer = client.answer(waiting);
    assert!(answer.at > edited, "it was answered before the edit");
    let news = answer.result.expect("an answer");
    assert_eq!(report(&news, URI)["kind"], "unchanged");
    assert!(!codes(&report(&news, other)).is_empty());

    let id = report(&news, other)["resultId"].clone();
    let waiting = client.request(PULL_ALL, previous(&[(URI, &first["resultId"]), (other, &id)]));
    client.notify("textDocument/didClose", document(other));
    let news = client.answer(waiting).result.expect("an answer");
    assert!(codes(&report(&news, other)).is_empty(), "a document that is closed has none");

    let waiting = client.request(PULL_ALL, previous(&[(URI, &first["resultId"])]));
    client.notify("$/cancelRequest", json!({"id": waiting}));
    assert_eq!(client.error_code(waiting), -32800);
}
