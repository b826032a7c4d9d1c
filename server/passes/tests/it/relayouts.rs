//! Values of random modules in other layouts: no value changes, and what becomes of users is recorded.

use expect_test::expect;
use generators::hlo::random_graph;
use generators::kernels::Random;
use passes::{Module, Relayout, WrittenBy, optimize_until_stop};
use random::Rng;
use test_files::Tally;

use crate::compare::compare;
use crate::{module, options, print};

const MODULES: u64 = 150;

/// A random module after layout assignment, every second one of kernels.
fn laid_out(seed: u64) -> (Module, Vec<Option<Vec<i64>>>) {
    let rng = &mut Rng::new(seed);
    match seed % 2 {
        0 => {
            let generated = random_graph(rng);
            (module(&generated.text), generated.values)
        }
        _ => {
            let before = module(&Random::computation(rng).text);
            (optimize_until_stop(&before, &["pipeline"], &options("")).0, Vec::new())
        }
    }
}

#[test]
fn other_layouts_change_no_value() {
    let mut tally = Tally::default();
    for seed in 0..MODULES {
        let (before, known) = laid_out(seed);
        let text = print(&before);
        let rng = &mut Rng::new(seed);
        for value in before.instructions(before.entry()) {
            let rank = before[value].dims().len();
            if rank < 2 {
                continue;
            }
            let layout: Vec<i64> = rng.permutation(rank).into_iter().map(|dim| dim as i64).collect();
            let by = if rng.flag() { WrittenBy::Itself } else { WrittenBy::CopyInFusion };
            let copied_for = if rng.one_in(3) { before[value].users().to_vec() } else { Vec::new() };
            let change = Relayout {
                value,
                minor_to_major: &layout,
                by,
                copied_for: &copied_for,
                changes_results: rng.flag(),
            };
            let mut after = before.clone();
            let Some(relaid) = after.relayout(&change) else {
                tally.add(format!("not {by:?}"), 1);
                continue;
            };
            tally.add(format!("{by:?}"), 1);
            tally.add("readers", relaid.readers.len());
            tally.add("removed copies", relaid.removed.len());
            tally.add("readers of copies", relaid.copy.map_or(0, |(_, users)| users.len()));
            tally.add("parameters", usize::from(relaid.writer.is_none()));
            let new = print(&after);
            tally.add("bytes", new.len());
            // Large ones take long.
            if seed % 2 == 0 {
                let compared = compare(&text, &new, seed, &known);
                let compared =
                    compared.unwrap_or_else(|why| panic!("{change:?}: {why}\n{text}\nbecame\n{new}"));
                tally.add("compared", usize::from(compared > 0));
            }
        }
    }
    tally.check(expect![[r#"
        CopyInFusion: 158
        Itself: 192
        bytes: 494335
        compared: 120
        not CopyInFusion: 168
        not Itself: 174
        parameters: 273
        readers: 81
        readers of copies: 268
        removed copies: 0
    "#]]);
}
