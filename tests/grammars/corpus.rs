//! The share of real files that the grammars parse without an error.

use std::path::Path;

use tree_sitter_grammars::{Grammar, HLO, MLIR, PTX};

use crate::{first_error, parse};

/// Panics unless at least 99 % of the texts, which are pairs of a name and a text, parse without an error.
fn check(grammar: &Grammar, texts: impl IntoIterator<Item = (String, String)>) {
    let (mut count, mut bad) = (0_usize, Vec::new());
    for (name, text) in texts {
        count += 1;
        if let Some(error) = first_error(&parse(grammar, &text), &text) {
            bad.push(format!("{name}: {error}"));
        }
    }
    eprintln!("{}: {} of {count} texts have errors", grammar.name, bad.len());
    assert!(count > 0, "there are texts of {}", grammar.name);
    assert!(bad.len() * 100 <= count, "{} of {count} have errors:\n{}", bad.len(), bad.join("\n"));
}

fn files(folder: &str, ending: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let read = |path: std::path::PathBuf| {
        let text = std::fs::read_to_string(&path).ok()?;
        Some((path.display().to_string(), text))
    };
    test_files::below(folder, ending).into_iter().filter_map(read).collect()
}

#[test]
fn our_own_files_have_no_errors() {
    for (grammar, ending) in [(&HLO, ".hlo"), (&MLIR, ".mlir"), (&PTX, ".ptx")] {
        let mut texts = Vec::new();
        for folder in
            ["tests/corpus", "tests/editors/fixtures", "grammar/textmate/tests", "server/test-files/dump"]
        {
            texts.extend(files(folder, ending));
        }
        check(grammar, texts);
    }
}

mod needs_shared {
    use std::io::Read as _;

    use test_files::needs::shared;

    use super::*;
    use crate::boundaries::{compare_hlo, compare_mlir};

    fn mlir_texts() -> Vec<(String, String)> {
        let archive = std::fs::File::open(shared("corpus/mlir-dev.tar.gz")).expect("the corpus holds MLIR");
        let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(archive));
        let mut texts = Vec::new();
        for entry in archive.entries().expect("the archive is one") {
            let mut entry = entry.expect("an entry can be read");
            let name = entry.path().expect("an entry has a path").display().to_string();
            let mut text = String::new();
            if name.ends_with(".mlir") && entry.read_to_string(&mut text).is_ok() {
                texts.push((name, text));
            }
        }
        texts
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn real_modules_have_no_errors_and_the_instructions_of_the_server() {
        shared("corpus");
        let modules = hlo_analyzer_tests::corpus::real();
        let mut instructions = 0;
        for module in &modules {
            instructions += compare_hlo(&module.text).unwrap_or_else(|why| panic!("{}: {why}", module.name));
        }
        eprintln!("{instructions} instructions are those of the server");
        check(&HLO, modules.into_iter().map(|module| (module.name, module.text)));
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn mlir_of_others_has_no_errors_and_the_ops_of_the_server() {
        let texts = mlir_texts();
        let counts = texts.iter().map(|(_, text)| compare_mlir(text));
        let (same, all) = counts.fold((0, 0), |(same, all), (s, a)| (same + s, all + a));
        eprintln!("{same} of {all} ops start where the server has them");
        assert!(same * 100 >= all * 97, "{same} of {all} ops start where the server has them");
        check(&MLIR, texts);
    }

    #[test]
    #[ignore = "needs the shared data beside the checkout: cargo xtask test"]
    fn the_ptx_of_xla_has_no_errors() {
        let mut texts = Vec::new();
        for name in ["xla_gpu/pairs", "xla_gpu_sweep/pairs", "xla_gpu_emitters/pairs"] {
            let lines = test_files::gzip_lines(&shared(&format!("conformance/data/{name}.jsonl.gz")));
            for (number, line) in lines.expect("the file is there").iter().enumerate() {
                let pair: serde_json::Value = serde_json::from_str(line).expect("a line is JSON");
                if let Some(ptx) = pair["ptx"].as_str() {
                    texts.push((format!("{name} {number}"), ptx.to_owned()));
                }
            }
        }
        check(&PTX, texts);
    }
}
