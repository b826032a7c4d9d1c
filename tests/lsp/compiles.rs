//! Compiles of a dump folder, in the protocol.

use std::fs;
use std::path::{Path, PathBuf};

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::editor::Editor;

/// A copy of the dump folder of the fixtures, removed afterwards.
pub(crate) struct Dump(PathBuf);

impl Dump {
    pub(crate) fn new(name: &str) -> Dump {
        let folder = std::env::temp_dir().join(format!("hlo-analyzer-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a temporary folder");
        for path in test_files::below(test_files::dump_folder(), ".txt") {
            fs::copy(&path, folder.join(path.file_name().unwrap())).expect("a copy");
        }
        Dump(folder)
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.0
    }

    pub(crate) fn uri(&self) -> String {
        format!("file://{}", self.0.display())
    }

    /// The path of the file with this in its name.
    pub(crate) fn file(&self, part: &str) -> PathBuf {
        let paths = test_files::below(&self.0, "");
        paths.into_iter().find(|path| path.to_string_lossy().contains(part)).expect(part)
    }

    pub(crate) fn file_uri(&self, part: &str) -> String {
        format!("file://{}", self.file(part).display())
    }
}

impl Drop for Dump {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn document(uri: &str) -> Value {
    json!({"textDocument": {"uri": uri}})
}

fn stages(client: &mut LspClient, dump: &Dump) -> Vec<Value> {
    let mut params = document(&dump.uri());
    params["compile"] = json!(0);
    let found = client.ask("hlo-analyzer/compiles", params);
    let pipelines = found["pipelines"].as_array().expect("pipelines").iter();
    pipelines.flat_map(|pipeline| pipeline["stages"].as_array().expect("stages").clone()).collect()
}

#[test]
fn a_folder_is_listed_without_an_open_file() {
    let dump = Dump::new("listed");
    let mut client = LspClient::modern();
    let found = client.ask("hlo-analyzer/compiles", document(&dump.uri()));
    assert_eq!(found["compiles"][0]["title"], "jit_step", "{found}");
    assert_eq!(found["compiles"][0]["stages"], 8);
    let by_file = client.ask("hlo-analyzer/compiles", document(&dump.file_uri("before_optimizations")));
    assert_eq!(by_file, found);
    let stages = stages(&mut client, &dump);
    assert_eq!(stages.len(), 8);
    let uris: Vec<&Value> = stages.iter().map(|stage| &stage["uri"]).collect();
    let changes = client.ask("hlo-analyzer/stageChanges", json!({"stages": uris}));
    let changes = changes.as_array().expect("a list");
    assert_eq!(changes.len(), 8);
    assert!(
        changes.iter().all(|change| change["problem"].is_null() && change["isChanged"] == true),
        "{changes:?}"
    );
    let costs = client.ask("hlo-analyzer/stageCosts", document(uris[7].as_str().unwrap()));
    assert_eq!(costs["launches"], 3, "{costs}");
}

#[test]
fn the_flags_and_the_thunks_of_a_compile_are_listed() {
    let dump = Dump::new("details");
    // The copy has the text files alone.
    let flags = dump.folder().join("module_0001.jit_step.debug_options");
    let target = dump.folder().join("module_0001.jit_step.gpu_target_config.pbtxt");
    for file in [&flags, &target] {
        let name = file.file_name().expect("it has one");
        fs::copy(test_files::dump_folder().join(name), file).expect("a copy");
    }
    let mut client = LspClient::modern();
    let mut params = document(&dump.uri());
    params["compile"] = json!(0);
    let found = client.ask("hlo-analyzer/compileDetails", params.clone());
    assert_eq!(found["device"], "h100-sxm", "{found}");
    let listed = found["flags"].as_array().expect("flags");
    assert_eq!(listed.len(), 9);
    assert_eq!(listed[1], json!({"name": "xla_gpu_autotune_level", "value": "0", "default": "4"}));
    let thunks = found["thunks"].as_array().expect("thunks");
    let kernels: Vec<&Value> = thunks.iter().map(|thunk| &thunk["kernel"]).collect();
    assert_eq!(kernels, ["gemm_fusion_dot", "loop_tanh_fusion", "input_multiply_reduce_fusion"]);
    assert_eq!(thunks[0]["launch"], "grid 512 | block 64 | 768 B dynamic shared memory");
    assert_eq!((&thunks[1]["kind"], &thunks[1]["parent"]), (&json!("CustomKernel"), &Value::Null));
    // The place is that of the instruction in the last stage.
    let at = &thunks[1]["at"];
    assert_eq!(at["uri"], dump.file_uri("after_optimizations.txt"), "{at}");
    let text = fs::read_to_string(dump.file("after_optimizations.txt")).expect("a stage");
    let line = text.lines().nth(at["range"]["start"]["line"].as_u64().expect("a line") as usize);
    assert!(line.is_some_and(|line| line.trim_start().starts_with("%loop_tanh_fusion = ")), "{line:?}");
    // What is missing is null or empty, and nothing else.
    fs::remove_file(&flags).expect("it is ours");
    fs::remove_file(dump.file("thunk_sequence")).expect("it is ours");
    let less = client.ask("hlo-analyzer/compileDetails", params.clone());
    assert_eq!(
        (&less["device"], &less["flags"], &less["thunks"]),
        (&json!("h100-sxm"), &Value::Null, &json!([]))
    );
    params["compile"] = json!(7);
    assert!(client.ask("hlo-analyzer/compileDetails", params).is_null());
}

#[test]
fn a_truncated_stage_is_named_and_the_others_work() {
    let dump = Dump::new("truncated");
    let path = dump.file("0003.hlo_normalization");
    let text = fs::read_to_string(&path).expect("a stage");
    fs::write(&path, &text[..text.len() / 2]).expect("it is ours");
    let mut client = LspClient::modern();
    let broken = dump.file_uri("0003.hlo_normalization");
    let after = dump.file_uri("0004.fusion");
    let changes = client.ask("hlo-analyzer/stageChanges", json!({"stages": [broken, after]}));
    assert!(changes[0]["problem"].is_string() && changes[1]["problem"].is_null(), "{changes}");
    let compared = client.ask("hlo-analyzer/compareStages", document(&broken));
    let problem = compared["problem"].as_str().expect("a problem");
    assert!(
        problem.contains("is no module") && problem.ends_with("the files are shown as they are"),
        "{problem}"
    );
    // The next stage is compared with the last one that can be read.
    let compared = client.ask("hlo-analyzer/compareStages", document(&after));
    assert!(compared["problem"].is_null(), "{compared}");
    assert!(compared["before"]["uri"].as_str().unwrap().contains("0002.hlo_normalization"));
}

#[test]
fn an_open_stage_counts_as_it_is_edited() {
    let dump = Dump::new("edited");
    let mut client = LspClient::modern();
    let (first, next) = (dump.file_uri("before_optimizations"), dump.file_uri("0000.layout_assignment"));
    let text = fs::read_to_string(dump.file("before_optimizations")).expect("a stage");
    // Until the folder is listed, the file is that of no compile.
    client.ask("hlo-analyzer/compiles", document(&dump.uri()));
    client.open(&first, &text);
    let line = text.lines().position(|line| line.contains("%tanh.1 =")).expect("it has one");
    let mut step = document(&first);
    step["position"] = json!({"line": line, "character": 5});
    step["to"] = json!("next");
    let found = client.ask("hlo-analyzer/stepStage", step.clone());
    assert_eq!(found["uri"], next, "{found}");
    step["to"] = json!("previous");
    assert!(client.ask("hlo-analyzer/stepStage", step.clone()).is_null());
    let history = client.ask("hlo-analyzer/instructionStages", step);
    assert_eq!(history["instruction"], "tanh.1");
    assert_eq!(history["stages"][0]["what"], "there from the start");
    let before = client.ask("hlo-analyzer/stageChanges", json!({"stages": [first]}));
    assert_eq!(before[0]["summary"], "21 instructions");
    let added = "  %more.1 = f32[64]{0} negate(%bias.1)\n";
    let after = text.lines().position(|line| line.contains("%bias.1 = ")).expect("it has one") + 1;
    let at = json!({"line": after, "character": 0});
    client.notify(
        "textDocument/didChange",
        json!({
            "textDocument": {"uri": first, "version": 2},
            "contentChanges": [{"range": {"start": at, "end": at}, "text": added}],
        }),
    );
    let now = client.ask("hlo-analyzer/stageChanges", json!({"stages": [first]}));
    assert_eq!(now[0]["summary"], "22 instructions");
}

#[test]
fn a_folder_that_is_none_has_no_compiles() {
    let mut client = LspClient::modern();
    for uri in [
        "file:///nowhere/at/all",
        "untitled:Untitled-1",
        "file:///nowhere/module_0001.f.before_optimizations.txt",
    ] {
        assert!(client.ask("hlo-analyzer/compiles", document(uri)).is_null(), "{uri}");
        assert!(client.ask("hlo-analyzer/compareStages", document(uri)).is_null(), "{uri}");
    }
    assert!(client.ask("hlo-analyzer/stageChanges", json!({"stages": []})).is_null());
}

/// The listing of the folder is the server's own change: the text that a request is about stays the same.
#[test]
fn a_listing_refuses_no_request() {
    let dump = Dump::new("unrefused");
    let mut client = LspClient::modern();
    let uri = dump.file_uri("after_optimizations.txt");
    let text = fs::read_to_string(dump.file("after_optimizations.txt")).expect("a text file");
    client.open(&uri, &text);
    let mut sleep = document(&uri);
    sleep["ms"] = json!(400);
    // It starts again after the listing has cancelled it.
    client.ask("hlo-analyzer/test/sleep", sleep);
}
