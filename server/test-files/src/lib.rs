//! Files that tests and examples read: files below a folder, and the MLIR files of upstream if they are
//! present.

use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Returns the files below a folder, at any depth, whose names end with `ending`, sorted. Empty if the folder
/// does not exist.
pub fn below(folder: impl AsRef<Path>, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.as_ref().to_owned()];
    while let Some(folder) = open.pop() {
        for entry in folder.read_dir().into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_string_lossy().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the MLIR files below the folder that the environment variable `variable` names. If the variable is
/// not set, prints that the test is skipped and returns `None`.
pub fn below_variable(variable: &str) -> Option<Vec<PathBuf>> {
    let Some(folder) = std::env::var_os(variable) else {
        eprintln!("skipped: {variable} names no folder");
        return None;
    };
    Some(below(folder, ".mlir"))
}

/// Returns upstream's MLIR files: those below `MLIR_CORPUS`, or in the shared data beside the project. Prints
/// that the test is skipped if there are none.
pub fn upstream_mlir() -> Vec<PathBuf> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/mlir");
    let folder = std::env::var_os("MLIR_CORPUS").map_or(shared, Into::into);
    let found = below(&folder, ".mlir");
    if found.is_empty() {
        eprintln!("skipped: no files of MLIR in {}; MLIR_CORPUS names a folder", folder.display());
    }
    found
}

/// The lines of a compressed file; `None` if it does not exist.
pub fn gzip_lines(path: &Path) -> Option<Vec<String>> {
    let file = std::fs::File::open(path).ok()?;
    let mut text = String::new();
    let read = flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text);
    assert!(read.is_ok(), "{} is not text in gzip", path.display());
    Some(text.lines().map(str::to_owned).collect())
}

/// XLA's answers to generated questions, one JSON object per line. Returns the sample `xla/NAME.jsonl` of this
/// crate, or the whole set if it is beside the checkout (`shared/conformance`).
pub fn xla_answers(name: &str) -> Vec<String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = own.join("../../../shared/conformance/data").join(format!("{name}.jsonl.gz"));
    gzip_lines(&all).unwrap_or_else(|| {
        eprintln!("using the sample of {name}: {} is missing", all.display());
        let text = std::fs::read_to_string(own.join(format!("xla/{name}.jsonl"))).expect("the sample");
        text.lines().map(str::to_owned).collect()
    })
}

#[cfg(test)]
mod tests {
    /// The committed sample is small.
    #[test]
    fn xla_answers_are_there() {
        for name in ["oracle_simplify", "oracle_indexing"] {
            assert!(super::xla_answers(name).len() > 100, "{name}");
        }
        let own = super::below(concat!(env!("CARGO_MANIFEST_DIR"), "/xla"), ".jsonl");
        let bytes: u64 = own.iter().map(|path| path.metadata().unwrap().len()).sum();
        assert!(own.len() == 2 && bytes < 400_000, "{bytes}");
    }

    #[test]
    fn files_are_found_by_their_endings() {
        let own = super::below(env!("CARGO_MANIFEST_DIR"), ".rs");
        assert_eq!(own, [std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")]);
        assert_eq!(super::below("/no/such/folder", ".rs"), Vec::<std::path::PathBuf>::new());
    }
}
