//! Every rewrite keeps the function and the domain, checked by enumeration on small random domains.

use indexing_map::{
    BinaryOp, Expr, IndexingMap, Interval, PrintStyle, SimplifyMode, Variable, parse_expr, parse_map,
    print_map,
};
use proptest::prelude::*;

use crate::random_maps::{config, expr, map};

/// All points of the box, with the value of the map. Points at which an expression has no value are left out:
/// rewrites may change the behaviour there.
fn table(map: &IndexingMap, over: &IndexingMap) -> Vec<Option<Vec<i64>>> {
    let free =
        IndexingMap::new(over.dims().to_vec(), over.ranges().to_vec(), over.runtime().to_vec(), vec![]);
    free.points(u64::MAX)
        .unwrap()
        .map(|(p, _)| {
            let defined = over
                .results()
                .iter()
                .chain(over.constraints().iter().map(|c| &c.expr))
                .all(|e| e.evaluate(&p).is_some());
            if defined { map.evaluate(&p) } else { None }
        })
        .collect()
}

#[track_caller]
fn assert_same(got: &IndexingMap, expect: &IndexingMap) -> Result<(), TestCaseError> {
    if !expect.is_mapped() {
        return Ok(());
    }
    let (a, b) = (table(got, expect), table(expect, expect));
    let differ = a.iter().zip(&b).position(|(a, b)| a != b);
    prop_assert!(
        differ.is_none(),
        "\n     {}\n  -> {}\n{:?} {:?}",
        expect,
        got,
        a[differ.unwrap()],
        b[differ.unwrap()]
    );
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn canonical_form_has_the_same_values(e in expr(2)) {
        let c = e.canonicalize();
        prop_assert_eq!(&c.canonicalize(), &c, "{}", e);
        for x in -13..=13 {
            for y in -6..=14 {
                if let Some(v) = e.evaluate(&[x, y]) {
                    prop_assert_eq!(c.evaluate(&[x, y]), Some(v), "{} -> {} at {} {}", e, c, x, y);
                }
            }
        }
    }

    #[test]
    fn simplified_map_is_the_same_function(map in map(), mode in 0usize..3) {
        let mode = [SimplifyMode::Replace, SimplifyMode::Preserve, SimplifyMode::Split][mode];
        let mut simple = map.clone();
        let outcome = simple.simplify(mode);
        prop_assert!(!outcome.bound_reached);
        prop_assert_eq!(simple.num_dims(), map.num_dims());
        prop_assert_eq!(simple.num_ranges(), map.num_ranges());
        assert_same(&simple, &map)?;
        let mut twice = simple.clone();
        prop_assert!(!twice.simplify(mode).changed, "{}\n -> {}\n -> {}", map, simple, twice);
        prop_assert_eq!(twice, simple);
    }

    #[test]
    fn composition_is_application_twice(first in map(), second in map()) {
        if first.is_mapped() && second.is_mapped() && first.results().len() == second.num_dims() {
            let both = first.compose(&second);
            let simple = both.clone().simplified(SimplifyMode::Replace);
            let (d, s, r) = (first.num_dims(), second.num_ranges(), first.num_ranges());
            let free = IndexingMap::new(first.dims().to_vec(),
                [second.ranges(), first.ranges()].concat(), vec![], vec![]);
            for (p, _) in free.points(u64::MAX).unwrap() {
                let inner = first.evaluate(&[&p[..d], &p[d + s..d + s + r]].concat());
                let expect = inner.as_ref().and_then(|i| second.evaluate(&[&i[..], &p[d..d + s]].concat()));
                prop_assert_eq!(&both.evaluate(&p), &expect, "{} * {} at {:?}", first, second, p);
                if expect.is_some() {
                    prop_assert_eq!(&simple.evaluate(&p), &expect, "{} * {} at {:?}", first, second, p);
                }
            }
        }
    }

    #[test]
    fn unused_symbols_leave_the_projection(map in map()) {
        let mut removed = map.clone();
        let dims = map.num_dims();
        let bits = removed.remove_unused_symbols();
        prop_assert_eq!(removed.variables().len(), bits.iter().filter(|b| !**b).count());
        if map.is_mapped() && map.prove_empty(100_000) == Some(false) {
            let project = |m: &IndexingMap| {
                let mut all: Vec<_> = m.points(u64::MAX).unwrap().map(|(p, r)| (p[..dims].to_vec(), r)).collect();
                all.sort();
                all.dedup();
                all
            };
            let defined = map.results().iter().chain(map.constraints().iter().map(|c| &c.expr))
                .all(|e| map.points(u64::MAX).unwrap().all(|(p, _)| e.evaluate(&p).is_some()));
            if defined { prop_assert_eq!(project(&removed), project(&map)); }
        }
    }

    #[test]
    fn rescaled_map_has_the_same_image(map in map(), c in 2i64..=5, r in 0i64..=4) {
        if map.num_ranges() > 0 && map.is_mapped() {
            let mut map = map.clone().with_constraint(map.range(0).modulo(c), Interval::point(r % c));
            let image = |m: &IndexingMap| {
                let mut all: Vec<_> = m.points(u64::MAX).unwrap().map(|(p, r)| (p[..m.num_dims()].to_vec(), r)).collect();
                all.sort();
                all
            };
            let before = image(&map);
            map.rescale_symbols();
            prop_assert_eq!(image(&map), before, "{}", map);
        }
    }

    #[test]
    fn ranges_contain_the_values(map in map()) {
        let ranges = map.result_ranges();
        for (p, values) in map.points(u64::MAX).unwrap() {
            for (v, r) in values.iter().zip(&ranges) {
                prop_assert!(r.contains(*v), "{} {:?} {} {}", map, p, v, r);
            }
        }
        let found = map.find_point(20_000);
        if let Some(found) = found && map.is_mapped() {
            let any = map.points(u64::MAX).unwrap().next().is_some();
            prop_assert!(found.is_some() || !any);
            prop_assert!(found.is_none_or(|p| map.contains(&p)));
        }
    }

    #[test]
    fn printed_maps_parse_back(map in map(), symbolic in any::<bool>()) {
        let style = if symbolic { PrintStyle::Symbolic } else { PrintStyle::Floordiv };
        let text = print_map(&map, style);
        let again = parse_map(&text).unwrap();
        if map.is_mapped() { prop_assert_eq!(&again, &map, "{}", text); }
        prop_assert_eq!(print_map(&again, style), text);
    }

    #[test]
    fn printed_expressions_parse_back(e in expr(3), c in any::<i64>(), op in 0usize..7) {
        let e = Expr::binary(BinaryOp::ALL[op], e, Expr::Const(c));
        prop_assert_eq!(parse_expr(&e.to_string()).unwrap(), e);
    }

    #[test]
    fn any_text_is_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80),
                                     tokens in prop::collection::vec(0usize..TOKENS.len(), 0..60)) {
        let noise = String::from_utf8_lossy(&bytes).into_owned();
        let structured: String = tokens.iter().map(|&t| TOKENS[t]).collect();
        for text in [&noise, &structured] {
            for error in [parse_map(text).err(), parse_expr(text).err()].into_iter().flatten() {
                prop_assert!(error.offset <= text.len());
            }
            if let Ok(mut m) = parse_map(text) { m.simplify(SimplifyMode::Replace); }
            if let Ok(e) = parse_expr(text) { e.canonicalize(); }
        }
    }

    #[test]
    fn huge_numbers_neither_panic_nor_lie(a in any::<i64>(), b in any::<i64>(), c in any::<i64>(), l in any::<i64>(), u in any::<i64>(),
                                          ops in prop::collection::vec(0usize..7, 3), x in any::<i64>()) {
        let e = Expr::binary(BinaryOp::ALL[ops[0]], Expr::Var(0), Expr::Const(a));
        let e = Expr::binary(BinaryOp::ALL[ops[1]], e, Expr::Const(b));
        let e = Expr::binary(BinaryOp::ALL[ops[2]], e.clone(), Expr::binary(BinaryOp::ALL[ops[0]], e, Expr::Const(c)));
        let canonical = e.canonicalize();
        for x in [x, x >> 32, x >> 50, 0, 1, -1, i64::MIN, i64::MAX] {
            if let (Some(v), Some(w)) = (e.evaluate(&[x]), canonical.evaluate(&[x])) {
                prop_assert_eq!(v, w, "{} -> {} at {}", e, canonical, x);
            }
        }
        let map = IndexingMap::new(vec![Variable::new(l.min(u), l.max(u))], vec![], vec![], vec![e.clone()])
            .with_constraint(e, Interval::new(b.min(c), b.max(c)));
        let simple = map.clone().simplified(SimplifyMode::Replace);
        for x in [l, u, (l >> 1) + (u >> 1), 0, x] {
            if let (Some(v), Some(w)) = (map.evaluate(&[x]), simple.evaluate(&[x])) { prop_assert_eq!(v, w); }
            if map.evaluate(&[x]).is_some() { prop_assert!(simple.variables()[0].bounds.contains(x), "{} -> {} at {}", map, simple, x); }
        }
    }
}

const TOKENS: [&str; 34] = [
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "d0",
    "d1",
    "s0",
    "rt0",
    "v0",
    " ",
    ",",
    " -> ",
    "->",
    "domain:",
    " in ",
    "in",
    "+",
    "-",
    "*",
    "/",
    " mod ",
    " floordiv ",
    " ceildiv ",
    "min(",
    "max(",
    "0",
    "7",
    "9223372036854775808",
    "-1",
    "(d0) -> (",
    "), domain: d0 in [0, 9]",
    "é",
];
