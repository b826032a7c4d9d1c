//! Diagnostics are pushed, for the text they belong to.

use std::time::Duration;

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, range};

fn published(client: &mut LspClient, version: i32) -> Vec<Value> {
    let params = client.notification("textDocument/publishDiagnostics", |params| {
        params["uri"] == URI && params["version"] == version
    });
    params["diagnostics"].as_array().expect("a list").clone()
}

#[test]
fn an_error_appears_when_typed_and_goes_with_undo() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    assert_eq!(published(&mut client, 1), [] as [Value; 0]);
    let line = sample::MODULE.lines().position(|line| line.contains("%add.1")).expect("it is there");
    let end = sample::MODULE.lines().nth(line).map_or(0, str::len);
    // Deletes the closing parenthesis.
    client.change(URI, 2, json!([{"range": range((line, end - 1), (line, end)), "text": ""}]));
    let errors = published(&mut client, 2);
    assert!(!errors.is_empty());
    let error = &errors[0];
    assert_eq!(error["severity"], 1, "{error}");
    assert_eq!(error["source"], "hlo-analyzer");
    assert!(error["code"].is_string(), "{error}");
    let start = error["range"]["start"]["line"].as_u64().expect("a line");
    assert!((line as u64..=line as u64 + 1).contains(&start), "{error}");
    client.change(URI, 3, json!([{"range": range((line, end - 1), (line, end - 1)), "text": ")"}]));
    assert_eq!(published(&mut client, 3), [] as [Value; 0]);

    client.change(URI, 4, json!([{"range": range((line, end - 1), (line, end)), "text": ""}]));
    assert!(!published(&mut client, 4).is_empty());
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    let closed = client.notification("textDocument/publishDiagnostics", |params| params["uri"] == URI);
    assert_eq!(closed["diagnostics"], json!([]));
}

#[test]
fn typing_does_not_starve_them_and_versions_only_grow() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let mut version = 1;
    for _ in 0..30 {
        version += 1;
        client.change(URI, version, json!([{"range": range((1, 0), (1, 0)), "text": "/"}]));
        client.listen(Duration::from_millis(50));
    }
    let mut versions = Vec::new();
    while versions.last() != Some(&i64::from(version)) {
        let params = client.notification("textDocument/publishDiagnostics", |_| true);
        versions.push(params["version"].as_i64().expect("a version"));
    }
    assert!(versions.is_sorted_by(|a, b| a < b), "{versions:?}");
    // 1.5 s of typing without a pause, with diagnostics at least every half second, or for each letter if
    // they are cheap.
    assert!(versions.len() >= 3, "{versions:?}");
}

#[test]
fn too_many_are_cut_with_a_note() {
    let mut client = LspClient::modern();
    let settings = json!({"hlo-analyzer": {"diagnostics": {"limit": 10}}});
    client.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    let line = "  %add.1 = f32[8,128]{1,0} add(%x, %y\n";
    let bad = sample::MODULE.replace("  ROOT %add.1", &format!("{}  ROOT %add.1", line.repeat(50)));
    client.open(URI, &bad);
    let shown = published(&mut client, 1);
    assert_eq!(shown.len(), 11);
    let note = &shown[10];
    assert_eq!(note["severity"], 3, "{note}");
    assert!(note["message"].as_str().is_some_and(|text| text.contains("not shown")), "{note}");

    let settings = json!({"hlo-analyzer": {"diagnostics": {"limit": 100_000}}});
    client.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    let all = published(&mut client, 1);
    assert!(all.len() >= 50, "{}", all.len());
}

#[test]
fn what_is_unneeded_is_faded_and_can_be_switched_off() {
    let publish = json!({"relatedInformation": true, "tagSupport": {"valueSet": [1, 2]}});
    let mut client = LspClient::start(json!({"textDocument": {"publishDiagnostics": publish}}));
    client.open(URI, sample::UNUSED);
    let found = published(&mut client, 1);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0]["code"], "unused-instruction");
    assert_eq!((&found[0]["severity"], &found[0]["tags"]), (&json!(4), &json!([1])));
    for warnings in [json!({"disabled": ["unused-instruction"]}), json!({"enable": false})] {
        client.notify("workspace/didChangeConfiguration", json!({"settings": {"warnings": warnings}}));
        assert_eq!(published(&mut client, 1), [] as [Value; 0]);
        let all = json!({"warnings": {"enable": true, "disabled": []}});
        client.notify("workspace/didChangeConfiguration", json!({"settings": all}));
        assert_eq!(published(&mut client, 1).len(), 1);
    }
}
