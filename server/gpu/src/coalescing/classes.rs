//! Exact counts without visiting every block. Blocks and iterations that shift all lanes by whole cache lines
//! request the same sectors, so only one of each class is visited. The grid is split where a constraint cuts
//! it.

use indexing_map::{BinaryOp, Expr, Interval, RangeContext, Variable, gcd};

use super::points::uses_lanes;
use super::shift::{Shift, lcm};
use super::traffic::Access;

/// Called with one combination of block and iteration that represents `times` of them.
pub(super) type Visit<'f> = dyn FnMut(&[i64], u64) + 'f;

/// The blocks and iterations of an access, grouped into classes.
pub(super) struct Classes<'a> {
    access: &'a Access<'a>,
    /// Ids of the variables in which blocks and iterations differ.
    outer: Vec<u32>,
    /// Per outer variable, the number of steps that move the address by whole lines; `None` if there is none.
    address: Vec<Option<i64>>,
    /// Per constraint and outer variable, the shift of the constraint.
    constraints: Vec<Vec<Option<Shift>>>,
    /// The same per result of the maps that group lanes by the position they gather from: all lanes shift
    /// alike.
    keys: Vec<Vec<Option<Shift>>>,
    /// The number of combinations and boxes that may still be visited.
    left: u64,
}

fn add_summands<'e>(e: &'e Expr, out: &mut Vec<&'e Expr>) {
    match e.as_binary() {
        Some((BinaryOp::Add, lhs, rhs)) => {
            add_summands(lhs, out);
            add_summands(rhs, out);
        }
        _ => out.push(e),
    }
}

/// The number of steps of `v` after which every summand has moved by a multiple of `unit`, the same in all
/// lanes.
fn address_period(summands: &[&Expr], v: u32, unit: i64) -> Option<i64> {
    let mut period = 1;
    for summand in summands.iter().filter(|e| e.uses_var(v)) {
        let (e, scale) = summand.as_scaled().unwrap_or((summand, 1));
        // A summand that all lanes share matters only modulo whole lines.
        let rest = unit / i64::try_from(gcd(scale, unit)).ok()?.max(1);
        if rest == 1 && !uses_lanes(e) {
            continue;
        }
        period = lcm(period, Shift::of(e, v)?.until_multiple_of(rest)?.period)?;
    }
    Some(period)
}

impl<'a> Classes<'a> {
    /// Groups positions that differ by a multiple of `unit` elements.
    pub(super) fn new(access: &'a Access<'a>, outer: Vec<u32>, unit: i64, budget: u64) -> Classes<'a> {
        let shifts = |e| outer.iter().map(|&v| Shift::of(e, v)).collect::<Vec<_>>();
        let address = access.map.results().first().map_or_else(Vec::new, |result| {
            // Lanes that all access one element are in one sector at any position.
            if !uses_lanes(result) && (access.element_bits as u64).is_power_of_two() {
                return vec![Some(1); outer.len()];
            }
            let mut summands = Vec::new();
            add_summands(result, &mut summands);
            outer.iter().map(|&v| address_period(&summands, v, unit)).collect()
        });
        let constraints = access.map.constraints().iter().map(|c| shifts(&c.expr)).collect();
        let keys = access.gathered_at.iter().flat_map(|m| m.results()).map(shifts).collect();
        Classes { access, outer, address, constraints, keys, left: budget }
    }

    /// Calls `visit` with the values of all variables (those that are not outer as in `values`) for one
    /// combination per class. `None` if there are more classes than the budget allows; the visits are then
    /// incomplete.
    pub(super) fn for_each(
        &mut self,
        bounds: &[Variable],
        values: &mut [i64],
        visit: &mut Visit<'_>,
    ) -> Option<()> {
        let mut bounds = bounds.to_vec();
        self.split(&mut bounds, values, visit)
    }

    fn split(&mut self, bounds: &mut Vec<Variable>, values: &mut [i64], visit: &mut Visit<'_>) -> Option<()> {
        self.left = self.left.checked_sub(1)?;
        let mut undecided = Vec::new();
        for (i, constraint) in self.access.map.constraints().iter().enumerate() {
            let range = RangeContext::new(bounds, &[]).range(&constraint.expr);
            if range.intersect(constraint.interval).is_empty() {
                return Some(());
            }
            if range.intersect(constraint.interval) != range {
                undecided.push(i);
            }
        }
        let mut periods = Vec::with_capacity(self.outer.len());
        for (at, &v) in self.outer.iter().enumerate() {
            let range = bounds[v as usize].bounds;
            let period = self.period(at, &undecided);
            if period.is_none() && range.lower < range.upper {
                return self.cut(v, &undecided, bounds, values, visit);
            }
            periods.push(period.unwrap_or(1));
        }
        self.visit_classes(bounds, &periods, values, visit)
    }

    /// The number of steps of an outer variable after which address and undecided constraints repeat.
    fn period(&self, at: usize, undecided: &[usize]) -> Option<i64> {
        let mut period = (*self.address.get(at)?)?;
        for &constraint in undecided {
            let shift = self.constraints[constraint][at].filter(|shift| shift.step == 0)?;
            period = lcm(period, shift.period)?;
        }
        for key in &self.keys {
            period = lcm(period, key[at]?.period)?;
        }
        Some(period)
    }

    /// Splits the range of `v` into a part from its lower end that meets all constraints, the first value
    /// that does not, and the rest.
    fn cut(
        &mut self,
        v: u32,
        undecided: &[usize],
        bounds: &mut Vec<Variable>,
        values: &mut [i64],
        visit: &mut Visit<'_>,
    ) -> Option<()> {
        let whole = bounds[v as usize].bounds;
        let mut parts = Vec::new();
        if undecided.is_empty() {
            // Only the address does not repeat: bisects the range.
            let middle = whole.lower + (whole.upper - whole.lower) / 2;
            parts.extend([Interval::new(whole.lower, middle), Interval::new(middle + 1, whole.upper)]);
        } else {
            let all_met = self.longest(v, whole, undecided, bounds, true);
            let from = all_met.map_or(whole.lower, |upper| upper + 1);
            parts.extend(all_met.map(|upper| Interval::new(whole.lower, upper)));
            if from <= whole.upper {
                let rest = Interval::new(from, whole.upper);
                let none_met = self.longest(v, rest, undecided, bounds, false);
                let next = none_met.map_or(from, |upper| upper + 1);
                if next <= whole.upper {
                    parts.push(Interval::point(next));
                    if next < whole.upper {
                        parts.push(Interval::new(next + 1, whole.upper));
                    }
                }
            }
            if parts == [whole] {
                parts = vec![Interval::point(whole.lower), Interval::new(whole.lower + 1, whole.upper)];
            }
        }
        for part in parts {
            bounds[v as usize].bounds = part;
            self.split(bounds, values, visit)?;
        }
        bounds[v as usize].bounds = whole;
        Some(())
    }

    /// The largest upper bound for `v` for which range analysis proves that all of these constraints are met
    /// (or that one is not).
    fn longest(
        &self,
        v: u32,
        within: Interval,
        constraints: &[usize],
        bounds: &mut [Variable],
        met: bool,
    ) -> Option<i64> {
        let mut holds = |upper: i64| {
            bounds[v as usize].bounds = Interval::new(within.lower, upper);
            let ranges = RangeContext::new(bounds, &[]);
            let all = &self.access.map.constraints();
            let mut ranges = constraints.iter().map(|&c| (ranges.range(&all[c].expr), all[c].interval));
            match met {
                // Constraints that depend on other variables stay undecided and cause no split here.
                true => ranges.all(|(range, wanted)| range.intersect(wanted) == range),
                false => ranges.any(|(range, wanted)| range.intersect(wanted).is_empty()),
            }
        };
        if !holds(within.lower) {
            return None;
        }
        let (mut good, mut bad) = (within.lower, within.upper.checked_add(1)?);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if holds(middle) { good = middle } else { bad = middle }
        }
        Some(good)
    }

    fn visit_classes(
        &mut self,
        bounds: &[Variable],
        periods: &[i64],
        values: &mut [i64],
        visit: &mut Visit<'_>,
    ) -> Option<()> {
        let sizes: Vec<i64> = self
            .outer
            .iter()
            .map(|&v| i64::try_from(bounds[v as usize].bounds.size()).unwrap_or(i64::MAX))
            .collect();
        let classes: Vec<i64> = sizes.iter().zip(periods).map(|(&size, &period)| size.min(period)).collect();
        let count = classes.iter().try_fold(1u64, |n, &c| n.checked_mul(c.unsigned_abs()))?;
        self.left = self.left.checked_sub(count)?;
        for number in 0..count {
            let (mut rest, mut times) = (number as i64, 1u64);
            for (at, &v) in self.outer.iter().enumerate() {
                let residue = rest % classes[at].max(1);
                rest /= classes[at].max(1);
                values[v as usize] = bounds[v as usize].bounds.lower + residue;
                let alike = (sizes[at] - residue - 1) / periods[at].max(1) + 1;
                times = times.checked_mul(alike.unsigned_abs())?;
            }
            visit(values, times);
        }
        Some(())
    }
}
