//! Index arithmetic: from expressions over known ranges to the shortest instructions.

use indexing_map::{
    BinaryOp, Constraint, Expr, Interval, RangeContext, Simplifier, SimplifyMode, Variable, ceil_div,
    floor_div, gcd,
};
use rustc_hash::FxHashMap;

use super::code::Code;
use super::machine::{Class, Operand, Reg};

/// What is known of the numbers that indices are made of.
#[derive(Default)]
pub(crate) struct Indices {
    /// Each with its range, and the register that holds it.
    variables: Vec<Variable>,
    registers: Vec<Operand>,
    /// In an unrolled loop: the value of a variable in this round.
    fixed: Vec<Option<i64>>,
    /// What holds here: the conditions of the branches around.
    facts: Vec<Constraint>,
    simple: FxHashMap<Expr, Expr>,
}

impl Indices {
    /// A variable whose value is in a register.
    pub fn variable(&mut self, bounds: Interval, register: Operand) -> Expr {
        self.variables.push(Variable::from(bounds));
        self.registers.push(register);
        self.fixed.push(None);
        self.simple.clear();
        Expr::var(self.variables.len() - 1)
    }

    /// The variable of an unrolled loop has this value from here on.
    pub fn fix(&mut self, variable: &Expr, value: Option<i64>) {
        if let Some(id) = variable.as_var() {
            self.fixed[id as usize] = value;
        }
    }

    /// Until [`Indices::forget`] is called with the answer.
    pub fn assume(&mut self, facts: impl IntoIterator<Item = Constraint>) -> usize {
        let before = self.facts.len();
        self.facts.extend(facts);
        before
    }

    pub fn forget(&mut self, before: usize) {
        self.facts.truncate(before);
    }

    pub fn simplify(&mut self, expr: &Expr) -> Expr {
        if expr.as_binary().is_none() {
            return expr.clone();
        }
        if let Some(known) = self.simple.get(expr) {
            return known.clone();
        }
        // As XLA does: by the ranges of the variables alone.
        let ranges = RangeContext::new(&self.variables, &[]);
        let simple = Simplifier::new(ranges, SimplifyMode::Replace).simplify(expr);
        self.simple.insert(expr.clone(), simple.clone());
        simple
    }

    /// The expression in this round of the unrolled loops around it.
    pub fn here(&mut self, expr: &Expr) -> Expr {
        let simple = self.simplify(expr);
        if !self.uses_fixed(&simple) {
            return simple;
        }
        let fixed = &self.fixed;
        let constant = simple.substitute(&mut |v| fixed.get(v as usize).copied().flatten().map(Expr::Const));
        self.simplify(&constant)
    }

    /// Summands of an index that are not known when the code is written.
    pub fn summands(&mut self, expr: &Expr) -> usize {
        let mut count = 0;
        let simple = self.simplify(expr);
        let mut rest = vec![&simple];
        while let Some(expr) = rest.pop() {
            match expr.as_binary() {
                Some((BinaryOp::Add, a, b)) => rest.extend([a, b]),
                _ => count += usize::from(expr.as_const().is_none() && !self.uses_fixed(expr)),
            }
        }
        count
    }

    /// Are the summands of a sum made of different bits, so that it is their union?
    pub fn is_disjoint(&self, sum: &Expr) -> bool {
        let mut summands = Vec::new();
        let mut rest = vec![sum];
        while let Some(expr) = rest.pop() {
            match expr.as_binary() {
                Some((BinaryOp::Add, a, b)) => rest.extend([a, b]),
                _ => summands.push((1i64 << divisor(expr).trailing_zeros().min(40), self.range(expr))),
            }
        }
        summands.sort_unstable_by_key(|(unit, _)| *unit);
        let mut below = 0i64;
        summands.into_iter().all(|(unit, range)| {
            let fits = range.lower >= 0 && below < unit;
            below = below.saturating_add(range.upper);
            fits
        })
    }

    pub fn uses_fixed(&self, expr: &Expr) -> bool {
        let mut uses = false;
        expr.for_each_var(&mut |v| uses |= self.fixed.get(v as usize).is_some_and(Option::is_some));
        uses
    }

    pub fn range(&self, expr: &Expr) -> Interval {
        RangeContext::new(&self.variables, &self.facts).range(expr)
    }

    /// The constraint in this round, unless it is known to hold.
    pub fn open(&mut self, constraint: &Constraint) -> Option<Constraint> {
        let expr = self.here(&constraint.expr);
        let Constraint { expr, interval } = bare(expr, constraint.interval);
        let is_known = interval.contains_interval(self.range(&expr));
        (!is_known).then_some(Constraint { expr, interval })
    }

    /// The value of an expression that [`Indices::here`] has seen, in a register of 32 bits where its range allows.
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

    /// 32 bits where neither the node nor its operands are larger.
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
        // A product in a sum is one instruction.
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
            // Parts of a number that do not overlap: the same as a sum.
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
            // Division rounds to zero: one less where something negative is left over.
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

    /// A predicate that holds where the constraint does.
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
            // Both at once: what is too small becomes very large.
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

/// The constraint without constant summand and factor: what differs from round to round of a loop in those alone becomes
/// the same.
fn bare(expr: Expr, interval: Interval) -> Constraint {
    let (mut expr, constant) = split_constant(&expr);
    let mut interval =
        Interval::new(interval.lower.saturating_sub(constant), interval.upper.saturating_sub(constant));
    while let Some((inner, factor)) = scaled(&expr).filter(|(_, factor)| *factor > 0) {
        let lower = ceil_div(interval.lower, factor).unwrap_or(interval.lower);
        let upper = floor_div(interval.upper, factor).unwrap_or(interval.upper);
        interval = Interval::new(lower, upper);
        expr = inner.clone();
    }
    Constraint { expr, interval }
}

fn fits32(range: Interval) -> bool {
    range.lower >= i64::from(i32::MIN) && range.upper <= i64::from(i32::MAX)
}

fn is_power(c: i64) -> bool {
    c > 0 && c & (c - 1) == 0
}

fn scaled(expr: &Expr) -> Option<(&Expr, i64)> {
    expr.as_op_const(BinaryOp::Mul)
}

/// A number that divides all values of the expression.
pub(crate) fn divisor(expr: &Expr) -> i64 {
    /// Divides everything that is asked about.
    const ANY: i64 = 1 << 40;
    let both = |a: &Expr, b: &Expr| gcd(divisor(a), divisor(b)).min(ANY as u64) as i64;
    match expr {
        Expr::Const(0) => ANY,
        Expr::Const(c) => c.unsigned_abs().min(ANY as u64) as i64,
        Expr::Var(_) => 1,
        Expr::Binary(_) => match expr.as_binary() {
            Some((BinaryOp::Mul, a, b)) => divisor(a).saturating_mul(divisor(b)).min(ANY),
            Some((BinaryOp::FloorDiv, a, b)) => match b.as_const() {
                Some(c) if c > 0 && divisor(a) % c == 0 => divisor(a) / c,
                _ => 1,
            },
            Some((BinaryOp::CeilDiv, ..)) | None => 1,
            Some((_, a, b)) => both(a, b),
        },
    }
}

/// The expression without its constant summand, and that.
pub(crate) fn split_constant(expr: &Expr) -> (Expr, i64) {
    match expr {
        Expr::Const(c) => (Expr::ZERO, *c),
        Expr::Var(_) => (expr.clone(), 0),
        Expr::Binary(_) => match expr.as_op_const(BinaryOp::Add) {
            Some((rest, c)) => {
                let (rest, inner) = split_constant(rest);
                (rest, c.saturating_add(inner))
            }
            None => (expr.clone(), 0),
        },
    }
}
