//! The number of distinct elements of an operand that are read, and of their reads.

use indexing_map::{BinaryOp, Expr, IndexingMap, Interval, RangeContext};
use ir::Shape;
use rustc_hash::FxHashSet;

use crate::checks;
use crate::operand_indexing::OperandIndexing;

/// The maximum number of points of a domain that are enumerated, per group of variables.
const MAX_POINTS: u64 = 1 << 14;

/// A count with its error bound: at least `lower`, at most `upper`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    pub lower: u64,
    pub upper: u64,
}

/// The combined reads of all accesses to one operand, over all elements of the output.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utilisation {
    /// The number of elements of the operand.
    pub elements: u64,
    /// The number of elements read at least once.
    pub read: Count,
    /// The number of bytes of these elements; `None` if elements have no width.
    pub bytes_read: Option<Count>,
    /// The number of reads, with each element counted once per read.
    pub reads: Count,
    /// The minimum and maximum number of reads per read element. Zero if nothing is read.
    pub reads_per_element: (f64, f64),
    /// Whether all counts are exact and no access is an upper bound.
    pub is_exact: bool,
}

impl Count {
    fn exactly(n: u64) -> Count {
        Count { lower: n, upper: n }
    }

    fn times(self, other: Count) -> Count {
        Count { lower: self.lower.saturating_mul(other.lower), upper: self.upper.saturating_mul(other.upper) }
    }

    pub fn is_exact(self) -> bool {
        self.lower == self.upper
    }
}

/// The counts of one access: distinct elements, and points of its domain.
#[derive(Clone, Copy)]
struct Counts {
    distinct: Count,
    points: Count,
}

/// Counts the reads of `operand` (or of one leaf, if that is a tuple) by the accesses of one op or fusion, a
/// list as in [`crate::OpIndexing`] per operand. Exact if the domain splits into independent groups of
/// variables that are small or regular: each result is a sum that takes every value in its range, or none
/// twice. Otherwise an interval. A runtime variable may have any of its values. `None` for an operand that is
/// not an array of known size.
pub fn utilisation(accesses: &[OperandIndexing], operand: &Shape) -> Option<Utilisation> {
    let array = checks::array(operand, "the operand").ok()?;
    let elements = u64::try_from(array.elements()?).ok()?;
    let counts: Vec<Counts> = accesses.iter().map(|access| counts(access, elements)).collect();
    let sum = |of: &dyn Fn(&Counts) -> u64| counts.iter().fold(0u64, |n, c| n.saturating_add(of(c)));
    let reads = Count { lower: sum(&|c| c.points.lower), upper: sum(&|c| c.points.upper) };
    // For a single access, the groups usually give the count already.
    let of_one = match counts.as_slice() {
        [one] if one.distinct.is_exact() => Some(one.distinct.lower),
        _ => None,
    };
    let read = match of_one.or_else(|| union(accesses, &array.dims)) {
        Some(exact) => Count::exactly(exact),
        None => {
            let are_apart =
                accesses.iter().enumerate().all(|(i, a)| accesses[..i].iter().all(|b| are_disjoint(a, b)));
            let largest = counts.iter().map(|c| c.distinct.lower).max().unwrap_or(0);
            let all = sum(&|c| c.distinct.lower).min(elements);
            Count {
                lower: if are_apart { all } else { largest },
                upper: sum(&|c| c.distinct.upper).min(elements),
            }
        }
    };
    let are_known = accesses.iter().all(|access| !access.is_upper_bound);
    let are_one_to_one = accesses.iter().all(|access| access.map.is_mapped() && is_one_to_one(access));
    let most = if are_one_to_one { accesses.len() as f64 } else { f64::INFINITY };
    let lower = |n: u64| if are_known { n } else { 0 };
    let read = Count { lower: lower(read.lower), ..read };
    let reads = Count { lower: lower(reads.lower), ..reads };
    let bytes = array.bytes().filter(|_| elements > 0);
    let bytes_of =
        |n: u64, bytes: u64| (u128::from(n) * u128::from(bytes)).div_ceil(u128::from(elements)) as u64;
    let ratio = |a: u64, b: u64| if b == 0 { 0.0 } else { a as f64 / b as f64 };
    Some(Utilisation {
        elements,
        read,
        bytes_read: bytes
            .map(|bytes| Count { lower: bytes_of(read.lower, bytes), upper: bytes_of(read.upper, bytes) }),
        reads,
        reads_per_element: match read.is_exact() && reads.is_exact() {
            true => (ratio(reads.lower, read.lower), ratio(reads.lower, read.lower)),
            // Each element is read once.
            false => (
                ratio(reads.lower, read.upper).max(f64::from(u8::from(reads.upper > 0))),
                ratio(reads.upper, read.lower.max(1)).min(most),
            ),
        },
        is_exact: are_known && read.is_exact() && reads.is_exact(),
    })
}

/// Counts the union by enumerating all accesses, if that is little work and needs no runtime value.
fn union(accesses: &[OperandIndexing], dims: &[i64]) -> Option<u64> {
    let mut seen: FxHashSet<u64> = FxHashSet::default();
    for access in accesses {
        if access.map.is_undefined() || access.map.num_runtime() > 0 {
            return None;
        }
        for (_, place) in access.map.points(MAX_POINTS / accesses.len() as u64)? {
            // Overflows 64 bits only in the presence of a dimension of size 0, where nothing is read.
            let position = place.iter().zip(dims).try_fold(0u64, |position, (&index, &size)| {
                let index = u64::try_from(index).ok().filter(|_| index < size)?;
                position.checked_mul(size.unsigned_abs())?.checked_add(index)
            });
            seen.extend(position);
        }
    }
    Some(seen.len() as u64)
}

/// Whether each element of the operand belongs to at most one point of the domain. This holds if the element
/// determines every dimension and range variable. A result, or an expression that a constraint fixes to one
/// value, determines its only variable that is not determined yet; a runtime variable is determined by the
/// position of its value.
fn is_one_to_one(access: &OperandIndexing) -> bool {
    let map = &access.map;
    let runtime = map.num_dims() + map.num_ranges();
    let mut told: Vec<bool> =
        map.variables().iter().enumerate().map(|(v, of)| v < runtime && of.bounds.size() <= 1).collect();
    let held = map.constraints().iter().filter(|c| c.interval.size() == 1).map(|c| &c.expr);
    let telling: Vec<&Expr> = map.results().iter().chain(held).collect();
    loop {
        let mut found = Vec::new();
        for v in (runtime..told.len()).filter(|&v| !told[v]) {
            // Without a source it has one value for all points.
            let place = access.runtime_variables.get(v - runtime).map(|variable| &variable.map);
            let is_told = |place: &IndexingMap| {
                let missing = if place.num_ranges() == 0 { map.num_ranges() } else { 0 };
                let own = |u: u32| u as usize + if u as usize >= map.num_dims() { missing } else { 0 };
                let mut all = !place.is_undefined();
                place.results().iter().for_each(|e| {
                    e.for_each_var(&mut |u| all &= told.get(own(u)).copied().unwrap_or(false));
                });
                all
            };
            if place.is_none_or(is_told) {
                found.push(v);
            }
        }
        for expr in &telling {
            let mut open = None;
            let mut is_alone = true;
            expr.for_each_var(&mut |v| {
                if !told[v as usize] {
                    is_alone &= *open.get_or_insert(v) == v;
                }
            });
            found.extend(open.filter(|&v| is_alone && tells(expr, v)).map(|v| v as usize));
        }
        if found.is_empty() {
            return told[..runtime].iter().all(|&told| told);
        }
        found.into_iter().for_each(|v| told[v] = true);
    }
}

/// Whether the variable occurs once, in a summand with a nonzero factor, so that the value of the sum
/// determines it.
fn tells(e: &Expr, v: u32) -> bool {
    match e.as_binary() {
        None => e.as_var() == Some(v),
        Some((BinaryOp::Add, a, b)) => match (a.uses_var(v), b.uses_var(v)) {
            (true, false) => tells(a, v),
            (false, true) => tells(b, v),
            _ => false,
        },
        Some((BinaryOp::Mul, a, b)) => match (a.as_const(), b.as_const()) {
            (_, Some(factor)) => factor != 0 && tells(a, v),
            (Some(factor), _) => factor != 0 && tells(b, v),
            _ => false,
        },
        Some(_) => false,
    }
}

/// Whether the results of two accesses differ in some dimension for all values of the variables.
fn are_disjoint(a: &OperandIndexing, b: &OperandIndexing) -> bool {
    let (a, b) = (a.map.result_ranges(), b.map.result_ranges());
    a.iter().zip(&b).any(|(a, b)| a.intersect(*b).is_empty())
}

fn counts(access: &OperandIndexing, elements: u64) -> Counts {
    let map = &access.map;
    if map.is_undefined() {
        let unknown = Count { lower: 0, upper: u64::MAX };
        return Counts { distinct: Count { upper: elements, ..unknown }, points: unknown };
    }
    if map.is_known_empty() {
        return Counts { distinct: Count::exactly(0), points: Count::exactly(0) };
    }
    let (mut distinct, mut points) = (Count::exactly(1), Count::exactly(1));
    let runtime = map.num_dims() + map.num_ranges();
    for group in groups(map) {
        let counts = group.counts(map, runtime, access);
        distinct = distinct.times(counts.distinct);
        points = points.times(counts.points);
    }
    distinct.upper = distinct.upper.min(elements).min(points.upper);
    distinct.lower = distinct.lower.min(distinct.upper);
    Counts { distinct, points }
}

/// Variables that share a result or a constraint. Different groups are independent.
struct Group {
    variables: Vec<usize>,
    results: Vec<usize>,
    constraints: Vec<usize>,
}

fn groups(map: &IndexingMap) -> Vec<Group> {
    let count = map.variables().len();
    let mut of: Vec<usize> = (0..count).collect();
    let mut join = |e: &Expr| {
        let mut first = None;
        e.for_each_var(&mut |v| {
            let (from, to) = (of[v as usize], *first.get_or_insert(of[v as usize]));
            of.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
        });
    };
    map.results().iter().for_each(&mut join);
    map.constraints().iter().for_each(|constraint| join(&constraint.expr));
    let first = |e: &Expr| {
        let mut first = None;
        e.for_each_var(&mut |v| {
            first.get_or_insert(of[v as usize]);
        });
        first
    };
    let of_group = |group: usize| Group {
        variables: (0..count).filter(|&v| of[v] == group).collect(),
        results: (0..map.results().len()).filter(|&i| first(&map.results()[i]) == Some(group)).collect(),
        constraints: (0..map.constraints().len())
            .filter(|&i| first(&map.constraints()[i].expr) == Some(group))
            .collect(),
    };
    let mut ids = of.clone();
    ids.sort_unstable();
    ids.dedup();
    ids.into_iter().map(of_group).collect()
}

impl Group {
    fn counts(&self, map: &IndexingMap, runtime: usize, access: &OperandIndexing) -> Counts {
        let size = |v: usize| map.variables()[v].bounds.size();
        let free: Vec<usize> = self.variables.iter().copied().filter(|&v| v < runtime).collect();
        let has_runtime = free.len() < self.variables.len();
        let all = free.iter().fold(1u64, |n, &v| n.saturating_mul(size(v)));
        if has_runtime {
            return self.with_runtime(map, runtime, access, all);
        }
        // A sum without gaps or repetitions is not enumerated.
        if let ([result], true) = (self.results.as_slice(), self.constraints.is_empty()) {
            let distinct = sums(map, &map.results()[*result]);
            if distinct.is_exact() {
                return Counts { distinct, points: Count::exactly(all) };
            }
        }
        if let Some(counts) = self.enumerated(map, all) {
            return counts;
        }
        let points = match self.constraints.is_empty() {
            true => Count::exactly(all),
            false => Count { lower: 0, upper: all },
        };
        let distinct = match (self.results.as_slice(), self.constraints.is_empty()) {
            ([], true) => Count::exactly(1),
            (&[result], true) => sums(map, &map.results()[result]),
            _ => Count { lower: u64::from(self.constraints.is_empty()), upper: self.spread(map).min(all) },
        };
        Counts { distinct, points }
    }

    /// The number of values in the ranges of the results.
    fn spread(&self, map: &IndexingMap) -> u64 {
        let context = RangeContext::new(map.variables(), map.constraints());
        let ranges = self.results.iter().map(|&i| context.range(&map.results()[i]).size());
        ranges.fold(1, u64::saturating_mul)
    }

    fn enumerated(&self, map: &IndexingMap, all: u64) -> Option<Counts> {
        if all > MAX_POINTS {
            return None;
        }
        let mut point: Vec<i64> = map.variables().iter().map(|v| v.bounds.lower).collect();
        let mut seen = Seen::new(map, &self.results);
        let mut points = 0;
        for _ in 0..all {
            let holds = self.constraints.iter().all(|&i| {
                let constraint = &map.constraints()[i];
                constraint.expr.evaluate(&point).is_some_and(|value| constraint.interval.contains(value))
            });
            if holds {
                points += 1;
                seen.insert(self.results.iter().map(|&i| map.results()[i].evaluate(&point)))?;
            }
            for &v in self.variables.iter().rev() {
                let Interval { lower, upper } = map.variables()[v].bounds;
                if point[v] < upper {
                    point[v] += 1;
                    break;
                }
                point[v] = lower;
            }
        }
        Some(Counts { distinct: Count::exactly(seen.len()), points: Count::exactly(points) })
    }

    /// A runtime variable with one value for the whole output shifts the elements without changing counts, if
    /// it is only added to one result and occurs in no constraint. Otherwise the lower bound is the count for
    /// one value, which is 0 if a constraint may exclude it.
    fn with_runtime(&self, map: &IndexingMap, runtime: usize, access: &OperandIndexing, all: u64) -> Counts {
        let moves = |v: usize| {
            let uses = self.results.iter().filter(|&&i| map.results()[i].uses_var(v as u32)).count();
            let is_added = self.results.iter().all(|&i| is_added(&map.results()[i], v as u32, true));
            let variable = access.runtime_variables.get(v - runtime);
            let is_one = variable.is_some_and(|variable| {
                variable.feasible == map.variables()[v].bounds
                    && variable.map.results().iter().all(|e| e.as_const().is_some())
            });
            uses <= 1 && is_added && is_one
        };
        let is_moved = self.constraints.is_empty()
            && self.variables.iter().filter(|&&v| v >= runtime).all(|&v| moves(v));
        if is_moved {
            // Counts with every runtime variable 0.
            let zero = |e: &Expr| e.substitute(&mut |v| (v as usize >= runtime).then_some(Expr::ZERO));
            let still = map.with_results(map.results().iter().map(zero).collect());
            let group = Group {
                variables: self.variables.iter().copied().filter(|&v| v < runtime).collect(),
                results: self.results.clone(),
                constraints: Vec::new(),
            };
            return group.counts(&still, runtime, access);
        }
        let least = u64::from(self.constraints.is_empty());
        let points = if least == 1 { Count::exactly(all) } else { Count { lower: 0, upper: all } };
        // Each position from which a value is read may hold another value.
        let places =
            self.variables.iter().filter_map(|&v| access.runtime_variables.get(v.checked_sub(runtime)?));
        let most = places.fold(all, |n, variable| n.saturating_mul(places_of(&variable.map)));
        Counts { distinct: Count { lower: least, upper: self.spread(map).min(most) }, points }
    }
}

/// The maximum number of positions in the range of a map.
fn places_of(map: &IndexingMap) -> u64 {
    if map.is_undefined() {
        return u64::MAX;
    }
    let is_used = |v: &usize| map.results().iter().any(|result| result.uses_var(*v as u32));
    let points = (0..map.variables().len())
        .filter(is_used)
        .fold(1u64, |n, v| n.saturating_mul(map.variables()[v].bounds.size()));
    let spread = map.result_ranges().iter().fold(1u64, |n, range| n.saturating_mul(range.size()));
    points.min(spread)
}

/// The set of visited results: a bit for each if their ranges are small, else a hash set.
enum Seen {
    Bits { ranges: Vec<Interval>, bits: Vec<u64>, count: u64 },
    Set(FxHashSet<Vec<i64>>),
}

/// The maximum number of bits, which take less memory than a set of [`MAX_POINTS`].
const MAX_BITS: u64 = 1 << 20;

impl Seen {
    fn new(map: &IndexingMap, results: &[usize]) -> Seen {
        let context = RangeContext::new(map.variables(), &[]);
        let ranges: Vec<Interval> = results.iter().map(|&i| context.range(&map.results()[i])).collect();
        match ranges.iter().try_fold(1u64, |n, r| n.checked_mul(r.size()).filter(|&n| n <= MAX_BITS)) {
            Some(size) => Seen::Bits { ranges, bits: vec![0; size.div_ceil(64) as usize], count: 0 },
            None => Seen::Set(FxHashSet::default()),
        }
    }

    /// Adds a result. `None` if it has no value.
    fn insert(&mut self, mut values: impl Iterator<Item = Option<i64>>) -> Option<()> {
        match self {
            Seen::Bits { ranges, bits, count } => {
                let mut at = 0u64;
                for (range, value) in ranges.iter().zip(values) {
                    at = at * range.size() + value?.abs_diff(range.lower);
                }
                let (word, bit) = (bits.get_mut((at / 64) as usize)?, 1u64 << (at % 64));
                *count += u64::from(*word & bit == 0);
                *word |= bit;
            }
            Seen::Set(set) => _ = set.insert(values.by_ref().collect::<Option<_>>()?),
        }
        Some(())
    }

    fn len(&self) -> u64 {
        match self {
            Seen::Bits { count, .. } => *count,
            Seen::Set(set) => set.len() as u64,
        }
    }
}

/// Whether the variable occurs only as a summand with factor 1. (`is_sum`: the path so far.)
fn is_added(e: &Expr, v: u32, is_sum: bool) -> bool {
    match e.as_binary() {
        _ if !e.uses_var(v) => true,
        None => is_sum,
        Some((BinaryOp::Add, a, b)) => {
            !(a.uses_var(v) && b.uses_var(v)) && is_added(a, v, is_sum) && is_added(b, v, is_sum)
        }
        Some(_) => false,
    }
}

/// The number of distinct values of a sum of variables with factors. From the smallest factor up, as long as
/// each step is at most one more than the span of the smaller ones, every value in between occurs; a step
/// beyond that span repeats no value.
fn sums(map: &IndexingMap, result: &Expr) -> Count {
    let mut terms: Vec<(u64, u64)> = Vec::new();
    let mut is_linear = true;
    crate::inverse::summands(result, 1, &mut |term, factor| match (term.as_var(), factor) {
        (Some(v), Some(factor)) => {
            terms.push((factor.unsigned_abs(), map.variables()[v as usize].bounds.size()));
        }
        _ => is_linear &= term.as_const().is_some(),
    });
    let range = RangeContext::new(map.variables(), map.constraints()).range(result).size();
    if !is_linear {
        // The terms do not include the variables of other summands.
        return Count { lower: 1, upper: range };
    }
    let points = terms.iter().fold(1u64, |n, (_, size)| n.saturating_mul(*size));
    let unknown = Count { lower: 1, upper: range.min(points) };
    terms.sort_unstable();
    // The values so far are multiples of the first factor, with or without gaps.
    let (mut distinct, mut span, mut has_gaps) = (1u64, 0u64, false);
    let unit = terms.first().map_or(1, |(factor, _)| *factor).max(1);
    for (factor, size) in terms {
        let reach = factor.saturating_mul(size.saturating_sub(1));
        if reach == 0 {
            continue;
        }
        let next = span.saturating_add(reach);
        if !has_gaps && factor % unit == 0 && factor <= span.saturating_add(unit) {
            distinct = next / unit + 1;
        } else if factor > span {
            has_gaps = true;
            distinct = distinct.saturating_mul(size);
        } else {
            return unknown;
        }
        span = next;
    }
    Count::exactly(distinct)
}

#[cfg(test)]
mod tests;
