use crate::map::Variable;
use crate::range::RangeContext;
use crate::simplify::Simplifier;
use crate::text::parse_map;
use crate::{Expr, IndexingMap, Interval, PrintStyle, SimplifyMode, parse_expr, print_map};

#[track_caller]
fn check(map: &str, expect: &str) {
    let mut m = parse_map(map).unwrap();
    let outcome = m.simplify(SimplifyMode::Replace);
    assert!(!outcome.bound_reached);
    assert_eq!(print_map(&m, PrintStyle::Symbolic), expect);
    let again = m.clone();
    assert!(!m.simplify(SimplifyMode::Replace).changed);
    assert_eq!(m, again);
}

#[test]
fn reshapes_cancel() {
    check(
        "(d0, d1) -> ((d0 mod 8) * 128 + d1 + (d0 / 8) * 1024), domain: d0 in [0, 1023], d1 in [0, 127]",
        "(d0, d1) -> (d0 * 128 + d1), domain: d0 in [0, 1023], d1 in [0, 127]",
    );
}

#[test]
fn canonical_form() {
    let c = |text: &str| parse_expr(text).unwrap().canonicalize().to_text(PrintStyle::Symbolic);
    assert_eq!(c("min(v0, v1) + min(v0, v1)"), "min(v0, v1) * 2");
    assert_eq!(c("max(v0, v0 + 1)"), "v0 + 1");
}

/// XLA drops the constant of a dividend only if it is below the common divisor or a multiple of it. The
/// function is the same.
#[test]
fn constants_of_dividends_as_xla_writes_them() {
    let variables = [Variable::from(Interval::new(0, 1 << 20))];
    let simple = |text: &str, mode: SimplifyMode| {
        let e = parse_expr(text).unwrap();
        Simplifier::new(RangeContext::new(&variables, &[]), mode).simplify(&e)
    };
    for (text, verbatim) in [
        ("(v0 * 4 + 1) floordiv 254", "(v0 * 2) floordiv 127"),
        ("(v0 * 4 + 2) floordiv 254", "(v0 * 2 + 1) floordiv 127"),
        ("(v0 * 4 + 3) floordiv 254", "(v0 * 4 + 3) floordiv 254"),
        ("(v0 * 6 + 9) floordiv 12", "(v0 * 2 + 3) floordiv 4"),
    ] {
        let simple = |mode| simple(text, mode);
        assert_eq!(simple(SimplifyMode::Verbatim), parse_expr(verbatim).unwrap(), "{text}");
        for x in 0..600 {
            let at = |e: crate::Expr| e.substitute(&mut |_| Some(Expr::Const(x))).canonicalize();
            assert_eq!(at(simple(SimplifyMode::Verbatim)), at(simple(SimplifyMode::Replace)), "{text}, {x}");
        }
    }
}

/// A dividend is multiplied only where it stays within 64 bits.
#[test]
fn large_divisors_are_joined_within_64_bits() {
    for (lower, upper, joins) in [(0, 1 << 40, true), (i64::MIN, 5, false), (0, i64::MAX, false)] {
        let variables = [Variable::new(0, 1 << 40), Variable::new(lower, upper)];
        let e = parse_expr("(v0 floordiv 3 + v1) floordiv 1073741824").unwrap();
        let simple = Simplifier::new(RangeContext::new(&variables, &[]), SimplifyMode::Replace).simplify(&e);
        let expect = if joins {
            "(v1 * 3 + v0) floordiv 3221225472"
        } else {
            "(v0 floordiv 3 + v1) floordiv 1073741824"
        };
        assert_eq!(simple, parse_expr(expect).unwrap(), "[{lower}, {upper}]");
    }
}

#[test]
fn remainders_join() {
    check(
        "(d0) -> (((d0 / 8) mod 8) * 8 + d0 mod 8, (d0 / 64) * 64 + d0 mod 64), domain: d0 in [0, 999]",
        "(d0) -> (d0 mod 64, d0), domain: d0 in [0, 999]",
    );
}

/// Bugs of XLA's simplifier (`oracle_xla_bugs`): bounds below zero, and small terms that do matter.
#[test]
fn sound_where_xla_is_not() {
    check(
        "(d0) -> (d0), domain: d0 in [-3, 96], d0 mod 4 in [2, 2]",
        "(d0) -> (d0), domain: d0 in [-2, 94], d0 mod 4 in [2, 2]",
    );
    check(
        "(d0)[s0] -> (s0), domain: d0 in [10, 16], s0 in [0, 15], s0 * 32 + d0 in [0, 100]",
        "(d0)[s0] -> (s0), domain: d0 in [10, 16], s0 in [0, 2]",
    );
    check("(d0) -> (d0), domain: d0 in [0, 9], d0 mod 16 in [13, 13]", "KNOWN EMPTY");
    check(
        "(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [-99, 99], s0 / -3 in [-11, -5]",
        "(d0)[s0] -> (d0), domain: d0 in [0, 9], s0 in [13, 33]",
    );
}

#[test]
fn a_constraint_on_a_sum_counts_inside_larger_sums() {
    check(
        "(d0, d1) -> ((d0 * 20 + d1 * 2 + 1) / 100), domain: d0 in [0, 9], d1 in [0, 9], d0 * 10 + d1 in [0, 47]",
        "(d0, d1) -> (0), domain: d0 in [0, 9], d1 in [0, 9], d0 * 10 + d1 in [0, 47]",
    );
}

/// Bounds follow from constraints where that simplifies something; a chain of constraints may have an empty
/// domain.
#[test]
fn constraints_reach_the_bounds() {
    check("(d0) -> (d0), domain: d0 in [0, 99], d0 mod 8 in [45, 49]", "KNOWN EMPTY");
    check(
        "(d0, d1, d2) -> (d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 99], d0 * 10 + d1 in [50, 99], \
         d2 - d0 * 3 in [0, 5], d2 + d1 * 2 in [0, 14]",
        "KNOWN EMPTY",
    );
    check(
        "(d0, d1) -> (d0 mod 8), domain: d0 in [0, 99], d1 in [0, 9], d0 * 2 + d1 * 3 in [0, 15]",
        "(d0, d1) -> (d0), domain: d0 in [0, 7], d1 in [0, 5], d0 * 2 + d1 * 3 in [0, 15]",
    );
    let mut map =
        parse_map("(d0, d1) -> (d0), domain: d0 in [0, 99], d1 in [0, 9], d0 * 2 + d1 * 3 in [0, 15]")
            .unwrap();
    assert!(map.tighten_bounds() && !map.tighten_bounds());
    assert_eq!(
        map.to_string(),
        "(d0, d1) -> (d0), domain: d0 in [0, 7], d1 in [0, 5], d0 * 2 + d1 * 3 in [0, 15]"
    );
}

/// The ranges of `x` and of its quotients and remainders are correlated.
#[test]
fn correlated_terms() {
    check(
        "(d0) -> (max(d0 / 2, d0 / 4), max(d0 mod 8, d0), min(d0, d0 / 4 + 3)), domain: d0 in [0, 99]",
        "(d0) -> (d0 / 2, d0, min(d0 / 4 + 3, d0)), domain: d0 in [0, 99]",
    );
    check("(d0) -> ((d0 - d0 mod 4) / 4), domain: d0 in [0, 99]", "(d0) -> (d0 / 4), domain: d0 in [0, 99]");
}

#[test]
fn constraints_reach_digits_and_other_constraints() {
    check(
        "(d0) -> ((d0 / 8) mod 2), domain: d0 in [0, 99], d0 mod 16 in [0, 7]",
        "(d0) -> (0), domain: d0 in [0, 99], d0 mod 16 in [0, 7]",
    );
    check(
        "(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 9], d0 + d1 in [4, 5], (d0 + d1) mod 3 in [0, 0]",
        "KNOWN EMPTY",
    );
}

/// The value stays with any work bound, and reaching the bound is reported.
#[test]
fn the_work_bound_is_reported() {
    let e =
        parse_expr("((v0 * 8 + v1) mod 64) / 8 + ((v0 * 8 + v1) / 64) * 8 + max(v0, v0 + v1) mod 7").unwrap();
    let variables = [Variable::new(0, 40), Variable::new(0, 7)];
    let mut met = 0;
    for work in 0..60 {
        let mut simplifier = Simplifier::new(RangeContext::new(&variables, &[]), SimplifyMode::Replace);
        simplifier.work_left = work;
        // Each round needs a new expression, because nodes cache in which context they are simple.
        let simple = simplifier.simplify(&e.substitute(&mut |v| Some(Expr::Var(v))));
        met += u32::from(simplifier.bound_reached());
        for p in [[0, 0], [40, 7], [17, 3]] {
            assert_eq!(simple.evaluate(&p), e.evaluate(&p), "{work}: {simple}");
        }
    }
    assert!((5..60).contains(&met), "{met}");
}

#[test]
fn preserve_keeps_dimensions_of_size_one() {
    let map = parse_map("(d0, d1) -> (d0 + d1 * 8), domain: d0 in [0, 0], d1 in [0, 3]").unwrap();
    let simple = map.simplified(SimplifyMode::Preserve);
    assert_eq!(simple.to_string(), "(d0, d1) -> (d1 * 8 + d0), domain: d0 in [0, 0], d1 in [0, 3]");
}

/// The deepest expressions must fit the 2 MiB stack of a worker thread, and finish within the work bound.
#[test]
fn deepest_expressions() {
    let wrap: [fn(Expr, i64) -> Expr; 6] = [
        |e, k| (e + Expr::var(0)).floor_div(k % 3 + 2),
        |e, k| (e * (k % 5 + 2) + Expr::var(1)).modulo(k % 7 + 9) + Expr::var(0),
        |e, k| e.max(Expr::var((k % 2) as usize) * 3) + k,
        |e, k| Expr::var(0) * e.min(k) + Expr::var(1),
        |e, k| (e + k).ceil_div(Expr::var(1)).modulo(k + 1000),
        |e, _| Expr::var(0) - e.floor_div(2) * 2,
    ];
    for start in 0..wrap.len() {
        for mixed in [false, true] {
            let mut e = Expr::var(1);
            for k in 0.. {
                let next = wrap[if mixed { (start + k as usize) % wrap.len() } else { start }](e.clone(), k);
                if next.is_too_large() {
                    break;
                }
                e = next;
            }
            let map = IndexingMap::from_sizes(&[100, 1000], &[], vec![e.clone()])
                .with_constraint(e.clone(), Interval::new(-5, 1 << 40));
            let simple = map.clone().simplified(SimplifyMode::Replace);
            for p in [[0, 0], [99, 999], [17, 230]] {
                if let Some(value) = map.evaluate(&p) {
                    assert_eq!(simple.evaluate(&p), Some(value));
                }
            }
            e.canonicalize();
        }
    }
}
