//! Conditions that hold at an op: those of the enclosing `affine.if` and `scf.if`.
//!
//! Source: mlir.llvm.org/docs/Dialects/Affine, `affine.if`; mlir.llvm.org/docs/Dialects/ArithOps,
//! `arith.cmpi`.

use indexing_map::{Expr, Interval};
use mlir::{Definition, OpId};
use mlir_ops::{Arithmetic, Comparison, OpKind, OpText, Operand, Relation};

use crate::map_builder::MapBuilder;

/// The largest number of enclosing ops that are examined.
const MAX_LEVELS: usize = 64;
/// The largest number of parts of one condition.
const MAX_PARTS: usize = 16;

const NOT_NEGATIVE: Interval = Interval::new(0, i64::MAX);
const POSITIVE: Interval = Interval::new(1, i64::MAX);

impl MapBuilder<'_> {
    /// Narrows the domain to where the op is reached: enclosing conditions hold, or in `else` regions do not.
    pub(crate) fn guard(&mut self, id: OpId) {
        let parse = self.source.parse;
        let mut inner = id;
        for _ in 0..MAX_LEVELS {
            let Some(block) = parse.op(inner).block else { return };
            let region = parse.blocks[block as usize].region;
            let outer = parse.regions[region as usize].op;
            let is_then = parse.regions_of(outer).next() == Some(region);
            let found = match self.source.op(outer) {
                OpKind::AffineIf => self.set_of(outer).map(|set| if is_then { set } else { negated(set) }),
                OpKind::ScfIf => OpText::new(self.source, outer).and_then(|text| {
                    let condition = text.operand(0).ok()?;
                    Some(self.condition(&condition, is_then, MAX_PARTS))
                }),
                _ => None,
            };
            self.guards.extend(found.into_iter().flatten().filter(|(e, _)| !e.is_too_large()));
            inner = outer;
        }
    }

    /// The constraints of `#set(%i)[%n]`: the left side minus the right side, and the interval it must lie
    /// in.
    fn set_of(&mut self, id: OpId) -> Option<Vec<(Expr, Interval)>> {
        let text = OpText::new(self.source, id)?;
        let (set, arguments) = (text.condition_set()?, text.operands());
        if arguments.len() != set.dims.len() + set.symbols.len() {
            return None;
        }
        let values: Vec<Expr> = arguments.iter().map(|a| self.index_value(a)).collect();
        let replace = |e: &Expr| e.substitute(&mut |v| values.get(v as usize).cloned());
        Some(set.constraints.iter().map(|(e, allowed)| (replace(e), *allowed)).collect())
    }

    /// The constraints that follow from a condition that holds (or does not): comparisons, and their
    /// conjunctions and disjunctions.
    fn condition(&mut self, condition: &Operand, holds: bool, parts: usize) -> Vec<(Expr, Interval)> {
        let nothing = Vec::new();
        let source = self.source;
        let Some((value, 0)) = condition.key() else { return nothing };
        let Some(Definition::Result(op)) = source.parse.values.get(value as usize).map(|v| v.definition)
        else {
            return nothing;
        };
        let OpKind::Integer(computed) = source.op(op) else { return nothing };
        if !matches!(computed, Arithmetic::Compare | Arithmetic::And | Arithmetic::Or) || parts == 0 {
            return nothing;
        }
        let Some(text) = OpText::new(source, op) else { return nothing };
        let operands = text.operands();
        let [a, b] = operands.as_slice() else { return nothing };
        match computed {
            // A true `andi` means both hold; a false `ori` means neither does.
            Arithmetic::And | Arithmetic::Or if (computed == Arithmetic::And) == holds => {
                let mut all = self.condition(a, holds, parts / 2);
                all.extend(self.condition(b, holds, parts / 2));
                all
            }
            Arithmetic::Compare => match self.comparison(&text, a, b) {
                Some(found) if holds => vec![found],
                Some(found) => negated(vec![found]),
                None => nothing,
            },
            _ => nothing,
        }
    }

    /// `arith.cmpi slt, %a, %b : index`, as a bound of the difference.
    fn comparison(&mut self, text: &OpText<'_>, a: &Operand, b: &Operand) -> Option<(Expr, Interval)> {
        let Comparison { relation, is_unsigned } = text.comparison()?;
        let (a, b) = (self.index_value(a), self.index_value(b));
        if is_unsigned && (self.range_of(&a).lower < 0 || self.range_of(&b).lower < 0) {
            return None;
        }
        let distance = a - b;
        Some(match relation {
            Relation::Equal => (distance, Interval::point(0)),
            Relation::NotEqual => negated(vec![(distance, Interval::point(0))]).pop()?,
            Relation::Less => (distance, Interval::new(i64::MIN, -1)),
            Relation::AtMost => (distance, Interval::new(i64::MIN, 0)),
            Relation::Greater => (distance, POSITIVE),
            Relation::AtLeast => (distance, NOT_NEGATIVE),
        })
    }
}

/// The negation of the constraints; empty if it is not a bound of one expression.
fn negated(set: Vec<(Expr, Interval)>) -> Vec<(Expr, Interval)> {
    let Ok([(e, allowed)]) = <[_; 1]>::try_from(set) else { return Vec::new() };
    match (allowed.lower, allowed.upper) {
        (lower, i64::MAX) if lower > i64::MIN => vec![(e, Interval::new(i64::MIN, lower - 1))],
        (i64::MIN, upper) if upper < i64::MAX => vec![(e, Interval::new(upper + 1, i64::MAX))],
        // Not 0: the value or its negative is positive.
        (0, 0) => vec![(e.clone().max(Expr::ZERO - e), POSITIVE)],
        _ => Vec::new(),
    }
}
