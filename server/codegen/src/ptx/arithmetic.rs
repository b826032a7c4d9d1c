//! Index arithmetic: the shortest instructions for expressions over known ranges.

use indexing_map::{BinaryOp, Constraint, Expr, Interval};

use super::code::Code;
use super::index::Indices;
use super::machine::{Class, Operand, Reg};

impl Indices {
    /// The value of an expression that [`Indices::here`] returned, in a 32-bit register if its range fits.
    pub fn compute(&self, code: &mut Code, expr: &Expr) -> (Operand, u32) {
        let width = self.width(expr);
        (self.compute_as(code, expr, width), width)
    }

    fn width(&self, expr: &Expr) -> u32 {
        if fits32(self.range(expr)) { 32 } else { 64 }
    }

    pub fn compute_as(&self, code: &mut Code, expr: &Expr, width: u32) -> Operand {
        let own = match expr {
            Expr::Const(c) => return Operand::Int(*c),
            Expr::Var(v) => {
                let Some(&register) = self.registers.get(*v as usize) else { return Operand::Int(0) };
                let has = match register {
                    Operand::Reg(reg) => reg.class.bits(),
                    _ => return register,
                };
                return self.resized(code, register, has, width, expr);
            }
            Expr::Binary(_) => self.own_width(expr),
        };
        let Some((op, lhs, rhs)) = expr.as_binary() else { return Operand::Int(0) };
        let value = self.binary(code, op, lhs, rhs, own);
        self.resized(code, value, own, width, expr)
    }

    /// 32 bits if neither the node nor its operands need more.
    fn own_width(&self, expr: &Expr) -> u32 {
        let Some((_, lhs, rhs)) = expr.as_binary() else { return self.width(expr) };
        let fit = fits32(self.range(expr)) && fits32(self.range(lhs)) && fits32(self.range(rhs));
        if fit { 32 } else { 64 }
    }

    fn resized(&self, code: &mut Code, value: Operand, has: u32, wants: u32, expr: &Expr) -> Operand {
        let Operand::Reg(reg) = value else { return value };
        match (has, wants) {
            (32, 64) if self.range(expr).lower >= 0 => {
                code.pure("cvt.u64.u32", Class::B64, [reg.into()]).into()
            }
            (32, 64) => code.pure("cvt.s64.s32", Class::B64, [reg.into()]).into(),
            (64, 32) => code.pure("cvt.u32.u64", Class::B32, [reg.into()]).into(),
            _ => value,
        }
    }

    fn binary(&self, code: &mut Code, op: BinaryOp, lhs: &Expr, rhs: &Expr, width: u32) -> Operand {
        let class = Class::of_bits(width);
        let name = |base: &str| format!("{base}{width}");
        // A product in a sum is one multiply-add.
        if op == BinaryOp::Add {
            let (product, other) = match (scaled(lhs), scaled(rhs)) {
                (Some(product), _) => (Some(product), rhs),
                (None, Some(product)) => (Some(product), lhs),
                _ => (None, rhs),
            };
            if let Some((x, c)) = product
                && !is_power(c)
            {
                let x = self.compute_as(code, x, width);
                let other = self.compute_as(code, other, width);
                return code.pure(name("mad.lo.s"), class, [x, Operand::Int(c), other]).into();
            }
        }
        let a = self.compute_as(code, lhs, width);
        if let Some(c) = rhs.as_const() {
            return self.by_constant(code, op, lhs, a, c, width);
        }
        let b = self.compute_as(code, rhs, width);
        let unsigned = self.range(lhs).lower >= 0 && self.range(rhs).lower >= 0;
        let sign = if unsigned { "u" } else { "s" };
        let mut two = |base: String| Operand::Reg(code.pure(base, class, [a, b]));
        match op {
            // The parts of the number do not overlap, so a sum is the same.
            BinaryOp::Add => two(name("add.s")),
            BinaryOp::Mul => two(name("mul.lo.s")),
            BinaryOp::Max => two(name("max.s")),
            BinaryOp::Min => two(name("min.s")),
            BinaryOp::FloorDiv => two(format!("div.{sign}{width}")),
            BinaryOp::CeilDiv => two(format!("div.{sign}{width}")),
            BinaryOp::Mod => two(format!("rem.{sign}{width}")),
        }
    }

    fn by_constant(
        &self,
        code: &mut Code,
        op: BinaryOp,
        lhs: &Expr,
        a: Operand,
        c: i64,
        width: u32,
    ) -> Operand {
        let class = Class::of_bits(width);
        let name = |base: &str| format!("{base}{width}");
        let is_natural = self.range(lhs).lower >= 0;
        let shift = Operand::Int(i64::from(c.trailing_zeros()));
        let mut two = |base: String, b: Operand| code.pure(base, class, [a, b]);
        let floored = |code: &mut Code, a: Operand| -> Reg {
            if is_natural {
                return code.pure(name("div.u"), class, [a, Operand::Int(c)]);
            }
            // Division rounds to zero, so subtracts one for a negative remainder.
            let quotient = code.pure(name("div.s"), class, [a, Operand::Int(c)]);
            let rest = code.pure(name("rem.s"), class, [a, Operand::Int(c)]);
            let is_below = code.pure(name("setp.lt.s"), Class::Pred, [rest.into(), Operand::Int(0)]);
            let less = code.pure(name("add.s"), class, [quotient.into(), Operand::Int(-1)]);
            code.pure(name("selp.b"), class, [less.into(), quotient.into(), is_below.into()])
        };
        match op {
            BinaryOp::Add => two(name("add.s"), Operand::Int(c)),
            BinaryOp::Mul if is_power(c) => two(name("shl.b"), shift),
            BinaryOp::Mul => two(name("mul.lo.s"), Operand::Int(c)),
            BinaryOp::Max => two(name("max.s"), Operand::Int(c)),
            BinaryOp::Min => two(name("min.s"), Operand::Int(c)),
            BinaryOp::FloorDiv if is_power(c) && is_natural => two(name("shr.u"), shift),
            BinaryOp::FloorDiv if is_power(c) => two(name("shr.s"), shift),
            BinaryOp::FloorDiv => floored(code, a),
            BinaryOp::CeilDiv => {
                let sum = self.sum(code, a, c - 1, width);
                floored(code, sum)
            }
            BinaryOp::Mod if is_power(c) => two(name("and.b"), Operand::Int(c - 1)),
            BinaryOp::Mod => {
                let quotient = floored(code, a);
                let product = code.pure(name("mul.lo.s"), class, [quotient.into(), Operand::Int(c)]);
                code.pure(name("sub.s"), class, [a, product.into()])
            }
        }
        .into()
    }

    fn sum(&self, code: &mut Code, a: Operand, c: i64, width: u32) -> Operand {
        code.pure(format!("add.s{width}"), Class::of_bits(width), [a, Operand::Int(c)]).into()
    }

    /// A predicate that is true if the constraint holds.
    pub fn test(&self, code: &mut Code, constraint: &Constraint) -> Reg {
        let Constraint { expr, interval } = constraint;
        let range = self.range(expr);
        let (value, width) = self.compute(code, expr);
        let class = Class::of_bits(width);
        let int = Operand::Int;
        if let Some(point) = interval.as_point() {
            return code.pure(format!("setp.eq.s{width}"), Class::Pred, [value, int(point)]);
        }
        let above = range.lower >= interval.lower;
        let below = range.upper <= interval.upper;
        match (above, below) {
            (true, _) if range.lower >= 0 => {
                code.pure(format!("setp.le.u{width}"), Class::Pred, [value, int(interval.upper)])
            }
            (true, _) => code.pure(format!("setp.le.s{width}"), Class::Pred, [value, int(interval.upper)]),
            (false, true) => {
                code.pure(format!("setp.ge.s{width}"), Class::Pred, [value, int(interval.lower)])
            }
            // One unsigned comparison for both bounds: values below the lower bound become very large.
            (false, false) => {
                let moved = match interval.lower {
                    0 => value,
                    lower => code.pure(format!("add.s{width}"), class, [value, int(-lower)]).into(),
                };
                let span = interval.upper - interval.lower;
                code.pure(format!("setp.le.u{width}"), Class::Pred, [moved, int(span)])
            }
        }
    }
}

fn fits32(range: Interval) -> bool {
    range.lower >= i64::from(i32::MIN) && range.upper <= i64::from(i32::MAX)
}

fn is_power(c: i64) -> bool {
    c > 0 && c & (c - 1) == 0
}

pub(super) fn scaled(expr: &Expr) -> Option<(&Expr, i64)> {
    expr.as_op_const(BinaryOp::Mul)
}
