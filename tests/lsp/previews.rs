//! XLA's optimizer: previews beside the text, navigation in both directions, updates, and the kernels of a module before fusion.

use std::time::Duration;

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at, document, hover_text, range};

const MODULE: &str = "HloModule m

ENTRY %e {
  %x = f32[512,1024] parameter(0)
  %n = f32[512,1024] negate(%x)
  %m = f32[512,1024] negate(%x)
  %a = f32[512,1024] add(%n, %m)
  ROOT %t = f32[1024,512] transpose(%a), dimensions={1,0}
}
";

fn client() -> LspClient {
    let mut client = LspClient::start(json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {
            "hover": {"contentFormat": ["markdown"]},
            "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}},
        },
        "workspace": {"codeLens": {"refreshSupport": true}, "inlayHint": {"refreshSupport": true}},
        "experimental": {"commands": ["hlo-analyzer.showPreview"]},
    }));
    client.open(URI, MODULE);
    client
}

fn show(client: &mut LspClient, passes: &[&str]) -> Value {
    client.ask("hlo-analyzer/showPreview", json!({"textDocument": {"uri": URI}, "passes": passes}))
}

fn content(client: &mut LspClient, uri: &Value) -> String {
    let content = client.ask("hlo-analyzer/previewContent", json!({"uri": uri}));
    content["text"].as_str().unwrap_or_else(|| panic!("no text in {content}")).to_owned()
}

fn line_with(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part} in {text}"))
}

/// The previews with a change notification within a time.
fn changed_within(client: &mut LspClient, time: Duration) -> Vec<Value> {
    client.listen(time);
    let mut news = Vec::new();
    while let Some(message) = client.take("hlo-analyzer/previewChanged") {
        news.push(message["uri"].clone());
    }
    news
}

#[test]
fn the_cursor_is_followed_both_ways() {
    let mut client = client();
    let shown = show(&mut client, &["fusion-pipeline"]);
    assert_eq!((&shown["stopped"], &shown["problem"]), (&Value::Null, &Value::Null));
    let text = content(&mut client, &shown["uri"]);
    assert!(text.starts_with("// after fusion-pipeline · h100-sxm\n"), "{text}");
    let add = line_with(&text, "f32[512,1024]{1,0} add(");
    let position = json!({"line": line_with(MODULE, "%a ="), "character": 4});
    let lines = client.ask("hlo-analyzer/previewLines", json!({"uri": shown["uri"], "position": position}));
    let fusion = line_with(&text, " fusion(%x)");
    let run = |line: usize| json!({"first": line, "last": line});
    assert_eq!(lines["lines"], json!([run(add), run(fusion)]), "{text}");

    let source = client.ask("hlo-analyzer/previewSource", json!({"uri": shown["uri"], "line": add}));
    assert_eq!((&source["uri"], &source["sources"][0]["instruction"]), (&json!(URI), &json!("%a")));
    assert_eq!(source["sources"][0]["selectionRange"], range((6, 3), (6, 4)));
    let all = client.ask("hlo-analyzer/previewSource", json!({"uri": shown["uri"], "line": fusion}));
    assert_eq!(all["sources"].as_array().map(Vec::len), Some(4), "{all}");
    let none = client.ask("hlo-analyzer/previewSource", json!({"uri": shown["uri"], "line": 0}));
    assert_eq!(none["sources"], json!([]));
}

#[test]
fn a_preview_follows_edits_and_keeps_the_last_good_module() {
    let mut client = client();
    let uri = show(&mut client, &["cse"])["uri"].clone();
    let text = content(&mut client, &uri);
    assert_eq!(text.matches("negate").count(), 1, "{text}");
    let item = json!({"uri": uri, "languageId": "hlo", "version": 1, "text": text});
    client.notify("textDocument/didOpen", json!({"textDocument": item}));
    // A comment changes nothing in it.
    client.change(URI, 2, json!([{"range": range((0, 11), (0, 11)), "text": " // a remark"}]));
    assert_eq!(changed_within(&mut client, Duration::from_millis(900)), Vec::<Value>::new());
    client.change(URI, 3, json!([{"range": range((5, 21), (5, 27)), "text": "sine"}]));
    client.notification("hlo-analyzer/previewChanged", |_| true);
    let other = content(&mut client, &uri);
    assert!(other.contains("negate(") && other.contains("sine("), "{other}");
    // An error.
    client.change(URI, 4, json!([{"range": range((5, 26), (5, 28)), "text": "%y"}]));
    client.notification("hlo-analyzer/previewChanged", |_| true);
    let stale = content(&mut client, &uri);
    let head = "// not up to date: line 6: a module with errors is not rewritten: ";
    assert!(stale.starts_with(head) && stale.contains("sine("), "{stale}");
    let lines =
        client.ask("hlo-analyzer/previewLines", json!({"uri": uri, "position": {"line": 6, "character": 4}}));
    assert_eq!(lines["lines"], json!([]));
    // The preview is a document of HLO, too.
    let defined =
        client.ask("textDocument/hover", at(uri.as_str().expect("a URI"), line_with(&text, "negate("), 4));
    assert!(hover_text(&defined).contains("negate(%x)"), "{defined}");
}

#[test]
fn a_pass_that_is_not_written_is_named() {
    let mut client = client();
    let shown = show(&mut client, &["cse", "no-such-pass", "dce"]);
    assert_eq!(shown["stopped"], "no-such-pass");
    let text = content(&mut client, &shown["uri"]);
    assert!(text.starts_with("// stopped at no-such-pass: unknown pass: no-such-pass\n"), "{text}");
    let sides = ["before", "after"].map(|side| content(&mut client, &shown[side]));
    assert_eq!(sides.map(|text| text.matches("negate").count()), [2, 1]);
    let passes = client.ask("hlo-analyzer/passes", document(URI));
    let passes = passes.as_array().expect("a list");
    assert_eq!(passes[0]["kind"], "pipeline");
    let cse = passes.iter().find(|pass| pass["name"] == "cse").expect("it is there");
    assert!(cse["sentence"].as_str().is_some_and(|sentence| sentence.starts_with("Merges")), "{cse}");
}

#[test]
fn a_module_before_fusion_shows_its_kernels() {
    let mut client = client();
    let whole = range((0, 0), (8, 0));
    let ask = json!({"textDocument": {"uri": URI}, "range": whole});
    let hints = client.ask("textDocument/inlayHint", ask.clone());
    let labels: Vec<&str> =
        hints.as_array().into_iter().flatten().filter_map(|hint| hint["label"].as_str()).collect();
    let kernels =
        labels.iter().filter(|label| label.starts_with("→ kernel 1 of 1: transpose fusion with 3 others"));
    assert_eq!(kernels.count(), 4, "{labels:?}");
    let lenses = client.ask("textDocument/codeLens", document(URI));
    let lens = lenses.as_array().and_then(|lenses| lenses.last()).expect("a lens").clone();
    let lens = client.ask("codeLens/resolve", lens);
    assert!(lens["command"]["title"].as_str().is_some_and(|title| title.contains("4 → 1 kernel")), "{lens}");
    assert_eq!(lens["command"]["command"], "hlo-analyzer.showPreview");
    assert_eq!(lens["command"]["arguments"], json!([URI, ["fusion-pipeline"]]));
    let hover = client.hover_now(6, 4);
    assert!(hover.contains("**after XLA:** kernel 1 of 1"), "{hover}");
    let members = client.ask("hlo-analyzer/kernelMembers", at(URI, 6, 4));
    assert_eq!(members[0]["ranges"].as_array().map(Vec::len), Some(4), "{members}");
    client.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": {"optimizer": {"hints": false, "codeLens": false}}}),
    );
    let hints = client.ask("textDocument/inlayHint", ask);
    assert!(!hints.to_string().contains("→ kernel"), "{hints}");
    assert_eq!(client.ask("textDocument/codeLens", document(URI)).as_array().map(Vec::len), Some(1));
}

trait HoverNow {
    fn hover_now(&mut self, line: usize, character: usize) -> String;
}

impl HoverNow for LspClient {
    fn hover_now(&mut self, line: usize, character: usize) -> String {
        hover_text(&self.ask("textDocument/hover", at(URI, line, character))).to_owned()
    }
}

/// Lenses and hints of a large module are computed in the background, and asked for again.
#[test]
fn the_kernels_of_a_large_module_are_refreshed() {
    let mut client = client();
    let lines: String = (0..800).map(|n| format!("  %v{} = f32[64] tanh(%v{n})\n", n + 1)).collect();
    let large = format!(
        "HloModule m\n\nENTRY %e {{\n  %v0 = f32[64] parameter(0)\n{lines}  ROOT %r = f32[64] abs(%v800)\n}}\n"
    );
    const LARGE: &str = "file:///large.hlo";
    client.open(LARGE, &large);
    let ask = json!({"textDocument": {"uri": LARGE}, "range": range((0, 0), (900, 0))});
    let first = client.ask("textDocument/inlayHint", ask.clone());
    assert!(!first.to_string().contains("→ kernel"), "it answers at once");
    client.server_request("workspace/inlayHint/refresh");
    let hints = client.ask("textDocument/inlayHint", ask);
    assert_eq!(hints.to_string().matches("→ kernel").count(), 801);
}

#[test]
fn the_action_shows_the_fused_module() {
    let mut client = client();
    let params =
        json!({"textDocument": {"uri": URI}, "range": range((4, 3), (4, 3)), "context": {"diagnostics": []}});
    let actions = client.ask("textDocument/codeAction", params);
    let found = actions.as_array().into_iter().flatten().find(|action| action["title"] == "Show as fused");
    let found = found.unwrap_or_else(|| panic!("{actions}"));
    assert_eq!(found["command"]["arguments"], json!([URI, ["fusion-pipeline"]]));
}

#[test]
fn a_pass_is_applied_at_one_place() {
    let mut client = LspClient::start(json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {"codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}},
            "dataSupport": true,
            "resolveSupport": {"properties": ["edit"]},
        }},
    }));
    client.open(URI, MODULE);
    let context = json!({"diagnostics": [], "only": ["refactor.rewrite"]});
    let params = json!({"textDocument": {"uri": URI}, "range": range((5, 3), (5, 3)), "context": context});
    let actions = client.ask("textDocument/codeAction", params);
    let title = "cse: %m merged into %n, which is equal";
    let found = actions.as_array().into_iter().flatten();
    let found = found.clone().find(|action| action["title"].as_str().is_some_and(|it| it.starts_with(title)));
    let action = found.unwrap_or_else(|| panic!("{actions}")).clone();
    assert_eq!((&action["kind"], &action["edit"]), (&json!("refactor.rewrite"), &Value::Null));
    let resolved = client.ask("codeAction/resolve", action.clone());
    let edits = json!([
        {"range": range((5, 0), (6, 0)), "newText": ""},
        {"range": range((6, 30), (6, 31)), "newText": "n"},
    ]);
    assert_eq!(resolved["edit"]["changes"][URI], edits);
    // The text has changed since.
    client.change(URI, 2, json!([{"range": range((0, 11), (0, 11)), "text": " "}]));
    assert_eq!(client.ask("codeAction/resolve", action)["edit"], Value::Null);
}

const TRANSPOSED: &str =
    "HloModule m, is_scheduled=true, entry_computation_layout={(f32[2048,2048]{1,0})->f32[2048,2048]{1,0}}

%reversed {
  %p = f32[2048,2048]{1,0} parameter(0)
  %t = f32[2048,2048]{1,0} transpose(%p), dimensions={1,0}
  ROOT %r = f32[2048,2048]{1,0} reverse(%t), dimensions={0}
}

ENTRY %e {
  %x = f32[2048,2048]{1,0} parameter(0)
  ROOT %f = f32[2048,2048]{1,0} fusion(%x), kind=kLoop, calls=%reversed
}
";

#[test]
fn a_layout_mends_an_uncoalesced_read() {
    let mut client = LspClient::start(json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {"codeAction": {
            "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}},
            "dataSupport": true,
            "resolveSupport": {"properties": ["edit"]},
        }},
        "workspace": {"workspaceEdit": {
            "documentChanges": true,
            "changeAnnotationSupport": {"groupsOnLabel": true},
        }},
    }));
    client.open(URI, TRANSPOSED);
    let place = range((10, 41), (10, 41));
    let warning = json!({
        "range": range((10, 41), (10, 42)),
        "severity": 2,
        "code": "uncoalesced",
        "source": "hlo-analyzer",
        "message": "%x is read with a stride",
    });
    let params = json!({"textDocument": {"uri": URI}, "range": place, "context": {"diagnostics": [warning]}});
    let actions = client.ask("textDocument/codeAction", params);
    let mut found = actions.as_array().into_iter().flatten();
    let action = found.find(|action| {
        action["title"].as_str().is_some_and(|title| title.starts_with("Take %x as {0,1} from the caller"))
    });
    let action = action.unwrap_or_else(|| panic!("{actions}")).clone();
    assert_eq!(action["kind"], "quickfix");
    assert_eq!(action["diagnostics"][0]["code"], "uncoalesced");
    let resolved = client.ask("codeAction/resolve", action);
    let edit = &resolved["edit"];
    let edits = edit["documentChanges"][0]["edits"].as_array().unwrap_or_else(|| panic!("{resolved}"));
    let texts: Vec<&str> = edits.iter().filter_map(|edit| edit["newText"].as_str()).collect();
    assert!(texts.contains(&"f32[2048,2048]{0,1}"), "{resolved}");
    assert!(texts.contains(&"%x = f32[2048,2048]{0,1} parameter(0)"), "{resolved}");
    let annotation = &edit["changeAnnotations"]["check"];
    let (label, description) = (annotation["label"].as_str(), annotation["description"].as_str());
    assert!(label.is_some_and(|label| label.starts_with("checked: all values are equal")), "{resolved}");
    assert!(description.is_some_and(|it| it.contains("sectors per request instead of 32")), "{resolved}");
}
