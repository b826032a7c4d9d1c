//! The modules that are edited.

use std::collections::HashSet;
use std::io::Read as _;
use std::path::Path;

use random::Rng;

/// A generated program as a module: its entry, or as a fusion that a second one uses.
pub fn generated(rng: &mut Rng) -> String {
    let mut text = generators::hlo::random_graph(rng).text;
    while text.lines().count() < 14 {
        text = generators::hlo::random_graph(rng).text;
    }
    text
}

/// The project's own modules.
pub fn own() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["tests/corpus", "tests/editors/fixtures", "server/compile-diff/tests/fixtures"];
    let files = folders.iter().flat_map(|folder| test_files::below(root.join(folder), ".hlo"));
    let texts = files
        .map(|file| (file.display().to_string(), std::fs::read_to_string(&file).expect("a fixture is text")));
    let modules: Vec<_> = texts
        .filter(|(_, text)| compile_diff::Module::read(text).is_ok_and(|module| module.errors.is_empty()))
        .filter(|(_, text)| !has_equal_instructions(text))
        .collect();
    assert!(modules.len() >= 5, "{}", modules.len());
    modules
}

/// Whether two instructions of a computation differ in their names alone: nothing tells which of them an edit was made to.
fn has_equal_instructions(text: &str) -> bool {
    let mut seen = HashSet::new();
    let mut computation = 0;
    text.lines().any(|line| {
        let Some((_, what)) = line.split_once(" = ") else {
            computation += usize::from(line.ends_with('{'));
            return false;
        };
        let what = what.split(", metadata=").next().unwrap_or(what);
        !what.contains(" constant(") && !seen.insert((computation, what))
    })
}

/// The models of the corpus as XLA optimised them for a GPU.
pub fn optimised() -> Vec<(String, String)> {
    let models =
        std::fs::File::open(test_files::needs::shared("corpus/jax-dev.tar.gz")).expect("the models open");
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(models));
    let mut modules = Vec::new();
    for entry in archive.entries().expect("it is an archive") {
        let mut entry = entry.expect("an entry can be read");
        let name = entry.path().expect("an entry has a path").display().to_string();
        if name.ends_with(".gpu_opt.hlo") {
            let mut text = String::new();
            entry.read_to_string(&mut text).expect("a model is text");
            modules.push((name, text));
        }
    }
    modules
}
