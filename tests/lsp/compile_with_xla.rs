//! "Compile with XLA": a script in place of Python writes the dump that XLA would write.

#![cfg(unix)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hlo_analyzer_tests::lsp_client::LspClient;
use serde_json::{Value, json};

use crate::editor::{Editor, document};

const REQUEST: &str = "hlo-analyzer/compileWithXla";
const COMMAND: &str = "hlo-analyzer.compileWithXla";
const URI: &str = "untitled:Unsaved";
const MODULE: &str = "HloModule m\n\nENTRY e {\n  ROOT p = f32[8] parameter(0)\n}\n";

/// A server whose cache and Python are in a folder of their own.
struct Compiler {
    client: LspClient,
    folder: PathBuf,
}

impl Compiler {
    fn new(name: &str, program: &str) -> Compiler {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("lsp-compile-{name}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).expect("the folder is made");
        let python = folder.join("python");
        fs::write(&python, format!("#!/bin/sh\n{program}\n")).expect("the file is written");
        fs::set_permissions(&python, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let cache = folder.join("cache");
        let mut client = LspClient::spawn_as(|command| _ = command.env("XDG_CACHE_HOME", cache));
        let settings = json!({"xla": {"python": python}, "workspace": {"trusted": true}});
        let capabilities = json!({"window": {"showDocument": {"support": true}}});
        client.initialize(json!({
            "processId": null, "rootUri": null, "capabilities": capabilities, "initializationOptions": settings,
        }));
        client.open(URI, MODULE);
        Compiler { client, folder }
    }

    fn compile(&mut self) -> Value {
        self.client.ask(REQUEST, document(URI))
    }

    fn configure(&mut self, settings: Value) {
        self.client.notify("workspace/didChangeConfiguration", json!({"settings": settings}));
    }
}

/// The text of the program that copies the dump of the fixtures.
fn copy() -> String {
    format!("grep -q parameter \"$2\" && cp {}/module_* \"$5\"", test_files::dump_folder().display())
}

#[test]
fn an_unsaved_module_is_compiled_into_the_cache() {
    let mut compiler = Compiler::new("good", &copy());
    let found = compiler.compile();
    let module = found["module"].as_str().unwrap_or_else(|| panic!("{found}"));
    assert!(module.ends_with("module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt"), "{module}");
    let folder = found["folder"].as_str().expect("a folder");
    let cache = compiler.folder.join("cache/hlo-analyzer/compiles/Unsaved-");
    assert!(folder.starts_with(&format!("file://{}", cache.display())), "{folder}");
    let listed = compiler.client.ask("hlo-analyzer/compiles", document(folder));
    assert_eq!(listed["compiles"][0]["stages"], 8, "{listed}");
    // The second compile of the module has the same folder, without the files of the first.
    let stale =
        Path::new(folder.trim_start_matches("file://")).join("module_0007.old.before_optimizations.txt");
    fs::write(&stale, MODULE).expect("it is ours");
    assert_eq!(compiler.compile(), found);
    assert!(!stale.exists());
}

#[test]
fn what_is_missing_is_said_with_the_setting_that_helps() {
    let mut compiler = Compiler::new("missing", "exit 0");
    let mut check = |settings: Value, reason: &str, setting: Value| {
        compiler.configure(settings);
        let found = compiler.compile();
        let said = found["reason"].as_str().unwrap_or_else(|| panic!("{found}"));
        assert!(said.contains(reason), "{said}");
        assert_eq!(found["setting"], setting, "{said}");
    };
    let good = json!("xla.python");
    check(json!({}), "XLA ended without an optimised module", Value::Null);
    check(json!({"xla": {"python": ""}}), "no Python is set: set hlo-analyzer.xla.python", good.clone());
    check(json!({"xla": {"python": "python3"}}), "write an absolute path", good.clone());
    check(json!({"xla": {"python": "/nowhere/python"}}), "Python is not started: /nowhere/python", good);
    let untrusted = json!({"workspace": {"trusted": false}});
    check(untrusted, "runs in trusted folders only", Value::Null);
}

#[test]
fn what_python_and_xla_say_is_passed_on() {
    for (name, program, reason, setting) in [
        ("no-jax", "echo 'missing: this Python has no jaxlib' >&2; exit 1", "no jaxlib", json!("xla.python")),
        ("xla", "echo 'problem: INTERNAL: bad layout' >&2; exit 1", "INTERNAL: bad layout", Value::Null),
        ("crash", "kill -9 $$", "XLA may have crashed", Value::Null),
    ] {
        let mut compiler = Compiler::new(name, program);
        let found = compiler.compile();
        assert_eq!(found["setting"], setting, "{found}");
        let said = found["reason"].as_str().unwrap_or_else(|| panic!("{found}"));
        assert!(said.starts_with("Unsaved is not compiled: ") && said.contains(reason), "{said}");
    }
    let mut compiler = Compiler::new("closed", "exit 0");
    let closed = compiler.client.ask(REQUEST, document("file:///nowhere.hlo"));
    assert!(closed.is_null(), "{closed}");
}

#[test]
fn a_compile_is_cancelled_and_blocks_nothing() {
    let mut compiler = Compiler::new("cancelled", "echo $$ > \"$(dirname \"$0\")\"/id; exec sleep 100");
    let id = compiler.client.request(REQUEST, document(URI));
    let path = compiler.folder.join("id");
    let process = eventually("the compile starts", || {
        let id = fs::read_to_string(&path).ok()?;
        Some(id.trim().to_owned()).filter(|id| !id.is_empty())
    });
    // An edit and a read do not wait for it; a second compile has to.
    compiler.client.change(URI, 2, json!([{"text": format!("\n{MODULE}")}]));
    assert!(compiler.client.text(URI).starts_with("\nHloModule"));
    let second = compiler.compile();
    assert!(
        second["reason"].as_str().is_some_and(|why| why.contains("another compile is running")),
        "{second}"
    );
    let runs = Path::new("/proc").join(&process);
    assert!(!Path::new("/proc/self").exists() || runs.exists());
    compiler.client.notify("$/cancelRequest", json!({"id": id}));
    assert_eq!(compiler.client.error_code(id), -32800);
    eventually("the program ends", || (!runs.exists()).then_some(()));
    // The next one may run.
    let python = compiler.folder.join("python");
    fs::write(&python, format!("#!/bin/sh\n{}\n", copy())).expect("it is ours");
    eventually("a compile", || compiler.compile()["module"].as_str().map(str::to_owned));
}

#[test]
fn clients_without_the_request_have_a_command() {
    let mut compiler = Compiler::new("command", &copy());
    let call = |arguments: Value| json!({"command": COMMAND, "arguments": arguments});
    let module = compiler.client.ask("workspace/executeCommand", call(json!([URI])));
    assert!(module.as_str().is_some_and(|uri| uri.ends_with("_after_optimizations.txt")), "{module}");
    eventually("a request to show it", || {
        compiler.client.listen(Duration::from_millis(10));
        let mut asked = compiler.client.server_requests.iter();
        asked.any(|(method, _)| method == "window/showDocument").then_some(())
    });
    assert_eq!(compiler.client.refused("workspace/executeCommand", call(json!([]))), -32602);
    compiler.configure(json!({"xla": {"python": ""}}));
    let id = compiler.client.request("workspace/executeCommand", call(json!([URI])));
    let error = compiler.client.answer(id).result.expect_err("no Python is set");
    assert!(error["message"].as_str().is_some_and(|said| said.starts_with("no Python is set")), "{error}");
}

fn eventually<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = ask() {
            return found;
        }
        assert!(Instant::now() < end, "not in time: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
