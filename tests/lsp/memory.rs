//! Where the memory of a module goes.

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at, document, hover_text, range};

const MODULE: &str = "HloModule m, is_scheduled=true

ENTRY %e {
  %p = f32[256]{0} parameter(0)
  %wide = f32[4096]{0} broadcast(%p), dimensions={}, metadata={op_name=\"f/wide\" source_file=\"/src/a.py\" source_line=7}
  %last = f32[4096]{0} reverse(%wide), dimensions={0}
  ROOT %r = f32[256]{0} slice(%last), slice={[0:256]}
}
";

/// The text at a range on one line.
fn text_at(range: &Value) -> &'static str {
    let of = |end: &str, member: &str| range[end][member].as_u64().expect("a number") as usize;
    let line = MODULE.lines().nth(of("start", "line")).expect("a line");
    &line[of("start", "character")..of("end", "character")]
}

#[test]
fn the_timeline_leads_to_instructions() {
    let mut client = LspClient::modern();
    client.open(URI, MODULE);
    let timeline = client.ask("hlo-analyzer/memoryTimeline", document(URI));
    assert_eq!((&timeline["module"], &timeline["is_scheduled"]), (&json!("m"), &json!(true)));
    assert_eq!((&timeline["total_bytes"], &timeline["positions"]), (&json!(2 * 1024 + 2 * 16384), &json!(4)));
    assert_eq!(timeline["kinds"], json!(["parameter", "constant", "output", "temp", "thread-local"]));
    let columns = timeline["columns"].as_array().expect("a list");
    let shown = columns.iter().map(|column| -> (Option<&str>, Option<u64>, Value) {
        let name = column["step"]["range"].as_object().map(|_| text_at(&column["step"]["range"]));
        (name, column["first"].as_u64(), column["bytes"].clone())
    });
    let expected = [
        (Some("p"), Some(0), json!([1024, 0, 0, 0, 0])),
        (Some("wide"), Some(1), json!([1024, 0, 0, 16384, 0])),
        (Some("last"), Some(2), json!([1024, 0, 0, 32768, 0])),
        (Some("r"), Some(3), json!([1024, 0, 1024, 16384, 0])),
        (None, Some(4), json!([1024, 0, 1024, 0, 0])),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
    let first = &timeline["at_peak"]["values"][0];
    assert_eq!((&first["name"], &first["defined"]["source"]["line"]), (&json!("wide{}"), &json!(7)));
    assert_eq!(text_at(&first["until"]["range"]), "last");
    assert!(timeline["svg"].as_str().is_some_and(|svg| svg.starts_with("<svg ")), "{timeline}");
}

#[test]
fn advice_leads_to_the_instruction_that_is_changed() {
    let text = "HloModule m, is_scheduled=true

ENTRY %e {
  %p = f32[256]{0} parameter(0), metadata={op_name=\"x\"}
  ROOT %n = f32[256]{0} negate(%p)
}
";
    let mut client = LspClient::modern();
    client.open(URI, text);
    let answer = client.ask("hlo-analyzer/memoryAdvice", document(URI));
    let first = &answer["advice"][0];
    assert_eq!(first["text"], "donate parameter 0 (%p, 1.02 kB): peak 2.05 → 1.02 kB");
    assert_eq!((&first["changed"]["name"], &first["changed"]["op_name"]), (&json!("p"), &json!("x")));
    assert_eq!(first["changed"]["range"], range((3, 3), (3, 4)));
    client.open("file:///empty.hlo", "HloModule m\n");
    let answer = client.ask("hlo-analyzer/memoryAdvice", document("file:///empty.hlo"));
    assert_eq!(answer, json!({"reason": "the text has no entry computation"}));
}

#[test]
fn the_timeline_is_as_long_as_asked_for() {
    let mut client = LspClient::modern();
    client.open(URI, MODULE);
    let params = json!({"textDocument": {"uri": URI}, "columns": 2, "limit": 1});
    let timeline = client.ask("hlo-analyzer/memoryTimeline", params);
    let columns = timeline["columns"].as_array().expect("a list");
    let shown = columns.iter().map(|column| [column["first"].clone(), column["position"].clone()]);
    assert_eq!(shown.collect::<Vec<_>>(), [[json!(0), json!(1)], [json!(2), json!(2)]]);
    assert_eq!(timeline["at_peak"]["values"].as_array().map(Vec::len), Some(1));
    assert_eq!(timeline["omitted"], 2);
}

#[test]
fn a_text_without_a_plan_says_why() {
    for (text, reason) in [
        ("HloModule m\n", "the text has no entry computation"),
        ("HloModule m\n\nENTRY e {\n  x = f32[\n}\n", "the text has an error: "),
    ] {
        let mut client = LspClient::modern();
        client.open(URI, text);
        let answer = client.ask("hlo-analyzer/memoryTimeline", document(URI));
        assert!(answer["reason"].as_str().is_some_and(|shown| shown.starts_with(reason)), "{answer}");
    }
}

#[test]
fn hints_have_the_bytes_in_use_where_a_setting_asks() {
    let mut client = LspClient::modern();
    client.open(URI, MODULE);
    let hints = json!({"textDocument": {"uri": URI}, "range": range((0, 0), (7, 0))});
    let labels = |client: &mut LspClient| -> Vec<Value> {
        let hints = client.ask("textDocument/inlayHint", hints.clone());
        hints.as_array().expect("a list").iter().map(|hint| hint["label"].clone()).collect()
    };
    assert_eq!(labels(&mut client), [""; 0]);
    let settings = json!({"settings": {"hlo-analyzer": {"inlayHints": {"memory": true}}}});
    client.notify("workspace/didChangeConfiguration", settings);
    let expected = ["⟨1.02 kB⟩", "⟨17.4 kB⟩", "⟨33.8 kB, the peak⟩", "⟨18.4 kB⟩"];
    assert_eq!(labels(&mut client), expected);
}

/// A plan that takes long is made in the background once a hover needs it, and again after an edit.
#[test]
fn the_memory_of_a_long_module_is_planned_in_the_background() {
    let mut text =
        String::from("HloModule m, is_scheduled=true\n\nENTRY %e {\n  %v0 = f32[64]{0} parameter(0)\n");
    for n in 1..8_000 {
        text += &format!("  %v{n} = f32[64]{{0}} reverse(%v{}), dimensions={{0}}\n", n - 1);
    }
    text += "  ROOT %r = f32[64]{0} reverse(%v7999), dimensions={0}\n}\n";
    let refreshes = json!({"refreshSupport": true});
    let mut client = LspClient::start(json!({"workspace": {"codeLens": refreshes, "inlayHint": refreshes}}));
    let settings = json!({"settings": {"hlo-analyzer": {"inlayHints": {"memory": true}}}});
    client.notify("workspace/didChangeConfiguration", settings);
    client.server_request("workspace/inlayHint/refresh");
    client.open(URI, &text);
    let hints = json!({"textDocument": {"uri": URI}, "range": range((100, 4), (100, 5))});
    for edit in 0..2 {
        let hover = client.ask("textDocument/hover", at(URI, 100, 4));
        assert!(hover_text(&hover).contains("%v97"), "{hover}");
        assert!(!hover_text(&hover).contains("memory: "), "{hover}");
        client.server_request("workspace/codeLens/refresh");
        client.server_request("workspace/inlayHint/refresh");
        let shown = client.ask("textDocument/inlayHint", hints.clone());
        assert_eq!(shown[0]["label"], "⟨768 B⟩", "{shown}");
        let hover = client.ask("textDocument/hover", at(URI, 100, 4));
        assert!(hover_text(&hover).contains("memory: 256 B in "), "{hover}");
        let lenses = client.ask("textDocument/codeLens", document(URI));
        let lens = client.ask("codeLens/resolve", lenses[0].clone());
        let title = lens["command"]["title"].as_str().unwrap_or_default();
        assert!(title.contains(" · peak "), "{lens}");
        client.notify(
            "textDocument/didChange",
            json!({
                "textDocument": {"uri": URI, "version": edit + 2},
                "contentChanges": [{"range": range((0, 10), (0, 10)), "text": "m"}],
            }),
        );
    }
}
