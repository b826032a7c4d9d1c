//! Compares maps with the semantics of ops: an independent evaluation on index-tagged tensors, the founding
//! document's examples, and arbitrary ops.

mod any_op;
mod calls;
mod collectives;
mod compare;
mod document;
mod fusions;
mod generate;
mod generate_contractions;
mod generate_dependent;
mod ops;
mod oracle;
mod reference;
mod special;

use std::sync::Arc;

use ir::Graph;

/// The graphs of a module's computations by name, and the name of the entry, which is the last one.
fn graphs(text: &str) -> (Vec<(String, Arc<Graph>)>, String) {
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
    let block = ir::lower(text.clone(), parse.clone());
    let mut graphs = Vec::new();
    let mut entry = String::new();
    for (i, computation) in parse.computations.iter().enumerate() {
        let Some(graph) = Graph::build(&[(&block, i as u32)]) else { continue };
        let name = computation.name.of(&text).trim_start_matches('%').to_owned();
        if computation.is_entry || entry.is_empty() {
            entry.clone_from(&name);
        }
        graphs.push((name, Arc::new(graph)));
    }
    (graphs, entry)
}

/// The graph of the entry computation.
fn entry(text: &str) -> Arc<Graph> {
    let (graphs, entry) = graphs(text);
    graphs.into_iter().find(|(name, _)| *name == entry).expect("an entry computation").1
}

/// `count` cases; `HLO_ANALYZER_CASES` multiplies them.
fn cases(count: u64) -> proptest::test_runner::Config {
    let count = u32::try_from(generators::cases(count)).unwrap_or(u32::MAX);
    let mut config = proptest::test_runner::Config::with_cases(count);
    config.failure_persistence = None;
    config
}
