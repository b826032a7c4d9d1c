//! Computes the maps of every op of upstream's files: none may panic, and errors are printed.

use mlir::{OpId, PieceState, parse};
use mlir_indexing::{MapChecks, op_hints, op_maps};
use mlir_ops::Source;

/// Whether the part of the text that contains the op expects an error.
fn is_expected_wrong(text: &str, at: usize) -> bool {
    let part = |text: &str| text.find("// -----").unwrap_or(text.len());
    let start = text[..at].rfind("// -----").unwrap_or(0);
    text[start..at + part(&text[at..])].contains("expected-error")
}

mod needs_mlir_corpus {
    use super::*;

    #[test]
    #[ignore = "needs MLIR files in the folder MLIR_CORPUS: cargo xtask test"]
    fn every_op_of_a_tree_has_an_answer() {
        let (mut mapped, mut unmapped, mut wrong, mut findings) = (0, 0, 0, 0);
        let mut silent: std::collections::BTreeMap<String, usize> = Default::default();
        // For each reason, its count and first occurrence.
        let mut reasons: std::collections::BTreeMap<String, (usize, String)> = Default::default();
        for path in test_files::needs::mlir_corpus() {
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            let read = parse(&text, PieceState::default());
            let source = Source::alone(&read, &text);
            let checks = MapChecks::new(&source);
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
                    // An op that a verifier test gets wrong on purpose has no map.
                    Some(Err(_)) if is_expected_wrong(&text, read.op(id).span.start as usize) => wrong += 1,
                    Some(Err(reason)) => {
                        unmapped += 1;
                        let line = text[..read.op(id).span.start as usize].matches('\n').count() + 1;
                        let place = || (0, format!("{}:{line}", path.display()));
                        reasons
                            .entry(format!("{}: {reason}", read.name(id, &text)))
                            .or_insert_with(place)
                            .0 += 1;
                    }
                    None => *silent.entry(read.name(id, &text).to_owned()).or_default() += 1,
                }
                _ = op_hints(&source, id);
                let has_error = read.errors.iter().any(|e| read.op(id).head.contains(e.span.start as usize));
                for finding in checks.of(id).iter().filter(|_| !has_error) {
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
        reasons.sort_by_key(|(_, (n, _))| std::cmp::Reverse(*n));
        for (reason, (n, place)) in reasons.iter().take(60) {
            eprintln!("{n:6} {}\n       {place}", reason.chars().take(160).collect::<String>());
        }
        let mut silent: Vec<_> = silent.into_iter().filter(|(name, _)| name.contains('.')).collect();
        silent.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        let silent: Vec<String> = silent.iter().take(200).map(|(name, n)| format!("{name} {n}")).collect();
        eprintln!("no answer: {}", silent.join(", "));
        eprintln!(
            "{mapped} ops with maps, {unmapped} with a reason why not, {wrong} that are wrong on purpose, {findings} findings"
        );
    }
}
