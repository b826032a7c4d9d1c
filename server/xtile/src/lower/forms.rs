//! Simpler forms of arithmetic. Source: `mlir/lib/Dialect/Arith/IR/ArithCanonicalization.td`; sums of negated
//! floats as XLA's own output has them.

use codegen::Constant;
use ir::ElementTypeExt;

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Arithmetic, Cast, Kind, Op, ValueId};

pub(super) fn simplify(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let ty = rewriter.ty(op.result?).clone();
    let (kind, operands) = match (&op.kind, &op.operands[..]) {
        (Kind::Arithmetic(arithmetic), &[a, b]) => {
            let (arithmetic, a, b) = binary(rewriter, *arithmetic, a, b)?;
            (Kind::Arithmetic(arithmetic), vec![a, b])
        }
        (Kind::Cast(Cast::TruncateFloat), &[a]) => match rewriter.definition(a)? {
            (Kind::Cast(cast @ (Cast::SignedToFloat | Cast::UnsignedToFloat)), &[source]) => {
                (Kind::Cast(*cast), vec![source])
            }
            _ => return None,
        },
        (Kind::Select, &[condition, a, b]) => {
            let (Kind::Arithmetic(Arithmetic::Xor), &[plain, ones]) = rewriter.definition(condition)? else {
                return None;
            };
            let is_not = rewriter.constant(ones)?.bits == 1;
            (Kind::Select, is_not.then(|| vec![plain, b, a])?)
        }
        _ => return None,
    };
    Some(Rewrite::Value(rewriter.push(kind, operands, ty)))
}

fn binary(
    rewriter: &mut Rewriter<'_>,
    op: Arithmetic,
    a: ValueId,
    b: ValueId,
) -> Option<(Arithmetic, ValueId, ValueId)> {
    match (op, negated(rewriter, a), negated(rewriter, b)) {
        (Arithmetic::Add, Some(a), _) => Some((Arithmetic::Subtract, b, a)),
        (Arithmetic::Add, None, Some(b)) => Some((Arithmetic::Subtract, a, b)),
        (Arithmetic::Multiply | Arithmetic::Divide, Some(a), Some(b)) => Some((op, a, b)),
        (Arithmetic::Add | Arithmetic::Multiply, None, None) => with_one_constant(rewriter, op, a, b),
        _ => None,
    }
}

fn negated(rewriter: &Rewriter<'_>, value: ValueId) -> Option<ValueId> {
    match rewriter.definition(value)? {
        (Kind::Arithmetic(Arithmetic::Negate), &[source]) => Some(source),
        _ => None,
    }
}

/// `(x op c) op d` of integers as `x op (c op d)`.
fn with_one_constant(
    rewriter: &mut Rewriter<'_>,
    op: Arithmetic,
    a: ValueId,
    b: ValueId,
) -> Option<(Arithmetic, ValueId, ValueId)> {
    let outer = rewriter.constant(b).filter(|constant| !constant.element.is_floating())?;
    let (kind, &[source, inner]) = rewriter.definition(a)? else { return None };
    if !matches!(kind, Kind::Arithmetic(inner) if *inner == op) {
        return None;
    }
    let (x, y) = (rewriter.constant(inner)?.as_int(), outer.as_int());
    let value = if op == Arithmetic::Add { x.wrapping_add(y) } else { x.wrapping_mul(y) };
    let ty = rewriter.ty(b).clone();
    let joined = rewriter.push_constant(Constant::of_int(outer.element, value), ty);
    Some((op, source, joined))
}
