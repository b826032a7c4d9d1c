//! The inverse of an access: from the elements that are read to those that read them.

use indexing_map::{BinaryOp, Expr, IndexingMap, Interval, RangeContext, Simplifier, SimplifyMode, Variable};

use crate::Rules;
use crate::checks::scalar;
use crate::operand_indexing::{OperandIndexing, RuntimeVariable};
use crate::runtime_maps;

/// The maximum number of equations that are solved; the rest become constraints. A solution may add a new
/// equation.
const MAX_STEPS: usize = 1024;

/// Maps an element of the operand, whose sizes are `operand`, to the elements for which `access` reads it.
///
/// Both maps are the same relation: result i of the access equals dimension i of the answer. These equations
/// are solved for the variables of the access, one after the other. A variable that no equation determines is
/// a range variable of the answer, and an equation that determines no variable is a constraint. The answer is
/// always exact; it is simpler the more equations are solved. Runtime variables stay; their maps are
/// rewritten to the answer's dimensions and range variables.
pub(crate) fn inverse(access: &OperandIndexing, operand: &[i64]) -> OperandIndexing {
    let map = &access.map;
    let remarks = |map: IndexingMap| OperandIndexing {
        note: access.note.clone(),
        is_upper_bound: access.is_upper_bound,
        ..OperandIndexing::from(map)
    };
    if map.is_undefined() || map.results().len() != operand.len() {
        return OperandIndexing::undefined(
            access.note.clone().unwrap_or("the other direction has none".into()),
        );
    }
    if map.is_known_empty() {
        return remarks(IndexingMap::known_empty(operand.len(), 0, map.num_dims()));
    }
    let mut system = System::new(map, operand);
    system.solve();
    let Some(joint) = system.answer(map, operand, &access.runtime_variables) else {
        return OperandIndexing::undefined("the map grows too large");
    };
    // One map for all results, so that range variables have the same numbers in the runtime variables' maps.
    let mut all = OperandIndexing { runtime_variables: access.runtime_variables.clone(), ..remarks(joint) };
    // Their old maps are over other variables than this one; a number replaces each map and identifies it.
    for (i, variable) in all.runtime_variables.iter_mut().enumerate() {
        variable.map = scalar(operand).with_results(vec![Expr::Const(i as i64)]);
    }
    all.simplify_by(Rules::Exact);
    let dims = map.num_dims();
    let variables: Vec<RuntimeVariable> = std::mem::take(&mut all.runtime_variables);
    all.runtime_variables = variables
        .into_iter()
        .map(|variable| {
            let i = variable.map.results().first().and_then(Expr::as_const).unwrap_or(0) as usize;
            let own = |variable: &RuntimeVariable| variable.map.results().len();
            let first = dims + access.runtime_variables[..i].iter().map(own).sum::<usize>();
            let results = &all.map.results()[first..first + own(&access.runtime_variables[i])];
            let (dims, ranges) = (all.map.dims().to_vec(), all.map.ranges().to_vec());
            let map = IndexingMap::new(dims, ranges, all.map.runtime().to_vec(), results.to_vec());
            RuntimeVariable { map: runtime_maps::without_unused(&map), ..variable }
        })
        .collect();
    all.map = all.map.select_results(&(0..dims).collect::<Vec<_>>());
    all
}

/// Equations between expressions over the access's variables, the answer's dimensions, and variables
/// introduced on the way.
struct System {
    variables: Vec<Variable>,
    /// Whether a variable may be solved for; the remaining ones become range variables.
    is_open: Vec<bool>,
    solutions: Vec<Option<Expr>>,
    /// Pairs of a left side with open variables and a right side without.
    equations: Vec<(Expr, Expr)>,
    constraints: Vec<(Expr, Interval)>,
    first_dim: usize,
}

enum Step {
    /// The variable and its value.
    Solved(u32, Expr),
    /// Equations that replace the solved one.
    Equations(Vec<(Expr, Expr)>),
    Stuck,
}

impl System {
    fn new(map: &IndexingMap, operand: &[i64]) -> System {
        let first_dim = map.variables().len();
        let open = map.num_dims() + map.num_ranges();
        let mut variables = map.variables().to_vec();
        variables.extend(operand.iter().map(|&size| Variable::from_size(size)));
        let equations = map.results().iter().cloned().zip((first_dim..).map(Expr::var)).collect();
        let constraints = map.constraints().iter().map(|c| (c.expr.clone(), c.interval)).collect();
        System {
            is_open: (0..variables.len()).map(|id| id < open).collect(),
            solutions: vec![None; variables.len()],
            variables,
            equations,
            constraints,
            first_dim,
        }
    }

    fn solve(&mut self) {
        for _ in 0..MAX_STEPS {
            self.simplify();
            // The easiest equation first: its solution may make others easy.
            let easiest = (0..self.equations.len()).min_by_key(|&i| self.difficulty(&self.equations[i].0));
            let Some(i) = easiest else { return };
            let (left, right) = self.equations.swap_remove(i);
            match self.step(&left, &right) {
                Step::Solved(id, value) => self.assign(id, value),
                Step::Equations(new) => self.equations.extend(new),
                Step::Stuck => self.constraints.push((left - right, Interval::point(0))),
            }
        }
        for (left, right) in std::mem::take(&mut self.equations) {
            self.constraints.push((left - right, Interval::point(0)));
        }
    }

    fn simplify(&mut self) {
        let mut simplifier = Simplifier::new(RangeContext::new(&self.variables, &[]), SimplifyMode::Replace);
        for (left, _) in &mut self.equations {
            *left = simplifier.simplify(left);
        }
        for (expr, _) in &mut self.constraints {
            *expr = simplifier.simplify(expr);
        }
    }

    fn is_open_var(&self, e: &Expr) -> Option<u32> {
        e.as_var().filter(|&id| self.is_open.get(id as usize).copied().unwrap_or(false))
    }

    fn difficulty(&self, left: &Expr) -> u8 {
        match left.as_binary() {
            None => 0,
            Some((BinaryOp::Add | BinaryOp::Mul, ..)) => 1,
            Some((BinaryOp::FloorDiv, ..)) => 2,
            Some((BinaryOp::Mod, ..)) => 3,
            Some(_) => 4,
        }
    }

    fn step(&mut self, left: &Expr, right: &Expr) -> Step {
        if let Some(id) = self.is_open_var(left) {
            return Step::Solved(id, right.clone());
        }
        let range = RangeContext::new(&self.variables, &[]).range(left);
        match left.as_binary() {
            Some((BinaryOp::Add | BinaryOp::Mul, ..)) => self.linear(left, right),
            Some((BinaryOp::FloorDiv, inner, by)) => match by.as_const() {
                Some(c) if c > 0 => {
                    let rest = self.remainder(inner, c);
                    Step::Equations(vec![(inner.clone(), right.clone() * c + rest)])
                }
                _ => Step::Stuck,
            },
            Some((BinaryOp::Mod, inner, by)) => match by.as_const() {
                Some(c) if c > 0 && !self.has_other_use(inner) => {
                    let quotients = RangeContext::new(&self.variables, &[]).range(inner).floor_div(c);
                    if quotients.size() == u64::MAX {
                        return Step::Stuck;
                    }
                    self.constraints.push((right.clone(), range));
                    let quotient = self.new_variable(quotients);
                    Step::Equations(vec![(inner.clone(), quotient * c + right.clone())])
                }
                _ => Step::Stuck,
            },
            _ => Step::Stuck,
        }
    }

    /// Whether another equation may determine the variables of `inner`. A new variable for its quotient would
    /// then be superfluous.
    fn has_other_use(&self, inner: &Expr) -> bool {
        let mut found = false;
        inner.for_each_var(&mut |id| {
            found |= self.equations.iter().any(|(left, _)| left.uses_var(id) && self.difficulty(left) < 3);
        });
        found
    }

    fn new_variable(&mut self, bounds: Interval) -> Expr {
        self.variables.push(bounds.into());
        self.is_open.push(true);
        self.solutions.push(None);
        Expr::var(self.variables.len() - 1)
    }

    /// `inner mod c`: the value fixed by a constraint, else a new variable.
    fn remainder(&mut self, inner: &Expr, c: i64) -> Expr {
        let known = self.constraints.iter().find_map(|(expr, interval)| {
            let (of, modulus) = expr.as_op_const(BinaryOp::Mod)?;
            (of == inner && modulus == c).then(|| interval.as_point()).flatten()
        });
        match known {
            Some(rest) => Expr::Const(rest),
            None => self.new_variable(Interval::from_size(c)),
        }
    }

    fn linear(&mut self, left: &Expr, right: &Expr) -> Step {
        let mut terms = Vec::new();
        let mut constant = Some(0i64);
        summands(left, 1, &mut |term, factor| match (term.as_const(), factor) {
            (Some(c), Some(factor)) => {
                constant = constant.and_then(|sum| sum.checked_add(c.checked_mul(factor)?));
            }
            (None, Some(factor)) => terms.push((term.clone(), factor)),
            (_, None) => constant = None,
        });
        let Some(constant) = constant else { return Step::Stuck };
        let right = right.clone() - constant;
        let rest_of = |i: usize| {
            let others = terms.iter().enumerate().filter(|(j, _)| *j != i);
            others.fold(Expr::ZERO, |sum, (_, (term, factor))| sum + term.clone() * *factor)
        };
        let solvable = |i: usize| {
            let id = self.is_open_var(&terms[i].0)?;
            terms.iter().enumerate().all(|(j, (term, _))| j == i || !term.uses_var(id)).then_some(id)
        };
        // A digit: the other summands together are less than one step of this one.
        let context = RangeContext::new(&self.variables, &[]);
        for (i, &(_, factor)) in terms.iter().enumerate() {
            let (Some(id), true) = (solvable(i), factor > 1 && terms.len() > 1) else { continue };
            let rest = rest_of(i);
            let range = context.range(&rest);
            if range.lower != i64::MIN && range.size() <= factor.unsigned_abs() {
                let right = right - range.lower;
                let digit = (rest - range.lower, right.clone().modulo(factor));
                return Step::Equations(vec![digit, (Expr::Var(id), right.floor_div(factor))]);
            }
        }
        // The variable with most values, so that few remain to enumerate; of two, the one that needs no
        // division.
        let candidates = (0..terms.len()).filter_map(|i| Some((i, solvable(i)?)));
        let best = candidates.max_by_key(|&(i, id)| {
            (self.variables[id as usize].bounds.size(), terms[i].1.unsigned_abs() == 1, std::cmp::Reverse(i))
        });
        let Some((i, id)) = best else { return Step::Stuck };
        let factor = terms[i].1;
        let value = right - rest_of(i);
        match factor {
            1 => Step::Solved(id, value),
            -1 => Step::Solved(id, -value),
            _ => {
                let (value, by) =
                    if factor < 0 { (-value, factor.saturating_neg()) } else { (value, factor) };
                self.constraints.push((value.clone().modulo(by), Interval::point(0)));
                Step::Solved(id, value.floor_div(by))
            }
        }
    }

    fn assign(&mut self, id: u32, value: Expr) {
        let mut replace = |v: u32| (v == id).then(|| value.clone());
        for (left, right) in &mut self.equations {
            (*left, *right) = (left.substitute(&mut replace), right.substitute(&mut replace));
        }
        for (expr, _) in &mut self.constraints {
            *expr = expr.substitute(&mut replace);
        }
        for solution in self.solutions.iter_mut().flatten() {
            *solution = solution.substitute(&mut replace);
        }
        self.constraints.push((value.clone(), self.variables[id as usize].bounds));
        self.solutions[id as usize] = Some(value);
        self.is_open[id as usize] = false;
    }

    /// The answer, whose results are followed by those of the runtime variables' maps and by the runtime
    /// variables themselves, so that simplification keeps them.
    fn answer(&self, map: &IndexingMap, operand: &[i64], runtime: &[RuntimeVariable]) -> Option<IndexingMap> {
        let open: Vec<usize> = (0..self.variables.len()).filter(|&id| self.is_open[id]).collect();
        let symbols = operand.len() + open.len();
        let first_runtime = map.num_dims() + map.num_ranges();
        let renumber = |e: &Expr| {
            e.substitute(&mut |v| {
                let id = v as usize;
                Some(Expr::var(if (self.first_dim..self.first_dim + operand.len()).contains(&id) {
                    id - self.first_dim
                } else if let Some(k) = open.iter().position(|&o| o == id) {
                    operand.len() + k
                } else {
                    symbols + id.checked_sub(first_runtime)?
                }))
            })
        };
        let value = |e: &Expr| {
            let solved = e.substitute(&mut |v| self.solutions.get(v as usize)?.clone());
            renumber(&solved)
        };
        let mut results: Vec<Expr> = (0..map.num_dims()).map(|i| value(&Expr::var(i))).collect();
        for variable in runtime {
            // The map is over dimensions and range variables as the access has them, else it cannot be
            // rewritten.
            let fits = variable.map.num_ranges() == 0 || variable.map.num_ranges() == map.num_ranges();
            let fits = fits && variable.map.num_runtime() == 0 && variable.map.num_dims() == map.num_dims();
            if !fits {
                return None;
            }
            results.extend(variable.map.results().iter().map(value));
        }
        results.extend((0..runtime.len()).map(|i| Expr::var(symbols + i)));
        let dims = operand.iter().map(|&size| Variable::from_size(size)).collect();
        let ranges = open.iter().map(|&id| self.variables[id].bounds.into()).collect();
        let mut joint = IndexingMap::new(dims, ranges, map.runtime().to_vec(), results);
        for (expr, interval) in &self.constraints {
            joint.add_constraint(renumber(expr), *interval);
        }
        (!joint.is_undefined()).then_some(joint)
    }
}

/// Calls `f` for each summand with its constant factor, or with `None` if the factor overflows 64 bits.
pub(crate) fn summands(e: &Expr, factor: i64, f: &mut impl FnMut(&Expr, Option<i64>)) {
    match e.as_binary() {
        Some((BinaryOp::Add, a, b)) => {
            summands(a, factor, f);
            summands(b, factor, f);
        }
        Some((BinaryOp::Mul, a, b)) if b.as_const().is_some() => {
            match b.as_const().and_then(|c| factor.checked_mul(c)) {
                Some(factor) => summands(a, factor, f),
                None => f(e, None),
            }
        }
        _ => f(e, Some(factor)),
    }
}

#[cfg(test)]
mod tests {
    use indexing_map::parse_map;

    use super::*;

    /// Checks that both are the same relation, and that the answer enumerates at most `tries` values per
    /// element.
    #[track_caller]
    fn check(map: &str, operand: &[i64], tries: u64) {
        let map = parse_map(map).unwrap();
        let mut access = inverse(&map.clone().into(), operand);
        access.simplify_by(Rules::Exact);
        let pairs = |map: &IndexingMap| -> Vec<(Vec<i64>, Vec<i64>)> {
            let points = map.points(100_000).unwrap();
            points.map(|(point, results)| (point[..map.num_dims()].to_vec(), results)).collect()
        };
        let mut forth = pairs(&map);
        // Keeps only elements of the operand.
        forth.retain(|(_, at)| at.iter().zip(operand).all(|(i, size)| (0..*size).contains(i)));
        let mut back: Vec<_> = pairs(&access.map).into_iter().map(|(from, to)| (to, from)).collect();
        for list in [&mut forth, &mut back] {
            list.sort();
            list.dedup();
        }
        assert_eq!(forth, back, "{}", access.map);
        let values = access.map.ranges().iter().map(|range| range.bounds.size()).product::<u64>();
        assert!(values <= tries, "{}", access.map);
    }

    #[test]
    fn linear_maps() {
        check("(d0) -> (d0 * 3 + 1), domain: d0 in [0, 2]", &[9], 1);
        check("(d0)[s0] -> (d0 * 2 + s0), domain: d0 in [0, 4], s0 in [0, 1]", &[10], 1);
        check("(d0)[s0] -> (d0 * 2 + s0 - 1), domain: d0 in [0, 4], s0 in [0, 2]", &[10], 3);
        check("(d0)[s0] -> (d0 + s0), domain: d0 in [0, 7], s0 in [0, 2]", &[10], 3);
        check("(d0)[s0] -> (4 - d0 + s0 * 2), domain: d0 in [0, 4], s0 in [0, 2]", &[10], 3);
        check("(d0, d1) -> (d1), domain: d0 in [0, 1], d1 in [0, 3]", &[4], 2);
    }

    #[test]
    fn digits() {
        check("(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]", &[32], 1);
        check("(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]", &[4, 8], 1);
        check("(d0)[s0] -> ((d0 + s0) floordiv 2), domain: d0 in [0, 9], s0 in [0, 2]", &[6], 6);
        check("(d0, d1) -> (d0 mod 3, d1), domain: d0 in [0, 9], d1 in [2, 3]", &[3, 4], 4);
        check("(d0)[s0] -> (d0 + s0, d0 - s0), domain: d0 in [0, 9], s0 in [0, 9]", &[20, 10], 1);
    }
}
