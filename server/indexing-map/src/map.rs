//! The indexing map: variables with bounds, results, constraints.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::expr::Expr;
use crate::interval::Interval;
pub use crate::variable::Variable;

/// `expr in interval`: part of a map's domain.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    pub expr: Expr,
    pub interval: Interval,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum State {
    Mapped,
    /// The domain is known to contain no point.
    Empty,
    /// Nothing is known about the indexing.
    Undefined,
}

/// A function from (dimensions, range variables, runtime variables) to a tuple of integers, on a domain.
///
/// The domain is the box of the variables' bounds, restricted by the constraints. Expressions refer to
/// variables by flat id: dimensions `0..num_dims`, then range variables, then runtime variables. Two special
/// states are maps too: *known empty* (every result 0, dimensions and range variables bounded by `[0, -1]`,
/// no constraints; the counts of variables and results stay) and *undefined*, XLA's "unknown indexing" (no
/// variables, no results).
///
/// Equality ignores names and the order of constraints. Rules: XLA `hlo/analysis/indexing_map.h`.
///
/// A plain value: about 120 bytes, 32 per variable, 16 per result, 32 per constraint, and the shared
/// expression nodes.
#[derive(Clone, Debug)]
pub struct IndexingMap {
    pub(crate) variables: Vec<Variable>,
    pub(crate) num_dims: u32,
    pub(crate) num_ranges: u32,
    pub(crate) results: Vec<Expr>,
    pub(crate) constraints: Vec<Constraint>,
    state: State,
}

/// The kind of a map's variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VariableKind {
    Dimension,
    Range,
    Runtime,
}

impl IndexingMap {
    /// Creates a map without constraints. Empty bounds make it known empty. A result that is
    /// [`Expr::TOO_LARGE`] or refers to an undeclared variable makes it undefined.
    pub fn new(
        dims: Vec<Variable>,
        ranges: Vec<Variable>,
        runtime: Vec<Variable>,
        results: Vec<Expr>,
    ) -> IndexingMap {
        let (num_dims, num_ranges) = (dims.len() as u32, ranges.len() as u32);
        let mut variables = dims;
        variables.reserve_exact(ranges.len() + runtime.len());
        variables.extend(ranges);
        variables.extend(runtime);
        IndexingMap::from_flat(variables, num_dims, num_ranges, results)
    }

    pub(crate) fn from_flat(
        variables: Vec<Variable>,
        num_dims: u32,
        num_ranges: u32,
        results: Vec<Expr>,
    ) -> IndexingMap {
        let mut map = IndexingMap {
            variables,
            num_dims,
            num_ranges,
            results,
            constraints: Vec::new(),
            state: State::Mapped,
        };
        if map.results.iter().any(|r| !map.declares(r)) {
            map.set_undefined();
        } else if map.variables.iter().any(|v| v.bounds.is_empty()) {
            map.set_known_empty();
        }
        map
    }

    /// Creates a map whose dimensions and range variables have bounds `[0, size - 1]`.
    pub fn from_sizes(dims: &[i64], ranges: &[i64], results: Vec<Expr>) -> IndexingMap {
        let vars = |sizes: &[i64]| sizes.iter().map(|&s| Variable::from_size(s)).collect();
        IndexingMap::new(vars(dims), vars(ranges), Vec::new(), results)
    }

    /// `(d0, d1, …) -> (d0, d1, …)` over a shape with these dimension sizes.
    pub fn identity(sizes: &[i64]) -> IndexingMap {
        IndexingMap::from_sizes(sizes, &[], (0..sizes.len()).map(Expr::var).collect())
    }

    pub fn undefined() -> IndexingMap {
        IndexingMap {
            variables: Vec::new(),
            num_dims: 0,
            num_ranges: 0,
            results: Vec::new(),
            constraints: Vec::new(),
            state: State::Undefined,
        }
    }

    /// A known empty map with these counts.
    pub fn known_empty(num_dims: usize, num_ranges: usize, num_results: usize) -> IndexingMap {
        let variables = vec![Variable::from(Interval::EMPTY); num_dims + num_ranges];
        let results = vec![Expr::ZERO; num_results];
        let mut map = IndexingMap::from_flat(variables, num_dims as u32, num_ranges as u32, results);
        map.set_known_empty();
        map
    }

    pub fn is_undefined(&self) -> bool {
        self.state == State::Undefined
    }

    /// Whether the map is marked empty; [`IndexingMap::prove_empty`] decides emptiness.
    pub fn is_known_empty(&self) -> bool {
        self.state == State::Empty
    }

    /// Whether the map is neither known empty nor undefined.
    pub fn is_mapped(&self) -> bool {
        self.state == State::Mapped
    }

    /// Marks the map known empty (XLA `ResetToKnownEmpty`).
    pub fn set_known_empty(&mut self) {
        if self.is_undefined() {
            return;
        }
        self.results.fill(Expr::ZERO);
        for v in &mut self.variables[..(self.num_dims + self.num_ranges) as usize] {
            v.bounds = Interval::EMPTY;
        }
        self.constraints.clear();
        self.state = State::Empty;
    }

    pub(crate) fn set_undefined(&mut self) {
        *self = IndexingMap::undefined();
    }

    /// All variables by flat id: dimensions, range variables, runtime variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    pub fn dims(&self) -> &[Variable] {
        &self.variables[..self.num_dims as usize]
    }

    pub fn ranges(&self) -> &[Variable] {
        &self.variables[self.num_dims as usize..(self.num_dims + self.num_ranges) as usize]
    }

    pub fn runtime(&self) -> &[Variable] {
        &self.variables[(self.num_dims + self.num_ranges) as usize..]
    }

    pub fn results(&self) -> &[Expr] {
        &self.results
    }

    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    pub fn num_dims(&self) -> usize {
        self.num_dims as usize
    }

    pub fn num_ranges(&self) -> usize {
        self.num_ranges as usize
    }

    pub fn num_runtime(&self) -> usize {
        self.variables.len() - self.num_dims() - self.num_ranges()
    }

    /// The expression for dimension `i`.
    pub fn dim(&self, i: usize) -> Expr {
        Expr::var(i)
    }

    /// The expression for range variable `i`.
    pub fn range(&self, i: usize) -> Expr {
        Expr::var(self.num_dims() + i)
    }

    /// The expression for runtime variable `i`.
    pub fn runtime_var(&self, i: usize) -> Expr {
        Expr::var(self.num_dims() + self.num_ranges() + i)
    }

    /// Returns the kind of a flat id and its position within that kind.
    pub fn kind(&self, id: usize) -> (VariableKind, usize) {
        if id < self.num_dims() {
            (VariableKind::Dimension, id)
        } else if id < self.num_dims() + self.num_ranges() {
            (VariableKind::Range, id - self.num_dims())
        } else {
            (VariableKind::Runtime, id - self.num_dims() - self.num_ranges())
        }
    }

    fn declares(&self, e: &Expr) -> bool {
        let n = self.variables.len() as u32;
        match e {
            Expr::Const(_) => true,
            Expr::Var(v) => *v < n,
            Expr::Binary(_) if n < 63 => e.variable_mask() >> n == 0,
            Expr::Binary(_) => e.var_bound() <= n,
        }
    }

    /// Adds `expr in interval` to the domain (XLA `IndexingMap::AddConstraint`). For a variable, its bounds
    /// are intersected; a constant is decided at once; an already constrained expression gets the
    /// intersection. Nothing is simplified. An expression that is [`Expr::TOO_LARGE`] or refers to an
    /// undeclared variable makes the map undefined.
    pub fn add_constraint(&mut self, expr: Expr, interval: Interval) {
        if !self.is_mapped() {
            return;
        }
        if !self.declares(&expr) {
            return self.set_undefined();
        }
        if interval.is_empty() {
            return self.set_known_empty();
        }
        let now_empty = match &expr {
            Expr::Const(c) => !interval.contains(*c),
            Expr::Var(v) => {
                let bounds = &mut self.variables[*v as usize].bounds;
                *bounds = bounds.intersect(interval);
                bounds.is_empty()
            }
            Expr::Binary(_) => {
                if let Some(known) = self.constraints.iter_mut().find(|c| c.expr == expr) {
                    known.interval = known.interval.intersect(interval);
                    known.interval.is_empty()
                } else {
                    self.constraints.push(Constraint { expr, interval });
                    false
                }
            }
        };
        if now_empty {
            self.set_known_empty();
        }
    }

    /// [`IndexingMap::add_constraint`] for chaining.
    #[must_use]
    pub fn with_constraint(mut self, expr: Expr, interval: Interval) -> IndexingMap {
        self.add_constraint(expr, interval);
        self
    }

    /// Returns a map with the same domain and other results, over the same variables.
    #[must_use]
    pub fn with_results(&self, results: Vec<Expr>) -> IndexingMap {
        let mut map = self.clone();
        match self.state {
            State::Undefined => {}
            State::Empty => map.results = vec![Expr::ZERO; results.len()],
            State::Mapped if results.iter().all(|r| self.declares(r)) => map.results = results,
            State::Mapped => map.set_undefined(),
        }
        map
    }

    /// Returns a map with only the results at these positions; positions past the results are skipped (XLA
    /// `GetSubMap`).
    #[must_use]
    pub fn select_results(&self, positions: &[usize]) -> IndexingMap {
        self.with_results(positions.iter().filter_map(|&i| self.results.get(i).cloned()).collect())
    }

    /// Names a variable by flat id; `None` restores the default name.
    pub fn rename(&mut self, id: usize, name: Option<&str>) {
        if let Some(v) = self.variables.get_mut(id) {
            v.name = name.map(Arc::from);
        }
    }

    /// Whether the map is `(d0, …, dn) -> (d0, …, dn)` without constraints. Bounds, and unused range and
    /// runtime variables, do not matter.
    pub fn is_identity(&self) -> bool {
        self.is_mapped()
            && self.constraints.is_empty()
            && self.results.len() == self.num_dims()
            && self.results.iter().enumerate().all(|(i, r)| *r == Expr::var(i))
    }

    /// Whether the point, given by flat id, is in the domain: inside all bounds, and with every constraint's
    /// value inside its interval. Always false for an undefined or known empty map.
    pub fn contains(&self, point: &[i64]) -> bool {
        cancel::tick();
        self.is_mapped()
            && point.len() == self.variables.len()
            && self.variables.iter().zip(point).all(|(v, &x)| v.bounds.contains(x))
            && self.constraints.iter().all(|c| c.expr.evaluate(point).is_some_and(|x| c.interval.contains(x)))
    }

    /// Returns the results at a point given by flat id; `None` outside the domain, or if a result has no
    /// 64-bit value there.
    pub fn evaluate(&self, point: &[i64]) -> Option<Vec<i64>> {
        if !self.contains(point) {
            return None;
        }
        self.results.iter().map(|r| r.evaluate(point)).collect()
    }

    /// The number of operator nodes in results and constraints: the measure of simplicity.
    pub fn node_count(&self) -> usize {
        self.results.iter().chain(self.constraints.iter().map(|c| &c.expr)).map(Expr::node_count).sum()
    }
}

impl PartialEq for IndexingMap {
    fn eq(&self, other: &IndexingMap) -> bool {
        self.state == other.state
            && self.num_dims == other.num_dims
            && self.num_ranges == other.num_ranges
            && self.variables == other.variables
            && self.results == other.results
            && self.constraints.len() == other.constraints.len()
            && (self.constraints == other.constraints
                || self.constraints.iter().all(|c| other.constraints.contains(c)))
    }
}

impl Eq for IndexingMap {}

impl Hash for IndexingMap {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.state, self.num_dims, self.num_ranges, &self.variables, &self.results).hash(state);
        // A sum, so that the order of constraints does not matter.
        let sum = self.constraints.iter().fold(0u64, |sum, c| {
            let bounds = (c.interval.lower as u64).rotate_left(17) ^ c.interval.upper as u64;
            sum.wrapping_add((c.expr.structural_hash() ^ bounds).wrapping_mul(0x9e37_79b9_7f4a_7c15))
        });
        state.write_u64(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(map: &IndexingMap, expect: &str) {
        assert_eq!(map.to_string(), expect);
    }

    #[test]
    fn constraints_on_variables_become_bounds() {
        let map = IndexingMap::identity(&[10]).with_constraint(Expr::var(0), Interval::new(3, 20));
        check(&map, "(d0) -> (d0), domain: d0 in [3, 9]");
        check(&map.with_constraint(Expr::var(0), Interval::new(0, 2)), "KNOWN EMPTY");
    }

    #[test]
    fn constraints_on_constants_decide() {
        let map = IndexingMap::identity(&[10]);
        check(
            &map.clone().with_constraint(Expr::Const(0), Interval::new(-1, 1)),
            "(d0) -> (d0), domain: d0 in [0, 9]",
        );
        check(&map.with_constraint(Expr::Const(0), Interval::new(10, 15)), "KNOWN EMPTY");
    }

    #[test]
    fn equality_ignores_names_and_constraint_order() {
        let (a, b) = (Expr::var(0).modulo(2), Expr::var(0).modulo(3));
        let zero = Interval::point(0);
        let mut m =
            IndexingMap::identity(&[10]).with_constraint(a.clone(), zero).with_constraint(b.clone(), zero);
        let n = IndexingMap::identity(&[10]).with_constraint(b, zero).with_constraint(a, zero);
        m.rename(0, Some("th_x"));
        assert_eq!(m, n);
    }

    #[test]
    fn undeclared_variables_make_it_undefined() {
        assert!(IndexingMap::from_sizes(&[4], &[], vec![Expr::var(1)]).is_undefined());
        let mut m = IndexingMap::identity(&[4]);
        m.add_constraint(Expr::TOO_LARGE, Interval::EMPTY);
        assert!(m.is_undefined());
    }

    #[test]
    fn empty_bounds_make_it_known_empty() {
        let m = IndexingMap::identity(&[4, 0]);
        assert!(m.is_known_empty());
        assert_eq!((m.num_dims(), m.results().len()), (2, 2));
        assert_eq!(m, IndexingMap::known_empty(2, 0, 2));
    }

    /// Equal maps have one hash, in whatever order their constraints are; maps that differ in one part mostly have others.
    #[test]
    fn hashes_are_of_what_is_compared() {
        let hash = |map: &IndexingMap| std::hash::BuildHasher::hash_one(&rustc_hash::FxBuildHasher, map);
        let map = |text: &str| crate::text::parse_map(text).unwrap();
        let first = map(
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [0, 7], d0 mod 3 in [1, 1]",
        );
        let swapped = map(
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 4], d0 mod 3 in [1, 1], d0 + s0 in [0, 7]",
        );
        assert_eq!((&first, hash(&first)), (&swapped, hash(&swapped)));
        let others = [
            "(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [0, 7], d0 mod 3 in [1, 1]",
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 8], s0 in [0, 4], d0 + s0 in [0, 7], d0 mod 3 in [1, 1]",
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [0, 6], d0 mod 3 in [1, 1]",
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [1, 7], d0 mod 3 in [1, 1]",
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [0, 7], d0 mod 4 in [1, 1]",
            "(d0)[s0] -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [0, 7]",
            "(d0, s0) -> (d0, s0), domain: d0 in [0, 9], s0 in [0, 4], d0 + s0 in [0, 7], d0 mod 3 in [1, 1]",
        ];
        for other in others.map(map) {
            assert_ne!(first, other);
            assert_ne!(hash(&first), hash(&other), "{other}");
        }
    }
}
