//! "Show kernel": a kernel's text beside the HLO, navigation in both directions, and updates.

use std::path::Path;
use std::time::Duration;

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::editor::{Editor, URI, at, hover_text, range};

const MODULE: &str = "HloModule m

%fused {
  p = f32[64,66] parameter(0)
  q = f32[66] parameter(1)
  b = f32[64,66] broadcast(q), dimensions={1}
  ROOT s = f32[64,66] add(p, b)
}

%other {
  a = f32[8] parameter(0)
  ROOT n = f32[8] negate(a)
}

ENTRY %e {
  x = f32[64,66] parameter(0)
  y = f32[66] parameter(1)
  z = f32[8] parameter(2)
  g = f32[8] fusion(z), kind=kLoop, calls=%other
  f = f32[64,66] fusion(x, y), kind=kLoop, calls=%fused
  c = f32[64,66] custom-call(f), custom_call_target=\"__cublas$gemm\", backend_config={\"alpha\":1}
  ROOT t = (f32[64,66], f32[8]) tuple(c, g)
}
";

fn line_of(text: &str, start: &str) -> usize {
    text.lines()
        .position(|line| line.starts_with(start))
        .unwrap_or_else(|| panic!("no line {start} in {text}"))
}

fn line_with(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).unwrap_or_else(|| panic!("no {part} in {text}"))
}

/// A client that shows kernels itself.
fn client(settings: Value) -> LspClient {
    let mut client = LspClient::spawn();
    let capabilities = json!({
        "general": {"positionEncodings": ["utf-8"]},
        "textDocument": {
            "hover": {"contentFormat": ["markdown"]},
            "codeAction": {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": [""]}}},
        },
        "experimental": {"commands": ["hlo-analyzer.showKernel"]},
    });
    client.initialize(json!({
        "processId": null, "rootUri": null, "capabilities": capabilities, "initializationOptions": settings,
    }));
    client.open(URI, MODULE);
    client
}

/// A client without the programs that may be on PATH.
fn plain_client() -> LspClient {
    client(json!({"ptxas": {"enable": false}}))
}

/// The URIs of the tabs of the kernel around a line.
fn tabs(client: &mut LspClient, line: usize) -> Vec<(String, String)> {
    let shown = client.ask("hlo-analyzer/showKernel", at(URI, line, 4));
    let tabs = shown["tabs"].as_array().cloned().unwrap_or_default();
    let text = |tab: &Value, key: &str| tab[key].as_str().expect("a text").to_owned();
    tabs.iter().map(|tab| (text(tab, "tab"), text(tab, "uri"))).collect()
}

fn content(client: &mut LspClient, uri: &str) -> String {
    let content = client.ask("hlo-analyzer/kernelContent", json!({"uri": uri}));
    content["text"].as_str().unwrap_or_else(|| panic!("no text in {content}")).to_owned()
}

fn shows(client: &mut LspClient, uri: &str, text: &str) {
    let item = json!({"uri": uri, "languageId": "ptx", "version": 1, "text": text});
    client.notify("textDocument/didOpen", json!({"textDocument": item}));
}

fn replace(client: &mut LspClient, version: i32, line: usize, columns: (usize, usize), text: &str) {
    let range = range((line, columns.0), (line, columns.1));
    client.change(URI, version, json!([{"range": range, "text": text}]));
}

#[test]
fn a_kernel_has_tabs_with_a_head() {
    let mut client = plain_client();
    let tabs = tabs(&mut client, line_of(MODULE, "  ROOT s"));
    assert_eq!(tabs.iter().map(|(tab, _)| tab.as_str()).collect::<Vec<_>>(), ["mlir", "ptx", "passes"]);
    for (tab, uri) in &tabs {
        let text = content(&mut client, uri);
        let head = "// %f | loop | h100-sxm\n// grid 33 | block 128 | shared memory 0 B\n\n";
        assert!(text.starts_with(head), "{text}");
        assert!(text.contains(if tab == "ptx" { "add.rn.f32" } else { "arith.addf" }), "{text}");
    }
    assert_eq!(client.ask("hlo-analyzer/showKernel", at(URI, line_of(MODULE, "  x = "), 4)), Value::Null);
}

#[test]
fn a_fusion_for_triton_has_other_tile_sizes() {
    const TRITON: &str = r#"HloModule m

%rows {
  p = f32[512,1000] parameter(0)
  ROOT n = f32[512,1000] negate(p)
}

ENTRY %e {
  x = f32[512,1000] parameter(0)
  ROOT f = f32[512,1000] fusion(x), kind=kCustom, calls=%rows, backend_config={"fusion_backend_config":{"kind":"__triton","block_level_fusion_config":{"num_warps":"4","output_tiles":[{"sizes":["1","1"]}]}}}
}
"#;
    const FILE: &str = "file:///triton.hlo";
    let mut client = plain_client();
    client.open(FILE, TRITON);
    let place = at(FILE, line_of(TRITON, "  ROOT f"), 8);
    let shown = client.ask("hlo-analyzer/showKernel", place.clone());
    let tabs = shown["tabs"].as_array().expect("tabs");
    let names: Vec<&str> = tabs.iter().filter_map(|tab| tab["tab"].as_str()).collect();
    assert_eq!(names, ["tiles", "triton", "tilings", "about"]);
    let table = content(&mut client, tabs[2]["uri"].as_str().expect("a URI"));
    assert!(table.starts_with("// %f · tile sizes · h100-sxm\n\ntiles "), "{table}");
    assert!(table.lines().any(|line| line.starts_with("1×1 ") && line.ends_with("  now")), "{table}");
    let best = table.lines().find(|line| line.ends_with("fastest by XLA's model")).expect("the best");
    let start = place["position"].clone();
    let ask = json!({"textDocument": {"uri": FILE}, "range": {"start": start, "end": start}, "context": {"diagnostics": []}});
    let actions = client.ask("textDocument/codeAction", ask);
    let titles: Vec<&str> =
        actions.as_array().into_iter().flatten().filter_map(|a| a["title"].as_str()).collect();
    let tiles = best.split("  ").next().expect("its tiles");
    assert!(titles.iter().any(|title| title.starts_with(&format!("Use tiles {tiles}, "))), "{titles:?}");
}

#[test]
fn what_each_pass_makes_of_a_kernel_is_a_tab() {
    let mut client = plain_client();
    let (_, uri) = tabs(&mut client, line_of(MODULE, "  f = ")).remove(2);
    let text = content(&mut client, &uri);
    let heads: Vec<&str> =
        text.lines().filter(|line| line.starts_with("// -----// IR Dump After ")).collect();
    assert!(heads.len() > 3 && heads.iter().any(|head| head.contains("Inliner")), "{heads:?}");
}

#[test]
fn the_cursor_is_followed_both_ways() {
    let mut client = plain_client();
    for (tab, uri) in tabs(&mut client, line_of(MODULE, "  f = ")) {
        let text = content(&mut client, &uri);
        let code = if tab == "ptx" { "add.rn.f32" } else { "arith.addf" };
        let (hlo, kernel) = (line_of(MODULE, "  ROOT s"), line_with(&text, code));
        let here = json!({"line": hlo, "character": 8});
        let runs = client.ask("hlo-analyzer/kernelLines", json!({"uri": uri, "position": here}));
        let runs = runs["lines"].as_array().expect("a list").clone();
        let holds =
            |run: &Value| (run["first"].as_u64()..=run["last"].as_u64()).contains(&Some(kernel as u64));
        assert!(runs.iter().any(holds), "{kernel} is not in {runs:?}:\n{text}");

        let source = client.ask("hlo-analyzer/kernelSource", json!({"uri": uri, "line": kernel}));
        assert_eq!((&source["instruction"], &source["uri"]), (&json!("s"), &json!(URI)));
        assert_eq!(source["at"]["range"]["start"]["line"], hlo);
        assert_eq!(source["lines"], json!(runs));
        // The head originates from no instruction.
        assert_eq!(client.ask("hlo-analyzer/kernelSource", json!({"uri": uri, "line": 0})), Value::Null);

        let defined = client.ask("textDocument/definition", at(&uri, kernel, 6));
        assert_eq!((&defined["uri"], &defined["range"]["start"]["line"]), (&json!(URI), &json!(hlo)));
        let hover = client.ask("textDocument/hover", at(&uri, kernel, 6));
        assert!(hover_text(&hover).contains("add(p, b)"), "{hover}");
        let read = if tab == "ptx" { "ld.global" } else { "tensor.extract" };
        let hover = client.ask("textDocument/hover", at(&uri, line_with(&text, read), 6));
        assert!(hover_text(&hover).contains("**thread → `%"), "{hover}");
    }
}

#[test]
fn lines_above_move_nothing_away() {
    let mut client = plain_client();
    let (_, uri) = tabs(&mut client, line_of(MODULE, "  f = ")).remove(1);
    let text = content(&mut client, &uri);
    shows(&mut client, &uri, &text);
    replace(&mut client, 2, 1, (0, 0), "\n// a remark\n\n");
    let source =
        client.ask("hlo-analyzer/kernelSource", json!({"uri": uri, "line": line_with(&text, "add.rn.f32")}));
    assert_eq!(source["at"]["range"]["start"]["line"], line_of(MODULE, "  ROOT s") + 3);
    // There is also no notification about an unchanged text.
    let news = changed_within(&mut client, Duration::from_millis(700));
    assert_eq!(news, Vec::<String>::new());
}

/// The kernels with a change notification within a time.
fn changed_within(client: &mut LspClient, time: Duration) -> Vec<String> {
    client.listen(time);
    let mut news = Vec::new();
    while let Some(params) = client.take("hlo-analyzer/kernelChanged") {
        news.push(params["uri"].as_str().expect("a URI").to_owned());
    }
    news
}

#[test]
fn edits_change_the_kernels_that_are_concerned() {
    let mut client = plain_client();
    let mut uris = Vec::new();
    for line in ["  f = ", "  g = "] {
        for (_, uri) in tabs(&mut client, line_of(MODULE, line)) {
            let text = content(&mut client, &uri);
            shows(&mut client, &uri, &text);
            uris.push(uri);
        }
    }
    let line = line_of(MODULE, "  ROOT s");
    let column = MODULE.lines().nth(line).and_then(|line| line.find("add")).expect("it is there");
    replace(&mut client, 2, line, (column, column + 3), "multiply");
    for _ in 0..3 {
        let news = client.notification("hlo-analyzer/kernelChanged", |_| true);
        let uri = news["uri"].as_str().expect("a URI");
        assert!(uris[..3].iter().any(|shown| shown == uri), "{uri}");
        let text = content(&mut client, uri);
        assert!(text.contains("arith.mulf") || text.contains("mul.rn.f32"), "{text}");
    }
    // While the HLO has errors, the last code stays, with a note.
    replace(&mut client, 3, line, (column, column + 8), "multipl");
    let news = client.notification("hlo-analyzer/kernelChanged", |p| p["uri"] == uris[1].as_str());
    let text = content(&mut client, news["uri"].as_str().expect("a URI"));
    assert!(text.contains("\n// not up to date: ") && text.contains("mul.rn.f32"), "{text}");
    // All tabs are closed.
    for uri in &uris {
        client.notify("textDocument/didClose", json!({"textDocument": {"uri": uri}}));
    }
    client.listen(Duration::from_millis(300));
    while client.take("hlo-analyzer/kernelChanged").is_some() {}
    replace(&mut client, 4, line, (column, column + 7), "add");
    assert_eq!(changed_within(&mut client, Duration::from_millis(500)), Vec::<String>::new());
}

#[test]
fn the_device_changes_the_kernel() {
    let mut client = plain_client();
    let (_, uri) = tabs(&mut client, line_of(MODULE, "  f = ")).remove(1);
    let text = content(&mut client, &uri);
    shows(&mut client, &uri, &text);
    let settings = json!({"settings": {"gpu": {"device": "a6000"}}});
    client.notify("workspace/didChangeConfiguration", settings);
    client.notification("hlo-analyzer/kernelChanged", |p| p["uri"] == uri.as_str());
    assert!(content(&mut client, &uri).contains(".target sm_86"));
}

#[test]
fn what_others_write_is_shown_as_far_as_it_is_known() {
    let mut client = plain_client();
    let tabs = tabs(&mut client, line_of(MODULE, "  c = "));
    assert_eq!(tabs.len(), 1);
    let text = content(&mut client, &tabs[0].1);
    assert!(text.contains("target: __cublas$gemm") && text.contains("alpha: 1"), "{text}");
}

#[test]
fn the_action_and_the_lens_name_the_command() {
    let mut client = plain_client();
    let line = line_of(MODULE, "  f = ");
    let params = json!({"textDocument": {"uri": URI}, "range": range((line, 3), (line, 3)), "context": {"diagnostics": []}});
    let actions = client.ask("textDocument/codeAction", params);
    let titles: Vec<&str> =
        actions.as_array().expect("a list").iter().filter_map(|a| a["title"].as_str()).collect();
    assert_eq!(titles.iter().filter(|title| title.starts_with("Show kernel")).count(), 1, "{titles:?}");
    let lenses = client.ask("textDocument/codeLens", json!({"textDocument": {"uri": URI}}));
    let lenses = lenses.as_array().expect("a list");
    let shown = lenses.iter().filter(|lens| lens["command"]["title"] == "Show kernel");
    assert_eq!(shown.clone().count(), 2, "{lenses:?}");
    assert!(shown.clone().all(|lens| lens["command"]["command"] == "hlo-analyzer.showKernel"));
}

#[test]
fn other_editors_are_shown_files() {
    let mut client = LspClient::start(json!({
        "general": {"positionEncodings": ["utf-8"]},
        "window": {"showDocument": {"support": true}},
    }));
    client.notify("workspace/didChangeConfiguration", json!({"settings": {"ptxas": {"enable": false}}}));
    client.open(URI, MODULE);
    let line = line_of(MODULE, "  ROOT s");
    let here = json!({"line": line, "character": 4});
    let command = json!({"command": "hlo-analyzer.openKernel", "arguments": [URI, here]});
    let shown = client.ask("workspace/executeCommand", command);
    let tab = &shown["tabs"][1];
    let path = tab["path"].as_str().expect("a path").to_owned();
    let read = || std::fs::read_to_string(&path).expect("the file is there");
    assert_eq!(tab["text"].as_str(), Some(read().as_str()));
    assert!(Path::new(&path).metadata().is_ok_and(|meta| meta.permissions().readonly()));
    let column = MODULE.lines().nth(line).and_then(|line| line.find("add")).expect("it is there");
    replace(&mut client, 2, line, (column, column + 3), "multiply");
    for _ in 0..100 {
        if read().contains("mul.rn.f32") {
            break;
        }
        client.listen(Duration::from_millis(50));
    }
    assert!(read().contains("mul.rn.f32"), "the file follows the edit");
    let shown = client.server_requests.iter().filter(|(method, _)| method == "window/showDocument");
    assert_eq!(shown.count(), 3);
    client.leave();
    assert!(!Path::new(&path).exists(), "what was written goes with the server");
}

#[test]
fn strange_uris_and_commands_are_refused() {
    let mut client = plain_client();
    for uri in ["hlo-analyzer-kernel:/f.ptx", "file:///a.hlo", "hlo-analyzer-kernel:/f.ptx?%7B%22"] {
        assert_eq!(client.refused("hlo-analyzer/kernelContent", json!({"uri": uri})), -32602, "{uri}");
        shows(&mut client, uri, "");
    }
    let (_, uri) = tabs(&mut client, line_of(MODULE, "  f = ")).remove(0);
    let missing = uri.replace("%22instruction%22%3A%22f%22", "%22instruction%22%3A%22nobody%22");
    assert!(content(&mut client, &missing).contains("no kernel: nobody is not in the module"));
    let beyond = client.ask("hlo-analyzer/kernelSource", json!({"uri": uri, "line": 100_000}));
    assert_eq!(beyond, Value::Null);
    let command = json!({"command": "hlo-analyzer.format", "arguments": []});
    assert_eq!(client.refused("workspace/executeCommand", command), -32602);
}

#[cfg(unix)]
#[test]
fn a_path_is_run_in_a_trusted_workspace_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = std::env::temp_dir().join(format!("hlo-analyzer-test-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (program, mark) = (folder.join("ptxas"), folder.join("was-run"));
    let script = format!(
        "\
#!/bin/sh
touch {}
echo 'kernel.ptx, line 12; error   : on purpose' >&2
exit 1
",
        mark.display()
    );
    std::fs::write(&program, script).expect("it can be written");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    for trusted in [false, true] {
        let mut client = client(json!({"ptxas": {"path": program}, "workspace": {"trusted": trusted}}));
        let (_, uri) = tabs(&mut client, line_of(MODULE, "  f = ")).remove(1);
        let text = content(&mut client, &uri);
        shows(&mut client, &uri, &text);
        if trusted {
            let found = client.notification("textDocument/publishDiagnostics", |p| p["uri"] == uri.as_str());
            let error = &found["diagnostics"][0];
            assert_eq!((&error["message"], &error["source"]), (&json!("on purpose"), &json!("ptxas")));
            let text = content(&mut client, &uri);
            let line = error["range"]["start"]["line"].as_u64().expect("a line") as usize;
            assert_eq!(line, line_with(&text, ".version") + 11, "{text}");
            let head = format!("// ptxas: 1 error on line {} of the PTX: on purpose", line + 1);
            assert!(text.contains(&head), "{text}");
        } else {
            client.listen(Duration::from_millis(500));
        }
        assert_eq!(mark.exists(), trusted);
    }
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn an_instruction_is_evaluated_from_what_the_user_types() {
    let mut client = plain_client();
    let line = line_of(MODULE, "  ROOT n");
    let asked = client.ask("hlo-analyzer/evaluate", at(URI, line, 8));
    assert!(asked["reason"].as_str().is_some_and(|why| why.contains("parameter 0")), "{asked}");
    let [parameter] = asked["parameters"].as_array().expect("a list").as_slice() else { panic!("{asked}") };
    assert_eq!((&parameter["name"], &parameter["shape"]), (&json!("a"), &json!("f32[8]")));
    let mut params = at(URI, line, 8);
    params["inputs"] = json!([parameter["sample"]]);
    let answer = client.ask("hlo-analyzer/evaluate", params);
    assert_eq!(answer["outputs"], json!(["{-0, -1, -2, -3, -4, -5, -6, -0}"]));
    assert_eq!(answer["shapes"], json!(["f32[8]"]));
}

#[test]
fn an_instruction_is_evaluated_from_filled_parameters() {
    let mut client = plain_client();
    let line = line_of(MODULE, "  ROOT n");
    let mut ask = |values: Value| {
        let mut params = at(URI, line, 8);
        let members = params.as_object_mut().expect("an object");
        members.extend(values.as_object().expect("an object").clone());
        client.ask("hlo-analyzer/evaluate", params)
    };
    let zeros = ask(json!({"fill": "zeros"}));
    assert_eq!(zeros["outputs"], json!(["{-0, -0, -0, -0, -0, -0, -0, -0}"]));
    let iota = ask(json!({"fill": "iota", "summary": true}));
    let text = iota["text"].as_str().expect("a text");
    assert!(text.starts_with("%n: f32[8]\n-0  -1  -2  -3  -4  -5  -6  -7\n"), "{text}");
    assert!(text.contains("Parameters (iota)\n\n%a: f32[8]\n0  1  2"), "{text}");
    assert!(iota["outputs"].is_null(), "{iota}");
    let random = |seed: u64| json!({"fill": "random", "seed": seed, "summary": true});
    let [first, again, other] = [1, 1, 2].map(|seed| ask(random(seed))["text"].clone());
    assert!(first == again && first != other, "{first} {other}");
}

#[test]
fn the_module_is_shown_in_the_other_language() {
    let mut client = plain_client();
    let answer = client.ask("hlo-analyzer/convert", json!({"textDocument": {"uri": URI}}));
    assert_eq!((&answer["language"], &answer["incomplete"]), (&json!("mlir"), &json!([])));
    let text = answer["text"].as_str().expect("a text");
    assert!(text.contains("stablehlo.custom_call @__cublas$gemm(%f)"), "{text}");
}

mod needs_ptxas {
    use super::*;

    /// The tabs of the kernel, once the assembler has run.
    fn assembled_tabs(client: &mut LspClient) -> Vec<(String, String)> {
        let tabs = tabs(client, line_of(MODULE, "  f = "));
        let (_, uri) = &tabs[1];
        let text = content(client, uri);
        shows(client, uri, &text);
        if !text.contains("// registers ") {
            client.notification("hlo-analyzer/kernelChanged", |p| p["uri"] == uri.as_str());
        }
        tabs
    }

    #[test]
    #[ignore = "needs ptxas: cargo xtask test"]
    fn registers_are_told_where_there_is_an_assembler() {
        let ptxas = test_files::needs::ptxas();
        let mut client = client(json!({"ptxas": {"path": ptxas}, "workspace": {"trusted": true}}));
        let tabs = assembled_tabs(&mut client);
        let text = content(&mut client, &tabs[1].1);
        let line = line_with(&text, "// registers ");
        assert!(text.lines().nth(line).is_some_and(|line| line.ends_with(" | no spills")), "{text}");
        assert!(content(&mut client, &tabs[0].1).contains("// registers "), "beside the MLIR too");
    }

    mod needs_nvdisasm {
        use super::*;

        #[test]
        #[ignore = "needs ptxas and nvdisasm: cargo xtask test"]
        fn lines_of_sass_lead_to_instructions() {
            let (ptxas, nvdisasm) = (test_files::needs::ptxas(), test_files::needs::nvdisasm());
            let programs = json!({"ptxas": {"path": ptxas}, "nvdisasm": {"path": nvdisasm}, "workspace": {"trusted": true}});
            let mut client = client(programs);
            let tabs = assembled_tabs(&mut client);
            let (_, sass) = tabs.iter().find(|(tab, _)| tab == "sass").expect("a tab with SASS");
            let text = content(&mut client, sass);
            let at = json!({"uri": sass, "line": line_with(&text, "FADD")});
            let source = client.ask("hlo-analyzer/kernelSource", at);
            assert_eq!(source["instruction"], "s", "{text}");
        }
    }
}
