//! Folders, settings and saved files of a workspace.

use std::time::Duration;

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::compiles::Dump;
use crate::editor::{Editor, URI, at, document, hover_text};
use crate::navigation::list;

fn folder(path: &std::path::Path) -> Value {
    json!({"uri": format!("file://{}", path.display()), "name": "x"})
}

#[test]
fn folders_come_and_go() {
    let root = std::env::temp_dir().join(format!("hlo-analyzer-roots-{}", std::process::id()));
    for name in ["a", "b"] {
        std::fs::create_dir_all(root.join(name)).expect("the temporary folder can be written");
        std::fs::write(root.join(name).join(format!("{name}.py")), "x = 1\n").expect("it can be written");
    }
    let line = |name: &str, path: &str| {
        format!("  {name} = f32[] constant(1), metadata={{source_file=\"{path}\" source_line=1}}\n")
    };
    let lines = [line("a", "a.py"), line("ROOT b", "b.py")].concat();
    let mut client = LspClient::spawn();
    let (a, b) = (folder(&root.join("a")), folder(&root.join("b")));
    let welcome = client.initialize(json!({"capabilities": {}, "workspaceFolders": [a]}));
    let expected = json!({"supported": true, "changeNotifications": true});
    assert_eq!(welcome["capabilities"]["workspace"]["workspaceFolders"], expected);
    client.open(URI, &format!("HloModule m\n\nENTRY e {{\n{lines}}}\n"));
    let links = |client: &mut LspClient| -> Vec<String> {
        let found = client.ask("textDocument/documentLink", document(URI));
        let target = |link: &Value| link["target"].as_str().unwrap_or_default().to_owned();
        list(&found)
            .iter()
            .map(|link| target(link).rsplit('/').next().unwrap_or_default().to_owned())
            .collect()
    };
    let changed = |client: &mut LspClient, added: &[&Value], removed: &[&Value]| {
        let event = json!({"added": added, "removed": removed});
        client.notify("workspace/didChangeWorkspaceFolders", json!({"event": event}));
    };
    assert_eq!(links(&mut client), ["a.py#L1"]);
    changed(&mut client, &[&b], &[]);
    assert_eq!(links(&mut client), ["a.py#L1", "b.py#L1"]);
    changed(&mut client, &[], &[&a]);
    assert_eq!(links(&mut client), ["b.py#L1"]);
    std::fs::remove_dir_all(root).expect("it is ours");
}

/// The codes of the diagnostics of the open document, when they are sent next.
fn codes(client: &mut LspClient) -> Vec<Value> {
    let params = client.notification("textDocument/publishDiagnostics", |params| params["uri"] == URI);
    params["diagnostics"].as_array().expect("a list").iter().map(|it| it["code"].clone()).collect()
}

#[test]
fn settings_are_asked_for() {
    let without = json!({"warnings": {"enable": false}});
    let capabilities = json!({"workspace": {
        "configuration": true, "didChangeConfiguration": {"dynamicRegistration": true},
    }});
    let mut client = LspClient::spawn();
    client.settings = without;
    client.initialize(json!({"processId": null, "rootUri": null, "capabilities": capabilities}));
    let registered = client.server_request("client/registerCapability")["registrations"][0].clone();
    assert_eq!(registered["method"], "workspace/didChangeConfiguration");
    assert_eq!(registered["registerOptions"], json!({"section": "hlo-analyzer"}));
    let asked = client.server_request("workspace/configuration");
    assert_eq!(asked["items"], json!([{"section": "hlo-analyzer"}]));
    client.open(URI, sample::UNUSED);
    assert!(codes(&mut client).is_empty());
    // The client says that settings changed, without saying how.
    client.settings = json!({"warnings": {"enable": true}});
    client.notify("workspace/didChangeConfiguration", json!({"settings": null}));
    client.server_request("workspace/configuration");
    assert_eq!(codes(&mut client), ["unused-instruction"]);

    let mut client = LspClient::spawn();
    let options = json!({"warnings": {"enable": false}});
    client.initialize(json!({"capabilities": capabilities, "initializationOptions": options}));
    client.open(URI, sample::UNUSED);
    assert!(codes(&mut client).is_empty());
    assert!(client.server_requests.iter().all(|(method, _)| method != "workspace/configuration"));
}

#[test]
fn a_saved_file_lists_its_dump_folder_again() {
    let dump = Dump::new("saved");
    let mut client = LspClient::modern();
    let (uri, path) =
        (dump.file_uri("gpu_after_optimizations.txt"), dump.file("gpu_after_optimizations.txt"));
    let text = std::fs::read_to_string(path).expect("a stage");
    client.open(&uri, &text);
    let line = text.lines().position(|line| line.contains("%gemm_fusion_dot = ")).expect("it has one");
    let column = text.lines().nth(line).and_then(|line| line.find("gemm")).expect("it has one");
    client.server_request("workspace/inlayHint/refresh");
    let gone = dump.file("0002.hlo_normalization");
    std::fs::remove_file(&gone).expect("it is ours");
    client.notify("textDocument/didSave", document(&uri));
    client.server_request("workspace/inlayHint/refresh");
    let shown = client.ask("textDocument/hover", at(&uri, line, column));
    assert!(hover_text(&shown).contains("introduced between `layout-assignment` and"), "{shown}");
}

#[test]
fn an_unknown_device_leaves_the_one_before() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    for device in ["a6000", "no such device"] {
        // A change of settings during it has a new database filled.
        client.request(
            "hlo-analyzer/test/sleep",
            json!({"textDocument": {"uri": URI}, "ms": 200, "blocking": true}),
        );
        client.listen(Duration::from_millis(20));
        let settings = json!({"gpu": {"device": device}});
        client.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    }
    assert_eq!(client.ask("hlo-analyzer/status", json!({}))["device"], "a6000");
    assert_eq!(client.ask("hlo-analyzer/heaviestKernels", document(URI))["device"], "a6000");
    let shown = client.notification("window/showMessage", |_| true);
    assert!(shown["message"].as_str().is_some_and(|text| text.contains("no such device")), "{shown}");
}
