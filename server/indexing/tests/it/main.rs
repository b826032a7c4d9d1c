//! Compares maps with the semantics of ops: with the reads that evaluating an op on tensors of their own
//! indices gives, element by element, on random instructions of all opcodes and chains of them; with the
//! founding document's examples; with XLA's answers.

mod access;
mod any_op;
mod calls;
mod chains;
mod collectives;
mod derived;
mod document;
mod fusions;
mod instructions;
mod nearly_valid;
mod oracle;
mod power;
mod shown_beside;
mod special;
mod tally;

use std::collections::BTreeSet;
use std::sync::Arc;

use ir::Graph;

/// An element of an array in an operand or result: leaf, replica (if known), row-major position.
type Element = (u32, Option<u32>, u32);
type Elements = BTreeSet<Element>;

/// Every index of an array, last dimension fastest.
fn indices(dims: &[i64]) -> Vec<Vec<i64>> {
    let mut all = Vec::new();
    dependences::for_each_index(dims, |index| all.push(index.to_vec()));
    all
}

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

/// The row-major position of `index` in an array; `None` if it is outside.
fn position(dims: &[i64], index: &[i64]) -> Option<i64> {
    dependences::position(dims, index).map(|position| position as i64)
}

/// `count` cases; `HLO_ANALYZER_CASES` multiplies them.
fn cases(count: u64) -> proptest::test_runner::Config {
    let count = u32::try_from(generators::cases(count)).unwrap_or(u32::MAX);
    let mut config = proptest::test_runner::Config::with_cases(count);
    config.failure_persistence = None;
    config
}
