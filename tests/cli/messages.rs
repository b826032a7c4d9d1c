//! XLA's messages with modules in place of texts, other binary files, and what shells read.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::{Query, run, text};

fn fixture(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/hlo-proto/tests/fixtures").join(name);
    path.to_str().expect("the path is text").to_owned()
}

fn scratch(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("hlo-analyzer-messages-{}-{name}", std::process::id()))
}

#[test]
fn commands_read_messages_by_their_content() {
    let message = fixture("scheduled_loop.pb");
    let expected = std::fs::read_to_string(fixture("scheduled_loop.hlo")).expect("it is text");
    let shown = run(&["convert", &message, "--to", "hlo"]);
    assert!(shown.status.success(), "{}", text(&shown.stderr));
    assert_eq!(text(&shown.stdout).trim_end(), expected.trim_end());
    assert_eq!(text(&shown.stderr), "");
    let checked = run(&["check", &message, "--format", "json"]);
    let report: Value = serde_json::from_slice(&checked.stdout).expect("the report is JSON");
    assert_eq!((checked.status.code(), &report["files"][0]["file"]), (Some(0), &json!(message)));
    let explained = text(&run(&["explain", &message, "--instruction", "fusion"]).stdout);
    assert!(explained.contains("fusion"), "{explained}");
    let memory = run(&["memory", &message]);
    assert!(memory.status.success(), "{}", text(&memory.stderr));
    let kernel = text(&run(&["kernel", &message, "--fusion", "fusion"]).stdout);
    assert!(kernel.contains(".visible .entry"), "{kernel}");
    let mut query = Query::start();
    let answer = query.ask(&json!({"id": 1, "method": "parse", "params": {"path": message}}).to_string());
    assert_eq!(answer["error"], Value::Null, "{answer}");
}

#[test]
fn texts_become_messages_and_back() {
    let source = fixture("attributes.hlo");
    let expected = std::fs::read_to_string(&source).expect("it is text");
    for (to, name) in [("proto", "m.hlo.pb"), ("module-proto", "m.pb"), ("proto", "m.pb.gz")] {
        let out = scratch(name);
        let out = out.to_str().expect("the path is text");
        let written = run(&["convert", &source, "--to", to, "-o", out]);
        assert!(written.status.success(), "{}", text(&written.stderr));
        assert!(written.stdout.is_empty());
        let back = run(&["convert", out, "--to", "hlo"]);
        std::fs::remove_file(out).expect("it is there");
        assert_eq!(text(&back.stdout).trim_end(), expected.trim_end(), "{name}");
    }
    // What XLA keeps beside a module is named where the message has no place for it.
    let path = scratch("partitions.hlo");
    let module = "HloModule m, num_partitions=4\n\nENTRY e {\n  ROOT p = f32[2] parameter(0)\n}\n";
    std::fs::write(&path, module).expect("it can be written");
    let path = path.to_str().expect("the path is text");
    let alone = run(&["convert", path, "--to", "module-proto"]);
    assert!(alone.status.success() && !alone.stdout.is_empty());
    let note = text(&alone.stderr);
    assert!(note.contains("an HloModuleProto has no place for replica_count, num_partitions"), "{note}");
    assert_eq!(text(&run(&["convert", path, "--to", "proto"]).stderr), "");
    std::fs::write(path, module.replace("parameter(0)", "negate(q)")).expect("it can be written");
    let broken = run(&["convert", path, "--to", "proto"]);
    std::fs::remove_file(path).expect("it is there");
    assert_eq!(broken.status.code(), Some(2));
    assert!(text(&broken.stderr).contains("line 4: no instruction named q"), "{}", text(&broken.stderr));
}

#[test]
fn bytecode_is_read_as_its_text_is() {
    let portable = fixture("add_portable.mlirbc");
    for path in [portable.clone(), fixture("add.mlirbc"), fixture("add.jax_export")] {
        let checked = run(&["check", &path]);
        assert!(checked.status.success(), "{path}: {}", text(&checked.stderr));
        let hlo = run(&["convert", &path, "--to", "hlo"]);
        assert!(hlo.status.success(), "{path}: {}", text(&hlo.stderr));
        assert!(text(&hlo.stdout).contains(" add("), "{}", text(&hlo.stdout));
    }
    let damaged = scratch("damaged.mlirbc");
    let bytes = std::fs::read(&portable).expect("it is readable");
    std::fs::write(&damaged, &bytes[..bytes.len() / 2]).expect("it can be written");
    let checked = run(&["check", damaged.to_str().expect("the path is text")]);
    std::fs::remove_file(&damaged).expect("it is there");
    assert_eq!(checked.status.code(), Some(2));
    assert!(
        text(&checked.stderr).contains(" is MLIR bytecode that cannot be read: byte "),
        "{}",
        text(&checked.stderr)
    );
}

#[test]
fn other_binary_files_say_what_they_are() {
    let check = |path: &str, expect: &str| {
        let output = run(&["check", path]);
        assert_eq!(output.status.code(), Some(2), "{path}");
        let shown = text(&output.stderr);
        assert!(shown.contains(expect), "{shown}");
    };
    check(
        &fixture("../../../mlir-bytecode/tests/fixtures/refused/chlo_scan.mlirbc"),
        "write the module as a portable artifact",
    );
    let path = scratch("truncated.pb");
    let bytes = std::fs::read(fixture("attributes.pb")).expect("it is readable");
    std::fs::write(&path, &bytes[..bytes.len() / 2]).expect("it can be written");
    check(path.to_str().expect("the path is text"), "a truncated HloModuleProto: ");
    let mut file = std::fs::File::create(&path).expect("it can be written");
    file.write_all(b"PK\x03\x04\0\0").expect("it can be written");
    check(path.to_str().expect("the path is text"), "a zip archive: unpack it");
    std::fs::remove_file(&path).expect("it is there");
}

#[test]
fn shells_and_man_know_every_command() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = text(&run(&["completions", shell]).stdout);
        assert!(script.contains("analysis-stats"), "{shell}: {script}");
        // Elvish and PowerShell complete names of options, but no values.
        let has_values = matches!(shell, "bash" | "zsh" | "fish");
        assert_eq!(script.contains("module-proto"), has_values, "{shell}");
    }
    let page = text(&run(&["man"]).stdout);
    assert!(page.contains(".TH hlo-analyzer") && page.contains("convert"), "{page}");
    let folder = scratch("man");
    let written = run(&["man", "--out", folder.to_str().expect("the path is text")]);
    assert!(written.status.success(), "{}", text(&written.stderr));
    let page =
        std::fs::read_to_string(folder.join("hlo-analyzer-convert.1")).expect("each command has a page");
    std::fs::remove_dir_all(&folder).expect("it is ours");
    assert!(page.contains("module\\-proto"), "{page}");
}
