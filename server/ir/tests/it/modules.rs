//! Valid modules have no findings.

use std::path::{Path, PathBuf};

use generators::hlo;
use random::Rng;

use crate::{shown, verified};

#[test]
fn generated_instructions_are_valid() {
    let opcodes = hlo::opcodes();
    for i in 0..2000u64 {
        let opcode = opcodes[i as usize % opcodes.len()];
        let generated = hlo::random_op(opcode, &mut Rng::new(i * 7919 + 1)).expect("an instruction");
        let (block, findings) = verified(&generated.text);
        let told: Vec<_> = findings
            .iter()
            .filter(|f| f.code != "done-without-start" && f.code != "start-without-done")
            .collect();
        assert!(told.is_empty(), "{}\n{}", generated.text, shown(&block, &findings).join("\n"));
    }
}

#[test]
fn generated_graphs_are_valid() {
    for i in 0..2000u64 {
        let generated = hlo::random_graph(&mut Rng::new(i * 7907 + 3));
        let (block, findings) = verified(&generated.text);
        assert!(findings.is_empty(), "{}\n{}", generated.text, shown(&block, &findings).join("\n"));
    }
}

fn files(path: &Path, all: &mut Vec<PathBuf>) {
    match path.read_dir() {
        Ok(entries) => entries.flatten().for_each(|entry| files(&entry.path(), all)),
        Err(_) if path.extension().is_some_and(|e| e == "hlo" || e == "txt") => all.push(path.to_owned()),
        Err(_) => {}
    }
}

#[test]
fn given_modules_are_valid() {
    let Ok(paths) = std::env::var("VERIFY_MODULES") else {
        eprintln!("skipped: VERIFY_MODULES is not set");
        return;
    };
    let mut all = Vec::new();
    paths.split(':').for_each(|path| files(Path::new(path), &mut all));
    let (mut instructions, mut told) = (0, 0);
    for path in &all {
        let Ok(text) = std::fs::read_to_string(path) else { continue };
        let (block, findings) = verified(&text);
        instructions += block.parse.instructions.len();
        told += findings.len();
        for line in shown(&block, &findings).iter().take(4) {
            eprintln!("{}: {line}", path.display());
        }
    }
    assert_eq!(told, 0, "{} modules, {instructions} instructions", all.len());
    eprintln!("{} modules, {instructions} instructions, nothing told", all.len());
}
