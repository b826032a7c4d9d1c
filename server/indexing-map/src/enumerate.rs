//! Points of a map's domain, by enumeration and by branch and bound.

use crate::interval::Interval;
use crate::map::{IndexingMap, Variable};
use crate::range::RangeContext;

impl IndexingMap {
    /// Number of points in the box of the bounds, ignoring constraints; saturates. Zero for an empty map, and for an
    /// undefined one.
    pub fn box_size(&self) -> u64 {
        if !self.is_mapped() {
            return 0;
        }
        self.variables.iter().fold(1u64, |n, v| n.saturating_mul(v.bounds.size()))
    }

    /// Every point of the domain with its results, last variable fastest. `None` when the box has more than `limit`
    /// points.
    pub fn points(&self, limit: u64) -> Option<impl Iterator<Item = (Vec<i64>, Vec<i64>)> + '_> {
        let size = self.box_size();
        if size > limit {
            return None;
        }
        let mut point: Vec<i64> = self.variables.iter().map(|v| v.bounds.lower).collect();
        Some((0..size).filter_map(move |k| {
            if k > 0 {
                for (x, v) in point.iter_mut().zip(&self.variables).rev() {
                    if *x < v.bounds.upper {
                        *x += 1;
                        break;
                    }
                    *x = v.bounds.lower;
                }
            }
            self.evaluate(&point).map(|results| (point.clone(), results))
        }))
    }

    /// Is the domain empty? Decided by branch and bound with at most `budget` boxes; `None` when that is not enough, and
    /// for an undefined map.
    pub fn prove_empty(&self, budget: usize) -> Option<bool> {
        if self.is_undefined() {
            return None;
        }
        if self.is_known_empty() {
            return Some(true);
        }
        if self.constraints.is_empty() {
            return Some(false);
        }
        self.find_point(budget).map(|p| p.is_none())
    }

    /// Some point of the domain, if there is one; the outer `None` when `budget` boxes did not decide.
    pub fn find_point(&self, budget: usize) -> Option<Option<Vec<i64>>> {
        if !self.is_mapped() {
            return Some(None);
        }
        let mut boxes: Vec<Vec<Variable>> =
            vec![self.variables.iter().map(|v| Variable::from(v.bounds)).collect()];
        for _ in 0..budget {
            let Some(variables) = boxes.pop() else { return Some(None) };
            let context = RangeContext::new(&variables, &[]);
            let mut inside = true;
            let mut mask = 0;
            let mut disjoint = false;
            for c in &self.constraints {
                let range = context.range(&c.expr);
                if range.intersect(c.interval).is_empty() {
                    disjoint = true;
                    break;
                }
                if !c.interval.contains_interval(range) {
                    inside = false;
                    mask |= c.expr.variable_mask();
                }
            }
            if disjoint {
                continue;
            }
            let corner: Vec<i64> = variables.iter().map(|v| v.bounds.lower).collect();
            if self.contains(&corner) {
                return Some(Some(corner));
            }
            // A box inside all constraints whose corner is not in the domain has values beyond 64 bits: split it too.
            let widest = (0..variables.len())
                .filter(|&i| inside || mask & (1 << i.min(63)) != 0)
                .max_by_key(|&i| variables[i].bounds.size())
                .filter(|&i| variables[i].bounds.size() > 1);
            let Some(i) = widest else { continue };
            let Interval { lower, upper } = variables[i].bounds;
            let middle = ((i128::from(lower) + i128::from(upper)) >> 1) as i64;
            let mut high = variables.clone();
            high[i].bounds.lower = middle + 1;
            boxes.push(high);
            let mut low = variables;
            low[i].bounds.upper = middle;
            boxes.push(low);
        }
        boxes.is_empty().then_some(None)
    }
}

#[cfg(test)]
mod tests {
    use crate::text::parse_map;

    #[track_caller]
    fn check(text: &str, points: usize) {
        let map = parse_map(text).unwrap();
        assert_eq!(map.points(10_000).unwrap().count(), points);
        assert_eq!(map.prove_empty(10_000), Some(points == 0));
    }

    #[test]
    fn counts_domains() {
        check("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 3]", 40);
        check("(d0, d1) -> (d0), domain: d0 in [0, 9], d1 in [0, 3], d0 + d1 in [0, 1]", 3);
        check("(d0) -> (d0), domain: d0 in [0, 99], d0 mod 8 in [45, 49]", 0);
        check("(d0) -> (d0), domain: d0 in [0, 99], d0 mod 2 in [0, 0], (d0 + 1) mod 4 in [0, 0]", 0);
        check("() -> (7)", 1);
        check("KNOWN EMPTY", 0);
    }

    #[test]
    fn limits_hold() {
        let map = parse_map("(d0, d1) -> (d0), domain: d0 in [0, 999], d1 in [0, 999]").unwrap();
        assert!(map.points(1000).is_none());
        let hard = parse_map(
            "(d0, d1) -> (d0), domain: d0 in [1, 99999], d1 in [1, 99999], d0 * d1 mod 65537 in [0, 0]",
        );
        assert_eq!(hard.unwrap().prove_empty(10), None);
    }
}
