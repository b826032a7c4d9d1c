//! Comparison, hashing and arithmetic operators of expressions. Comparison is structural, in XLA's canonical
//! order.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::expr::{Binary, BinaryOp, Expr};

impl PartialEq for Expr {
    #[inline]
    fn eq(&self, other: &Expr) -> bool {
        match (self, other) {
            (Expr::Const(a), Expr::Const(b)) => a == b,
            (Expr::Var(a), Expr::Var(b)) => a == b,
            (Expr::Binary(a), Expr::Binary(b)) => Arc::ptr_eq(a, b) || (a.hash == b.hash && same_parts(a, b)),
            _ => false,
        }
    }
}

/// Compared after the hashes, so that most comparisons end without a call.
fn same_parts(a: &Binary, b: &Binary) -> bool {
    a.op == b.op && a.lhs == b.lhs && a.rhs == b.rhs
}

impl Eq for Expr {}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.structural_hash());
    }
}

impl Ord for Expr {
    fn cmp(&self, other: &Expr) -> Ordering {
        match (self, other) {
            (Expr::Const(a), Expr::Const(b)) => a.cmp(b),
            (Expr::Var(a), Expr::Var(b)) => a.cmp(b),
            (Expr::Binary(a), Expr::Binary(b)) => {
                if Arc::ptr_eq(a, b) {
                    return Ordering::Equal;
                }
                a.op.cmp(&b.op).then_with(|| a.lhs.cmp(&b.lhs)).then_with(|| a.rhs.cmp(&b.rhs))
            }
            _ => self.rank().cmp(&other.rank()),
        }
    }
}

impl PartialOrd for Expr {
    fn partial_cmp(&self, other: &Expr) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<i64> for Expr {
    fn from(c: i64) -> Expr {
        Expr::Const(c)
    }
}

impl<T: Into<Expr>> std::ops::Add<T> for Expr {
    type Output = Expr;
    fn add(self, rhs: T) -> Expr {
        Expr::binary(BinaryOp::Add, self, rhs.into())
    }
}

impl<T: Into<Expr>> std::ops::Mul<T> for Expr {
    type Output = Expr;
    fn mul(self, rhs: T) -> Expr {
        Expr::binary(BinaryOp::Mul, self, rhs.into())
    }
}

impl<T: Into<Expr>> std::ops::Sub<T> for Expr {
    type Output = Expr;
    fn sub(self, rhs: T) -> Expr {
        self + rhs.into() * -1
    }
}

impl std::ops::Neg for Expr {
    type Output = Expr;
    fn neg(self) -> Expr {
        self * -1
    }
}
