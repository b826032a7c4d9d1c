//! `compile`: a script in place of Python writes the dump that XLA would write.

#![cfg(unix)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{run, text};

const MODULE: &str = "HloModule m\n\nENTRY e {\n  ROOT p = f32[8] parameter(0)\n}\n";
const LAST: &str = "module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt";

/// A folder with a module and a program that runs instead of Python; the program's arguments are those of Python.
fn folder(name: &str, program: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("the folder is made");
    std::fs::write(folder.join("m.hlo"), MODULE).expect("the file is written");
    let python = folder.join("python");
    std::fs::write(&python, format!("#!/bin/sh\n{program}\n")).expect("the file is written");
    std::fs::set_permissions(&python, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
    folder
}

/// The exit code and both outputs of `compile` in a folder.
fn compile(folder: &Path, python: &Path, options: &[&str]) -> (Option<i32>, String, String) {
    let path = |path: &Path| path.to_str().expect("the path is text").to_owned();
    let out = path(&folder.join("dump"));
    let (module, python) = (path(&folder.join("m.hlo")), path(python));
    let output = run(&[&["compile", &module, "--python", &python, "--out", &out], options].concat());
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

#[test]
fn the_dump_of_a_compile_has_xla_s_kernels() {
    let dump = test_files::dump_folder();
    let copy = format!(
        "test \"$3\" = hlo && grep -q 'core_count: 132' \"$4\" && cp {}/module_* \"$5\"",
        dump.display()
    );
    let folder = folder("compile-dump", &copy);
    let (code, shown, said) = compile(&folder, &folder.join("python"), &[]);
    assert_eq!((code, said.as_str()), (Some(0), ""), "{shown}");
    let module = shown.trim_end();
    assert!(module.ends_with(LAST), "{module}");
    let output = run(&["kernel", module, "--fusion", "loop_tanh_fusion", "--emit", "xla", "--head"]);
    let shown = text(&output.stdout);
    assert!(shown.contains("// launch: grid 64 | block 128 | ours is the same"), "{shown}");
    // A second compile needs a folder of its own.
    let (code, _, said) = compile(&folder, &folder.join("python"), &[]);
    assert!(code == Some(2) && said.contains("is not empty"), "{said}");
}

#[test]
fn what_goes_wrong_is_said() {
    #[track_caller]
    fn check(name: &str, program: &str, options: &[&str], expect: &str) {
        let folder = folder(name, program);
        let (code, shown, said) = compile(&folder, &folder.join("python"), options);
        assert!(code == Some(2) && shown.is_empty() && said.contains(expect), "{said}");
    }
    check("compile-problem", "echo 'problem: no plugin' >&2; echo more >&2; exit 1", &[], "m.hlo: no plugin");
    check("compile-crash", "exit 3", &[], "Python ended without a message");
    check("compile-abort", "echo 'F0000 Check failed' >&2; exit 134", &[], "Check failed");
    check("compile-nothing", "exit 0", &[], "XLA ended without an optimised module");
    check("compile-slow", "sleep 30", &["--timeout", "1"], "XLA took more than 1 s and was stopped");
    check("compile-amd", "exit 0", &["--device", "mi200"], "NVIDIA's GPUs, not for mi200");
    let folder = folder("compile-no-python", "exit 0");
    let (code, _, said) = compile(&folder, Path::new("/nowhere/python"), &[]);
    assert!(code == Some(2) && said.contains("Python is not started: /nowhere/python"), "{said}");
}

mod needs_jax {
    use super::*;

    #[test]
    #[ignore = "needs a Python with jax and its CUDA plugin in HLO_ANALYZER_PYTHON: cargo xtask test"]
    fn xla_itself_compiles_a_module() {
        let folder = folder("compile-real", "exit 1");
        let module = "HloModule m

ENTRY e {
  p = f32[512,256] parameter(0)
  e = f32[512,256] exponential(p)
  ROOT t = f32[256,512] transpose(e), dimensions={1,0}
}
";
        std::fs::write(folder.join("m.hlo"), module).expect("the file is written");
        let (code, shown, said) = compile(&folder, &test_files::needs::python_with_jax(), &[]);
        assert_eq!(code, Some(0), "{said}");
        let output = run(&["kernel", shown.trim_end(), "--emit", "xla", "--head"]);
        let shown = text(&output.stdout);
        assert!(shown.contains("ours is the same") && !shown.contains("differs"), "{shown}");
    }
}
