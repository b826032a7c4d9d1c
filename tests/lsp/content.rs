//! Documents of the server in a client of LSP 3.18: `workspace/textDocumentContent`.

use std::time::Duration;

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, document};

const CONTENT: &str = "workspace/textDocumentContent";

fn capabilities(commands: &[&str]) -> Value {
    json!({
        "workspace": {"textDocumentContent": {"dynamicRegistration": false}},
        "window": {"showDocument": {"support": true}},
        "experimental": {"commands": commands},
    })
}

fn start(commands: &[&str]) -> (LspClient, Value) {
    let mut client = LspClient::spawn();
    let options = json!({"ptxas": {"enable": false}});
    let welcome =
        client.initialize(json!({"capabilities": capabilities(commands), "initializationOptions": options}));
    (client, welcome["capabilities"].clone())
}

#[test]
fn the_schemes_are_those_that_the_client_does_not_show_itself() {
    let (_client, capabilities) = start(&[]);
    let schemes = &capabilities["workspace"]["textDocumentContent"]["schemes"];
    assert_eq!(*schemes, json!(["hlo-analyzer-kernel", "hlo-analyzer-preview"]));
    let (_client, capabilities) = start(&["hlo-analyzer.showKernel", "hlo-analyzer.showPreview"]);
    assert!(capabilities["workspace"].get("textDocumentContent").is_none(), "{capabilities}");
    assert!(capabilities.get("experimental").is_none(), "{capabilities}");
    let mut client = LspClient::spawn();
    let welcome = client.initialize(json!({"capabilities": {}}));
    assert!(welcome["capabilities"]["workspace"].get("textDocumentContent").is_none());
}

#[test]
fn a_kernel_is_shown_and_kept_up_to_date() {
    let (mut client, _) = start(&[]);
    client.open(URI, sample::MODULE);
    let line = sample::MODULE.lines().position(|line| line.contains(" fusion(")).expect("a fusion");
    let arguments = json!([URI, {"line": line, "character": 5}]);
    let command = json!({"command": "hlo-analyzer.openKernel", "arguments": arguments});
    let opened = client.ask("workspace/executeCommand", command);
    let tab = &opened["tabs"][0];
    let uri = tab["uri"].as_str().expect("a URI").to_owned();
    assert!(uri.starts_with("hlo-analyzer-kernel:"), "{uri}");
    assert_eq!(tab["path"], Value::Null, "no file is written");
    while client.server_request("window/showDocument")["uri"] != uri {}

    let text = client.ask(CONTENT, json!({"uri": uri}))["text"].as_str().expect("a text").to_owned();
    assert_eq!(text, tab["text"].as_str().expect("the same text"));
    let item = json!({"uri": uri, "languageId": "mlir", "version": 1, "text": text});
    client.notify("textDocument/didOpen", json!({"textDocument": item}));
    client.listen(Duration::from_millis(300));
    let other = sample::MODULE.replace("8,128", "8,256");
    client.change(URI, 2, json!([{"text": other}]));
    assert_eq!(client.server_request("workspace/textDocumentContent/refresh")["uri"], uri);
    let changed = client.ask(CONTENT, json!({"uri": uri}));
    assert_ne!(changed["text"], text);
    assert!(changed["text"].as_str().is_some_and(|text| text.contains("8x256")), "{changed}");
}

#[test]
fn other_documents_are_refused() {
    let (mut client, _) = start(&[]);
    assert_eq!(client.refused(CONTENT, json!({"uri": "file:///etc/hosts"})), -32602);
    assert_eq!(client.refused(CONTENT, json!({"uri": "hlo-analyzer-kernel:/x"})), -32602);
    client.ask("textDocument/diagnostic", document(URI));
}
