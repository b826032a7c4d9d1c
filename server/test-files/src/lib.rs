//! Files that tests and examples read: files below a folder, and the MLIR files of upstream if they are
//! present.

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

#[cfg(test)]
mod tests {
    #[test]
    fn files_are_found_by_their_endings() {
        let own = super::below(env!("CARGO_MANIFEST_DIR"), ".rs");
        assert_eq!(own, [std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")]);
        assert_eq!(super::below("/no/such/folder", ".rs"), Vec::<std::path::PathBuf>::new());
    }
}
