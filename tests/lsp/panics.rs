//! A panic costs one response, never the server.

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::json;

use crate::editor::{Editor, URI, document, hover_text, range};

#[test]
fn a_panic_costs_one_answer() {
    let mut client = LspClient::modern().may_panic();
    client.open(URI, sample::MODULE);
    for version in 2..5 {
        let id = client.request("hlo-analyzer/test/panic", document(URI));
        let beside = client.hover(URI, 9, 4);
        let error = client.answer(id).result.expect_err("it panics");
        assert_eq!(error["code"], -32603);
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains("hlo-analyzer/test/panic"), "{message}");
        let hover = client.answer(beside).result.expect("a hover is answered");
        assert!(hover_text(&hover).contains('x'));
        client.change(URI, version, json!([{"range": range((0, 0), (0, 0)), "text": "\n\n"}]));
        client.change(URI, version, json!([{"range": range((0, 0), (2, 0)), "text": ""}]));
    }
    assert_eq!(client.text(URI), sample::MODULE);
    assert!(client.has_logged("hlo-analyzer/test/panic"), "a panic is logged");
}

#[test]
fn a_panic_in_a_query_costs_one_answer() {
    let mut client = LspClient::modern().may_panic();
    client.open(URI, sample::MODULE);
    for version in 2..8 {
        client.change(URI, version, json!([{"range": range((0, 0), (0, 0)), "text": "// x\n"}]));
        let mut params = document(URI);
        params["inQuery"] = json!(version);
        client.ask("hlo-analyzer/test/panic", params);
        let asked = ["textDocument/documentSymbol", "textDocument/foldingRange", "textDocument/codeLens"]
            .map(|method| client.request(method, document(URI)));
        let failed = asked.into_iter().filter(|id| client.answer(*id).result.is_err()).count();
        assert!(failed <= 1, "{failed} answers");
        client.ask("textDocument/documentSymbol", document(URI));
    }
}

#[test]
fn a_panic_in_a_response_costs_one_answer() {
    let mut client = LspClient::modern().may_panic();
    client.open(URI, sample::MODULE);
    let mut params = document(URI);
    params["inResponse"] = json!(true);
    // More than may run at once: each gives its place back.
    for _ in 0..20 {
        assert_eq!(client.refused("hlo-analyzer/test/panic", params.clone()), -32603);
    }
    client.ask("textDocument/documentSymbol", document(URI));
}
