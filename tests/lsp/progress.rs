//! Work-done progress: what takes more than half a second is shown, and the user can stop it.

use std::time::{Duration, Instant};

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, document};

const SLEEP: &str = "hlo-analyzer/test/sleep";

fn client(shows_progress: bool) -> LspClient {
    let mut client = LspClient::start(json!({"window": {"workDoneProgress": shows_progress}}));
    client.open(URI, sample::MODULE);
    client
}

fn sleep(client: &mut LspClient, ms: u64) -> i64 {
    let mut params = document(URI);
    params["ms"] = json!(ms);
    client.request(SLEEP, params)
}

fn progress(client: &mut LspClient, kind: &str) -> Value {
    client.notification("$/progress", |params| params["value"]["kind"] == kind)
}

#[test]
fn long_work_begins_and_ends() {
    let mut client = client(true);
    let id = sleep(&mut client, 1500);
    let started = Instant::now();
    let token = client.server_request("window/workDoneProgress/create")["token"].clone();
    assert!(started.elapsed() > Duration::from_millis(400), "{:?}", started.elapsed());
    let begin = progress(&mut client, "begin");
    assert_eq!(begin["token"], token);
    let expected =
        json!({"kind": "begin", "title": "Computing sleep", "message": "sample.hlo", "cancellable": true});
    assert_eq!(begin["value"], expected);
    assert_eq!(progress(&mut client, "end")["token"], token);
    client.answer(id);
}

#[test]
fn the_user_can_stop_it() {
    let mut client = client(true);
    let id = sleep(&mut client, 60_000);
    let token = client.server_request("window/workDoneProgress/create")["token"].clone();
    progress(&mut client, "begin");
    client.notify("window/workDoneProgress/cancel", json!({"token": "another"}));
    client.notify("window/workDoneProgress/cancel", json!({"token": token}));
    assert_eq!(client.error_code(id), -32800);
    progress(&mut client, "end");
}

#[test]
fn short_work_and_other_clients_have_none() {
    for (shows_progress, ms) in [(true, 100), (false, 900)] {
        let mut client = client(shows_progress);
        let id = sleep(&mut client, ms);
        client.answer(id);
        client.listen(Duration::from_millis(600));
        assert!(client.server_requests.is_empty() && client.take("$/progress").is_none());
    }
}
