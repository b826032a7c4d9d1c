//! The tile sizes for which a symbolic tile is a tile: a disjunction of conjunctions of ranges.

use std::fmt;

use indexing_map::{Expr, IndexingMap, Interval, PrintStyle, print_expr};

/// The maximum number of conjunctions; a constraint with more is treated as never satisfied.
const MAX_CONJUNCTIONS: usize = 4096;

/// `expr in range` for an expression over tile sizes.
type Clause = (Expr, Interval);

/// The allowed tile sizes: one of the conjunctions must hold. Source: XLA
/// `codegen/tiling/constraint_expression.cc`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TileConstraint {
    /// An empty conjunction always holds, and is then the only one. Without conjunctions, the constraint is
    /// never satisfied.
    conjunctions: Vec<Vec<Clause>>,
}

impl TileConstraint {
    pub fn always() -> TileConstraint {
        TileConstraint { conjunctions: vec![Vec::new()] }
    }

    pub fn never() -> TileConstraint {
        TileConstraint { conjunctions: Vec::new() }
    }

    pub fn in_range(expr: Expr, range: Interval) -> TileConstraint {
        TileConstraint::of(vec![vec![(expr, range)]])
    }

    /// Evaluates constant clauses, and removes conjunctions that cannot hold and duplicates.
    pub(super) fn of(conjunctions: Vec<Vec<Clause>>) -> TileConstraint {
        let mut kept: Vec<Vec<Clause>> = Vec::new();
        for clauses in conjunctions {
            let Some(conjunction) = conjunction(clauses) else { continue };
            if conjunction.is_empty() {
                return TileConstraint::always();
            }
            if !kept.contains(&conjunction) {
                kept.push(conjunction);
            }
        }
        TileConstraint { conjunctions: kept }
    }

    pub fn is_always_satisfied(&self) -> bool {
        matches!(self.conjunctions.as_slice(), [only] if only.is_empty())
    }

    pub fn is_satisfiable(&self) -> bool {
        !self.conjunctions.is_empty()
    }

    #[must_use]
    pub fn and(self, other: TileConstraint) -> TileConstraint {
        if self.conjunctions.len().saturating_mul(other.conjunctions.len()) > MAX_CONJUNCTIONS {
            return TileConstraint::never();
        }
        let pairs = self
            .conjunctions
            .iter()
            .flat_map(|a| other.conjunctions.iter().map(move |b| a.iter().chain(b).cloned().collect()));
        TileConstraint::of(pairs.collect())
    }

    #[must_use]
    pub fn or(self, other: TileConstraint) -> TileConstraint {
        TileConstraint::of(self.conjunctions.into_iter().chain(other.conjunctions).collect())
    }

    /// Whether these tile sizes are allowed. An expression without a value is in no range.
    pub fn holds(&self, tile_sizes: &[i64]) -> bool {
        let met = |(expr, range): &Clause| expr.evaluate(tile_sizes).is_some_and(|v| range.contains(v));
        self.conjunctions.iter().any(|conjunction| conjunction.iter().all(met))
    }
}

/// The clauses after merging the ranges of equal expressions and evaluating constants; `None` if one cannot
/// hold. Sorted, so that equal conjunctions are equal.
fn conjunction(clauses: Vec<Clause>) -> Option<Vec<Clause>> {
    let mut kept: Vec<Clause> = Vec::new();
    for (expr, range) in clauses {
        if expr.is_too_large() {
            return None;
        }
        if let Some(value) = expr.as_const() {
            if !range.contains(value) {
                return None;
            }
            continue;
        }
        match kept.iter_mut().find(|(known, _)| *known == expr) {
            Some((_, known)) => *known = known.intersect(range),
            None => kept.push((expr, range)),
        }
    }
    kept.sort_by_cached_key(clause_text);
    kept.iter().all(|(_, range)| !range.is_empty()).then_some(kept)
}

fn clause_text((expr, range): &Clause) -> String {
    let names = IndexingMap::identity(&vec![1; expr.var_bound() as usize]);
    let text = print_expr(expr, &names, PrintStyle::Symbolic);
    format!("{text} in [{}, {}]", range.lower, range.upper)
}

/// `6 mod d0 in [0, 0] || d0 mod 6 in [0, 0]`, in XLA's order.
impl fmt::Display for TileConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_always_satisfied() {
            return f.write_str("always satisfied");
        }
        if !self.is_satisfiable() {
            return f.write_str("unsatisfiable");
        }
        let mut texts: Vec<String> = (self.conjunctions.iter())
            .map(|conjunction| conjunction.iter().map(clause_text).collect::<Vec<_>>().join(" && "))
            .collect();
        texts.sort();
        f.write_str(&texts.join(" || "))
    }
}
