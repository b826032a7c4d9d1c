//! Index arithmetic: the shortest instructions for expressions over known ranges.

use indexing_map::{BinaryOp, Constraint, Expr, Interval};
use ptx::{Comparison, Modifier, Name, Opcode, Type, cvt, setp};

use super::code::Code;
use super::index::{Indices, scaled};
use super::machine::{Operand, Reg};

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
                code.pure(cvt(Type::U64, Type::U32), [reg.into()]).into()
            }
            (32, 64) => code.pure(cvt(Type::S64, Type::S32), [reg.into()]).into(),
            (64, 32) => code.pure(cvt(Type::U32, Type::U64), [reg.into()]).into(),
            _ => value,
        }
    }

    fn binary(&self, code: &mut Code, op: BinaryOp, lhs: &Expr, rhs: &Expr, width: u32) -> Operand {
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
                return code
                    .pure(Name::Mad.with(Modifier::Lo, Type::s(width)), [x, Operand::Int(c), other])
                    .into();
            }
        }
        let a = self.compute_as(code, lhs, width);
        if let Some(c) = rhs.as_const() {
            return self.by_constant(code, op, lhs, a, c, width);
        }
        let b = self.compute_as(code, rhs, width);
        let unsigned = self.range(lhs).lower >= 0 && self.range(rhs).lower >= 0;
        let mut two = |opcode: Opcode| Operand::Reg(code.pure(opcode, [a, b]));
        match op {
            // The parts of the number do not overlap, so a sum is the same.
            BinaryOp::Add => two(Name::Add.of(Type::s(width))),
            BinaryOp::Mul => two(Name::Mul.with(Modifier::Lo, Type::s(width))),
            BinaryOp::Max => two(Name::Max.of(Type::s(width))),
            BinaryOp::Min => two(Name::Min.of(Type::s(width))),
            BinaryOp::FloorDiv => two(Name::Div.of(Type::integer(!unsigned, width))),
            BinaryOp::CeilDiv => two(Name::Div.of(Type::integer(!unsigned, width))),
            BinaryOp::Mod => two(Name::Rem.of(Type::integer(!unsigned, width))),
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
        let is_natural = self.range(lhs).lower >= 0;
        let shift = Operand::Int(i64::from(c.trailing_zeros()));
        let mut two = |opcode: Opcode, b: Operand| code.pure(opcode, [a, b]);
        let floored = |code: &mut Code, a: Operand| -> Reg {
            if is_natural {
                return code.pure(Name::Div.of(Type::u(width)), [a, Operand::Int(c)]);
            }
            // Division rounds to zero, so subtracts one for a negative remainder.
            let quotient = code.pure(Name::Div.of(Type::s(width)), [a, Operand::Int(c)]);
            let rest = code.pure(Name::Rem.of(Type::s(width)), [a, Operand::Int(c)]);
            let is_below = code.pure(setp(Comparison::Lt, Type::s(width)), [rest.into(), Operand::Int(0)]);
            let less = code.pure(Name::Add.of(Type::s(width)), [quotient.into(), Operand::Int(-1)]);
            code.pure(Name::Selp.of(Type::b(width)), [less.into(), quotient.into(), is_below.into()])
        };
        match op {
            BinaryOp::Add => two(Name::Add.of(Type::s(width)), Operand::Int(c)),
            BinaryOp::Mul if is_power(c) => two(Name::Shl.of(Type::b(width)), shift),
            BinaryOp::Mul => two(Name::Mul.with(Modifier::Lo, Type::s(width)), Operand::Int(c)),
            BinaryOp::Max => two(Name::Max.of(Type::s(width)), Operand::Int(c)),
            BinaryOp::Min => two(Name::Min.of(Type::s(width)), Operand::Int(c)),
            BinaryOp::FloorDiv if is_power(c) && is_natural => two(Name::Shr.of(Type::u(width)), shift),
            BinaryOp::FloorDiv if is_power(c) => two(Name::Shr.of(Type::s(width)), shift),
            BinaryOp::FloorDiv => floored(code, a),
            BinaryOp::CeilDiv => {
                let sum = self.sum(code, a, c - 1, width);
                floored(code, sum)
            }
            BinaryOp::Mod if is_power(c) => two(Name::And.of(Type::b(width)), Operand::Int(c - 1)),
            BinaryOp::Mod => {
                let quotient = floored(code, a);
                let product = code
                    .pure(Name::Mul.with(Modifier::Lo, Type::s(width)), [quotient.into(), Operand::Int(c)]);
                code.pure(Name::Sub.of(Type::s(width)), [a, product.into()])
            }
        }
        .into()
    }

    fn sum(&self, code: &mut Code, a: Operand, c: i64, width: u32) -> Operand {
        code.pure(Name::Add.of(Type::s(width)), [a, Operand::Int(c)]).into()
    }

    /// A predicate that is true if the constraint holds.
    pub fn test(&self, code: &mut Code, constraint: &Constraint) -> Reg {
        let Constraint { expr, interval } = constraint;
        let range = self.range(expr);
        let (value, width) = self.compute(code, expr);
        let int = Operand::Int;
        if range.intersect(*interval).is_empty() {
            // Never true: nothing is below 0 without a sign.
            return code.pure(setp(Comparison::Lt, Type::u(width)), [value, int(0)]);
        }
        if let Some(point) = interval.as_point() {
            return code.pure(setp(Comparison::Eq, Type::s(width)), [value, int(point)]);
        }
        let above = range.lower >= interval.lower;
        let below = range.upper <= interval.upper;
        match (above, below) {
            (true, _) if range.lower >= 0 => {
                code.pure(setp(Comparison::Le, Type::u(width)), [value, int(interval.upper)])
            }
            (true, _) => code.pure(setp(Comparison::Le, Type::s(width)), [value, int(interval.upper)]),
            (false, true) => code.pure(setp(Comparison::Ge, Type::s(width)), [value, int(interval.lower)]),
            // One unsigned comparison for both bounds: values below the lower bound become very large.
            (false, false) => {
                let moved = match interval.lower {
                    0 => value,
                    lower => code.pure(Name::Add.of(Type::s(width)), [value, int(-lower)]).into(),
                };
                let span = interval.upper - interval.lower;
                code.pure(setp(Comparison::Le, Type::u(width)), [moved, int(span)])
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
