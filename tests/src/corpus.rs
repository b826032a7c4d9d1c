//! The HLO texts for tests: the project's own, and real modules if available beside the checkout.

use std::io::Read;
use std::path::{Path, PathBuf};

/// A module and its origin.
pub struct Module {
    pub name: String,
    pub text: String,
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The folder of data shared between checkouts, if available. Tests that need it report that they skip.
pub fn shared() -> Option<PathBuf> {
    let path = checkout().join("../shared");
    match path.is_dir() {
        true => Some(path),
        false => {
            eprintln!("skipped: there is no ../shared beside this checkout");
            None
        }
    }
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

/// Every HLO file of the shared corpus, including the 18 MB one.
pub fn real() -> Vec<Module> {
    let Some(shared) = shared() else { return Vec::new() };
    let mut modules = Vec::new();
    for folder in ["corpus/hlo", "corpus/scale"] {
        for entry in std::fs::read_dir(shared.join(folder)).into_iter().flatten().flatten() {
            let mut text = String::new();
            let file = std::fs::File::open(entry.path()).expect("a file of the corpus opens");
            flate2::read::GzDecoder::new(file)
                .read_to_string(&mut text)
                .expect("a file of the corpus unpacks");
            modules.push(Module { name: entry.file_name().to_string_lossy().into_owned(), text });
        }
    }
    let models =
        std::fs::File::open(shared.join("corpus/jax-dev.tar.gz")).expect("the corpus holds its models");
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
