//! Programs that jax exported or wrote in the own bytecode of StableHLO (`native*`): their texts, and damaged copies of them.
//!
//! `UPDATE_EXPECT=1` writes the texts anew. Each was compared with XLA's own text of the same bytes: both are the same module under
//! XLA's parser, with all locations.

use std::path::{Path, PathBuf};

use random::Rng;

fn fixtures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let files = std::fs::read_dir(folder).expect("the fixtures").map(|entry| entry.expect("an entry").path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|it| it == "mlirbc")).collect();
    files.sort();
    assert!(files.len() >= 10, "{files:?}");
    files
}

fn bytes_of(path: &Path) -> Vec<u8> {
    std::fs::read(path).expect("it is readable")
}

#[test]
fn texts_are_as_expected() {
    for path in fixtures() {
        let text = mlir_bytecode::module_text(&bytes_of(&path))
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let expected = path.with_extension("mlir");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&expected, &text).expect("it can be written");
        }
        let expected_text = std::fs::read_to_string(&expected).unwrap_or_default();
        assert!(text == expected_text, "{} is another text", expected.display());
        assert_eq!(mlir::parse(&text, mlir::PieceState::default()).errors, [], "{}", path.display());
    }
}

#[test]
fn every_truncation_is_an_error() {
    for path in fixtures() {
        let bytes = bytes_of(&path);
        for len in 0..bytes.len() {
            let error = mlir_bytecode::module_text(&bytes[..len]).expect_err("a part of a file");
            assert!(error.offset <= len, "{error}");
        }
    }
}

#[test]
fn damaged_bytes_do_not_panic() {
    let files: Vec<Vec<u8>> = fixtures().iter().map(|path| bytes_of(path)).collect();
    for seed in 0..20_000 {
        let mut rng = Rng::new(seed);
        let mut bytes = rng.pick(&files).clone();
        rng.damage(&mut bytes);
        if let Ok(text) = mlir_bytecode::module_text(&bytes) {
            assert!(text.len() < (64 << 20), "{} bytes from {}", text.len(), bytes.len());
        }
    }
}

#[test]
fn newer_files_say_what_to_do() {
    let error = mlir_bytecode::module_text(b"ML\xefR\x81later\0").unwrap_err();
    assert!(error.message.starts_with("bytecode of version 64 by later, newer than 6"), "{error}");
    assert!(error.message.contains("write an older version"), "{error}");
    let error = mlir_bytecode::module_text(b"module {}").unwrap_err();
    assert_eq!(error.to_string(), "byte 0: no MLIR bytecode: it starts otherwise");
}

#[test]
fn encodings_of_other_dialects_say_what_to_do() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/refused");
    let refused = |name: &str| mlir_bytecode::module_text(&bytes_of(&folder.join(name))).unwrap_err().message;
    assert_eq!(
        refused("arith.mlirbc"),
        "the properties of arith.constant are in the encoding of the dialect arith, which is not read: print the text with the tool that \
         wrote it"
    );
    assert_eq!(
        refused("chlo_scan.mlirbc"),
        "the properties of chlo.scan are in the encoding of the dialect chlo, which is not read: write the module as a portable artifact \
         (`stablehlo.serialize_portable_artifact`, `stablehlo-translate --serialize`), or print its text"
    );
}
