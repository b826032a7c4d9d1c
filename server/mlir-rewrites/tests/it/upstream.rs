//! Verifies the output of rewrites with upstream's `mlir-opt`.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use mlir_rewrites::{extract_from_collapse, extract_from_expand, insert_into_collapse, insert_into_expand};

use crate::equality::{Find, rewritten};
use generators::mlir::{
    Program, insertion_into_collapse, insertion_into_expand, slice_of_collapse, slice_of_expand,
};
use random::Rng;

/// The number of programs of each kind.
const PROGRAMS: usize = 400;

/// Verifies all texts in one process.
#[track_caller]
fn verify(tool: &Path, texts: &[String]) {
    let mut child = Command::new(tool)
        .args(["-split-input-file", "-allow-unregistered-dialect", "-o", "/dev/null", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("mlir-opt starts");
    let input = texts.join("\n// -----\n\n");
    let mut stdin = child.stdin.take().expect("it is piped");
    let writer = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("mlir-opt ends");
    _ = writer.join();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", said.chars().take(4000).collect::<String>());
}

#[track_caller]
fn check(generate: fn(&mut Rng) -> Program, find: Find) {
    let mut random = Rng::new(7);
    let mut texts = Vec::new();
    for _ in 0..PROGRAMS {
        let program = generate(&mut random);
        texts.extend(rewritten(&program.text, find).into_iter().map(|(_, text)| text));
    }
    assert!(texts.len() * 2 > PROGRAMS, "{} texts", texts.len());
    verify(&test_files::needs::mlir_opt(), &texts);
}

mod needs_mlir_opt {
    use super::*;

    #[test]
    #[ignore = "needs mlir-opt: cargo xtask test"]
    fn slices_of_collapsed_tensors_verify() {
        check(slice_of_collapse, extract_from_collapse);
    }

    #[test]
    #[ignore = "needs mlir-opt: cargo xtask test"]
    fn insertions_into_collapsed_tensors_verify() {
        check(insertion_into_collapse, |s, op| insert_into_collapse(s, op).into_iter().collect());
    }

    #[test]
    #[ignore = "needs mlir-opt: cargo xtask test"]
    fn slices_of_expanded_tensors_verify() {
        check(slice_of_expand, |s, op| extract_from_expand(s, op).into_iter().collect());
    }

    #[test]
    #[ignore = "needs mlir-opt: cargo xtask test"]
    fn insertions_into_expanded_tensors_verify() {
        check(insertion_into_expand, |s, op| insert_into_expand(s, op).into_iter().collect());
    }
}
