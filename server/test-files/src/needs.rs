//! What some tests need beyond the project's files.
//!
//! A test that needs one of these is marked `#[ignore = "needs …: cargo xtask test"]` and is in a module named
//! after the need, such as `needs_shared`. `cargo xtask test` runs it where the need is met, and prints the
//! needs that are not, with the number of their tests. Such a test fails where what it needs is missing; it
//! never passes silently.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Returns a file or folder of the data beside the checkout (`../shared`), or `None` if it is missing, which
/// it prints. For tests that use more inputs where there are some.
pub fn find_shared(path: &str) -> Option<PathBuf> {
    let found = beside_the_checkout(path);
    if found.is_none() {
        print_once(&format!("fewer inputs: there is no shared/{path} beside the checkout"));
    }
    found
}

fn beside_the_checkout(path: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(path);
    path.exists().then_some(path)
}

/// Prints what a test leaves out, once per process. The test harness captures what `eprintln` prints in tests
/// that pass, but not what is written to the stream itself.
pub fn print_once(line: &str) {
    static PRINTED: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let is_new = PRINTED.lock().expect("no panic elsewhere").insert(line.to_owned());
    if is_new {
        // A closed stream fails no test.
        _ = writeln!(std::io::stderr().lock(), "{line}");
    }
}

/// Returns a file or folder of the data beside the checkout, for the tests in modules `needs_shared`.
///
/// # Panics
///
/// If it is missing.
pub fn shared(path: &str) -> PathBuf {
    beside_the_checkout(path).unwrap_or_else(|| panic!("this test needs shared/{path} beside the checkout"))
}

fn on_path(names: &[&str], more: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain(more.iter().map(PathBuf::from)).collect();
    let named = |name: &&str| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file());
    names.iter().find_map(named)
}

/// Returns NVIDIA's assembler: the one that `HLO_ANALYZER_PTXAS` names, or that on `PATH`. For the tests in
/// modules `needs_ptxas`.
///
/// # Panics
///
/// Panics if there is no assembler.
pub fn ptxas() -> PathBuf {
    let named = std::env::var_os("HLO_ANALYZER_PTXAS").map(PathBuf::from);
    let found = named.or_else(|| on_path(&["ptxas"], &[]));
    found.expect("this test needs ptxas on PATH or in HLO_ANALYZER_PTXAS")
}

/// Returns NVIDIA's disassembler: the one that `HLO_ANALYZER_NVDISASM` names, or that on `PATH`. For the tests
/// in modules `needs_nvdisasm`.
///
/// # Panics
///
/// Panics if there is no disassembler.
pub fn nvdisasm() -> PathBuf {
    let named = std::env::var_os("HLO_ANALYZER_NVDISASM").map(PathBuf::from);
    let found = named.or_else(|| on_path(&["nvdisasm"], &[]));
    found.expect("this test needs nvdisasm on PATH or in HLO_ANALYZER_NVDISASM")
}

/// Returns upstream's `mlir-opt`, under the name in Debian's package `mlir-19-tools` or as built from source.
/// For the tests in modules `needs_mlir_opt`.
///
/// # Panics
///
/// Panics if there is no such program.
pub fn mlir_opt() -> PathBuf {
    let found = on_path(&["mlir-opt-19", "mlir-opt"], &["/usr/lib/llvm-19/bin"]);
    found.expect("this test needs mlir-opt on PATH (Debian: apt-get install mlir-19-tools)")
}

/// Returns the MLIR files below the folder that `MLIR_CORPUS` names, or in the data beside the checkout. For
/// the tests in modules `needs_mlir_corpus`.
///
/// # Panics
///
/// Panics if there are no such files.
pub fn mlir_corpus() -> Vec<PathBuf> {
    let named = std::env::var_os("MLIR_CORPUS").map(PathBuf::from);
    let folder = named.or_else(|| beside_the_checkout("corpus/mlir"));
    let files = folder.map(|folder| crate::below(folder, ".mlir")).unwrap_or_default();
    assert!(!files.is_empty(), "this test needs MLIR files in the folder MLIR_CORPUS");
    files
}

/// Returns the Python with jax and its CUDA plugin that `HLO_ANALYZER_PYTHON` names. For the tests in modules
/// `needs_jax`.
///
/// # Panics
///
/// Panics if none is named.
pub fn python_with_jax() -> PathBuf {
    let named = std::env::var_os("HLO_ANALYZER_PYTHON").map(PathBuf::from);
    named.expect("this test needs a Python with jax in HLO_ANALYZER_PYTHON")
}

/// Returns the folder of JAX's models, as StableHLO and HLO: the one that `JAX_MODELS` names, or that of the
/// data beside the checkout. For the tests in modules `needs_jax_models`.
///
/// # Panics
///
/// Panics if there is no such folder.
pub fn jax_models() -> PathBuf {
    let named = std::env::var_os("JAX_MODELS").map(PathBuf::from);
    let found = named.or_else(|| beside_the_checkout("corpus/jax/modules"));
    found.expect("this test needs JAX's models in the folder JAX_MODELS")
}
