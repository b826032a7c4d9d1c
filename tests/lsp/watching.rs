//! Dump folders whose files change while the editor shows them.

use std::fs;

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::compiles::Dump;
use crate::editor::{Editor, at, document, hover_text};

const CHANGED: &str = "hlo-analyzer/compilesChanged";

/// A client that watches files, and hears of changed compiles.
fn watching() -> LspClient {
    let mut client = LspClient::spawn_as(|command| _ = command.env("HLO_ANALYZER_LOG", "debug"));
    let watched = json!({"dynamicRegistration": true, "relativePatternSupport": true});
    let capabilities = json!({
        "workspace": {"didChangeWatchedFiles": watched, "inlayHint": {"refreshSupport": true}},
        "experimental": {"notifications": [CHANGED]},
    });
    client.initialize(json!({"processId": null, "rootUri": null, "capabilities": capabilities}));
    client
}

/// The number of stages of the first compile; null if the folder has none.
fn stages(client: &mut LspClient, dump: &Dump) -> Value {
    client.ask("hlo-analyzer/compiles", document(&dump.uri()))["compiles"][0]["stages"].clone()
}

/// The client reports that files changed, in the way of the numbers in LSP: 1 created, 2 changed, 3 deleted.
fn report(client: &mut LspClient, kind: u32, uris: &[String]) {
    let changes: Vec<Value> = uris.iter().map(|uri| json!({"uri": uri, "type": kind})).collect();
    client.notify("workspace/didChangeWatchedFiles", json!({"changes": changes}));
}

fn wait_for_change(client: &mut LspClient, dump: &Dump) {
    let changed = client.notification(CHANGED, |_| true);
    assert_eq!(changed["uri"], dump.uri());
}

fn listings(client: &LspClient) -> usize {
    client.log().matches("listing /").count()
}

#[test]
fn without_a_watcher_each_request_lists_the_folder() {
    let dump = Dump::new("unwatched");
    let mut client = LspClient::modern();
    assert_eq!(stages(&mut client, &dump), 8);
    fs::remove_file(dump.file("0003.hlo_normalization")).expect("it is ours");
    assert_eq!(stages(&mut client, &dump), 7);
    fs::remove_dir_all(dump.folder()).expect("it is ours");
    assert_eq!(stages(&mut client, &dump), Value::Null);
    assert!(client.server_requests.is_empty() && client.take(CHANGED).is_none());
}

#[test]
fn a_watched_folder_is_listed_when_its_files_change() {
    let dump = Dump::new("watched");
    let mut client = watching();
    assert_eq!(stages(&mut client, &dump), 8);
    let asked = client.server_request("client/registerCapability");
    let registered = &asked["registrations"][0];
    assert_eq!(registered["method"], "workspace/didChangeWatchedFiles");
    let watcher = &registered["registerOptions"]["watchers"][0]["globPattern"];
    assert_eq!(*watcher, json!({"baseUri": format!("{}/", dump.uri()), "pattern": "**/*"}));

    let (path, uri) = (dump.file("0003.hlo_normalization"), dump.file_uri("0003.hlo_normalization"));
    let text = fs::read(&path).expect("a stage");
    fs::remove_file(&path).expect("it is ours");
    report(&mut client, 3, std::slice::from_ref(&uri));
    wait_for_change(&mut client, &dump);
    assert_eq!(stages(&mut client, &dump), 7);
    fs::write(&path, text).expect("it is ours");
    report(&mut client, 1, &[uri]);
    // A request that follows the report does not wait for the pause.
    assert_eq!(stages(&mut client, &dump), 8);
    wait_for_change(&mut client, &dump);

    // Editors report a folder that is deleted, and not its files.
    fs::remove_dir_all(dump.folder()).expect("it is ours");
    report(&mut client, 3, &[dump.uri()]);
    wait_for_change(&mut client, &dump);
    assert_eq!(stages(&mut client, &dump), Value::Null);
    let registrations = client.server_requests.iter().filter(|(method, _)| method.starts_with("client/"));
    assert_eq!(registrations.count(), 0, "it is registered once");
}

#[test]
fn many_changes_are_one_listing() {
    let dump = Dump::new("many");
    let mut client = watching();
    assert_eq!(stages(&mut client, &dump), 8);
    client.server_request("client/registerCapability");
    let text = fs::read(dump.file("0003.hlo_normalization")).expect("a stage");
    let names = (0..2000).map(|n| format!("module_0002.more.{n:04}.algsimp.after_algsimp.before_dce.txt"));
    let uris: Vec<String> = names
        .map(|name| {
            fs::write(dump.folder().join(&name), &text).expect("it is ours");
            format!("{}/{name}", dump.uri())
        })
        .collect();
    let before = listings(&client);
    for uris in uris.chunks(100) {
        report(&mut client, 1, uris);
    }
    let found = |client: &mut LspClient| client.ask("hlo-analyzer/compiles", document(&dump.uri()));
    while found(&mut client)["compiles"][1]["stages"] != 2000 {
        wait_for_change(&mut client, &dump);
    }
    let listings = listings(&client) - before;
    assert!((1..=6).contains(&listings), "{listings} listings");
}

#[test]
fn other_files_of_the_folder_cause_no_listing() {
    let dump = Dump::new("others");
    let mut client = watching();
    assert_eq!(stages(&mut client, &dump), 8);
    client.server_request("client/registerCapability");
    // The folder is listed once more when the client starts to watch it.
    client.listen(std::time::Duration::from_millis(600));
    let before = listings(&client);
    report(
        &mut client,
        2,
        &[format!("{}/train.py", dump.uri()), "file:///elsewhere/module_0001.f.x.txt".into()],
    );
    report(&mut client, 1, &[format!("{}/.git/index.lock", dump.uri()), "untitled:Untitled-1".into()]);
    client.listen(std::time::Duration::from_millis(600));
    assert_eq!(listings(&client), before);
}

#[test]
fn an_open_stage_follows_the_files_around_it() {
    let dump = Dump::new("followed");
    let mut client = watching();
    let (uri, path) =
        (dump.file_uri("gpu_after_optimizations.txt"), dump.file("gpu_after_optimizations.txt"));
    let text = fs::read_to_string(path).expect("a stage");
    client.open(&uri, &text);
    let line = text.lines().position(|line| line.contains("%gemm_fusion_dot = ")).expect("it has one");
    let column = text.lines().nth(line).and_then(|line| line.find("gemm")).expect("it has one");
    client.server_request("client/registerCapability");
    let shown = client.ask("textDocument/hover", at(&uri, line, column));
    assert!(hover_text(&shown).contains("triton-gemm-rewriter (stage 5 of 8)"), "{shown}");
    let gone = dump.file_uri("0002.hlo_normalization");
    fs::remove_file(dump.file("0002.hlo_normalization")).expect("it is ours");
    report(&mut client, 3, &[gone]);
    client.server_request("workspace/inlayHint/refresh");
    let shown = client.ask("textDocument/hover", at(&uri, line, column));
    assert!(hover_text(&shown).contains("introduced between layout-assignment and"), "{shown}");
}
