//! The values of random modules before and after each pass, by the interpreter.

use std::sync::Arc;

use eval::{Column, Reason, leaves};
use generators::hlo::{Generated, random_graph};
use passes::{Module, PASSES, Pass};
use random::Rng;
use rustc_hash::FxHashMap;

use crate::{module, print, run};

/// Each array of the entry's result as a literal, or why it has no value.
pub fn values(module: &Module, generated: &Generated) -> Vec<Result<String, String>> {
    let graph = Arc::new(module.graph(module.entry()).graph);
    let computations = module.computations().into_iter();
    let graphs: FxHashMap<String, Arc<ir::Graph>> =
        computations.map(|c| (module[c].name().to_owned(), Arc::new(module.graph(c).graph))).collect();
    let shape = graph.ops[graph.root as usize].shape.clone();
    let results = generated.results(graph, &|name| graphs.get(name).cloned(), 7);
    let in_words = |(shape, column): (&ir::Shape, Result<Column, Reason>)| {
        column.map(|column| eval::print_literal(&column, shape.dims())).map_err(|why| why.to_string())
    };
    leaves(&shape).into_iter().zip(results).map(in_words).collect()
}

#[test]
fn passes_keep_the_values_of_random_modules() {
    let mut changes = 0;
    let mut compared = 0;
    for case in 0..generators::cases(400) {
        let generated = random_graph(&mut Rng::new(generators::seed(case)));
        let before = module(&generated.text);
        let expected = values(&before, &generated);
        // These change the order of sums, or take initial values of reductions for identities, which random ones are not, or
        // call libraries, whose results have no value. They have tests of their own.
        let is_exact = |pass: &&Pass| {
            ![
                "algsimp",
                "associative-scan-rewriter",
                "conv-rewriter",
                "dot-merger",
                "dot-strength-reduction",
                "reduce-window-rewriter",
                "reduction-degenerate-dim-remover",
                "reduction-splitter",
                "topk-rewriter",
                "tree-reduction-rewriter",
            ]
            .contains(&pass.name)
        };
        for pass in PASSES.iter().filter(is_exact) {
            let mut after = before.clone();
            // What a pass does not support stays as it is.
            let Ok(applied) = run(&mut after, pass.name) else { continue };
            let is_changed = applied.iter().any(|applied| !applied.changes.is_empty());
            changes += usize::from(is_changed);
            if !is_changed {
                assert_eq!(
                    print(&after),
                    print(&before),
                    "{} reports no change:\n{}",
                    pass.name,
                    generated.text
                );
            }
            let found = values(&after, &generated);
            assert_eq!(found.len(), expected.len());
            for (found, expected) in found.iter().zip(&expected) {
                if let Ok(expected) = expected {
                    compared += 1;
                    assert_eq!(
                        found.as_ref(),
                        Ok(expected),
                        "{}:\n{}\n{}",
                        pass.name,
                        generated.text,
                        print(&after)
                    );
                }
            }
        }
    }
    assert!(changes > 20 && compared > 1000, "{changes} changes, {compared} arrays compared");
}
