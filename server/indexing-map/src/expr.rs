//! Expressions over numbered variables: cheap to clone, compare and hash.

mod operators;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::interval::{ceil_div, floor_div, modulo};

/// Operators, in the order in which expressions are sorted (XLA `symbolic_expr.h`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum BinaryOp {
    Add,
    Mul,
    /// Remainder by the magnitude of the right side, never negative.
    Mod,
    FloorDiv,
    CeilDiv,
    Max,
    Min,
}

impl BinaryOp {
    pub const ALL: [BinaryOp; 7] = [
        BinaryOp::Add,
        BinaryOp::Mul,
        BinaryOp::Mod,
        BinaryOp::FloorDiv,
        BinaryOp::CeilDiv,
        BinaryOp::Max,
        BinaryOp::Min,
    ];

    /// Applies the operator to two numbers; `None` on overflow and on division by zero.
    pub fn apply(self, a: i64, b: i64) -> Option<i64> {
        match self {
            BinaryOp::Add => a.checked_add(b),
            BinaryOp::Mul => a.checked_mul(b),
            BinaryOp::Mod => modulo(a, b),
            BinaryOp::FloorDiv => floor_div(a, b),
            BinaryOp::CeilDiv => ceil_div(a, b),
            BinaryOp::Max => Some(a.max(b)),
            BinaryOp::Min => Some(a.min(b)),
        }
    }

    pub fn is_commutative(self) -> bool {
        matches!(self, BinaryOp::Add | BinaryOp::Mul | BinaryOp::Max | BinaryOp::Min)
    }
}

/// A quasi-affine (or wider) integer expression.
///
/// Leaves are stored inline, operator nodes are shared. Equality, hash and order are structural. The order is
/// XLA's canonical one: operators as in [`BinaryOp`], then variables, then constants. Variables have flat
/// ids: dimensions, then range variables, then runtime variables.
///
/// The holder owns it; nothing is interned, so dropping the last clone frees it. 16 bytes, plus 72 for
/// each operator node that is not shared.
///
/// Invariant: no expression is deeper than [`Expr::MAX_DEPTH`] or has more than [`Expr::MAX_NODES`] operators
/// counted as a tree. Construction beyond these limits yields [`Expr::TOO_LARGE`], and so does every
/// expression built on it. So recursion over an expression needs no guard of its own.
#[derive(Clone)]
pub enum Expr {
    Const(i64),
    Var(u32),
    Binary(Arc<Binary>),
}

/// An operator node. Only [`Expr::binary`] and the operators on [`Expr`] build it.
pub struct Binary {
    op: BinaryOp,
    depth: u8,
    nodes: u16,
    hash: u32,
    /// The context ([`Expr::settle`]) in which the node is known to be simple; 0 for none. Not part of the
    /// value.
    settled: AtomicU64,
    /// Bit `min(id, 63)` for each variable in the expression.
    variables: u64,
    lhs: Expr,
    rhs: Expr,
}

impl Binary {
    pub fn op(&self) -> BinaryOp {
        self.op
    }
    pub fn lhs(&self) -> &Expr {
        &self.lhs
    }
    pub fn rhs(&self) -> &Expr {
        &self.rhs
    }
}

impl Expr {
    /// The longest path from the root to a leaf.
    pub const MAX_DEPTH: usize = u8::MAX as usize;
    /// The largest number of operators, counted as a tree.
    pub const MAX_NODES: usize = u16::MAX as usize;
    /// The result of construction beyond the limits. It has no value and no known range.
    pub const TOO_LARGE: Expr = Expr::Var(u32::MAX);
    pub const ZERO: Expr = Expr::Const(0);

    pub fn var(id: usize) -> Expr {
        u32::try_from(id).map_or(Expr::TOO_LARGE, Expr::Var)
    }

    /// Builds `lhs op rhs`, with the folding that needs no context. Constants are folded, unless that
    /// overflows, and moved to the right of commutative operators; `x + 0`, `x * 0`, `x * 1`, `x / 1`,
    /// `x mod 1` and `(x * c) * d` collapse.
    pub fn binary(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr {
        cancel::tick();
        if lhs.is_too_large() || rhs.is_too_large() {
            return Expr::TOO_LARGE;
        }
        match (&lhs, &rhs) {
            (Expr::Const(a), Expr::Const(b)) => {
                if let Some(c) = op.apply(*a, *b) {
                    return Expr::Const(c);
                }
            }
            (Expr::Const(_), _) if op.is_commutative() => return Expr::fold_constant_rhs(op, rhs, lhs),
            (_, Expr::Const(_)) => return Expr::fold_constant_rhs(op, lhs, rhs),
            _ => {}
        }
        Expr::node(op, lhs, rhs)
    }

    fn fold_constant_rhs(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr {
        let Expr::Const(c) = rhs else { return Expr::node(op, lhs, rhs) };
        match (op, c) {
            (BinaryOp::Add, 0) | (BinaryOp::Mul | BinaryOp::FloorDiv | BinaryOp::CeilDiv, 1) => return lhs,
            (BinaryOp::Mul, 0) | (BinaryOp::Mod, 1 | -1) => return Expr::ZERO,
            (BinaryOp::Mul, c) => {
                if let Some((x, k)) = lhs.as_scaled()
                    && let Some(k) = k.checked_mul(c)
                {
                    return Expr::binary(BinaryOp::Mul, x.clone(), Expr::Const(k));
                }
            }
            _ => {}
        }
        Expr::node(op, lhs, rhs)
    }

    /// Builds the node without folding.
    fn node(op: BinaryOp, lhs: Expr, rhs: Expr) -> Expr {
        let nodes = lhs.node_count() + rhs.node_count() + 1;
        let depth = lhs.depth().max(rhs.depth()) + 1;
        if nodes > Expr::MAX_NODES || depth > Expr::MAX_DEPTH {
            return Expr::TOO_LARGE;
        }
        let hash = mix(mix(op as u64 + 1, lhs.structural_hash()), rhs.structural_hash());
        let variables = lhs.variable_mask() | rhs.variable_mask();
        Expr::Binary(Arc::new(Binary {
            op,
            depth: depth as u8,
            nodes: nodes as u16,
            hash: (hash >> 32) as u32,
            settled: AtomicU64::new(0),
            variables,
            lhs,
            rhs,
        }))
    }

    pub fn is_too_large(&self) -> bool {
        matches!(self, Expr::Var(u32::MAX))
    }

    pub fn as_const(&self) -> Option<i64> {
        if let Expr::Const(c) = self { Some(*c) } else { None }
    }

    pub fn as_var(&self) -> Option<u32> {
        if let Expr::Var(v) = self { Some(*v) } else { None }
    }

    pub fn as_binary(&self) -> Option<(BinaryOp, &Expr, &Expr)> {
        if let Expr::Binary(b) = self { Some((b.op, &b.lhs, &b.rhs)) } else { None }
    }

    /// Returns `(x, c)` if the expression is `x op c` with a constant `c`.
    pub fn as_op_const(&self, op: BinaryOp) -> Option<(&Expr, i64)> {
        match self {
            Expr::Binary(b) if b.op == op => b.rhs.as_const().map(|c| (&b.lhs, c)),
            _ => None,
        }
    }

    /// Returns `(x, c)` if the expression is `x * c`.
    pub fn as_scaled(&self) -> Option<(&Expr, i64)> {
        self.as_op_const(BinaryOp::Mul)
    }

    /// The number of operators, counted as a tree: a shared node counts each time it occurs.
    pub fn node_count(&self) -> usize {
        if let Expr::Binary(b) = self { b.nodes as usize } else { 0 }
    }

    /// The longest path to a leaf; zero for a leaf.
    pub fn depth(&self) -> usize {
        if let Expr::Binary(b) = self { usize::from(b.depth) } else { 0 }
    }

    /// Returns bit `min(id, 63)` for each variable that occurs: a quick test that a variable does not.
    pub(crate) fn variable_mask(&self) -> u64 {
        match self {
            Expr::Const(_) => 0,
            Expr::Var(v) => 1 << (*v).min(63),
            Expr::Binary(b) => b.variables,
        }
    }

    /// Whether the variable with this flat id occurs.
    pub fn uses_var(&self, id: u32) -> bool {
        if self.variable_mask() & (1 << id.min(63)) == 0 {
            return false;
        }
        match self {
            Expr::Const(_) => false,
            Expr::Var(v) => *v == id,
            Expr::Binary(_) if id < 63 => true,
            Expr::Binary(b) => b.lhs.uses_var(id) || b.rhs.uses_var(id),
        }
    }

    /// Calls `f` with the flat id of each variable occurrence, left to right.
    pub fn for_each_var(&self, f: &mut impl FnMut(u32)) {
        match self {
            Expr::Const(_) => {}
            Expr::Var(v) => f(*v),
            Expr::Binary(b) => {
                b.lhs.for_each_var(f);
                b.rhs.for_each_var(f);
            }
        }
    }

    /// Returns one more than the largest variable id that occurs; 0 if there is none.
    pub fn var_bound(&self) -> u32 {
        let mut bound = 0;
        self.for_each_var(&mut |v| bound = bound.max(v.saturating_add(1)));
        bound
    }

    pub(crate) fn structural_hash(&self) -> u64 {
        match self {
            Expr::Const(c) => mix(11, *c as u64),
            Expr::Var(v) => mix(13, u64::from(*v)),
            Expr::Binary(b) => u64::from(b.hash),
        }
    }

    /// Records that simplification in a context, given by its hash, leaves the node unchanged. Only the last
    /// context is kept. The record is a hint: a wrong one leaves an expression less simple than it could be,
    /// but correct.
    pub(crate) fn settle(&self, context: u64) {
        if let Expr::Binary(b) = self {
            b.settled.store(context, Ordering::Relaxed);
        }
    }

    /// Whether [`Expr::settle`] was last called with this context.
    pub(crate) fn is_settled(&self, context: u64) -> bool {
        matches!(self, Expr::Binary(b) if b.settled.load(Ordering::Relaxed) == context)
    }

    fn rank(&self) -> u8 {
        match self {
            Expr::Binary(b) => b.op as u8,
            Expr::Var(_) => 7,
            Expr::Const(_) => 8,
        }
    }

    /// `self floordiv rhs`.
    pub fn floor_div(self, rhs: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::FloorDiv, self, rhs.into())
    }

    /// `self ceildiv rhs`.
    pub fn ceil_div(self, rhs: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::CeilDiv, self, rhs.into())
    }

    /// The terms of a sum in text order, or the expression itself.
    pub fn summands(&self) -> Vec<&Expr> {
        let (mut found, mut open) = (Vec::new(), vec![self]);
        while let Some(e) = open.pop() {
            match e.as_binary() {
                Some((BinaryOp::Add, a, b)) => open.extend([b, a]),
                _ => found.push(e),
            }
        }
        found
    }

    /// `self mod rhs`.
    pub fn modulo(self, rhs: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Mod, self, rhs.into())
    }

    pub fn min(self, rhs: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Min, self, rhs.into())
    }

    pub fn max(self, rhs: impl Into<Expr>) -> Expr {
        Expr::binary(BinaryOp::Max, self, rhs.into())
    }

    /// Shallow equality: two nodes are the same only if they are one shared node.
    pub(crate) fn same(&self, other: &Expr) -> bool {
        match (self, other) {
            (Expr::Binary(a), Expr::Binary(b)) => Arc::ptr_eq(a, b),
            (Expr::Const(a), Expr::Const(b)) => a == b,
            (Expr::Var(a), Expr::Var(b)) => a == b,
            _ => false,
        }
    }
}

pub(crate) fn mix(a: u64, b: u64) -> u64 {
    (a.rotate_left(23) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(id: usize) -> Expr {
        Expr::var(id)
    }

    #[track_caller]
    fn check(e: Expr, expect: &str) {
        assert_eq!(e.to_string(), expect);
    }

    #[test]
    fn construction_folds_locally() {
        check(Expr::Const(5) + v(0), "v0 + 5");
        check(v(0) * Expr::ZERO, "0");
        check(v(0) * 3 * 4, "v0 * 12");
        check(-(v(0) * 3), "v0 * -3");
        check(Expr::Const(-2).ceil_div(5), "0");
        check(Expr::Const(5).modulo(-3), "2");
        check(v(0).modulo(1), "0");
    }

    #[test]
    fn overflow_stays_unfolded() {
        let e = Expr::Const(i64::MAX) + Expr::Const(1);
        assert_eq!(e.node_count(), 1);
        assert_eq!(e.evaluate(&[]), None);
        assert_eq!(Expr::Const(1).floor_div(0).evaluate(&[]), None);
        assert_eq!((v(0) * i64::MAX * 2).node_count(), 2);
        assert_eq!((v(0) * i64::MAX * 2 + v(0) * -4).floor_div(4).evaluate(&[1]), Some(i64::MAX / 2 - 1));
    }

    #[test]
    fn order_is_canonical() {
        let sorted = [
            v(0) + v(1),
            v(0) * 2,
            v(0).modulo(3),
            v(0).floor_div(3),
            v(0).ceil_div(3),
            v(0).max(3),
            v(0).min(3),
            v(0),
            v(1),
            Expr::Const(-1),
            Expr::Const(4),
        ];
        assert!(sorted.is_sorted());
    }

    #[test]
    fn expressions_may_be_as_large_as_the_limits() {
        // A sum of 2^n variables has 2^n - 1 operators and the depth n.
        let doubled = |n: usize| (0..n).fold(v(0), |e, _| e.clone() + e);
        let largest = doubled(15) + doubled(15);
        assert_eq!((largest.node_count(), largest.depth()), (Expr::MAX_NODES, 16));
        assert!((largest + v(0)).is_too_large());
        let deepest = (0..Expr::MAX_DEPTH).fold(v(0), |e, _| e + v(1));
        assert_eq!((deepest.depth(), deepest.node_count()), (Expr::MAX_DEPTH, Expr::MAX_DEPTH));
        assert!((deepest + v(0)).is_too_large());
    }

    #[test]
    fn variables_that_occur_are_known() {
        let mut random = random::Rng::new(1);
        for _ in 0..2000 {
            let mut ids: Vec<usize> = (0..random.range(1, 4)).map(|_| random.index(70)).collect();
            let e = ids.iter().fold(Expr::Const(7), |e, &id| e + v(id) * 3);
            ids.sort_unstable();
            for id in 0..72 {
                assert_eq!(e.uses_var(id), ids.contains(&(id as usize)), "v{id} in {e}");
            }
            assert_eq!(e.var_bound() as usize, ids[ids.len() - 1] + 1);
            assert_eq!(format!("{e:?}"), e.to_string());
        }
    }

    #[test]
    fn sizes_are_limited() {
        let mut e = v(0);
        for _ in 0..100_000 {
            e = e.clone() + v(1);
        }
        assert!(e.is_too_large());
        let mut doubled = v(0);
        for _ in 0..100 {
            doubled = doubled.clone() * doubled;
        }
        assert!(doubled.is_too_large());
    }
}
