//! Code actions, for clients of all capabilities.

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

    // The new text is a module without errors.
    client.open("file:///extracted.hlo", text);
    let published =
        client.notification("textDocument/publishDiagnostics", |p| p["uri"] == "file:///extracted.hlo");
    assert_eq!(published["diagnostics"], json!([]), "{text}");

    // The text has changed since the titles were shown, so the action has no edit.
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
    let mut client = client(false, false, false);
    client.open(URI, sample::UNUSED);
    let ask = |only: &str, line: usize| json!({"textDocument": {"uri": URI}, "range": range((line, 3), (line, 3)), "context": {"diagnostics": [], "only": [only]}});
    let actions = client.ask("textDocument/codeAction", ask("quickfix", 4));
    assert_eq!(titled(&actions, "Remove a")["kind"], "quickfix");
    let actions = client.ask("textDocument/codeAction", ask("source.fixAll", 0));
    assert_eq!(actions.as_array().map(Vec::len), Some(1), "{actions}");
    let edits = &actions[0]["edit"]["changes"][URI];
    assert_eq!(edits[0]["range"], range((4, 0), (5, 0)), "{actions}");
    assert_eq!(edits[0]["newText"], "");
}

/// The actions of VS Code's Ctrl+., which excludes kinds below `source`.
fn shown_by(actions: &Value) -> Vec<(String, Option<String>)> {
    let actions = actions.as_array().expect("a list").iter().filter(|a| a["kind"] == "show");
    let text = |value: &Value| value.as_str().map(str::to_owned);
    actions.map(|a| (text(&a["title"]).expect("a title"), text(&a["command"]["command"]))).collect()
}

#[test]
fn other_clients_choose_the_parameters_of_a_value_by_its_action() {
    let titles = |code_action: Value| {
        let mut client = LspClient::start(json!({"textDocument": {"codeAction": code_action}}));
        client.open(URI, sample::MODULE);
        let actions = client.ask("textDocument/codeAction", on_fusion(&[]));
        let shown = shown_by(&actions).into_iter().map(|(title, _)| title);
        shown.filter(|title| title.starts_with("Evaluate")).collect::<Vec<_>>()
    };
    let literals = json!({"codeActionKind": {"valueSet": [""]}});
    let lazy = json!({"codeActionLiteralSupport": literals, "dataSupport": true,
        "resolveSupport": {"properties": ["edit"]}});
    assert_eq!(titles(lazy), ["Evaluate", "Evaluate with random parameters", "Evaluate with zeros"]);
    // All changes are computed at once: a single value, and only for small parameters.
    assert!(titles(json!({"codeActionLiteralSupport": literals})).len() <= 1);
}

#[test]
fn kernel_access_pattern_and_value_are_shown_by_clients_that_can() {
    let names = ["showKernel", "showAccessPattern", "evaluateInstruction", "disableWarning"];
    let commands: Vec<String> = names.iter().map(|name| format!("hlo-analyzer.{name}")).collect();
    let mut client = LspClient::start(json!({
        "textDocument": {"codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}}},
        "experimental": {"commands": commands},
    }));
    let expect: Vec<(String, Option<String>)> =
        [("Show kernel", &commands[0]), ("Show access pattern", &commands[1]), ("Evaluate", &commands[2])]
            .map(|(title, command)| (title.to_owned(), Some(command.clone())))
            .into();
    client.open(URI, sample::MODULE);
    let actions = client.ask("textDocument/codeAction", on_fusion(&[]));
    assert_eq!(shown_by(&actions), expect, "{actions}");
    let only_fixes = client.ask("textDocument/codeAction", on_fusion(&["quickfix", "source"]));
    assert!(shown_by(&only_fixes).is_empty(), "{only_fixes}");

    // The picture is the quick fix of a warning about an uncoalesced read: editors offer it on the warning's
    // hover.
    let mut asked = on_fusion(&["quickfix"]);
    let at = asked["range"].clone();
    let finding =
        json!({"range": at, "message": "", "source": "hlo-analyzer", "code": "uncoalesced", "severity": 2});
    asked["context"]["diagnostics"] = json!([finding]);
    let fixes = client.ask("textDocument/codeAction", asked);
    assert_eq!(fixes[0]["title"], "Show access pattern", "{fixes}");
    assert_eq!(fixes[0]["diagnostics"], json!([finding]), "{fixes}");

    let mlir = "\
func.func @f(%a: tensor<64x32xf32>) -> tensor<32x64xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
";
    let uri = "file:///f.mlir";
    client.notify(
        "textDocument/didOpen",
        json!({"textDocument": {"uri": uri, "languageId": "mlir", "version": 1, "text": mlir}}),
    );
    let asked = json!({"textDocument": {"uri": uri}, "range": range((1, 20), (1, 20)), "context": {"diagnostics": []}});
    let actions = client.ask("textDocument/codeAction", asked);
    assert_eq!(shown_by(&actions), expect, "{actions}");
}

#[test]
fn a_warning_links_to_its_section_and_can_be_switched_off() {
    let mut client = LspClient::start(json!({"textDocument": {
        "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}},
        "publishDiagnostics": {"codeDescriptionSupport": true},
    }}));
    client.open(URI, sample::UNUSED);
    let published = client.notification("textDocument/publishDiagnostics", |p| p["uri"] == URI);
    let found = published["diagnostics"][0].clone();
    assert_eq!(found["code"], "unused-instruction", "{published}");
    let href = found["codeDescription"]["href"].as_str().expect("a link");
    let (file, section) = href.split_once('#').expect("a section");
    assert_eq!(section, "unused-instruction");
    let page = std::fs::read_to_string(file.strip_prefix("file://").expect("a file")).expect("it is there");
    assert!(page.contains("\n### unused-instruction\n"), "{page}");

    let context = json!({"diagnostics": [found]});
    let asked = json!({"textDocument": {"uri": URI}, "range": range((4, 3), (4, 3)), "context": context});
    let actions = client.ask("textDocument/codeAction", asked);
    let action = titled(&actions, "Disable the warning unused-instruction");
    assert_eq!(action["diagnostics"], context["diagnostics"]);
    let (command, arguments) = (&action["command"]["command"], &action["command"]["arguments"]);
    client.ask("workspace/executeCommand", json!({"command": command, "arguments": arguments}));
    client.notification("textDocument/publishDiagnostics", |p| {
        p["uri"] == URI && p["diagnostics"] == json!([])
    });
    let status = client.ask("hlo-analyzer/status", json!({}));
    assert_eq!(status["disabled_warnings"], json!(["unused-instruction"]));
    let devices = status["devices"].as_array().expect("a list");
    assert!(devices.iter().any(|device| device["name"] == status["device"]), "{status}");
    assert_eq!(status["documents"], 1);
    assert!(!cfg!(target_os = "linux") || status["memory"].as_u64() > Some(1_000_000), "{status}");
}
