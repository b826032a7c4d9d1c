//! From `initialize` to the exit code.

use std::process::Stdio;
use std::time::Duration;

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::{binary, sample};
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at};

#[test]
fn the_server_says_what_it_is() {
    let mut client = LspClient::spawn();
    let welcome = client.initialize(json!({"capabilities": {}}));
    assert_eq!(welcome["serverInfo"]["name"], "hlo-analyzer");
    assert!(welcome["serverInfo"]["version"].is_string());
    let capabilities = &welcome["capabilities"];
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    assert_eq!(capabilities["textDocumentSync"]["change"], 2);
    assert_eq!(capabilities["textDocumentSync"]["openClose"], true);
    for feature in ["hoverProvider", "definitionProvider", "documentSymbolProvider", "inlayHintProvider"] {
        assert_eq!(capabilities[feature], true, "{feature}");
    }
}

#[test]
fn exit_after_shutdown_is_success() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    assert_eq!(client.leave().code(), Some(0));
}

#[test]
fn exit_without_shutdown_is_failure() {
    let mut client = LspClient::modern();
    assert_eq!(client.exit().code(), Some(1));
}

#[test]
fn exit_before_initialize_is_failure() {
    let mut client = LspClient::spawn();
    assert_eq!(client.exit().code(), Some(1));
}

/// The input stays open, as if another process had inherited it.
#[test]
fn the_end_of_the_client_ends_the_server() {
    let mut parent =
        std::process::Command::new(binary::hlo_analyzer()).arg("lsp").stdin(Stdio::piped()).spawn().unwrap();
    let mut client = LspClient::spawn();
    client.initialize(json!({"processId": parent.id(), "capabilities": {}}));
    client.open(URI, sample::MODULE);
    client.listen(Duration::from_millis(1500));
    assert!(client.process_id().is_some(), "the client is alive");
    parent.kill().unwrap();
    assert_eq!(client.ended().code(), Some(1));
    parent.wait().unwrap();
}

#[test]
fn a_client_that_is_gone_already_ends_the_server() {
    let mut parent = std::process::Command::new(binary::hlo_analyzer()).arg("--version").spawn().unwrap();
    parent.wait().unwrap();
    let mut client = LspClient::spawn();
    let params = json!({"processId": parent.id(), "capabilities": {}});
    client.request("initialize", params);
    assert_eq!(client.ended().code(), Some(1));
}

#[test]
fn exit_does_not_wait_for_a_blocked_computation() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let params = json!({"textDocument": {"uri": URI}, "ms": 600_000, "blocking": true});
    client.request("hlo-analyzer/test/sleep", params);
    assert_eq!(client.leave().code(), Some(0));
}

#[test]
fn the_end_of_the_input_ends_the_server_after_the_answers() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let id = client.hover(URI, 9, 4);
    client.close_input();
    client.answer(id).result.expect("it was asked before the end");
    assert_eq!(client.ended().code(), Some(1));
}

#[test]
fn requests_out_of_turn_are_refused() {
    let mut client = LspClient::spawn();
    assert_eq!(client.refused("textDocument/hover", at(URI, 0, 0)), -32002);
    client.initialize(json!({"capabilities": {}}));
    assert_eq!(client.refused("initialize", json!({"capabilities": {}})), -32600);
    assert_eq!(client.refused("hlo-analyzer/unknown", json!({})), -32601);
    assert_eq!(client.refused("$/unknown", json!({})), -32601);
    assert_eq!(
        client.refused(
            "textDocument/moniker",
            json!({"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}})
        ),
        -32601
    );
    client.notify("$/unknown", json!({}));
    client.notify("hlo-analyzer/unknown", json!({}));
    client.ask("shutdown", Value::Null);
    assert_eq!(client.refused("textDocument/hover", at(URI, 0, 0)), -32600);
    assert_eq!(client.exit().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_socket_serves_as_well() {
    use std::io::{BufRead, BufReader, Read, Write};

    use hlo_analyzer_tests::binary;

    let path = std::env::temp_dir().join(format!("hlo-analyzer-test-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket can be made");
    let mut server = std::process::Command::new(binary::hlo_analyzer())
        .args(["lsp", "--pipe"])
        .arg(&path)
        .spawn()
        .expect("the server can be started");
    let (mut stream, _) = listener.accept().expect("the server connects");
    let mut send = |message: Value| {
        let body = message.to_string();
        write!(stream, "Content-Length: {}\r\n\r\n{body}", body.len()).expect("the server reads");
    };
    send(json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}));
    send(json!({"jsonrpc": "2.0", "id": 2, "method": "shutdown"}));
    send(json!({"jsonrpc": "2.0", "method": "exit"}));
    let mut header = String::new();
    let mut answers = BufReader::new(stream.try_clone().expect("a socket can be cloned"));
    answers.read_line(&mut header).expect("the server answers");
    assert!(header.starts_with("Content-Length: "), "{header}");
    let mut rest = String::new();
    answers.read_to_string(&mut rest).expect("the server closes the socket");
    assert!(rest.contains("serverInfo") && rest.contains("\"id\":2"), "{rest}");
    assert!(server.wait().expect("the server ends").success());
    let _ = std::fs::remove_file(&path);
}
