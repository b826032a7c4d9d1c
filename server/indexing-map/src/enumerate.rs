//! Enumeration of the points of a map's domain.

use crate::equality::Verdict;
use crate::map::IndexingMap;

impl IndexingMap {
    /// Returns the number of points in the box of the bounds, ignoring constraints; saturates. Zero for an
    /// empty map and for an undefined one.
    pub fn box_size(&self) -> u64 {
        if !self.is_mapped() {
            return 0;
        }
        self.variables.iter().fold(1u64, |n, v| n.saturating_mul(v.bounds.size()))
    }

    /// Returns every point of the domain with its results, last variable fastest; `None` if the box has more
    /// than `limit` points.
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

    /// Returns whether the domain is empty: [`IndexingMap::is_empty`] without the witness. `None` if `budget`
    /// does not suffice to decide, and for an undefined map.
    pub fn prove_empty(&self, budget: usize) -> Option<bool> {
        match self.is_empty(budget) {
            Verdict::Yes => Some(true),
            Verdict::No { .. } => Some(false),
            Verdict::Unknown => None,
        }
    }

    /// Returns some point of the domain, or `Some(None)` if there is none; `None` if `budget` boxes do not
    /// suffice to decide.
    pub fn find_point(&self, budget: usize) -> Option<Option<Vec<i64>>> {
        match self.is_empty(budget) {
            Verdict::Yes => Some(None),
            Verdict::No { witness } => Some(Some(witness)),
            Verdict::Unknown if self.is_undefined() => Some(None),
            Verdict::Unknown => None,
        }
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
