//! Evaluation of expressions at a point, and substitution.

use crate::expr::{BinaryOp, Expr};

impl Expr {
    /// Returns the value at a point given by flat variable id. `None` for a variable without a value, a
    /// division by zero, and a value beyond 64 bits. Intermediate values may have up to 128 bits.
    pub fn evaluate(&self, point: &[i64]) -> Option<i64> {
        self.evaluate_64(point).or_else(|| i64::try_from(self.evaluate_128(point)?).ok())
    }

    fn evaluate_64(&self, point: &[i64]) -> Option<i64> {
        match self {
            Expr::Const(c) => Some(*c),
            Expr::Var(v) => point.get(*v as usize).copied(),
            Expr::Binary(b) => b.op().apply(b.lhs().evaluate_64(point)?, b.rhs().evaluate_64(point)?),
        }
    }

    #[cold]
    fn evaluate_128(&self, point: &[i64]) -> Option<i128> {
        let b = match self {
            Expr::Const(c) => return Some(i128::from(*c)),
            Expr::Var(v) => return point.get(*v as usize).map(|&x| i128::from(x)),
            Expr::Binary(b) => b,
        };
        let (l, r) = (b.lhs().evaluate_128(point)?, b.rhs().evaluate_128(point)?);
        match b.op() {
            BinaryOp::Add => l.checked_add(r),
            BinaryOp::Mul => l.checked_mul(r),
            BinaryOp::Mod => l.checked_rem_euclid(r),
            BinaryOp::FloorDiv => {
                let q = l.checked_div(r)?;
                Some(q - i128::from(l % r != 0 && (l < 0) != (r < 0)))
            }
            BinaryOp::CeilDiv => {
                let q = l.checked_div(r)?;
                Some(q + i128::from(l % r != 0 && (l < 0) == (r < 0)))
            }
            BinaryOp::Max => Some(l.max(r)),
            BinaryOp::Min => Some(l.min(r)),
        }
    }

    /// Replaces variables: `f(id)` returns the replacement, or `None` to keep the variable. Nodes are rebuilt
    /// with the folding of [`Expr::binary`] only; unchanged subtrees stay shared.
    pub fn substitute(&self, f: &mut impl FnMut(u32) -> Option<Expr>) -> Expr {
        match self {
            Expr::Const(_) => self.clone(),
            Expr::Var(v) => f(*v).unwrap_or_else(|| self.clone()),
            Expr::Binary(b) => {
                let (l, r) = (b.lhs().substitute(f), b.rhs().substitute(f));
                if l.same(b.lhs()) && r.same(b.rhs()) { self.clone() } else { Expr::binary(b.op(), l, r) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_128_bits_are_those_of_64() {
        for op in BinaryOp::ALL {
            let expr = Expr::binary(op, Expr::var(0), Expr::var(1));
            for point in (-7..=7).flat_map(|a| (-7..=7).map(move |b| [a, b])) {
                let wide = expr.evaluate_128(&point).and_then(|value| i64::try_from(value).ok());
                assert_eq!(expr.evaluate_64(&point), wide, "{expr} at {point:?}");
            }
        }
        let difference = Expr::var(0) * i64::MAX - Expr::var(0) * (i64::MAX - 3);
        assert_eq!(difference.evaluate(&[1 << 40]), Some(3 << 40));
    }
}
