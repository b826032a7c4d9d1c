//! How much the simplifier, the ranges and the comparison achieve on a fixed set of random maps. A rewrite that is correct and no
//! longer applies breaks no property; it changes a number here. `UPDATE_EXPECT=1` writes the numbers of this code.

use expect_test::expect;
use indexing_map::{Expr, IndexingMap, Interval, SimplifyMode, Verdict, same_function};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use test_files::Tally;

use crate::random_maps::{enlarged, expr, map, mutant};

const MAPS: usize = 1500;

/// The same values in every run.
fn fixed<T: std::fmt::Debug>(count: usize, strategy: impl Strategy<Value = T>) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).expect("no filter rejects it").current()).collect()
}

fn count(tally: &mut Tally, [yes, no, unknown]: [&'static str; 3], verdict: &Verdict) {
    let name = match verdict {
        Verdict::Yes => yes,
        Verdict::No { .. } => no,
        Verdict::Unknown => unknown,
    };
    tally.add(name, 1);
}

/// What is left of a map: its size, its constraints, the points of its box.
fn measure(tally: &mut Tally, [nodes, constraints, points]: [&'static str; 3], map: &IndexingMap) {
    tally.add(nodes, map.node_count());
    tally.add(constraints, map.constraints().len());
    tally.add(points, map.variables().iter().map(|v| v.bounds.size().min(100_000) as usize).sum());
}

#[test]
fn of_the_simplifier() {
    let mut tally = Tally::default();
    let maps = fixed(MAPS, (map(), 2i64..=5));
    let large = maps.iter().map(|(map, c)| match map.num_ranges() {
        0 => enlarged(map),
        _ => enlarged(map).with_constraint(map.range(0).modulo(*c), Interval::point(*c - 1)),
    });
    for map in maps.iter().map(|(map, _)| map.clone()).chain(large) {
        measure(&mut tally, ["given nodes", "given constraints", "given values of variables"], &map);
        let mut simple = map.clone();
        tally.add("steps", simple.simplify(SimplifyMode::Replace).steps as usize);
        measure(&mut tally, ["nodes", "constraints", "values of variables"], &simple);
        tally.add("known empty", usize::from(simple.is_known_empty()));
        let preserved = map.clone().simplified(SimplifyMode::Preserve);
        measure(&mut tally, ["preserved nodes", "preserved constraints", "preserved values"], &preserved);
        let split = map.clone().simplified(SimplifyMode::Split);
        measure(&mut tally, ["split nodes", "split constraints", "split values"], &split);
        let mut few = simple.clone();
        tally.add(
            "unused symbols",
            few.remove_unused_symbols().into_iter().filter(|&removed| removed).count(),
        );
        let mut rescaled = simple.clone();
        tally.add("rescaled", usize::from(rescaled.rescale_symbols()));
        let widths = map.result_ranges().into_iter().map(|range| range.size().min(1_000_000) as usize);
        tally.add("values of results", widths.sum());
    }
    tally.check(expect![[r#"
        constraints: 919
        given constraints: 3833
        given nodes: 34393
        given values of variables: 12577670
        known empty: 1289
        nodes: 6941
        preserved constraints: 919
        preserved nodes: 8197
        preserved values: 9374183
        rescaled: 624
        split constraints: 919
        split nodes: 6948
        split values: 9374183
        steps: 23402
        unused symbols: 479
        values of results: 84063848
        values of variables: 9374183
    "#]]);
}

#[test]
fn of_canonical_forms() {
    let mut tally = Tally::default();
    let exprs = fixed(MAPS, (expr(2), expr(2)));
    for (a, b) in &exprs {
        tally.add("given nodes", a.node_count());
        tally.add("nodes", a.canonicalize().node_count());
        let same = [
            (a.clone() + b.clone(), b.clone() + a.clone()),
            ((a.clone() + b.clone()) * 6, a.clone() * 6 + b.clone() * 6),
            ((a.clone() * 12 + b.clone() * 4).floor_div(8), (a.clone() * 3 + b.clone()).floor_div(2)),
            ((a.clone() * 12 + b.clone()).modulo(6), b.clone().modulo(6)),
            (a.clone().floor_div(4).floor_div(3), a.clone().floor_div(12)),
            (a.clone() * b.clone() * Expr::var(0), Expr::var(0) * b.clone() * a.clone()),
            (a.clone() * (b.clone() * Expr::var(1)), b.clone() * a.clone() * Expr::var(1)),
        ];
        let is_one_form = |(a, b): &(Expr, Expr)| a.canonicalize() == b.canonicalize();
        tally.add("equal forms", same.iter().filter(|pair| is_one_form(pair)).count());
    }
    tally.check(expect![[r#"
        equal forms: 10297
        given nodes: 5877
        nodes: 3525
    "#]]);
}

#[test]
fn of_the_comparison() {
    let mut tally = Tally::default();
    let changes = (map(), 0usize..5, 0usize..24, prop_oneof![Just(-1i64), 1i64..=3]);
    for (map, what, at, by) in fixed(MAPS / 2, changes) {
        let other = enlarged(&mutant(&map, what, at, by));
        let map = enlarged(&map);
        count(&mut tally, ["empty", "not empty", "perhaps empty"], &map.is_empty(100));
        count(&mut tally, ["same", "other", "perhaps same"], &same_function(&map, &other, 60));
        let simple = map.clone().simplified(SimplifyMode::Replace);
        count(
            &mut tally,
            ["simplified: same", "simplified: other", "simplified: perhaps same"],
            &same_function(&map, &simple, 60),
        );
    }
    tally.check(expect![[r#"
        empty: 165
        not empty: 577
        other: 219
        perhaps empty: 8
        perhaps same: 16
        same: 515
        simplified: same: 750
    "#]]);
}

/// The map from elements of one array to those of another with as many, both row-major.
fn reshape(output: &[i64], input: &[i64]) -> IndexingMap {
    let extents = |sizes: &[i64]| sizes.iter().map(|&size| Expr::Const(size)).collect::<Vec<_>>();
    let indices: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    let linear = indexing_map::linearized(&indices, &extents(output));
    IndexingMap::from_sizes(output, &[], indexing_map::delinearized(&linear, &extents(input)))
}

#[test]
fn of_reshapes_in_a_row() {
    let shapes: [&[i64]; 8] =
        [&[720], &[8, 90], &[2, 3, 120], &[6, 120], &[720, 1], &[5, 16, 9], &[48, 15], &[4, 4, 45]];
    let mut tally = Tally::default();
    for (i, &first) in shapes.iter().enumerate() {
        for (k, &second) in shapes.iter().enumerate() {
            for &third in &shapes {
                let both = reshape(first, second).compose(&reshape(second, third));
                let simple = both.clone().simplified(SimplifyMode::Replace);
                measure(&mut tally, ["nodes", "constraints", "values of variables"], &simple);
                tally.add("identities", usize::from(simple.is_identity()));
                let direct = reshape(first, third).simplified(SimplifyMode::Replace);
                tally.add("as short as one reshape", usize::from(simple == direct));
                if i != k {
                    count(&mut tally, ["same", "other", "perhaps same"], &same_function(&both, &direct, 200));
                }
            }
        }
    }
    tally.check(expect![[r#"
        as short as one reshape: 512
        constraints: 0
        identities: 56
        nodes: 2464
        same: 448
        values of variables: 123904
    "#]]);
}
