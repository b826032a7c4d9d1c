//! The table of `server/docs/protocol.md` says what the server does.

use std::collections::BTreeSet;
use std::path::Path;

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::json;

struct Row {
    feature: String,
    how: String,
    capabilities: String,
    test: String,
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/docs/protocol.md");
    std::fs::read_to_string(path).expect("the page")
}

fn rows(page: &str) -> Vec<Row> {
    let table = page.lines().skip_while(|line| !line.starts_with("| feature |")).skip(2);
    let rows = table.take_while(|line| line.starts_with('|')).map(|line| {
        let cells: Vec<String> = line.split('|').map(|cell| cell.trim().to_owned()).collect();
        let [_, feature, how, capabilities, test, _] = cells.try_into().expect("four cells");
        Row { feature, how, capabilities, test }
    });
    rows.collect()
}

/// What stands between backquotes.
fn quoted(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

#[test]
fn it_has_the_capabilities_that_the_server_sends() {
    let capabilities = json!({
        "textDocument": {
            "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}},
            "diagnostic": {},
        },
        "workspace": {"diagnostics": {"refreshSupport": true}},
    });
    let mut client = LspClient::spawn();
    let welcome = client.initialize(json!({"capabilities": capabilities}));
    let sent = welcome["capabilities"].as_object().expect("capabilities");
    let sent: BTreeSet<&str> = sent.keys().map(String::as_str).collect();
    let page = page();
    let rows = rows(&page);
    let named = rows.iter().flat_map(|row| quoted(&row.capabilities));
    let named: BTreeSet<&str> = named.filter(|name| !name.contains('/')).collect();
    assert_eq!(named, sent);
}

#[test]
fn it_counts_its_rows_and_says_why_some_are_not_there() {
    let page = page();
    let rows = rows(&page);
    let (done, missing): (Vec<_>, Vec<_>) = rows.iter().partition(|row| !row.test.is_empty());
    assert!(page.contains(&format!("\n{} of the {} rows", done.len(), rows.len())), "{}", done.len());
    for row in missing {
        assert!(row.how.starts_with('—') && row.capabilities.is_empty(), "{}", row.feature);
    }
    assert!(done.iter().all(|row| !row.capabilities.is_empty()));
}

#[test]
fn its_tests_exist() {
    let page = page();
    for row in rows(&page) {
        let Some(test) = quoted(&row.test).next() else { continue };
        let (file, name) = test.split_once("::").expect("file::test");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("lsp/{file}.rs"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{}", path.display()));
        assert!(text.contains(&format!("#[test]\nfn {name}()")), "{}: {test}", row.feature);
    }
}
