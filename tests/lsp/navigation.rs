//! Navigation across computations and blocks, in the format that the client supports.

use std::time::Instant;

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at, document, range};

/// Line and column of the n-th occurrence of `text` in the sample.
fn place(text: &str, n: usize) -> (usize, usize) {
    let offset = sample::MODULE.match_indices(text).nth(n).expect("it is in the sample").0;
    let before = &sample::MODULE[..offset];
    (before.matches('\n').count(), offset - before.rfind('\n').map_or(0, |at| at + 1))
}

pub(crate) fn list(answer: &Value) -> &[Value] {
    answer.as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(crate) fn start_of(range: &Value) -> (u64, u64) {
    let number = |key| range["start"][key].as_u64().expect("a number");
    (number("line"), number("character"))
}

#[test]
fn references_and_highlights_agree() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let (line, column) = place("%y", 0);
    let mut asked = at(URI, line, column + 1);
    let highlights = client.ask("textDocument/documentHighlight", asked.clone());
    asked["context"] = json!({"includeDeclaration": true});
    let references = client.ask("textDocument/references", asked.clone());
    assert!(list(&references).iter().all(|r| r["uri"] == URI));
    let of = |answer: &Value| list(answer).iter().map(|r| start_of(&r["range"])).collect::<Vec<_>>();
    assert_eq!(of(&references), of(&highlights));
    let kinds: Vec<_> = list(&highlights).iter().filter_map(|h| h["kind"].as_u64()).collect();
    // The header and the definition are writes, the operands of fusion and add are reads.
    assert_eq!(kinds, [3, 3, 2, 2]);
    asked["context"] = json!({"includeDeclaration": false});
    assert_eq!(list(&client.ask("textDocument/references", asked)).len(), 2);
}

#[test]
fn a_name_and_its_uses_are_edited_together() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let mut ask = |text: &str, method: &str| {
        let (line, column) = place(text, 0);
        let mut params = at(URI, line, column + 1);
        params["context"] = json!({"includeDeclaration": true});
        client.ask(method, params)
    };
    let linked = ask("%fusion.1 = ", "textDocument/linkedEditingRange");
    let references = ask("%fusion.1 = ", "textDocument/references");
    let expected: Vec<&Value> = list(&references).iter().map(|reference| &reference["range"]).collect();
    assert_eq!((expected.len(), list(&linked["ranges"]).iter().collect()), (2, expected));
    // The header has it without its sigil; an opcode is no name; a root has no uses.
    for text in ["%param_0 = ", "parameter(0)", "%add.1 = "] {
        assert_eq!(ask(text, "textDocument/linkedEditingRange"), Value::Null, "{text}");
    }
}

#[test]
fn a_parameter_of_a_fusion_leads_to_the_operand() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let (line, column) = place("parameter(1)", 0);
    let links = client.ask("textDocument/definition", at(URI, line, column));
    let (call, _) = place("%fusion.1 =", 0);
    assert_eq!(links[0]["targetRange"]["start"]["line"], call, "{links}");
    let (line, column) = place("%fusion.1", 1);
    let root = client.ask("textDocument/typeDefinition", at(URI, line, column + 1));
    assert_eq!(start_of(&root[0]["targetRange"]).0, place("ROOT %multiply.1", 0).0 as u64, "{root}");
}

/// A stack of two frames; the file of the outer one does not exist.
#[test]
fn rename_is_prepared_done_or_refused() {
    let (line, column) = place("%fused_computation", 1);
    for (capabilities, is_versioned) in
        [(json!({"workspace": {"workspaceEdit": {"documentChanges": true}}}), true), (json!({}), false)]
    {
        let mut client = LspClient::start(capabilities);
        client.open(URI, sample::MODULE);
        let prepared = client.ask("textDocument/prepareRename", at(URI, line, column));
        assert_eq!(prepared["placeholder"], "fused_computation");
        let mut asked = at(URI, line, column + 3);
        asked["newName"] = json!("%multiply");
        let edit = client.ask("textDocument/rename", asked.clone());
        let edits = match is_versioned {
            true => {
                assert_eq!(edit["documentChanges"][0]["textDocument"]["version"], 1, "{edit}");
                &edit["documentChanges"][0]["edits"]
            }
            false => &edit["changes"][URI],
        };
        let starts: Vec<_> = list(edits).iter().map(|e| start_of(&e["range"])).collect();
        let expect = [0, 1].map(|n| place("fused_computation", n)).map(|(l, c)| (l as u64, c as u64));
        assert_eq!(starts, expect);
        assert!(list(edits).iter().all(|e| e["newText"] == "multiply"));

        asked["newName"] = json!("main");
        let id = client.request("textDocument/rename", asked);
        let error = client.answer(id).result.expect_err("the name is taken");
        assert_eq!(error["code"], -32803);
        assert!(error["message"].as_str().is_some_and(|m| m.contains("main exists")), "{error}");
        assert_eq!(client.refused("textDocument/prepareRename", at(URI, 0, 2)), -32803);
    }
}

#[test]
fn calls_go_up_and_down() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let (line, column) = place("%fused_computation", 0);
    let items = client.ask("textDocument/prepareCallHierarchy", at(URI, line, column + 1));
    assert_eq!(items[0]["name"], "fused_computation", "{items}");
    let callers = client.ask("callHierarchy/incomingCalls", json!({"item": items[0]}));
    assert_eq!(callers[0]["from"]["name"], "main", "{callers}");
    let callees = client.ask("callHierarchy/outgoingCalls", json!({"item": callers[0]["from"]}));
    assert_eq!(callees[0]["to"]["name"], "fused_computation");
    assert_eq!(callees[0]["fromRanges"], callers[0]["fromRanges"]);
    assert_eq!(start_of(&callees[0]["fromRanges"][0]).0, place("%fusion.1 =", 0).0 as u64);
}

#[test]
fn symbols_of_all_open_files_are_found() {
    let mut client = LspClient::modern();
    assert_eq!(client.ask("workspace/symbol", json!({"query": "add"})), Value::Null, "nothing is open");
    let other = "file:///dump/other.hlo";
    client.open(URI, sample::MODULE);
    client.open(other, "HloModule o\n\nENTRY e {\n  ROOT added = f32[] constant(1)\n}\n");
    let found = client.ask("workspace/symbol", json!({"query": "add"}));
    let names: Vec<_> = list(&found).iter().map(|s| (&s["name"], &s["location"]["uri"])).collect();
    assert_eq!(names, [(&json!("add.1"), &json!(URI)), (&json!("added"), &json!(other))]);
    assert_eq!(start_of(&found[1]["location"]["range"]), (3, 7));
}

#[test]
fn folds_and_selections_have_lines() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let folds = client.ask("textDocument/foldingRange", document(URI));
    let lines: Vec<_> =
        list(&folds).iter().map(|f| (f["startLine"].as_u64(), f["endLine"].as_u64())).collect();
    let (main, last) = (place("ENTRY", 0).0 as u64, place("ROOT %add.1", 0).0 as u64);
    assert_eq!(lines, [(Some(2), Some(5)), (Some(main), Some(last))]);
    let (line, column) = place("%y)", 1);
    let positions = json!([{"line": line, "character": column + 1}, {"line": 0, "character": 3}]);
    let asked = json!({"textDocument": {"uri": URI}, "positions": positions});
    let chains = client.ask("textDocument/selectionRange", asked);
    assert_eq!(list(&chains).len(), 2);
    assert_eq!(chains[0]["range"], range((line, column), (line, column + 2)));
    assert_eq!(chains[1]["range"], range((0, 0), (0, 9)));
    let mut outer = &chains[0];
    while outer["parent"].is_object() {
        outer = &outer["parent"];
    }
    assert_eq!(start_of(&outer["range"]), (0, 0));
}

#[test]
fn lenses_get_their_words_when_they_are_resolved() {
    let commands = json!({"experimental": {"commands": ["hlo-analyzer.showReferences"]}});
    for (capabilities, command) in [(json!({}), ""), (commands, "hlo-analyzer.showReferences")] {
        let mut client = LspClient::start(capabilities);
        client.open(URI, sample::MODULE);
        let lenses = client.ask("textDocument/codeLens", document(URI));
        // Two computations; a fusion, and an op that is wrapped in one.
        assert_eq!(list(&lenses).len(), 4);
        assert!(lenses[0].get("command").is_none(), "{lenses}");
        let lens = client.ask("codeLens/resolve", lenses[0].clone());
        let title = lens["command"]["title"].as_str().unwrap_or_default();
        assert_eq!(title, "1 caller · 3 instructions · 1.02 kFLOP · 12.3 kB");
        assert_eq!(lens["command"]["command"], command);
        let entry = client.ask("codeLens/resolve", lenses[1].clone());
        assert!(
            entry["command"]["title"].as_str().is_some_and(|t| t.starts_with("4 instructions")),
            "{entry}"
        );
        client.change(URI, 2, json!([{"text": ""}]));
        let gone = client.ask("codeLens/resolve", lenses[0].clone());
        assert_eq!(gone["command"]["title"], "");
    }
}

/// A training step of 18 MB: requests about the whole file finish soon, and a rename reaches every block.
#[test]
fn large_files_are_navigated_as_small_ones() {
    let text = sample::large_module(8 << 20);
    let mut client = LspClient::modern();
    client.open(URI, &text);
    client.text(URI);
    let entry = text[..text.find("ENTRY").expect("there is one")].matches('\n').count();
    let name = text.lines().nth(entry + 1).and_then(|l| l.trim().split(' ').next()).expect("a parameter");
    let uses = text[text.find("ENTRY").unwrap_or_default()..].matches(&format!("{name})")).count();
    let mut asked = at(URI, entry + 1, 4);
    asked["newName"] = json!("renamed");
    let mut timed = |method: &str, params: Value| {
        let start = Instant::now();
        let answer = client.ask(method, params);
        eprintln!("{method}: {:?}", start.elapsed());
        answer
    };
    let edit = timed("textDocument/rename", asked);
    // The header, the definition, and every operand; the first line of the chain has it as both operands.
    assert_eq!(list(&edit["changes"][URI]).len(), uses + 3);
    let folds = timed("textDocument/foldingRange", document(URI));
    assert!(!list(&folds).is_empty());
    let here = json!({"textDocument": {"uri": URI}, "range": range((entry + 500, 0), (entry + 550, 0))});
    let tokens = timed("textDocument/semanticTokens/range", here);
    let count = list(&tokens["data"]).len() / 5;
    assert!((500..5_000).contains(&count), "{count} tokens on 50 lines");
    let tokens = timed("textDocument/semanticTokens/full", document(URI));
    assert_eq!(tokens, Value::Null, "too many to send");
    let symbols = timed("workspace/symbol", json!({"query": "add"}));
    assert_eq!(list(&symbols).len(), 256);
    let outline = timed("textDocument/documentSymbol", document(URI));
    assert!(outline.to_string().contains(" more\""), "the outline says that it is cut");
    let lenses = timed("textDocument/codeLens", document(URI));
    let last = list(&lenses).last().expect("one per computation").clone();
    let lens = timed("codeLens/resolve", last);
    eprintln!("{}", lens["command"]["title"]);
}
