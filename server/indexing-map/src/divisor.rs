//! Numbers that divide all values of an expression.

use crate::expr::{BinaryOp, Expr};
use crate::interval::gcd_of;

impl Expr {
    /// A number that divides all values of the expression; 0 if it is always 0. `of_variable` returns one that
    /// divides a variable.
    pub fn divisor(&self, of_variable: &dyn Fn(u32) -> u64) -> u64 {
        let b = match self {
            Expr::Const(c) => return c.unsigned_abs(),
            Expr::Var(v) => return of_variable(*v),
            Expr::Binary(b) => b,
        };
        let (left, right) = (b.lhs().divisor(of_variable), b.rhs().divisor(of_variable));
        match b.op() {
            BinaryOp::Add | BinaryOp::Min | BinaryOp::Max | BinaryOp::Mod => gcd_of(left, right),
            BinaryOp::Mul => left.checked_mul(right).unwrap_or(left.max(right)),
            BinaryOp::FloorDiv | BinaryOp::CeilDiv => match b.rhs().as_const().map(i64::unsigned_abs) {
                Some(by) if by != 0 && left.is_multiple_of(by) => left / by,
                _ => 1,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_hold_for_all_values() {
        let (x, y) = (Expr::var(0), Expr::var(1));
        let of = |v: u32| [6, 4][v as usize];
        let exprs = [
            x.clone() * 3 + y.clone() * 2,
            x.clone().floor_div(3) * 5,
            (x.clone() + 12).floor_div(4),
            x.clone().modulo(10),
            (x.clone() * 2).min(y.clone()),
            y.clone().ceil_div(2) * x.clone(),
            x.clone().floor_div(-2),
        ];
        for expr in exprs {
            let divisor = expr.divisor(&of) as i64;
            assert!(divisor > 0);
            for (a, b) in (0..=10).flat_map(|a| (0..=15).map(move |b| (a * 6, b * 4))) {
                let value = expr.evaluate(&[a, b]).expect("it has a value");
                assert_eq!(value % divisor, 0, "{expr} at {a}, {b}");
            }
        }
        assert_eq!((x.clone() * 5 + 15).divisor(&of), 15);
        assert_eq!(Expr::ZERO.divisor(&of), 0);
    }
}
