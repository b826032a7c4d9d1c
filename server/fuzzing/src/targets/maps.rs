//! Text of indexing maps, and the simplifier.

use indexing_map::{IndexingMap, PrintStyle, SimplifyMode, parse_map, print_map};

/// Maps with more points in their box are simplified, but not compared.
const MAX_POINTS: u64 = 4096;

pub fn run(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Ok(map) = parse_map(&text) else { return false };
    let shown = print_map(&map, PrintStyle::Floordiv);
    match parse_map(&shown) {
        Ok(again) => assert_eq!(print_map(&again, PrintStyle::Floordiv), shown),
        Err(why) => panic!("{why:?}\n{shown}"),
    }
    for mode in [SimplifyMode::Replace, SimplifyMode::Preserve, SimplifyMode::Split] {
        let mut simple = map.clone();
        let outcome = simple.simplify(mode);
        assert_eq!((simple.num_dims(), simple.num_ranges()), (map.num_dims(), map.num_ranges()));
        if !outcome.bound_reached {
            let mut twice = simple.clone();
            assert!(!twice.simplify(mode).changed, "{map}\n -> {simple}\n -> {twice}");
        }
        same_where_it_has_values(&map, &simple);
    }
    map.is_mapped() && map.box_size() <= MAX_POINTS
}

/// Compares at the points of the box where each expression of the map has a value. Rewrites may change the others.
fn same_where_it_has_values(map: &IndexingMap, simple: &IndexingMap) {
    if !map.is_mapped() || map.box_size() > MAX_POINTS {
        return;
    }
    let free =
        IndexingMap::new(map.dims().to_vec(), map.ranges().to_vec(), map.runtime().to_vec(), Vec::new());
    let Some(points) = free.points(u64::MAX) else { return };
    let all = || map.results().iter().chain(map.constraints().iter().map(|constraint| &constraint.expr));
    for (point, _) in points {
        if all().all(|expression| expression.evaluate(&point).is_some()) {
            assert_eq!(simple.evaluate(&point), map.evaluate(&point), "{map}\n -> {simple}\nat {point:?}");
        }
    }
}
