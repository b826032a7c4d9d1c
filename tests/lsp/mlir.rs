//! A `.mlir` file in an editor: its features and code actions.

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::editor::{Editor, at, document, range};

const URI: &str = "file:///dump/tiled.mlir";

const TEXT: &str = "\
#map = affine_map<(d0) -> (d0 * 2 floordiv 2)>
func.func @tiles(%x: tensor<10x10x100xf32>, %n: index) -> tensor<10x100xf32> {
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<10x10x100xf32> into tensor<100x100xf32>
  %i = affine.apply #map(%n)
  %tile = tensor.extract_slice %rows[20, 0] [10, 100] [1, 1] : tensor<100x100xf32> to tensor<10x100xf32>
  return %tile : tensor<10x100xf32>
}
func.func @caller(%x: tensor<10x10x100xf32>, %n: index) -> tensor<10x100xf32> {
  %0 = call @tiles(%x, %n) : (tensor<10x10x100xf32>, index) -> tensor<10x100xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<10x100xf32>) -> tensor<100x10xf32>
  return %0 : tensor<10x100xf32>
}
";

fn open() -> LspClient {
    let action = json!({
        "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}},
        "dataSupport": true,
        "resolveSupport": {"properties": ["edit"]},
    });
    let mut client = LspClient::start(json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {
            "codeAction": action,
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": true},
            "hover": {"contentFormat": ["markdown"]},
        },
        "workspace": {"workspaceEdit": {"documentChanges": true}},
    }));
    let item = json!({"uri": URI, "languageId": "mlir", "version": 1, "text": TEXT});
    client.notify("textDocument/didOpen", json!({"textDocument": item}));
    client
}

/// Line and character of the start of `what`.
fn place(what: &str) -> (usize, usize) {
    let at = TEXT.find(what).unwrap_or_else(|| panic!("{what} is not there"));
    let line = TEXT[..at].matches('\n').count();
    (line, at - TEXT[..at].rfind('\n').map_or(0, |newline| newline + 1))
}

/// The titles of the actions at `what`, and the actions.
fn actions(client: &mut LspClient, what: &str) -> Value {
    let place = place(what);
    let context = json!({"diagnostics": []});
    let asked = json!({"textDocument": {"uri": URI}, "range": range(place, place), "context": context});
    client.ask("textDocument/codeAction", asked)
}

/// The text after the edit of an action.
fn applied(client: &mut LspClient, actions: &Value, title: &str) -> String {
    let list = actions.as_array().expect("a list");
    let action = list.iter().find(|a| a["title"] == title).unwrap_or_else(|| panic!("no {title}: {actions}"));
    let resolved = client.ask("codeAction/resolve", action.clone());
    let edits = resolved["edit"]["documentChanges"][0]["edits"].as_array().expect("edits").clone();
    let offset = |position: &Value| {
        let line = position["line"].as_u64().expect("a line") as usize;
        let start: usize = TEXT.split_inclusive('\n').take(line).map(str::len).sum();
        start + position["character"].as_u64().expect("a character") as usize
    };
    let mut edits: Vec<(usize, usize, String)> = edits
        .iter()
        .map(|e| {
            let text = e["newText"].as_str().expect("a text").to_owned();
            (offset(&e["range"]["start"]), offset(&e["range"]["end"]), text)
        })
        .collect();
    edits.sort();
    let mut text = TEXT.to_owned();
    for (start, end, insert) in edits.into_iter().rev() {
        text.replace_range(start..end, &insert);
    }
    text
}

#[test]
fn a_slice_of_a_reshape_is_rewritten() {
    let mut client = open();
    let offered = actions(&mut client, "tensor.extract_slice");
    let text = applied(&mut client, &offered, "Replace by 1 slice");
    let expect = "  %tile = tensor.extract_slice %x[2, 0, 0] [1, 10, 100] [1, 1, 1] : tensor<10x10x100xf32> to tensor<10x100xf32>\n";
    assert!(text.contains(expect) && !text.contains("collapse_shape"), "{text}");
    client.change(URI, 2, json!([{"text": text}]));
    let published = client.notification("textDocument/publishDiagnostics", |p| p["version"] == 2);
    assert_eq!(published["diagnostics"], json!([]), "{text}");
}

#[test]
fn maps_and_aliases_are_edited() {
    let mut client = open();
    let offered = actions(&mut client, "affine_map<");
    let text = applied(&mut client, &offered, "Simplify this map");
    assert!(text.starts_with("#map = affine_map<(d0) -> (d0)>\n"), "{text}");
    let offered = actions(&mut client, "#map(%n)");
    let text = applied(&mut client, &offered, "Inline #map");
    assert!(text.contains("affine.apply affine_map<(d0) -> (d0 * 2 floordiv 2)>(%n)"), "{text}");
    assert!(text.starts_with("func.func"), "{text}");
}

#[test]
fn what_is_known_of_a_file_is_shown() {
    let mut client = open();
    let outline = client.ask("textDocument/documentSymbol", document(URI));
    let names: Vec<&str> =
        outline.as_array().expect("a list").iter().filter_map(|s| s["name"].as_str()).collect();
    assert!(names.contains(&"@tiles") && names.contains(&"@caller"), "{outline}");

    let (line, character) = place("stablehlo.transpose");
    let hover = client.ask("textDocument/hover", at(URI, line, character));
    let shown = hover["contents"]["value"].as_str().expect("markdown");
    assert!(shown.contains("(d0, d1) -> (d1, d0)"), "{shown}");

    let asked = client.ask("hlo-analyzer/evaluate", at(URI, line, character));
    assert_eq!(asked["instruction"], "transpose.1", "{asked}");

    let (line, character) = place("@tiles(%x, %n) :");
    let found = client.ask("textDocument/definition", at(URI, line, character + 2));
    assert!(found.to_string().contains("\"line\":1"), "{found}");

    let (line, character) = place("%rows[");
    let mut asked = at(URI, line, character + 1);
    asked["newName"] = json!("lines");
    let renamed = client.ask("textDocument/rename", asked);
    assert_eq!(renamed.to_string().matches("\"newText\"").count(), 2, "{renamed}");

    let asked = json!({"textDocument": {"uri": URI}, "range": range((0, 0), (12, 0))});
    let hints = client.ask("textDocument/inlayHint", asked);
    assert!(hints.as_array().is_some_and(|list| !list.is_empty()), "{hints}");
}
