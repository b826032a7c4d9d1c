//! The server responds to any input and keeps running.

use std::time::Instant;

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at, document, range};

/// Sends all requests about a document, at a few positions. Each must succeed.
fn ask_everything(client: &mut LspClient) {
    client.ask("textDocument/documentSymbol", document(URI));
    let everywhere = range((0, 0), (u32::MAX as usize, 0));
    client.ask("textDocument/inlayHint", json!({"textDocument": {"uri": URI}, "range": everywhere}));
    for (line, character) in [(0, 0), (0, 5), (1, 0), (3, 8), (u32::MAX as usize, 0), (0, u32::MAX as usize)]
    {
        client.ask("textDocument/hover", at(URI, line, character));
        client.ask("textDocument/definition", at(URI, line, character));
    }
}

fn check(text: &str) {
    let start = Instant::now();
    let mut client = LspClient::modern();
    client.open(URI, text);
    ask_everything(&mut client);
    client.notification("textDocument/publishDiagnostics", |params| params["version"] == 1);
    client.change(URI, 2, json!([{"range": range((0, 1), (0, 2)), "text": "%\0"}]));
    ask_everything(&mut client);
    eprintln!("{} bytes took {:?}", text.len(), start.elapsed());
}

#[test]
fn texts_that_are_no_hlo() {
    for text in [
        "",
        "\0",
        "\0\0\0\n\0",
        "\r",
        "\r\n\r\n",
        "%",
        "{",
        "}",
        "\u{feff}HloModule m",
        "ENTRY",
        "😀\u{2028}😀",
        "\
HloModule m

ENTRY %e {
  ROOT %a = f32[99999999999,99999999999]{1,0} parameter(99999999999999999999)
}
",
    ] {
        check(text);
    }
}

#[test]
fn a_module_cut_off_anywhere() {
    let mut client = LspClient::modern();
    client.open(URI, "");
    for (version, end) in (0..sample::MODULE.len()).step_by(23).enumerate() {
        let text = sample::MODULE[..end].replace('\n', "\r\n");
        client.change(URI, i32::try_from(version).unwrap_or_default() + 2, json!([{"text": text}]));
        ask_everything(&mut client);
        assert_eq!(client.text(URI), text);
    }
}

#[test]
fn a_line_of_two_megabytes() {
    let operands = "%x, ".repeat(500_000);
    check(&format!(
        "\
HloModule m

ENTRY %e {{
  %x = f32[8] parameter(0)
  ROOT %t = (f32[8]) tuple({operands}%x)
}}
"
    ));
    check(&"x".repeat(2 << 20));
}

#[test]
fn a_hundred_thousand_parentheses() {
    check(&format!("HloModule m\n\nENTRY %e {{\n  ROOT %t = f32[8] add{}", "(".repeat(100_000)));
    check(&format!("HloModule m, a={}", "{".repeat(100_000)));
}

#[test]
fn a_text_of_twenty_megabytes() {
    let text = sample::large_module(20 << 20);
    let mut client = LspClient::modern();
    let start = Instant::now();
    client.open(URI, &text);
    let id = client.hover(URI, 4, 4);
    let answer = client.answer(id);
    answer.result.expect("a hover is answered");
    eprintln!("the first hover in {} MB came {:?} after didOpen", text.len() >> 20, answer.at - start);
    client.notification("textDocument/publishDiagnostics", |params| params["version"] == 1);
    eprintln!("its diagnostics {:?} after didOpen", start.elapsed());
    let start = Instant::now();
    let symbols = client.ask("textDocument/documentSymbol", document(URI));
    eprintln!("an outline of {} entries took {:?}", symbols.as_array().map_or(0, Vec::len), start.elapsed());
}

#[test]
fn escapes_of_half_a_surrogate_pair() {
    let mut client = LspClient::modern();
    let text = |escaped: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{{"textDocument":{{"uri":"{URI}","languageId":"hlo","version":1,"text":"{escaped}"}}}}}}"#
        )
    };
    client.send_body(text(r"// a\ud800b \udfff \ud83d\ude00\u0000").as_bytes());
    assert_eq!(client.text(URI), "// a\u{fffd}b \u{fffd} 😀\0");
}

#[test]
fn messages_that_are_none() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    for (body, code) in [
        (&b"{"[..], -32700),
        (b"\0\0\0", -32700),
        (b"[1, 2]", -32600),
        (b"{}", -32600),
        (b"null", -32600),
        (br#"{"jsonrpc":"2.0","method":7}"#, -32600),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"x\xff\0\"}", -32700),
    ] {
        client.send_body(body);
        let error = client.answer(0).result.expect_err("it is no message");
        assert_eq!(error["code"], code, "{}", String::from_utf8_lossy(body));
    }
    client.send_raw(b"Not: a header\r\n\r\n");
    assert_eq!(client.error_code(0), -32700);
    assert_eq!(client.refused("textDocument/hover", json!({"textDocument": 5})), -32602);
    assert_eq!(client.refused("textDocument/hover", Value::Null), -32602);
    // Notifications with invalid parameters change nothing.
    client.notify("textDocument/didChange", json!({"textDocument": {"uri": URI}, "contentChanges": 7}));
    client.notify("textDocument/didOpen", json!([]));
    client.notify("workspace/didChangeConfiguration", json!({"settings": [1, {"inlayHints": "x"}]}));
    let id = client.request_body("textDocument/hover", |id| {
        format!(r#"{{"id":{id},"method":"textDocument/hover","params":{},"extra":[]}}"#, at(URI, 9, 4))
    });
    client.answer(id).result.expect("a hover is answered");
    assert_eq!(client.text(URI), sample::MODULE);
}
