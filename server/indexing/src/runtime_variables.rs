//! Folding of runtime variables whose value is known from the graph.

use indexing_map::Expr;
use ir::{AttributeKey, Op, Opcode};

use crate::Rules;
use crate::operand_indexing::{OperandIndexing, RuntimeSource};

/// Constants with more elements are not read for one of them.
const MAX_LITERAL: usize = 1 << 16;

/// Replaces runtime variables whose source is a constant or an iota, and drops the ones that are no longer used.
/// `operand` answers the op that defines an operand.
///
/// A constant counts where its index is constant. XLA keeps one outside the feasible range as a runtime variable, and
/// does not check an iota; by [`Rules::Exact`] both are clamped, as the ops clamp. Nothing behind converts or reshapes
/// is looked at. Source: `OptimizeRTVar` in `indexing_analysis.cc`.
pub(crate) fn fold<'a>(
    access: &mut OperandIndexing,
    operand: impl Fn(usize) -> Option<&'a Op>,
    rules: Rules,
) {
    let mut is_folded = false;
    for (i, variable) in access.runtime_variables.iter().enumerate() {
        let bounds = variable.feasible;
        let RuntimeSource::Operand(source) = variable.source else { continue };
        let Some(op) = operand(source) else { continue };
        let index = variable.map.results();
        let value = match op.opcode {
            Opcode::Constant => match constant(op, index) {
                Some(value) if bounds.contains(value) => Expr::Const(value),
                Some(value) if rules == Rules::Exact => Expr::Const(value.clamp(bounds.lower, bounds.upper)),
                _ => continue,
            },
            Opcode::Iota => {
                let dim =
                    op.attributes.int(AttributeKey::IotaDimension).and_then(|d| usize::try_from(d).ok());
                match dim.and_then(|dim| index.get(dim)) {
                    Some(value) if rules == Rules::Xla => value.clone(),
                    Some(value) => value.clone().max(bounds.lower).min(bounds.upper),
                    None => continue,
                }
            }
            _ => continue,
        };
        access.map.replace_runtime(i, &value);
        is_folded = true;
    }
    if is_folded {
        access.drop_unused_symbols(rules);
    }
}

/// The element of a constant at a constant index.
fn constant(op: &Op, index: &[Expr]) -> Option<i64> {
    let literal = op.literal.as_deref()?;
    let sizes = op.shape.dims();
    if index.len() != sizes.len() {
        return None;
    }
    let mut position = 0usize;
    for (expr, &size) in index.iter().zip(sizes) {
        let at = usize::try_from(expr.as_const()?).ok()?;
        position = position.checked_mul(usize::try_from(size).ok()?)?.checked_add(at)?;
    }
    if position >= MAX_LITERAL {
        return None;
    }
    let is_separator = |c: char| c.is_whitespace() || matches!(c, '{' | '}' | ',');
    literal.split(is_separator).filter(|word| !word.is_empty()).nth(position)?.parse().ok()
}
