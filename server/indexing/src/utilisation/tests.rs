//! How much of an operand maps read.

use indexing_map::parse_map;
use ir::ElementType;

use super::*;
use crate::operand_indexing::{RuntimeSource, RuntimeVariable};

fn of(maps: &[&str], operand: &[i64]) -> Utilisation {
    let accesses: Vec<OperandIndexing> = maps.iter().map(|map| parse_map(map).unwrap().into()).collect();
    utilisation(&accesses, &Shape::array(ElementType::F32, operand)).unwrap()
}

#[track_caller]
fn check(maps: &[&str], operand: &[i64], read: u64, per_element: f64) {
    let got = of(maps, operand);
    assert_eq!((got.read, got.is_exact), (Count::exactly(read), true), "{got:?}");
    assert_eq!(got.bytes_read, Some(Count::exactly(read * 4)));
    assert!((got.reads_per_element.0 - per_element).abs() < 1e-9, "{got:?}");
    assert_eq!(got.reads_per_element.0, got.reads_per_element.1);
}

#[test]
fn small_domains_are_counted() {
    check(&["(d0, d1) -> (d1), domain: d0 in [0, 9], d1 in [0, 3]"], &[4], 4, 10.0);
    check(&["(d0) -> (d0 * 3), domain: d0 in [0, 2], d0 mod 2 in [0, 0]"], &[9], 2, 1.0);
    let twice = ["(d0) -> (d0), domain: d0 in [0, 5]", "(d0) -> (9 - d0), domain: d0 in [0, 5]"];
    check(&twice, &[10], 10, 1.2);
    check(&[], &[10], 0, 0.0);
    check(&["(d0, d1) -> ((d1 * 4 + d0) mod 3), domain: d0 in [0, 3], d1 in [0, 2]"], &[3], 3, 4.0);
}

#[test]
fn large_domains_by_structure() {
    let transpose = "(d0, d1) -> (d1, d0), domain: d0 in [0, 99999], d1 in [0, 99999]";
    check(&[transpose], &[100_000, 100_000], 10_000_000_000, 1.0);
    check(&["(d0) -> (d0 * 2), domain: d0 in [0, 999999]"], &[2_000_000], 1_000_000, 1.0);
    // A window of 3 with stride 2 reads the elements that two windows share twice.
    let window = "(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 999999], s0 in [0, 2]";
    check(&[window], &[2_000_001], 2_000_001, 3_000_000.0 / 2_000_001.0);
    let apart = ["(d0) -> (d0), domain: d0 in [0, 99999]", "(d0) -> (d0 + 500000), domain: d0 in [0, 99999]"];
    check(&apart, &[1_000_000], 200_000, 1.0);
}

#[test]
fn bounds_where_it_is_not_known() {
    let got = of(
        &["(d0, d1)[s0] -> (d0 * 3 + d1 * 2 + s0 * 7), domain: d0 in [0, 999], d1 in [0, 999], s0 in [0, 9]"],
        &[6000],
    );
    assert!(!got.is_exact && got.read.lower <= 5061 && got.read.upper >= 5000, "{got:?}");
    let undefined = [OperandIndexing::undefined("because")];
    let got = utilisation(&undefined, &Shape::array(ElementType::F32, &[8])).unwrap();
    assert_eq!((got.read, got.is_exact), (Count { lower: 0, upper: 8 }, false));
}

/// A map with the position of each runtime variable's value.
fn with_places(map: &str, places: &[&str]) -> OperandIndexing {
    let mut access = OperandIndexing::from(parse_map(map).unwrap());
    let variable = |place: &&str| RuntimeVariable {
        source: RuntimeSource::Operand(1),
        map: parse_map(place).unwrap(),
        feasible: Interval::ALL,
    };
    access.runtime_variables = places.iter().map(variable).collect();
    access
}

/// Each update of a scatter is written to one element.
#[test]
fn updates_land_once() {
    let scatter = "(d0, d1)[s0]{rt0} -> (s0, d1), domain: d0 in [0, 99], d1 in [0, 3], s0 in [0, 7], rt0 in [0, 99], d0 - rt0 in [0, 0]";
    let of_each = "(d0, d1)[s0] -> (s0, 0), domain: d0 in [0, 99], d1 in [0, 3], s0 in [0, 7]";
    let updates = Shape::array(ElementType::F32, &[8, 4]);
    let got = utilisation(&[with_places(scatter, &[of_each])], &updates).unwrap();
    assert_eq!((got.reads_per_element, got.read.upper), ((1.0, 1.0), 32), "{got:?}");
    // Elements shifted by runtime values of their own may coincide.
    let moved = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 3]";
    let operand = Shape::array(ElementType::F32, &[13]);
    for (place, is_once) in
        [("(d0) -> (d0), domain: d0 in [0, 9]", false), ("(d0) -> (0), domain: d0 in [0, 9]", true)]
    {
        let got = utilisation(&[with_places(moved, &[place])], &operand).unwrap();
        assert_eq!(got.reads_per_element.1 <= 1.0, is_once, "{place}: {got:?}");
    }
}

/// The offsets of a gather may all differ, or all be equal.
#[test]
fn rows_that_data_names() {
    let operand = Shape::array(ElementType::F32, &[1000, 4]);
    let rows = "(d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 99], d1 in [0, 3], rt0 in [0, 999]";
    let check = |place: &str, expect: (u64, u64)| {
        let place = format!("(d0, d1) -> ({place}), domain: d0 in [0, 99], d1 in [0, 3]");
        let got = utilisation(&[with_places(rows, &[&place])], &operand).unwrap();
        assert_eq!((got.read.lower, got.read.upper), expect, "{place}: {got:?}");
        assert_eq!(got.reads, Count::exactly(400));
    };
    check("d0, 0", (4, 400));
    check("d0 floordiv 10", (4, 40));
    check("0", (4, 4));
    let many = "(d0, d1){rt0} -> (rt0, d1), domain: d0 in [0, 99999], d1 in [0, 3], rt0 in [0, 999]";
    let place = "(d0, d1) -> (d0), domain: d0 in [0, 99999], d1 in [0, 3]";
    let got = utilisation(&[with_places(many, &[place])], &operand).unwrap();
    assert_eq!((got.read.lower, got.read.upper), (4, 4000), "{got:?}");
}

/// Accesses that are reported as reading elements once do so for made-up tables of runtime values.
#[test]
fn what_is_read_once() {
    let mut random = random::Rng::new(7);
    let mut seen = 0;
    for _ in 0..10_000 {
        let sum = |random: &mut random::Rng, names: &[&str]| {
            let term = |name: &&str| format!("{name} * {}", random.range(-2, 2));
            names.iter().map(term).collect::<Vec<_>>().join(" + ")
        };
        let names = ["d0", "d1", "s0", "rt0"];
        let results = [sum(&mut random, &names), sum(&mut random, &names)];
        let held = sum(&mut random, &names);
        let at = if random.flag() { "[0, 0]" } else { "[0, 1]" };
        let place = random.pick(&["0", "d0", "s0", "d0 + s0 * 3"]);
        let bounds = "d0 in [0, 2], d1 in [0, 1], s0 in [0, 2]";
        let map = format!(
            "(d0, d1)[s0]{{rt0}} -> ({}), domain: {bounds}, rt0 in [0, 2], {held} in {at}",
            results.join(", ")
        );
        let access = with_places(&map, &[&format!("(d0, d1)[s0] -> ({place}), domain: {bounds}")]);
        if !is_one_to_one(&access) || access.map.is_known_empty() {
            continue;
        }
        seen += 1;
        for _ in 0..5 {
            let table: Vec<i64> = (0..9).map(|_| random.range(0, 2)).collect();
            let mut met = FxHashSet::default();
            for n in 0..18 {
                let point = [n % 3, n / 3 % 2, n / 6];
                let at = access.runtime_variables[0].map.evaluate(&point).unwrap();
                let value = table[at[0] as usize];
                let read = access.map.evaluate(&[&point[..], &[value]].concat());
                assert!(read.is_none_or(|element| met.insert(element)), "{map} at {place} of {table:?}");
            }
        }
    }
    assert!(seen > 100, "{seen}");
}
