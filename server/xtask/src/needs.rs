//! What ignored tests need beyond the project's files, whether it is there, and how many tests are left out
//! where it is not. The tests themselves find it with `test_files::needs`.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::commands::{cargo, on_path, output, root, target_dir};
use crate::tools::{Absent, Tools};

/// The modules of ignored tests, each named after what its tests need.
const MODULES: [&str; 7] = [
    "needs_shared::",
    "needs_ptxas::",
    "needs_nvdisasm::",
    "needs_mlir_opt::",
    "needs_jax::",
    "needs_mlir_corpus::",
    "needs_jax_models::",
];

/// Returns the modules whose needs are not met, with the reasons.
pub fn unmet(tools: &Tools, nvidia: &[(&str, PathBuf)]) -> Vec<(&'static str, String)> {
    MODULES.into_iter().filter_map(|module| Some((module, missing(module, tools, nvidia)?))).collect()
}

/// Returns why the tests in a module cannot run; `None` if they can.
fn missing(module: &str, tools: &Tools, nvidia: &[(&str, PathBuf)]) -> Option<String> {
    let is_named = |variable: &str| std::env::var_os(variable).is_some();
    let shared = root().join("../shared");
    let program = |variable: &str, name: &str| {
        let is_there = nvidia.iter().any(|(found, _)| *found == variable)
            || is_named(variable)
            || on_path(&[name]).is_some();
        (!is_there).then(|| format!("no {name} on PATH, and {variable} names none"))
    };
    let folder = |variable: &str, path: &str| {
        let is_there = is_named(variable) || shared.join(path).is_dir();
        (!is_there).then(|| format!("{variable} names no folder"))
    };
    match module {
        "needs_shared::" => {
            (!shared.is_dir()).then(|| "there is no ../shared beside this checkout".to_owned())
        }
        "needs_ptxas::" => program("HLO_ANALYZER_PTXAS", "ptxas"),
        "needs_nvdisasm::" => program("HLO_ANALYZER_NVDISASM", "nvdisasm"),
        "needs_mlir_opt::" => tools.mlir_opt().err().map(|Absent(reason)| reason),
        "needs_jax::" => (!is_named("HLO_ANALYZER_PYTHON"))
            .then(|| "HLO_ANALYZER_PYTHON names no Python with jax".to_owned()),
        "needs_mlir_corpus::" => folder("MLIR_CORPUS", "corpus/mlir"),
        "needs_jax_models::" => folder("JAX_MODELS", "corpus/jax/modules"),
        _ => Some("unknown need".to_owned()),
    }
}

/// Returns a line per module of `unmet`, with the number of its tests.
pub fn counted(unmet: &[(&'static str, String)]) -> Result<Vec<String>> {
    if unmet.is_empty() {
        return Ok(Vec::new());
    }
    let list = ["test", "--release", "--workspace", "--tests", "--", "--list", "--ignored"];
    let listed = output(&mut cargo(&list))?;
    let line = |(module, reason): &(&str, String)| {
        let name = module.trim_end_matches(':');
        format!("{} tests of {name} left out: {reason}", listed.matches(*module).count())
    };
    Ok(unmet.iter().map(line).collect())
}

/// In a CI run, installs NVIDIA's assembler and disassembler from the Python package index in the target
/// folder, and returns the variables by which tests find them. Elsewhere those tests use the programs on
/// PATH.
pub fn nvidia(tools: &Tools) -> Vec<(&'static str, PathBuf)> {
    let packages = ["nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvdisasm"];
    let folder = target_dir().join("nvidia");
    if !tools.is_ci() || tools.venv(&folder, &packages).is_err() {
        return Vec::new();
    }
    let below = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten();
        entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
    };
    let sites = below(&folder.join("lib")).into_iter().map(|python| python.join("site-packages/nvidia"));
    let parts: Vec<PathBuf> = sites.flat_map(|nvidia| below(&nvidia)).collect();
    let find = |name: &str| parts.iter().map(|part| part.join("bin").join(name)).find(|file| file.is_file());
    [("HLO_ANALYZER_PTXAS", "ptxas"), ("HLO_ANALYZER_NVDISASM", "nvdisasm")]
        .into_iter()
        .filter_map(|(variable, name)| Some((variable, find(name)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::command;

    /// The faults of ignored tests: each says what it needs and how it is run, inside a module that `MODULES`
    /// has.
    fn faults(text: &str) -> Vec<String> {
        let mut modules: Vec<(usize, &str)> = Vec::new();
        let mut faults = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let code = line.trim_start();
            let indent = line.len() - code.len();
            modules.retain(|&(outer, _)| outer < indent);
            if let Some(name) = code.strip_prefix("mod ").and_then(|rest| rest.strip_suffix(" {")) {
                modules.push((indent, name));
            }
            let Some(ignored) = code.strip_prefix("#[ignore") else { continue };
            let is_known =
                |&(_, name): &(usize, &str)| MODULES.iter().any(|&known| known == format!("{name}::"));
            if !modules.iter().any(is_known) {
                faults.push(format!("not in a module of its need: {code}"));
            }
            if !(ignored.starts_with(" = \"needs ") && ignored.ends_with(": cargo xtask test\"]")) {
                faults.push(format!("does not say what it needs and which command runs it: {code}"));
            }
        }
        faults
    }

    #[test]
    fn ignored_tests_say_what_they_need() {
        let sources = output(&mut command("git", &["ls-files", "*.rs"])).unwrap();
        let mut seen = 0;
        for path in sources.lines().filter(|path| root().join(path).is_file()) {
            let text = std::fs::read_to_string(root().join(path)).unwrap();
            seen += text.lines().filter(|line| line.trim_start().starts_with("#[ignore")).count();
            assert_eq!(faults(&text), Vec::<String>::new(), "{path}");
        }
        assert!(seen > 20, "{seen} ignored tests");
    }

    #[test]
    fn faults_of_ignored_tests_are_found() {
        let text = |module: &str, reason: &str| {
            format!("mod {module} {{\n    #[test]\n    #[ignore{reason}]\n    fn f() {{}}\n}}\n")
        };
        let good = " = \"needs ptxas: cargo xtask test\"";
        assert_eq!(faults(&text("needs_ptxas", good)), Vec::<String>::new());
        for (module, reason) in
            [("tests", good), ("needs_luck", good), ("needs_ptxas", ""), ("needs_ptxas", " = \"slow\"")]
        {
            assert_eq!(faults(&text(module, reason)).len(), 1, "{module} {reason}");
        }
    }
}
