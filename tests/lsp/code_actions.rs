//! Code actions, for clients of all abilities.

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, range};

fn client(resolve: bool, changes: bool, create: bool) -> LspClient {
    let mut action = json!({"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}});
    if resolve {
        action["dataSupport"] = json!(true);
        action["resolveSupport"] = json!({"properties": ["edit"]});
    }
    let operations = if create { json!(["create", "rename"]) } else { json!([]) };
    let edit = json!({"documentChanges": changes, "resourceOperations": operations});
    LspClient::start(json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {"codeAction": action},
        "workspace": {"workspaceEdit": edit},
    }))
}

fn on_fusion(only: &[&str]) -> Value {
    let line = sample::MODULE.lines().position(|line| line.starts_with("  %fusion.1")).expect("it is there");
    let mut context = json!({"diagnostics": []});
    if !only.is_empty() {
        context["only"] = json!(only);
    }
    json!({"textDocument": {"uri": URI}, "range": range((line, 4), (line, 4)), "context": context})
}

fn titled<'a>(actions: &'a Value, title: &str) -> &'a Value {
    let found = actions.as_array().and_then(|list| list.iter().find(|a| a["title"] == title));
    found.unwrap_or_else(|| panic!("{title} is not among {actions}"))
}

const EXTRACT: &str = "Extract fusion fusion.1 as a module";

#[test]
fn a_change_is_made_when_it_is_asked_for() {
    let mut client = client(true, true, true);
    client.open(URI, sample::MODULE);
    let actions = client.ask("textDocument/codeAction", on_fusion(&[]));
    assert!(actions.as_array().is_some_and(|list| list.iter().all(|a| a.get("edit").is_none())), "{actions}");
    let action = titled(&actions, EXTRACT).clone();
    assert_eq!(action["kind"], "refactor.extract");
    let resolved = client.ask("codeAction/resolve", action.clone());
    let changes = &resolved["edit"]["documentChanges"];
    assert_eq!(changes[0]["kind"], "create", "{resolved}");
    assert_eq!(changes[0]["uri"], changes[1]["textDocument"]["uri"]);
    let text = changes[1]["edits"][0]["newText"].as_str().expect("a text");
    assert!(text.contains("%fused_computation") && text.contains("ROOT %fusion.1"), "{text}");

    // The new text is a module without findings.
    client.open("file:///extracted.hlo", text);
    let published =
        client.notification("textDocument/publishDiagnostics", |p| p["uri"] == "file:///extracted.hlo");
    assert_eq!(published["diagnostics"], json!([]), "{text}");

    // The text has changed since the titles were shown: there is nothing to do any more.
    client.change(URI, 2, json!([{"range": range((0, 0), (0, 0)), "text": "\n"}]));
    assert!(client.ask("codeAction/resolve", action).get("edit").is_none());
}

#[test]
fn a_client_that_cannot_resolve_gets_the_change_at_once() {
    let mut client = client(false, false, false);
    client.open(URI, sample::MODULE);
    let actions = client.ask("textDocument/codeAction", on_fusion(&["refactor"]));
    let kinds = actions.as_array().expect("a list").iter().map(|a| a["kind"].as_str().unwrap_or_default());
    assert!(kinds.clone().count() > 0 && kinds.clone().all(|k| k.starts_with("refactor.")), "{actions}");
    let changes = &titled(&actions, EXTRACT)["edit"]["changes"];
    let (uri, edits) = changes.as_object().and_then(|map| map.iter().next()).expect("one file");
    assert_ne!(uri, URI);
    assert!(edits[0]["newText"].as_str().is_some_and(|text| text.starts_with("HloModule")), "{edits}");
    let shapes = &titled(&actions, "Write operand shapes")["edit"]["changes"][URI];
    assert_eq!(shapes.as_array().map(Vec::len), Some(2), "{shapes}");
    assert_eq!(shapes[0]["newText"], "f32[8,128]{1,0} ");
}

#[test]
fn a_client_that_knows_only_commands_gets_nothing() {
    let mut client = LspClient::spawn();
    let welcome = client.initialize(json!({"capabilities": {}}));
    assert_eq!(welcome["capabilities"].get("codeActionProvider"), None);
}

#[test]
fn everything_is_repaired_on_demand() {
    let text = "HloModule m\n\nENTRY %e {\n  %p = f32[8]{0} parameter(0)\n  %a = f32[8]{0} negate(%p)\n  ROOT %r = f32[8]{0} abs(%p)\n}\n";
    let mut client = client(false, false, false);
    client.open(URI, text);
    let ask = |only: &str, line: usize| json!({"textDocument": {"uri": URI}, "range": range((line, 3), (line, 3)), "context": {"diagnostics": [], "only": [only]}});
    let actions = client.ask("textDocument/codeAction", ask("quickfix", 4));
    assert_eq!(titled(&actions, "Remove a")["kind"], "quickfix");
    let actions = client.ask("textDocument/codeAction", ask("source.fixAll", 0));
    assert_eq!(actions.as_array().map(Vec::len), Some(1), "{actions}");
    let edits = &actions[0]["edit"]["changes"][URI];
    assert_eq!(edits[0]["range"], range((4, 0), (5, 0)), "{actions}");
    assert_eq!(edits[0]["newText"], "");
}
