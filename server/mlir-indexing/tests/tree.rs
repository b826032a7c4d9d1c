//! Every op of a tree of files is asked for its maps: none panics, and what is found wrong is printed.
//!
//! The tree is the directory that the environment variable `MLIR_TREE` names; without it nothing is tested.

use std::path::{Path, PathBuf};

use mlir::{OpId, PieceState, parse};
use mlir_indexing::{Source, check_maps, op_hints, op_maps};

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let path = entry.path();
        match path.is_dir() {
            true => files(&path, found),
            false if path.extension().is_some_and(|e| e == "mlir") => found.push(path),
            false => {}
        }
    }
}

#[test]
fn every_op_of_a_tree_has_an_answer() {
    let Some(tree) = std::env::var_os("MLIR_TREE") else {
        eprintln!("skipped: MLIR_TREE names no directory");
        return;
    };
    let mut paths = Vec::new();
    files(Path::new(&tree), &mut paths);
    paths.sort();
    assert!(!paths.is_empty(), "no files in {tree:?}");
    let (mut mapped, mut unmapped, mut findings) = (0, 0, 0);
    let mut reasons: std::collections::BTreeMap<String, usize> = Default::default();
    for path in paths {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let read = parse(&text, PieceState::default());
        let source = Source::alone(&read, &text);
        for id in 0..read.ops.len() as OpId {
            match op_maps(&source, id, 0) {
                Some(Ok(maps)) => {
                    mapped += 1;
                    assert!(
                        maps.accesses
                            .iter()
                            .all(|a| a.map.num_runtime() == a.symbols.len() || !a.map.is_mapped())
                    );
                }
                Some(Err(reason)) => {
                    unmapped += 1;
                    *reasons.entry(format!("{}: {reason}", read.name(id, &text))).or_default() += 1;
                }
                None => {}
            }
            _ = op_hints(&source, id);
            let has_error = read.errors.iter().any(|e| read.op(id).head.contains(e.span.start as usize));
            for finding in check_maps(&source, id).iter().filter(|_| !has_error) {
                findings += 1;
                let line = text[..finding.span.start as usize].matches('\n').count() + 1;
                let before =
                    text.lines().rev().nth(text.lines().count() - (line - 1).max(1)).unwrap_or_default();
                eprintln!(
                    "{}:{line}: {} {}\n    {}\n    {}",
                    path.display(),
                    finding.code,
                    finding.message,
                    before.trim(),
                    text.lines().nth(line - 1).unwrap_or_default().trim()
                );
            }
        }
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for (reason, n) in reasons.iter().take(60) {
        eprintln!("{n:6} {}", reason.chars().take(160).collect::<String>());
    }
    eprintln!("{mapped} ops with maps, {unmapped} with a reason why not, {findings} findings");
}
