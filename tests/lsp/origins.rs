//! Origins and blame in a dump folder: hover, declaration, implementation.

use std::fs;
use std::time::{Duration, Instant};

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::compiles::Dump;
use crate::editor::{Editor, at};

const FIRST: &str = "before_optimizations";
const LAST: &str = "gpu_after_optimizations.txt";

/// Opens a stage and returns its URI and text.
fn open(client: &mut LspClient, dump: &Dump, part: &str) -> (String, String) {
    let (uri, text) = (dump.file_uri(part), fs::read_to_string(dump.file(part)).expect("it is text"));
    client.open(&uri, &text);
    (uri, text)
}

/// Asks about the definition of an instruction until the answer is `wanted`: the folder is listed after the file is open.
fn ask(
    client: &mut LspClient,
    method: &str,
    (uri, text): &(String, String),
    name: &str,
    wanted: fn(&Value) -> bool,
) -> Value {
    let offset = text.find(&format!("%{name} = ")).expect(name) + 1;
    let line = text[..offset].matches('\n').count();
    let column = offset - text[..offset].rfind('\n').map_or(0, |at| at + 1);
    let start = Instant::now();
    loop {
        let answer = client.ask(method, at(uri, line, column));
        if wanted(&answer) {
            return answer;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{answer}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn hover_names_the_pass_and_links_the_other_stages() {
    let dump = Dump::new("origins-hover");
    let mut client = LspClient::modern();
    let last = open(&mut client, &dump, LAST);
    let is_blamed = |hover: &Value| {
        hover["contents"]["value"].as_str().is_some_and(|text| text.contains("introduced by"))
    };
    let hover = ask(&mut client, "textDocument/hover", &last, "gemm_fusion_dot", is_blamed);
    let shown = hover["contents"]["value"].as_str().unwrap_or_default();
    assert!(
        shown.contains("introduced by `triton-gemm-rewriter` (stage 5 of 8): it joins `%dot`"),
        "{shown}"
    );
    let link = format!("[%dot\\_general.1]({}#L40)", dump.file_uri(FIRST));
    assert!(shown.contains(&link), "{shown}\n{link}");
}

#[test]
fn opening_a_stage_matches_its_compile() {
    let dump = Dump::new("origins-ahead");
    let mut client = LspClient::spawn_as(|command| _ = command.env("HLO_ANALYZER_LOG", "debug"));
    client.initialize(json!({"processId": null, "rootUri": null, "capabilities": {}}));
    let last = open(&mut client, &dump, LAST);
    assert!(client.has_logged("the origins of "), "{}", client.log());
    // The first hover needs no other file.
    let others = test_files::below(dump.folder(), "").into_iter().filter(|path| *path != dump.file(LAST));
    others.collect::<Vec<_>>().into_iter().for_each(|path| fs::remove_file(path).expect("it is there"));
    let hover = ask(&mut client, "textDocument/hover", &last, "gemm_fusion_dot", |_| true);
    let shown = hover.to_string();
    assert!(shown.contains("introduced by") && shown.contains("dot_general.1"), "{shown}");
}

#[test]
fn declarations_and_implementations_are_the_ends_of_the_compile() {
    let dump = Dump::new("origins-navigation");
    let mut client = LspClient::modern();
    let last = open(&mut client, &dump, LAST);
    let first = open(&mut client, &dump, FIRST);
    let is_found = |found: &Value| found.as_array().is_some_and(|links| !links.is_empty());
    let declared = ask(&mut client, "textDocument/declaration", &last, "gemm_fusion_dot", is_found);
    assert_eq!(declared[0]["targetUri"], first.0, "{declared}");
    assert_eq!(declared[0]["targetSelectionRange"]["start"]["line"], 39, "{declared}");
    let implemented = ask(&mut client, "textDocument/implementation", &first, "tanh.1", is_found);
    assert_eq!(implemented[0]["targetUri"], last.0, "{implemented}");
    let line = implemented[0]["targetRange"]["start"]["line"].as_u64().expect("a line") as usize;
    assert!(
        last.1.lines().nth(line).is_some_and(|line| line.contains("%loop_tanh_fusion = ")),
        "{implemented}"
    );
}

#[test]
fn files_without_a_compile_lead_nowhere() {
    let mut client = LspClient::modern();
    let file = (
        crate::editor::URI.to_owned(),
        "HloModule m\n\nENTRY e {\n  ROOT %p = f32[] parameter(0)\n}\n".to_owned(),
    );
    client.open(&file.0, &file.1);
    for method in ["textDocument/declaration", "textDocument/implementation"] {
        assert_eq!(ask(&mut client, method, &file, "p", Value::is_null), Value::Null);
    }
}
