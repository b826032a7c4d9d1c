//! Maps with symbols, for hovers and hints: `d0 < n` is clearer than a bound of 2^63.

use indexing_map::{BinaryOp, Expr, IndexingMap, Interval, PrintStyle, print_expr, print_map};

/// `(d0) -> (d0), domain: d0 in [0, 7]`; if a variable has no bound, `domain: 0 ≤ d0 < n`.
pub(crate) fn map_text(map: &IndexingMap) -> String {
    let text = print_map(map, PrintStyle::Floordiv);
    match text.split_once(", domain: ") {
        Some((head, _)) if !is_bounded(map) => match domain_text(map) {
            domain if domain.is_empty() => head.to_owned(),
            domain => format!("{head}, domain: {domain}"),
        },
        _ => text,
    }
}

fn is_bounded(map: &IndexingMap) -> bool {
    let is_finite = |i: Interval| i.lower != i64::MIN && i.upper != i64::MAX;
    map.variables().iter().all(|v| is_finite(v.bounds))
        && map.constraints().iter().all(|c| is_finite(c.interval))
}

/// The domain of a map in which some variable has no bound: `0 ≤ d0 < n, 0 ≤ d1 ≤ 7`.
pub(crate) fn domain_text(map: &IndexingMap) -> String {
    let show = |e: &Expr| print_expr(e, map, PrintStyle::Floordiv);
    // The text of each variable's own bounds, and the constraints on several variables.
    let mut of_variable: Vec<Option<String>> = vec![None; map.variables().len()];
    let mut relations = Vec::new();
    for constraint in map.constraints() {
        // `a - b ≤ -1` is `a < b`, and a variable's lower bound is part of the same text.
        let is_less = constraint.interval == Interval::new(i64::MIN, -1);
        let is_at_least = constraint.interval == Interval::new(0, i64::MAX);
        match difference(&constraint.expr) {
            Some((a, b)) if is_less => {
                let variable = a.as_var().and_then(|v| {
                    let bounds = map.variables().get(v as usize)?.bounds;
                    let is_open = bounds.upper == i64::MAX && bounds.lower != i64::MIN;
                    Some((v as usize, bounds.lower)).filter(|_| is_open)
                });
                match variable {
                    Some((v, lower)) if of_variable[v].is_none() => {
                        of_variable[v] = Some(format!("{lower} ≤ {} < {}", show(&a), show(&b)));
                    }
                    _ => relations.push(format!("{} < {}", show(&a), show(&b))),
                }
            }
            Some((a, b)) if is_at_least => relations.push(format!("{} ≤ {}", show(&b), show(&a))),
            _ => relations.push(relation(&show(&constraint.expr), constraint.interval)),
        }
    }
    relations.sort_unstable();
    let variables = map.variables().iter().enumerate().filter_map(|(id, variable)| {
        let said = of_variable[id].take();
        let is_free = variable.bounds == Interval::ALL;
        said.or_else(|| (!is_free).then(|| relation(&show(&Expr::var(id)), variable.bounds)))
    });
    variables.chain(relations).collect::<Vec<_>>().join(", ")
}

fn relation(what: &str, interval: Interval) -> String {
    match (interval.lower, interval.upper) {
        (l, u) if l == u => format!("{what} = {l}"),
        (i64::MIN, u) => format!("{what} ≤ {u}"),
        (l, i64::MAX) => format!("{l} ≤ {what}"),
        (l, u) => format!("{l} ≤ {what} ≤ {u}"),
    }
}

/// `a` and `b` of `a - b`.
fn difference(e: &Expr) -> Option<(Expr, Expr)> {
    let (mut positive, mut negative): (Vec<Expr>, Vec<Expr>) = (Vec::new(), Vec::new());
    for e in e.summands() {
        match e.as_binary() {
            Some((BinaryOp::Mul, a, b)) if b.as_const().is_some_and(|c| c < 0) => {
                negative.push(a.clone() * b.as_const()?.checked_neg()?);
            }
            _ => match e.as_const() {
                Some(c) if c < 0 => negative.push(Expr::Const(c.checked_neg()?)),
                _ => positive.push(e.clone()),
            },
        }
    }
    let sum = |parts: Vec<Expr>| parts.into_iter().reduce(|a, b| a + b);
    Some((sum(positive)?, sum(negative)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexing_map::parse_map;

    #[test]
    fn bounds_that_are_symbols_are_written_as_such() {
        let max = i64::MAX;
        let min = i64::MIN;
        let map = parse_map(&format!(
            "(d0, d1){{n, i}} -> (d0 + i, d1), domain: d0 in [0, {max}], d1 in [0, 7], n in [0, {max}], i in [{min}, {max}], d0 - n in [{min}, -1]"
        ))
        .expect("it is a map");
        assert_eq!(map_text(&map), "(d0, d1){n, i} -> (d0 + i, d1), domain: 0 ≤ d0 < n, 0 ≤ d1 ≤ 7, 0 ≤ n");
        let bounded = parse_map("(d0) -> (d0), domain: d0 in [0, 7]").expect("it is a map");
        assert_eq!(map_text(&bounded), "(d0) -> (d0), domain: d0 in [0, 7]");
    }
}
