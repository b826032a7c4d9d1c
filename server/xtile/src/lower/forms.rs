//! Simpler forms of arithmetic. Source: `mlir/lib/Dialect/Arith/IR/ArithCanonicalization.td`; sums of negated
//! floats as XLA's own output has them.

use super::rewrite::{Rewrite, Rewriter};
use crate::program::{Arithmetic, Cast, Kind, Op, ValueId};

pub(super) fn simplify(rewriter: &mut Rewriter<'_>, op: &Op) -> Option<Rewrite> {
    let ty = rewriter.ty(op.result()?).clone();
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
        _ => return None,
    };
    Some(Rewrite::Value(rewriter.push(kind, operands, ty)))
}

fn binary(
    rewriter: &Rewriter<'_>,
    op: Arithmetic,
    a: ValueId,
    b: ValueId,
) -> Option<(Arithmetic, ValueId, ValueId)> {
    match (op, negated(rewriter, a), negated(rewriter, b)) {
        (Arithmetic::Add, Some(a), _) => Some((Arithmetic::Subtract, b, a)),
        (Arithmetic::Add, None, Some(b)) => Some((Arithmetic::Subtract, a, b)),
        (Arithmetic::Multiply | Arithmetic::Divide, Some(a), Some(b)) => Some((op, a, b)),
        _ => None,
    }
}

fn negated(rewriter: &Rewriter<'_>, value: ValueId) -> Option<ValueId> {
    match rewriter.definition(value)? {
        (Kind::Arithmetic(Arithmetic::Negate), &[source]) => Some(source),
        _ => None,
    }
}
