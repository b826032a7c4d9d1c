//! The HLO texts for tests: the project's own, and real modules if available beside the checkout.

use std::io::Read;
use std::path::{Path, PathBuf};

use test_files::gzip_text;
use test_files::needs::find_shared;

/// A module and its origin.
pub struct Module {
    pub name: String,
    pub text: String,
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The project's own modules: `tests/corpus/*.hlo` and the editors' fixtures.
pub fn own() -> Vec<Module> {
    let mut modules = Vec::new();
    for folder in ["tests/corpus", "tests/editors/fixtures"] {
        let folder = checkout().join(folder);
        let entries = std::fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for entry in entries.flatten() {
            if entry.path().extension().is_some_and(|e| e == "hlo") {
                let text =
                    std::fs::read_to_string(entry.path()).expect("the project's own fixtures are text");
                modules.push(Module { name: entry.file_name().to_string_lossy().into_owned(), text });
            }
        }
    }
    modules.sort_by(|a, b| a.name.cmp(&b.name));
    modules
}

/// Every HLO file of the corpus beside the checkout, including the 18 MB one; empty if there is none.
pub fn real() -> Vec<Module> {
    let Some(corpus) = find_shared("corpus") else { return Vec::new() };
    let mut modules = Vec::new();
    for folder in ["hlo", "scale"] {
        for entry in std::fs::read_dir(corpus.join(folder)).into_iter().flatten().flatten() {
            let text = gzip_text(&entry.path()).expect("a file of the corpus opens");
            modules.push(Module { name: entry.file_name().to_string_lossy().into_owned(), text });
        }
    }
    let models = std::fs::File::open(corpus.join("jax-dev.tar.gz")).expect("the corpus holds its models");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(models));
    for entry in archive.entries().expect("the archive is one") {
        let mut entry = entry.expect("an entry can be read");
        let name = entry.path().expect("an entry has a path").display().to_string();
        if name.ends_with(".hlo") {
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("a model is text");
            modules.push(Module { name, text });
        }
    }
    modules.sort_by(|a, b| a.name.cmp(&b.name));
    modules
}
