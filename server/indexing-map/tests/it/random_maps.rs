//! Random expressions and maps over small boxes.

use indexing_map::{BinaryOp, Expr, IndexingMap, Interval, Variable};
use proptest::prelude::*;

pub fn constant() -> impl Strategy<Value = i64> {
    prop_oneof![4 => 1i64..=12, 2 => -8i64..=8, 1 => prop_oneof![Just(16i64), Just(24), Just(32), Just(64)]]
}

pub fn divisor() -> impl Strategy<Value = i64> {
    prop_oneof![8 => 1i64..=12, 2 => prop_oneof![Just(16i64), Just(24), Just(32)], 1 => -6i64..=-1]
}

/// Expressions over `variables` variables: mostly quasi-affine, occasionally with symbolic operands.
pub fn expr(variables: u32) -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![3 => (0..variables).prop_map(Expr::Var), 1 => constant().prop_map(Expr::Const)];
    leaf.prop_recursive(5, 24, 2, |inner| {
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            6 => pair.clone().prop_map(|(a, b)| a + b),
            2 => pair.clone().prop_map(|(a, b)| a - b),
            5 => (inner.clone(), constant()).prop_map(|(a, c)| a * c),
            5 => (inner.clone(), divisor()).prop_map(|(a, c)| a.modulo(c)),
            5 => (inner.clone(), divisor()).prop_map(|(a, c)| a.floor_div(c)),
            1 => (inner.clone(), divisor()).prop_map(|(a, c)| a.ceil_div(c)),
            // A quotient and a remainder of one dividend, as reshapes produce.
            3 => (inner.clone(), 2i64..=12, 1i64..=4).prop_map(|(a, c, k)| {
                a.clone().floor_div(c) * (c * k) + a.modulo(c) * k
            }),
            // Correlated terms.
            2 => (inner.clone(), 2i64..=6, 1i64..=4, 0usize..4, 0usize..3).prop_map(|(a, c, d, part, op)| {
                let parts = [a.clone(), a.clone().floor_div(c), a.clone().modulo(c), a.clone().modulo(c * d)];
                let other = a.floor_div(c * d) * d;
                match op {
                    0 => parts[part].clone() - other,
                    1 => parts[part].clone().max(parts[(part + 1) % 4].clone()),
                    _ => parts[part].clone() - parts[(part + 2) % 4].clone(),
                }
            }),
            1 => (pair, prop_oneof![
                Just(BinaryOp::Min), Just(BinaryOp::Max), Just(BinaryOp::Mul), Just(BinaryOp::Mod), Just(BinaryOp::FloorDiv)
            ]).prop_map(|((a, b), op)| Expr::binary(op, a, b)),
        ]
    })
}

pub fn bounds() -> impl Strategy<Value = Interval> {
    (prop_oneof![3 => Just(0i64), 1 => -7i64..=7], 0i64..=9).prop_map(|(l, n)| Interval::new(l, l + n))
}

prop_compose! {
    /// A map with up to 3 variables, 1 to 3 results and up to 3 constraints.
    pub fn map()(dims in prop::collection::vec(bounds(), 1..=2), ranges in prop::collection::vec(bounds(), 0..=1),
             results in prop::collection::vec(expr(3), 1..=3),
             constraints in prop::collection::vec((expr(3), -20i64..=40, 0i64..=30), 0..=3)) -> IndexingMap {
        build(&dims, &ranges, results, constraints)
    }
}

pub fn build(
    dims: &[Interval],
    ranges: &[Interval],
    results: Vec<Expr>,
    constraints: Vec<(Expr, i64, i64)>,
) -> IndexingMap {
    let n = (dims.len() + ranges.len()) as u32;
    let fit = |e: Expr| e.substitute(&mut |v| (v >= n).then_some(Expr::Var(v % n)));
    let variables = |bounds: &[Interval]| bounds.iter().map(|&b| Variable::from(b)).collect();
    let results = results.into_iter().map(fit).collect();
    let mut map = IndexingMap::new(variables(dims), variables(ranges), Vec::new(), results);
    for (e, lower, size) in constraints {
        map.add_constraint(fit(e), Interval::new(lower, lower + size));
    }
    map
}

/// Changes one constant, operator or variable: the `at`-th node, left to right.
fn mutated(e: &Expr, at: &mut usize, by: i64) -> Expr {
    if *at == 0 {
        *at = usize::MAX;
        return match e {
            Expr::Const(c) => Expr::Const(c + by),
            Expr::Var(v) => Expr::Var(*v) + by,
            Expr::Binary(b) => {
                let op = BinaryOp::ALL[(b.op() as usize + by.unsigned_abs() as usize) % BinaryOp::ALL.len()];
                Expr::binary(op, b.lhs().clone(), b.rhs().clone())
            }
        };
    }
    *at = at.saturating_sub(1);
    match e.as_binary() {
        None => e.clone(),
        Some((op, l, r)) => {
            let l = mutated(l, at, by);
            Expr::binary(op, l, mutated(r, at, by))
        }
    }
}

/// Returns the map with one change: a node of a result or constraint, a bound, or an interval.
pub fn mutant(map: &IndexingMap, what: usize, at: usize, by: i64) -> IndexingMap {
    let mut at = at;
    let mut variables = map.variables().to_vec();
    let mut results = map.results().to_vec();
    let mut constraints = map.constraints().to_vec();
    match what % 5 {
        0 if !variables.is_empty() => {
            let n = variables.len();
            let old = variables[at % n].bounds;
            variables[at % n] = Variable::new(old.lower, old.upper + by);
        }
        1 | 2 if !constraints.is_empty() => {
            let n = constraints.len();
            let c = &mut constraints[at % n];
            if what % 5 == 1 {
                c.interval.upper += by;
            } else {
                let mut node = at / n;
                c.expr = mutated(&c.expr, &mut node, by);
            }
        }
        _ => {
            for r in &mut results {
                *r = mutated(r, &mut at, by);
            }
        }
    }
    let ranges = variables.split_off(map.num_dims());
    let mut changed = IndexingMap::new(variables, ranges, vec![], results);
    for c in constraints {
        changed.add_constraint(c.expr, c.interval);
    }
    changed
}

/// Enlarges the map to the size of one of a real program, so that nothing can be enumerated.
pub fn enlarged(map: &IndexingMap) -> IndexingMap {
    let stretch = |v: &Variable| Variable::new(v.bounds.lower, v.bounds.upper + 4096);
    let mut large = IndexingMap::new(
        map.dims().iter().map(stretch).collect(),
        map.ranges().iter().map(stretch).collect(),
        vec![],
        map.results().to_vec(),
    );
    for c in map.constraints() {
        large.add_constraint(c.expr.clone(), Interval::new(c.interval.lower, c.interval.upper + 9000));
    }
    large
}

/// Runs 2,000 cases, or `PROPTEST_CASES`.
pub fn config() -> ProptestConfig {
    let default = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 2000 };
    ProptestConfig { cases, ..default }
}
