//! libFuzzer with the target that the environment variable `HLO_ANALYZER_FUZZ` names. The seeds are copied to the folder in
//! `HLO_ANALYZER_FUZZ_SEEDS`, from where libFuzzer reads them. `cargo xtask fuzz` builds and runs it.

#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use fuzzing::Target;
use libfuzzer_sys::{Corpus, fuzz_target};

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("HLO_ANALYZER_FUZZ").unwrap_or_default();
    fuzzing::target(&name).unwrap_or_else(|| panic!("HLO_ANALYZER_FUZZ names no target: {name}"))
});

fn copy_seeds() {
    let Some(folder) = std::env::var_os("HLO_ANALYZER_FUZZ_SEEDS") else { return };
    for (number, file) in TARGET.seeds().iter().enumerate() {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        let copy = Path::new(&folder).join(format!("{number}-{name}"));
        std::fs::copy(file, copy).unwrap_or_else(|why| panic!("{} cannot be copied: {why}", file.display()));
    }
}

fuzz_target!(
    init: copy_seeds(),
    |bytes: &[u8]| -> Corpus {
        // What does not reach the property is of use too: it leads there.
        (TARGET.run)(bytes);
        Corpus::Keep
    }
);
