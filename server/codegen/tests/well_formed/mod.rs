//! Checks MLIR text with our own reader of MLIR, including its maps.

use std::collections::HashSet;

/// Panics with the invalid line.
#[track_caller]
pub fn check_mlir(text: &str, what: &str) {
    let read = mlir::parse(text, mlir::PieceState::default());
    let line = |at: u32| text[..at as usize].matches('\n').count();
    let near = |at: u32| text.lines().nth(line(at)).unwrap_or_default();
    if let Some(error) = read.errors.first() {
        panic!("{what}: {} in `{}`\n{text}", error.message, near(error.span.start));
    }
    if let Some(finding) = mlir::check(&read, text).first() {
        panic!("{what}: {} in `{}`\n{text}", finding.message, near(finding.span.start));
    }
    for line in text.lines() {
        if let Some((_, map)) = line.split_once(" = #xla.indexing_map<\"") {
            let map = indexing_map::parse_map(map.trim_end_matches("\">"));
            assert!(map.is_ok(), "{what}: {line}: {:?}", map.err());
        }
    }
    // Modules after `// -----` have a namespace of their own.
    let part = |at: u32| read.splits.partition_point(|&split| split <= at);
    let known: HashSet<(usize, &str)> = read
        .aliases
        .iter()
        .filter(|alias| alias.is_definition)
        .map(|alias| (part(alias.span.start), alias.span.of(text)))
        .collect();
    for alias in &read.aliases {
        let name = alias.span.of(text);
        assert!(known.contains(&(part(alias.span.start), name)), "{what}: {name}\n{text}");
    }
}
