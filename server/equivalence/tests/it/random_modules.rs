//! Random modules: what is spoilt is found out.

use std::sync::Arc;

use equivalence::compare;
use eval::Column;
use generators::hlo::{Generated, random_graph};
use passes::Module;
use random::Rng;

use crate::module;

/// Where an exchanged opcode changes a result, the modules are not equal.
#[test]
fn spoilt_modules_are_found_out() {
    const SWAPS: [(&str, &str); 4] =
        [(" add(", " subtract("), (" negate(", " abs("), (" maximum(", " minimum("), (" multiply(", " add(")];
    let mut spoilt = 0;
    for case in 0..generators::cases(400) {
        let generated = random_graph(&mut Rng::new(generators::seed(case)));
        let Some((head, entry)) = generated.text.split_once("ENTRY") else { panic!("no entry") };
        let Some((from, to)) = SWAPS.into_iter().find(|(from, _)| entry.contains(from)) else { continue };
        let changed = format!("{head}ENTRY{}", entry.replacen(from, to, 1));
        let (before, after) = (module(&generated.text), module(&changed));
        let is_different = |seed| {
            let (old, new) = (values(&before, &generated, seed), values(&after, &generated, seed));
            old.iter()
                .zip(&new)
                .any(|(old, new)| matches!((old, new), (Some(old), Some(new)) if differs(old, new)))
        };
        if (0..3).any(is_different) {
            spoilt += 1;
            assert!(!compare(&before, &after).is_equal(), "{}\n{changed}", generated.text);
        }
    }
    assert!(spoilt > 30, "{spoilt}");
}

/// The arrays of the entry's result; `None` where one is not evaluated.
fn values(module: &Module, generated: &Generated, seed: u64) -> Vec<Option<Column>> {
    let graph = Arc::new(module.graph(module.entry()).graph);
    let results = generated.results(graph, &|name| generated.callee(name), seed);
    results.into_iter().map(Result::ok).collect()
}

/// Whether an element differs by more than rewriting may change it.
fn differs(old: &Column, new: &Column) -> bool {
    let is_far = |(i, (a, b)): (usize, (&f64, &f64))| {
        let error = old.error_at(i) + new.error_at(i);
        error.is_finite() && a.is_finite() && b.is_finite() && (a - b).abs() > error + 0.3 * a.abs().max(1.0)
    };
    old.reals().iter().zip(new.reals()).enumerate().any(is_far)
}
