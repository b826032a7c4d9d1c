//! Composition of maps.

use crate::expr::Expr;
use crate::map::{Constraint, IndexingMap};
use crate::range::RangeContext;
use crate::variable::Variable;

impl IndexingMap {
    /// Composes the maps: applies `self`, then `second`. `self` maps a consumer's space to a producer's,
    /// `second` the producer's space to that of its operand. `self` needs as many results as `second` has
    /// dimensions; otherwise the composition is undefined.
    ///
    /// The dimensions are those of `self`. Range variables are those of `second`, then those of `self`;
    /// likewise runtime variables. The constraints are those of `second`, those of `self`, and each result of
    /// `self` within the bounds of `second`'s dimension. Nothing is simplified. Rule: XLA
    /// `ComposeIndexingMaps`.
    #[must_use]
    pub fn compose(&self, second: &IndexingMap) -> IndexingMap {
        self.composed(second, true)
    }

    /// The simplified composition of simplified maps, where there is nothing to simplify: `second` picks some of the results of
    /// `self`, which are inside its domain, or `self` is the identity. `None` where that is not so. Most ops only move elements:
    /// this saves most of the time of following them.
    #[must_use]
    pub fn compose_moves(&self, second: &IndexingMap) -> Option<IndexingMap> {
        if !self.is_mapped() || !second.is_mapped() || self.results.len() != second.num_dims() {
            return None;
        }
        let is_move = second.constraints.is_empty()
            && second.num_runtime() == 0
            && second.results.iter().all(|result| !matches!(result, Expr::Binary(_)));
        let is_same =
            self.variables.len() == self.num_dims() && self.is_identity() && self.dims() == second.dims();
        (is_same || is_move && self.is_within(second.dims())).then(|| self.composed(second, false))
    }

    /// The composition, with the bounds of `second`'s dimensions or without.
    fn composed(&self, second: &IndexingMap, with_bounds: bool) -> IndexingMap {
        if self.is_undefined() || second.is_undefined() || self.results.len() != second.num_dims() {
            return IndexingMap::undefined();
        }
        let renumbering = Renumbering::new(self, second);
        let mut variables = Vec::with_capacity(self.num_dims() + second.variables.len());
        variables.extend_from_slice(self.dims());
        variables.extend_from_slice(second.ranges());
        variables.extend_from_slice(self.ranges());
        variables.extend_from_slice(second.runtime());
        variables.extend_from_slice(self.runtime());
        for (id, v) in variables.iter_mut().enumerate() {
            if renumbering.moved(id) && v.name.as_deref().is_some_and(is_default_name) {
                v.name = None;
            }
        }

        // Results of `self` in the new numbering; they replace `second`'s dimensions.
        let inner: Vec<Expr> = self.results.iter().map(|r| renumbering.first(r)).collect();
        let results = second.results.iter().map(|r| renumbering.second(r, &inner)).collect();
        let mut map =
            IndexingMap::from_flat(variables, self.num_dims, self.num_ranges + second.num_ranges, results);
        if self.is_known_empty() || second.is_known_empty() {
            map.set_known_empty();
            return map;
        }
        map.constraints.reserve(second.constraints.len() + self.constraints.len() + inner.len());
        for Constraint { expr, interval } in &second.constraints {
            map.add_constraint(renumbering.second(expr, &inner), *interval);
        }
        for Constraint { expr, interval } in &self.constraints {
            map.add_constraint(renumbering.first(expr), *interval);
        }
        if with_bounds {
            for (result, dim) in inner.into_iter().zip(second.dims()) {
                map.add_constraint(result, dim.bounds);
            }
        }
        map
    }

    /// Whether every result is known to be inside the bounds of the variable of its place.
    fn is_within(&self, variables: &[Variable]) -> bool {
        let ranges = RangeContext::new(&self.variables, &self.constraints);
        let is_inside =
            |(result, variable): (&Expr, &Variable)| variable.bounds.contains_interval(ranges.range(result));
        self.results.iter().zip(variables).all(is_inside)
    }
}

/// The numbering of both maps' variables in the composition.
struct Renumbering {
    dims: u32,
    first_ranges: u32,
    second_dims: u32,
    second_ranges: u32,
    second_runtime: u32,
}

impl Renumbering {
    fn new(first: &IndexingMap, second: &IndexingMap) -> Self {
        Renumbering {
            dims: first.num_dims,
            first_ranges: first.num_ranges,
            second_dims: second.num_dims,
            second_ranges: second.num_ranges,
            second_runtime: second.num_runtime() as u32,
        }
    }

    /// Renumbers an expression of the first map: its range and runtime variables follow those of the second.
    fn first(&self, e: &Expr) -> Expr {
        if self.second_ranges == 0 && self.second_runtime == 0 {
            return e.clone();
        }
        e.substitute(&mut |v| {
            if v < self.dims {
                None
            } else if v < self.dims + self.first_ranges {
                Some(Expr::Var(v + self.second_ranges))
            } else {
                Some(Expr::Var(v + self.second_ranges + self.second_runtime))
            }
        })
    }

    /// Renumbers an expression of the second map and replaces its dimensions by `inner`.
    fn second(&self, e: &Expr, inner: &[Expr]) -> Expr {
        e.substitute(&mut |v| {
            Some(if v < self.second_dims {
                inner[v as usize].clone()
            } else if v < self.second_dims + self.second_ranges {
                Expr::Var(v - self.second_dims + self.dims)
            } else {
                Expr::Var(v - self.second_dims + self.dims + self.first_ranges)
            })
        })
    }

    /// Whether the variable's position changes: false for the dimensions of the first map.
    fn moved(&self, id: usize) -> bool {
        id >= self.dims as usize
    }
}

/// Whether `name` is a default name such as `s3`, which would mislead once the variable has another position.
fn is_default_name(name: &str) -> bool {
    let digits = name.strip_prefix("rt").or_else(|| name.strip_prefix(['d', 's'])).unwrap_or("");
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use crate::map::IndexingMap;
    use crate::simplify::SimplifyMode;
    use crate::text::parse_map;

    #[track_caller]
    fn check(first: &str, second: &str, expect: &str) {
        let map = parse_map(first).unwrap().compose(&parse_map(second).unwrap());
        assert_eq!(map.to_string(), expect);
    }

    /// The short way gives the same map as the long one.
    #[track_caller]
    fn check_moves(first: &str, second: &str, is_short: bool) {
        let (first, second) = (parse_map(first).unwrap(), parse_map(second).unwrap());
        let simple = |map: IndexingMap| map.simplified(SimplifyMode::Replace);
        assert_eq!(simple(first.clone()).to_string(), first.to_string());
        let short = first.compose_moves(&second).map(|map| map.to_string());
        let long = simple(first.compose(&second)).to_string();
        assert_eq!(short, is_short.then_some(long));
    }

    #[test]
    fn moves_need_no_simplification() {
        let strided =
            "(d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 4], s0 in [0, 2], d0 * 2 + s0 in [1, 8]";
        let identity = "(d0) -> (d0), domain: d0 in [0, 7]";
        check_moves(strided, identity, true);
        check_moves(strided, "(d0)[s0] -> (s0, d0, 3), domain: d0 in [0, 7], s0 in [0, 5]", true);
        check_moves("(d0) -> (d0), domain: d0 in [0, 4]", strided, true);
        // The domain of the second map is smaller, or its results are not those of the first.
        check_moves(strided, "(d0) -> (d0), domain: d0 in [0, 6]", false);
        check_moves("(d0) -> (d0), domain: d0 in [0, 9]", strided, false);
        check_moves(
            "(d0) -> (d0 * 2), domain: d0 in [0, 3]",
            "(d0) -> (d0 mod 4), domain: d0 in [0, 7]",
            false,
        );
        check_moves(identity, "(d0){rt0} -> (rt0), domain: d0 in [0, 5], rt0 in [0, 5]", false);
    }

    #[test]
    fn producer_symbols_come_first() {
        check(
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 7]",
            "(d0, d1)[s0, s1] -> (d1, d0, s1, s0), domain: d0 in [0, 4], d1 in [0, 5], s0 in [0, 6], s1 in [0, 1]",
            "(d0)[s0, s1, s2] -> (s2, d0, s1, s0), domain: d0 in [0, 4], s0 in [0, 6], s1 in [0, 1], s2 in [0, 5]",
        );
    }

    #[test]
    fn ranges_stay_before_runtime_variables() {
        check(
            "(d0)[s0]{rt0} -> (d0 + rt0, s0), domain: d0 in [0, 3], s0 in [0, 2], rt0 in [0, 8]",
            "(d0, d1)[s0]{rt0} -> (d0 + s0, d1 + rt0), domain: d0 in [0, 11], d1 in [0, 2], s0 in [0, 1], rt0 in [5, 6]",
            "(d0)[s0, s1]{rt0, rt1} -> (d0 + rt1 + s0, s1 + rt0), domain: d0 in [0, 3], s0 in [0, 1], s1 in [0, 2], \
             rt0 in [5, 6], rt1 in [0, 8], d0 + rt1 in [0, 11]",
        );
    }

    #[test]
    fn empty_and_undefined_carry_over() {
        check("(d0) -> (d0), domain: d0 in [0, 9]", "(d0) -> (d0), domain: d0 in [0, -1]", "KNOWN EMPTY");
        check("(d0) -> (d0), domain: d0 in [0, -1]", "(d0) -> (d0), domain: d0 in [0, 9]", "KNOWN EMPTY");
        check("(d0) -> (d0), domain: d0 in [0, 9]", "unknown indexing", "unknown indexing");
        check("(d0) -> (d0), domain: d0 in [0, 9]", "() -> ()", "unknown indexing");
        check("unknown indexing", "() -> (1)", "unknown indexing");
        check("(d0) -> (), domain: d0 in [0, 9]", "unknown indexing", "unknown indexing");
    }
}
