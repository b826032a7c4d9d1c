//! Maps of indices: symbols become dimensions, constants fold, and what is not used goes.
//! Source: `codegen/emitters/ir/xla_ops.cc`.

use std::sync::Arc;

use indexing_map::{Expr, SimplifyMode};

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Kind, Op, Type};

pub(super) fn simplify(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let Kind::Apply { map, range } = &op.kind else { return None };
    let mut simple = map.symbols_to_dims();
    for id in map.num_dims()..map.variables().len() {
        simple.rename(id, None);
    }
    for (id, &operand) in op.operands.iter().enumerate() {
        if let Some(value) = rewriter.index_constant(operand) {
            simple.replace_variable(id, &Expr::from(value));
        }
    }
    simple.simplify(SimplifyMode::Replace);
    let removed = simple.remove_unused_vars();
    let operands: Vec<u32> = (op.operands.iter().enumerate())
        .filter(|(id, _)| removed.get(*id) != Some(&true))
        .map(|(_, &operand)| operand)
        .collect();
    let result = simple.results().first()?;
    if let Some(value) = result.as_const() {
        return Some(Rewrite::Value(rewriter.push(Kind::IndexConstant(value), Vec::new(), Type::Index)));
    }
    if let Some(&operand) = result.as_var().and_then(|id| operands.get(id as usize)) {
        return Some(Rewrite::Value(operand));
    }
    let has_symbols = map.num_dims() < map.variables().len();
    if operands == op.operands && simple.results() == map.results() && !has_symbols {
        return None;
    }
    let kind = Kind::Apply { map: Arc::new(simple), range: *range };
    Some(Rewrite::Value(rewriter.push(kind, operands, Type::Index)))
}
