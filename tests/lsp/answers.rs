//! Each response has the format that the client supports.

use hlo_analyzer_tests::lsp_client::LspClient;
use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at, document, range};

fn line_of(start: &str) -> usize {
    sample::MODULE.lines().position(|line| line.starts_with(start)).expect("it is in the sample")
}

#[test]
fn hover_is_markdown_where_the_client_shows_it() {
    let line = line_of("  %fusion.1");
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let hover = client.ask("textDocument/hover", at(URI, line, 5));
    assert_eq!(hover["contents"]["kind"], "markdown");
    assert!(hover["contents"]["value"].as_str().is_some_and(|text| text.contains("fusion.1")), "{hover}");
    assert_eq!(hover["range"]["start"]["line"], line);

    let mut client = LspClient::start(json!({}));
    client.open(URI, sample::MODULE);
    let hover = client.ask("textDocument/hover", at(URI, line, 5));
    assert_eq!(hover["contents"]["kind"], "plaintext");
    let text = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(text.contains("fusion.1") && !text.contains("```"), "{text}");
}

#[test]
fn definition_is_a_link_where_the_client_takes_it() {
    let used = line_of("  ROOT %add.1");
    let column =
        sample::MODULE.lines().nth(used).and_then(|line| line.find("fusion.1")).expect("it is there") + 2;
    let defined = line_of("  %fusion.1");

    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let links = client.ask("textDocument/definition", at(URI, used, column));
    assert_eq!(links[0]["targetUri"], URI, "{links}");
    assert_eq!(links[0]["targetSelectionRange"]["start"]["line"], defined);
    assert_eq!(links[0]["originSelectionRange"]["start"]["line"], used);

    let mut client = LspClient::start(json!({}));
    client.open(URI, sample::MODULE);
    let location = client.ask("textDocument/definition", at(URI, used, column));
    assert_eq!(location["uri"], URI, "{location}");
    assert_eq!(location["range"]["start"]["line"], defined);
}

#[test]
fn symbols_are_nested_or_flat() {
    fn names(symbols: &Value) -> Vec<String> {
        let list = symbols.as_array().map(Vec::as_slice).unwrap_or_default();
        list.iter()
            .flat_map(|symbol| {
                let name = symbol["name"].as_str().unwrap_or_default().trim_start_matches('%').to_owned();
                std::iter::once(name).chain(names(&symbol["children"]))
            })
            .collect()
    }
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let nested = client.ask("textDocument/documentSymbol", document(URI));
    assert!(nested[0]["selectionRange"].is_object(), "{nested}");
    let mut client = LspClient::start(json!({}));
    client.open(URI, sample::MODULE);
    let flat = client.ask("textDocument/documentSymbol", document(URI));
    assert_eq!(flat[0]["location"]["uri"], URI, "{flat}");
    assert_eq!(names(&nested), names(&flat));
    assert!(names(&flat).iter().any(|name| name == "add.1"), "{flat}");
}

#[test]
fn inlay_hints_are_those_of_the_range_and_can_be_switched_off() {
    let mut client = LspClient::modern();
    client.open(URI, sample::MODULE);
    let first = line_of("  %fusion.1");
    let hints = json!({"textDocument": {"uri": URI}, "range": range((first, 0), (first + 1, 0))});
    assert_eq!(client.ask("textDocument/inlayHint", hints.clone()), json!([]), "they repeat the shapes");
    let everywhere = json!({"settings": {"hlo-analyzer": {"inlayHints": {"everywhere": true}}}});
    client.notify("workspace/didChangeConfiguration", everywhere);
    let shown = client.ask("textDocument/inlayHint", hints.clone());
    let shown = shown.as_array().expect("a list");
    assert!(!shown.is_empty());
    for hint in shown {
        let line = hint["position"]["line"].as_u64().expect("a line");
        assert!((first as u64..=first as u64 + 1).contains(&line), "{hint}");
    }

    let off = json!({"settings": {"hlo-analyzer": {"inlayHints": {"domains": false}}}});
    client.notify("workspace/didChangeConfiguration", off);
    assert_eq!(client.ask("textDocument/inlayHint", hints.clone()), json!([]));
    client.text(URI);
    let requested: Vec<&str> = client.server_requests.iter().map(|(method, _)| method.as_str()).collect();
    assert_eq!(requested, ["workspace/inlayHint/refresh"; 2]);

    let mut client = LspClient::spawn();
    let options = json!({"inlayHints": {"domains": false, "everywhere": true}});
    client.initialize(json!({"capabilities": {}, "initializationOptions": options}));
    client.open(URI, sample::MODULE);
    assert_eq!(client.ask("textDocument/inlayHint", hints), json!([]));
}
