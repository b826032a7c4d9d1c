//! Completion and signature help while a line is typed.

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at, range};

const MODULE: &str = "HloModule m\n\n%add (a: f32[], b: f32[]) -> f32[] {\n  %a = f32[] parameter(0)\n  %b = f32[] parameter(1)\n  ROOT %s = f32[] add(%a, %b)\n}\n\nENTRY %e (p: f32[8,16]) -> f32[8] {\n  %p = f32[8,16]{1,0} parameter(0)\n  %z = f32[] constant(0)\n  \n}\n";
/// The number of the empty line.
const LINE: usize = 11;

fn typing() -> Value {
    json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {
            "completion": {"completionItem": {"snippetSupport": true, "documentationFormat": ["markdown"]}},
            "signatureHelp": {"signatureInformation": {"parameterInformation": {"labelOffsetSupport": true}}},
        },
    })
}

/// Types `text` in the empty line and requests completion at its end; returns the label, edit and item shown
/// first.
fn first(client: &mut LspClient, text: &str) -> (String, String, Value) {
    client.open(URI, MODULE);
    client.change(URI, 2, json!([{"range": range((LINE, 2), (LINE, 2)), "text": text}]));
    let list = client.ask("textDocument/completion", at(URI, LINE, 2 + text.len()));
    let items = list["items"].as_array().expect("a list");
    let first = items.iter().min_by_key(|item| item["sortText"].as_str()).expect("there is something");
    let edit = &first["textEdit"];
    assert_eq!(edit["range"]["start"]["line"], LINE, "{first}");
    assert_eq!(edit["range"]["end"], json!({"line": LINE, "character": 2 + text.len()}), "{first}");
    client.notify("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    let label = first["label"].as_str().expect("a label").to_owned();
    (label, edit["newText"].as_str().expect("a text").to_owned(), first.clone())
}

#[test]
fn a_line_can_be_typed_with_it() {
    let mut client = LspClient::start(typing());
    let mut check = |text: &str, label: &str, insert: &str| {
        let (found, new_text, _) = first(&mut client, text);
        assert_eq!((found.as_str(), new_text.as_str()), (label, insert), "after {text:?}");
    };
    check(
        "%r = f32[8]{0} redu",
        "reduce",
        "reduce(${1:inputs}, ${2:init values}), dimensions={${3:0}}, to_apply=${4:computation}$0",
    );
    check("%r = f32[8]{0} reduce(%p, ", "z", "%z");
    check("%r = f32[8]{0} reduce(%p, %z), ", "dimensions", "dimensions={${1:0}}$0");
    check("%r = f32[8]{0} reduce(%p, %z), dimensions={1}, to_apply=%", "add", "%add");
}

#[test]
fn a_plain_client_gets_plain_text_and_documentation_when_it_asks() {
    let mut client = LspClient::start(json!({}));
    let (label, insert, item) = first(&mut client, "%r = f32[8]{0} transp");
    assert_eq!((label.as_str(), insert.as_str()), ("transpose", "transpose("));
    assert_eq!(item["insertTextFormat"], 1, "{item}");
    let resolved = client.ask("completionItem/resolve", item);
    // Plain text, because the client lists no format.
    let text = resolved["documentation"].as_str().unwrap_or_default();
    assert!(text.starts_with("transpose: ") && !text.contains('`'), "{text}");
    assert_eq!(resolved["label"], "transpose");
}

#[test]
fn signature_help_follows_the_cursor() {
    let mut client = LspClient::start(typing());
    client.open(URI, MODULE);
    let text = "%r = f32[8]{0} reduce(%p, ";
    client.change(URI, 2, json!([{"range": range((LINE, 2), (LINE, 2)), "text": text}]));
    let help = client.ask("textDocument/signatureHelp", at(URI, LINE, 2 + text.len()));
    let signature = &help["signatures"][0];
    let label = signature["label"].as_str().expect("a label");
    assert!(label.starts_with("reduce(inputs: f32[8,16]"), "{label}");
    assert_eq!(help["activeParameter"], 1);
    let offsets = &signature["parameters"][1]["label"];
    let offset = |n: usize| offsets[n].as_u64().expect("a number") as usize;
    assert_eq!(&label[offset(0)..offset(1)], "init values: f32[]");
    assert_eq!(client.ask("textDocument/signatureHelp", at(URI, 0, 3)), Value::Null);
}
