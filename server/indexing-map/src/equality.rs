//! Equality of two maps as functions, and emptiness of domains: proven, refuted or unknown.

use random::Rng;

use crate::digits::Digits;
use crate::expr::Expr;
use crate::interval::Interval;
use crate::map::{IndexingMap, Variable};
use crate::range::RangeContext;
use crate::search::{Found, find};
use crate::simplify::{Simplifier, SimplifyMode};

/// The answer to a question about maps. `Yes` and `No` are proven.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Yes,
    /// The witness is a point, with values by flat id.
    No {
        witness: Vec<i64>,
    },
    Unknown,
}

/// Decides whether `a` and `b` are the same function on the same domain. Variables are matched by position;
/// names are ignored.
///
/// `No` comes with a point that is in one domain only, or where the results differ. Points at which some
/// expression of either map has no value (a division by zero, a value beyond 64 bits) are not compared. Maps
/// with different counts of variables or results are the same only if both are empty; otherwise the witness
/// is a point of one of them. Two undefined maps are the same; whether an undefined map equals any other is
/// unknown.
///
/// `budget` bounds the work: the number of points and boxes visited. Boxes with at most that many points are
/// compared point by point. For larger ones, both maps are simplified, in mixed radix too. Then each
/// constraint of one must follow from the domain of the other, and each difference of results must be zero,
/// by ranges or by branch and bound.
pub fn same_function(a: &IndexingMap, b: &IndexingMap, budget: usize) -> Verdict {
    if a.is_undefined() || b.is_undefined() {
        return if a.is_undefined() && b.is_undefined() { Verdict::Yes } else { Verdict::Unknown };
    }
    let signature = |m: &IndexingMap| (m.num_dims(), m.num_ranges(), m.num_runtime(), m.results().len());
    if a.is_known_empty() || b.is_known_empty() || signature(a) != signature(b) {
        return same_if_empty(a, b, budget);
    }
    if a == b {
        return Verdict::Yes;
    }
    let hull: Vec<Interval> =
        a.variables().iter().zip(b.variables()).map(|(x, y)| x.bounds.union(y.bounds)).collect();
    let size = hull.iter().fold(1u64, |n, i| n.saturating_mul(i.size()));
    let mut comparison = Comparison { a, b, budget };
    if size <= budget as u64 {
        return match box_points(&hull, size).find(|p| comparison.differ(p)) {
            Some(witness) => Verdict::No { witness },
            None => Verdict::Yes,
        };
    }
    if let Some(witness) = probes(&hull, size).find(|p| comparison.differ(p)) {
        return Verdict::No { witness };
    }
    // First in the usual form; if that does not decide, with all remainders split.
    match comparison.by_form(&hull, SimplifyMode::Replace) {
        Verdict::Unknown => comparison.by_form(&hull, SimplifyMode::Split),
        verdict => verdict,
    }
}

impl IndexingMap {
    /// Decides whether the domain is empty. `No` comes with one of its points. `Unknown` if `budget` (points
    /// and boxes visited) does not suffice, and for an undefined map. A point at which a constraint has no
    /// value is not in the domain.
    pub fn is_empty(&self, budget: usize) -> Verdict {
        let mut budget = budget;
        self.is_empty_within(&mut budget)
    }

    fn is_empty_within(&self, budget: &mut usize) -> Verdict {
        if self.is_undefined() {
            return Verdict::Unknown;
        }
        if self.is_known_empty() {
            return Verdict::Yes;
        }
        let lowest = self.variables().iter().map(|v| v.bounds.lower).collect::<Vec<_>>();
        if self.contains(&lowest) {
            return Verdict::No { witness: lowest };
        }
        let simple = self.with_results(Vec::new()).simplified(SimplifyMode::Replace);
        if simple.is_known_empty() {
            return Verdict::Yes;
        }
        // Half of the budget for each of the two forms.
        let mut share = *budget / 2;
        *budget -= share;
        let found = find(simple.variables(), simple.constraints(), &mut share, |p| self.contains(p));
        *budget += share;
        match found {
            Found::Point(witness) => return Verdict::No { witness },
            Found::Nothing => return Verdict::Yes,
            Found::Undecided => {}
        }
        let Some(digits) = Digits::new(simple.variables(), expressions(&simple)) else {
            return Verdict::Unknown;
        };
        let split = in_digits(&simple, &digits, SimplifyMode::Replace);
        if split.is_known_empty() {
            return Verdict::Yes;
        }
        let mut point = Vec::new();
        let accept = |p: &[i64]| {
            point = digits.point(p).unwrap_or_default();
            self.contains(&point)
        };
        match find(split.variables(), split.constraints(), budget, accept) {
            Found::Point(_) => Verdict::No { witness: point },
            Found::Nothing => Verdict::Yes,
            Found::Undecided => Verdict::Unknown,
        }
    }
}

/// Compares two maps if one is empty or their variables do not match.
fn same_if_empty(a: &IndexingMap, b: &IndexingMap, budget: usize) -> Verdict {
    let same_variables = a.variables().len() == b.variables().len();
    // A point at which some result has no value proves nothing.
    let valued = |map: &IndexingMap| match map.is_empty(budget / 2) {
        Verdict::No { witness } if map.evaluate(&witness).is_none() => Verdict::Unknown,
        verdict => verdict,
    };
    match (valued(a), valued(b)) {
        (Verdict::Yes, Verdict::Yes) => Verdict::Yes,
        (Verdict::Yes, Verdict::No { witness }) | (Verdict::No { witness }, Verdict::Yes)
            if !same_variables || (Comparison { a, b, budget }).differ(&witness) =>
        {
            Verdict::No { witness }
        }
        (Verdict::No { witness }, Verdict::No { .. }) => Verdict::No { witness },
        _ => Verdict::Unknown,
    }
}

fn expressions(map: &IndexingMap) -> impl Iterator<Item = &Expr> {
    map.results().iter().chain(map.constraints().iter().map(|c| &c.expr))
}

fn hull_variables(hull: &[Interval]) -> Vec<Variable> {
    hull.iter().map(|&i| Variable::from(i)).collect()
}

/// The map over digits, simplified. All variables are dimensions.
fn in_digits(map: &IndexingMap, digits: &Digits, mode: SimplifyMode) -> IndexingMap {
    let results = map.results().iter().map(|r| digits.rewrite(r)).collect();
    let mut split = IndexingMap::new(digits.variables.clone(), Vec::new(), Vec::new(), results);
    for (id, v) in map.variables().iter().enumerate() {
        split.add_constraint(digits.rewrite(&Expr::var(id)), v.bounds);
    }
    for c in digits.constraints.iter().cloned() {
        split.add_constraint(c.expr, c.interval);
    }
    for c in map.constraints() {
        split.add_constraint(digits.rewrite(&c.expr), c.interval);
    }
    split.simplified(mode)
}

struct Comparison<'a> {
    a: &'a IndexingMap,
    b: &'a IndexingMap,
    budget: usize,
}

impl Comparison<'_> {
    /// Compares the maps in simple form, and then over digits.
    fn by_form(&mut self, hull: &[Interval], mode: SimplifyMode) -> Verdict {
        let (x, y) = (self.a.clone().simplified(mode), self.b.clone().simplified(mode));
        if x == y {
            return Verdict::Yes;
        }
        if x.is_known_empty() || y.is_known_empty() {
            return same_if_empty(self.a, self.b, self.budget);
        }
        let digits = Digits::new(&hull_variables(hull), expressions(&x).chain(expressions(&y)));
        let (x, y) = match &digits {
            Some(digits) => {
                let (x, y) = (in_digits(&x, digits, mode), in_digits(&y, digits, mode));
                if !x.is_mapped() || !y.is_mapped() {
                    return same_if_empty(self.a, self.b, self.budget);
                }
                (x, y)
            }
            None => (x, y),
        };
        if x == y {
            return Verdict::Yes;
        }
        self.prove(&x, &y, digits.as_ref(), mode)
    }

    /// Whether the maps can be compared at the point and differ there.
    fn differ(&self, point: &[i64]) -> bool {
        let inside = |m: &IndexingMap| m.variables().iter().zip(point).all(|(v, &x)| v.bounds.contains(x));
        // `None` if some expression has no value. Outside the box no expression is evaluated.
        let value = |m: &IndexingMap| -> Option<Option<Vec<i64>>> {
            if !m.is_mapped() || !inside(m) {
                return Some(None);
            }
            let mut holds = true;
            for c in m.constraints() {
                holds &= c.interval.contains(c.expr.evaluate(point)?);
            }
            let results = m.results().iter().map(|r| r.evaluate(point)).collect::<Option<Vec<_>>>()?;
            Some(holds.then_some(results))
        };
        matches!((value(self.a), value(self.b)), (Some(x), Some(y)) if x != y)
    }

    /// Proves or refutes equality in general. `x` and `y` are `a` and `b` in simple form and, if given, over
    /// digits.
    fn prove(
        &mut self,
        x: &IndexingMap,
        y: &IndexingMap,
        digits: Option<&Digits>,
        mode: SimplifyMode,
    ) -> Verdict {
        let mut open = false;
        for (within, other) in [(x, y), (y, x)] {
            let bounds = other.variables().iter().enumerate().map(|(id, v)| (Expr::var(id), v.bounds));
            let constraints = other.constraints().iter().map(|c| (c.expr.clone(), c.interval));
            for (expr, interval) in bounds.chain(constraints) {
                match self.follows(within, &expr, interval, (digits, mode)) {
                    Verdict::Yes => {}
                    Verdict::Unknown => open = true,
                    no @ Verdict::No { .. } => return no,
                }
            }
        }
        for (p, q) in x.results().iter().zip(y.results()) {
            let difference = p.clone() - q.clone();
            if difference.is_too_large() {
                open = true;
                continue;
            }
            match self.follows(x, &difference, Interval::point(0), (digits, mode)) {
                Verdict::Yes => {}
                Verdict::Unknown => open = true,
                no @ Verdict::No { .. } => return no,
            }
        }
        if open { Verdict::Unknown } else { Verdict::Yes }
    }

    /// Decides whether `expr in interval` holds everywhere in the domain of `map`. The witness of a `No` is a
    /// point where the two maps differ.
    fn follows(
        &mut self,
        map: &IndexingMap,
        expr: &Expr,
        interval: Interval,
        (digits, mode): (Option<&Digits>, SimplifyMode),
    ) -> Verdict {
        let context = RangeContext::new(map.variables(), map.constraints());
        let simple = Simplifier::new(context, mode).simplify(expr);
        if interval.contains_interval(context.range(&simple)) {
            return Verdict::Yes;
        }
        let below = Interval::new(i64::MIN, interval.lower.saturating_sub(1));
        let above = Interval::new(interval.upper.saturating_add(1), i64::MAX);
        let mut verdict = Verdict::Yes;
        for (outside, exists) in [(below, interval.lower > i64::MIN), (above, interval.upper < i64::MAX)] {
            if !exists {
                continue;
            }
            let violated = map.with_results(Vec::new()).with_constraint(simple.clone(), outside);
            let mut share = self.budget / 4;
            self.budget -= share;
            let answer = violated.is_empty_within(&mut share);
            self.budget += share;
            match answer {
                Verdict::Yes => {}
                Verdict::Unknown => verdict = Verdict::Unknown,
                Verdict::No { witness } => {
                    let witness = match digits {
                        Some(digits) => digits.point(&witness).unwrap_or_default(),
                        None => witness,
                    };
                    if witness.len() == self.a.variables().len() && self.differ(&witness) {
                        return Verdict::No { witness };
                    }
                    // Some expression has no value there, which proves nothing about other points.
                    verdict = Verdict::Unknown;
                }
            }
        }
        verdict
    }
}

/// Returns every point of the hull, last variable fastest.
fn box_points(hull: &[Interval], size: u64) -> impl Iterator<Item = Vec<i64>> + '_ {
    let mut point: Vec<i64> = hull.iter().map(|i| i.lower).collect();
    (0..size).map(move |k| {
        if k > 0 {
            for (x, i) in point.iter_mut().zip(hull).rev() {
                if *x < i.upper {
                    *x += 1;
                    break;
                }
                *x = i.lower;
            }
        }
        point.clone()
    })
}

/// Returns corners and pseudo-random points of the hull, the same in every run.
fn probes(hull: &[Interval], size: u64) -> impl Iterator<Item = Vec<i64>> + '_ {
    const PROBES: u64 = 64;
    let mut rng = Rng::new(0);
    (0..PROBES.min(size)).map(move |k| {
        hull.iter()
            .map(|i| match rng.index(if k % 2 == 0 { 4 } else { 16 }) {
                0 => i.lower,
                1 => i.upper,
                _ => {
                    let span = (i128::from(i.upper) - i128::from(i.lower) + 1) as u128;
                    (i128::from(i.lower) + (u128::from(rng.next_u64()) % span) as i128) as i64
                }
            })
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_map;

    const BUDGET: usize = 2000;

    #[track_caller]
    fn check(a: &str, b: &str, expect: Option<bool>) {
        let (a, b) = (parse_map(a).unwrap(), parse_map(b).unwrap());
        for (a, b) in [(&a, &b), (&b, &a)] {
            let verdict = same_function(a, b, BUDGET);
            match &verdict {
                Verdict::Yes => assert_eq!(expect, Some(true)),
                Verdict::Unknown => assert_eq!(expect, None),
                Verdict::No { witness } => {
                    assert_eq!(expect, Some(false), "{witness:?}");
                    assert_ne!(a.evaluate(witness), b.evaluate(witness));
                }
            }
        }
    }

    #[test]
    fn small_boxes_are_enumerated() {
        check(
            "(d0) -> (d0 * d0 mod 3), domain: d0 in [0, 99]",
            "(d0) -> ((d0 mod 3) * d0 mod 3), domain: d0 in [0, 99]",
            Some(true),
        );
        check("(d0) -> (d0), domain: d0 in [0, 99]", "(d0) -> (d0), domain: d0 in [0, 98]", Some(false));
    }

    #[test]
    fn reshapes_back_and_forth_are_the_identity() {
        check(
            "(d0, d1) -> ((d0 * 1024 + d1) / 512 / 2, ((d0 * 1024 + d1) mod 512) + (d1 / 512) * 512), domain: d0 in [0, 4095], d1 in [0, 1023]",
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 4095], d1 in [0, 1023]",
            Some(true),
        );
        check(
            "(d0) -> ((d0 mod 4096) / 64 * 64 + (d0 mod 64) / 8 * 8 + d0 mod 8 + (d0 / 4096) * 4096), domain: d0 in [5, 9999999]",
            "(d0) -> (d0), domain: d0 in [5, 9999999]",
            Some(true),
        );
    }

    /// Splits remainders of sums, which XLA's simplifier does not.
    #[test]
    fn remainders_of_sums_are_split() {
        check(
            "(d0, d1) -> ((d0 * 3 + d1 + 3) mod 6), domain: d0 in [0, 99999], d1 in [0, 2]",
            "(d0, d1) -> (((d0 + 1) mod 2) * 3 + d1), domain: d0 in [0, 99999], d1 in [0, 2]",
            Some(true),
        );
        check(
            "(d0, d1)[s0] -> ((d0 * 18 + s0 * 12 + d1 + 1218) mod 192), domain: d0 in [0, 99999], d1 in [0, 5], s0 in [0, 99999]",
            "(d0, d1)[s0] -> (((d0 * 3 + s0 * 2 + 203) mod 32) * 6 + d1), domain: d0 in [0, 99999], d1 in [0, 5], s0 in [0, 99999]",
            Some(true),
        );
    }

    #[test]
    fn a_difference_in_one_corner_is_found() {
        check(
            "(d0, d1) -> (d0), domain: d0 in [0, 99999], d1 in [0, 99999], d0 + d1 in [0, 199997]",
            "(d0, d1) -> (d0), domain: d0 in [0, 99999], d1 in [0, 99999]",
            Some(false),
        );
        check(
            "(d0) -> (max(d0, 777777)), domain: d0 in [777770, 99999999]",
            "(d0) -> (d0), domain: d0 in [777770, 99999999]",
            Some(false),
        );
        check(
            "(d0) -> ((d0 / 1000) / 1000), domain: d0 in [0, 99999999]",
            "(d0) -> ((d0 + 1) / 1000000), domain: d0 in [0, 99999999]",
            Some(false),
        );
    }

    #[test]
    fn domains_may_be_written_differently() {
        check(
            "(d0, d1) -> (d0), domain: d0 in [0, 9999], d1 in [0, 9999], d0 * 10000 + d1 in [0, 49999]",
            "(d0, d1) -> (d0), domain: d0 in [0, 4], d1 in [0, 9999]",
            Some(true),
        );
        check(
            "(d0) -> (d0), domain: d0 in [0, 99999], d0 mod 6 in [5, 5]",
            "(d0) -> (d0), domain: d0 in [0, 99999], d0 mod 2 in [1, 1], d0 mod 3 in [2, 2]",
            Some(true),
        );
    }

    #[test]
    fn other_states() {
        check("unknown indexing", "unknown indexing", Some(true));
        check("KNOWN EMPTY", "(d0) -> (d0), domain: d0 in [0, 9999], d0 mod 8 in [45, 49]", Some(true));
        check(
            "(d0) -> (d0), domain: d0 in [0, 9999], d0 mod 8 in [45, 49]",
            "(d0) -> (d0), domain: d0 in [0, 9999]",
            Some(false),
        );
        check("unknown indexing", "(d0) -> (d0), domain: d0 in [0, 9]", None);
        check("unknown indexing", "() -> ()", None);
        // The first map is empty, but has a constraint without a value, so that no point shows a difference.
        check(
            "(d0) -> (d0), domain: d0 in [0, 99999], d0 mod 8 in [45, 49], d0 floordiv 0 in [0, 1]",
            "(d0) -> (d0), domain: d0 in [0, 99999]",
            None,
        );
        let (a, b) =
            (parse_map("() -> (1)").unwrap(), parse_map("(d0) -> (1), domain: d0 in [0, 3]").unwrap());
        assert_eq!(same_function(&a, &b, BUDGET), Verdict::No { witness: vec![] });
    }

    #[test]
    fn boxes_are_enumerated_in_order() {
        let hull = [Interval::new(-1, 1), Interval::new(5, 5), Interval::new(0, 1)];
        let points: Vec<Vec<i64>> = box_points(&hull, 6).collect();
        let expect: Vec<Vec<i64>> = (-1..=1).flat_map(|a| (0..=1).map(move |c| vec![a, 5, c])).collect();
        assert_eq!(points, expect);
    }

    #[test]
    fn hard_questions_stay_open() {
        check(
            "(d0, d1) -> (d0), domain: d0 in [1, 99999], d1 in [1, 99999], d0 * d1 mod 65537 in [0, 0]",
            "KNOWN EMPTY",
            None,
        );
    }
}
