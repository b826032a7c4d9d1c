//! What tests of several crates share: files below a folder, XLA's answers, what [`mod@needs`] lists, and counts with their names.

pub mod hlo;
pub mod needs;
mod tally;

use std::io::Read as _;
use std::path::{Path, PathBuf};

pub use tally::Tally;

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

/// The folder that XLA's GPU compiler dumped for `layer.py`: 8 stages of one small module for H100 SXM, and its artefacts.
pub fn dump_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dump")
}

/// The text of a compressed file; `None` if it does not exist.
pub fn gzip_text(path: &Path) -> Option<String> {
    let file = std::fs::File::open(path).ok()?;
    let mut text = String::new();
    let read = flate2::read::MultiGzDecoder::new(file).read_to_string(&mut text);
    assert!(read.is_ok(), "{} is not text in gzip", path.display());
    Some(text)
}

/// The lines of a compressed file; `None` if it does not exist.
pub fn gzip_lines(path: &Path) -> Option<Vec<String>> {
    Some(gzip_text(path)?.lines().map(str::to_owned).collect())
}

/// XLA's answers to generated questions, one JSON object per line. Returns the sample `xla/NAME.jsonl` of this
/// crate, or the whole set if it is beside the checkout (`shared/conformance`).
pub fn xla_answers(name: &str) -> Vec<String> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = needs::find_shared(&format!("conformance/data/{name}.jsonl.gz"));
    all.and_then(|all| gzip_lines(&all)).unwrap_or_else(|| {
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
    fn the_dump_folder_is_small() {
        let files = super::below(super::dump_folder(), "");
        let sizes: Vec<u64> = files.iter().map(|path| path.metadata().unwrap().len()).collect();
        assert!(sizes.len() == 19 && sizes.iter().sum::<u64>() < 60_000, "{sizes:?}");
    }

    #[test]
    fn files_are_found_by_their_endings() {
        let own = super::below(env!("CARGO_MANIFEST_DIR"), ".rs");
        assert!(own.iter().all(|path| path.extension() == Some("rs".as_ref())), "{own:?}");
        assert!(own.is_sorted() && own.iter().any(|path| path.ends_with("src/lib.rs")), "{own:?}");
        assert_eq!(super::below("/no/such/folder", ".rs"), Vec::<std::path::PathBuf>::new());
    }
}
