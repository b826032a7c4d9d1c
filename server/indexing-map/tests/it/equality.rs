//! Checks verdicts on equality and emptiness against enumeration: decided ones are correct.

use indexing_map::{Expr, IndexingMap, SimplifyMode, Verdict, same_function};
use proptest::prelude::*;

use crate::random_maps::{config, enlarged, expr, map, mutant};

/// The map's value at a point: `None` if an expression has no value, `Some(None)` outside the domain.
fn value(map: &IndexingMap, point: &[i64]) -> Option<Option<Vec<i64>>> {
    if !map.is_mapped() || !map.variables().iter().zip(point).all(|(v, &x)| v.bounds.contains(x)) {
        return Some(None);
    }
    let mut holds = true;
    for c in map.constraints() {
        holds &= c.interval.contains(c.expr.evaluate(point)?);
    }
    let results = map.results().iter().map(|r| r.evaluate(point)).collect::<Option<Vec<_>>>()?;
    Some(holds.then_some(results))
}

fn differ(a: &IndexingMap, b: &IndexingMap, point: &[i64]) -> bool {
    matches!((value(a, point), value(b, point)), (Some(x), Some(y)) if x != y)
}

/// Finds a point of one of the boxes at which the maps differ, by enumeration.
fn difference(a: &IndexingMap, b: &IndexingMap) -> Option<Vec<i64>> {
    [a, b].into_iter().filter(|m| m.is_mapped()).find_map(|over| {
        let free =
            IndexingMap::new(over.dims().to_vec(), over.ranges().to_vec(), over.runtime().to_vec(), vec![]);
        free.points(u64::MAX).unwrap().map(|(p, _)| p).find(|p| differ(a, b, p))
    })
}

fn assert_right(a: &IndexingMap, b: &IndexingMap, budget: usize) -> Result<(), TestCaseError> {
    match same_function(a, b, budget) {
        Verdict::Yes => {
            let found = difference(a, b);
            prop_assert!(found.is_none(), "yes, but {:?}\n  {}\n  {}", found, a, b);
        }
        Verdict::No { witness } => {
            prop_assert!(differ(a, b, &witness), "no, but {:?}\n  {}\n  {}", witness, a, b)
        }
        Verdict::Unknown => {}
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_simplified_map_is_never_another(map in map(), budget in prop_oneof![0usize..40, Just(5000usize)]) {
        let simple = map.clone().simplified(SimplifyMode::Replace);
        let verdict = same_function(&simple, &map, budget);
        prop_assert!(!matches!(verdict, Verdict::No { .. }), "{:?}\n  {}\n  {}", verdict, map, simple);
        if budget == 5000 && simple.is_mapped() { prop_assert_eq!(verdict, Verdict::Yes); }
        let large = enlarged(&map);
        let simple = large.clone().simplified(SimplifyMode::Replace);
        let verdict = same_function(&simple, &large, 60);
        prop_assert!(!matches!(verdict, Verdict::No { .. }), "{:?}\n  {}\n  {}", verdict, large, simple);
    }

    #[test]
    fn verdicts_on_mutants_are_right(map in map(), what in 0usize..5, at in 0usize..24, by in prop_oneof![Just(-1i64), 1i64..=3],
                                     budget in prop_oneof![0usize..20, 20usize..2000]) {
        let other = mutant(&map, what, at, by);
        if map.is_mapped() && !other.is_undefined() {
            assert_right(&map, &other, budget)?;
            assert_right(&map, &other.clone().simplified(SimplifyMode::Replace), budget)?;
            let (map, other) = (enlarged(&map), enlarged(&other));
            if let Verdict::No { witness } = same_function(&map, &other, 60) {
                prop_assert!(map.is_known_empty() || other.is_known_empty() || differ(&map, &other, &witness));
            }
        }
    }

    /// Two maps that share only the box, and two ways to write a sum of digits.
    #[test]
    fn verdicts_on_strangers_are_right(map in map(), e in expr(3), k in 2i64..=6, m in 1i64..=4, budget in 0usize..300) {
        let n = map.variables().len() as u32;
        let e = e.substitute(&mut |v| (v >= n).then_some(Expr::Var(v % n)));
        let digits = e.clone().floor_div(k * m) * (k * m) + e.clone().modulo(k * m).floor_div(k) * k + e.clone().modulo(k);
        assert_right(&map.with_results(vec![e.clone()]), &map.with_results(vec![digits]), budget)?;
        assert_right(&map.with_results(vec![e.clone()]), &map.with_results(vec![map.results().first().cloned().unwrap_or(e)]), budget)?;
    }

    #[test]
    fn emptiness_is_right(map in map(), budget in 0usize..200) {
        match map.is_empty(budget) {
            Verdict::Yes => prop_assert!(map.points(u64::MAX).unwrap().next().is_none(), "{}", map),
            Verdict::No { witness } => prop_assert!(map.contains(&witness), "{} {:?}", map, witness),
            Verdict::Unknown => prop_assert!(budget < 200),
        }
        if let Verdict::No { witness } = enlarged(&map).is_empty(budget) {
            prop_assert!(enlarged(&map).contains(&witness));
        }
    }
}
