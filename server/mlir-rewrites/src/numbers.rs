//! Numbers that a text gives as values, with their known properties.

use indexing_map::{BinaryOp, Expr, Interval, RangeContext, Variable, gcd};

/// An upper bound of any tensor's extent. Proofs hold below it.
pub(crate) const LARGEST: i64 = 1 << 40;

/// An entry of a list such as `[%i, 4]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Number {
    /// The number as written.
    pub text: String,
    /// Its value over the symbols ([`Symbols`]). In a list of sizes even a constant value is a symbol,
    /// because the result type says `?` for it.
    pub expr: Expr,
}

impl Number {
    pub fn constant(n: i64) -> Number {
        Number { text: n.to_string(), expr: Expr::Const(n) }
    }
}

/// A number known only at run time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    pub name: SymbolName,
    /// A number that divides it.
    pub divisor: i64,
    pub bounds: Interval,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SymbolName {
    /// `%n`
    Value(String),
    /// The extent of the source tensor along this dimension: `tensor.dim`.
    Extent(usize),
}

/// The symbols of a rewrite. Expressions refer to them by position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Symbols(pub Vec<Symbol>);

impl Symbols {
    /// The variable of a symbol, which is added if it is new.
    pub fn variable(&mut self, symbol: Symbol) -> Expr {
        let known = self.0.iter().position(|s| s.name == symbol.name);
        Expr::var(known.unwrap_or_else(|| {
            self.0.push(symbol);
            self.0.len() - 1
        }))
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The range of an expression.
    pub fn range(&self, expr: &Expr) -> Interval {
        let variables: Vec<Variable> = self.0.iter().map(|s| Variable::from(s.bounds)).collect();
        RangeContext::new(&variables, &[]).range(expr)
    }

    /// A number that divides all values of an expression; 0 if it is always 0.
    pub fn divisor(&self, expr: &Expr) -> i64 {
        match expr {
            Expr::Const(c) => c.checked_abs().unwrap_or(1),
            Expr::Var(v) => self.0.get(*v as usize).map_or(1, |s| s.divisor),
            Expr::Binary(b) => {
                let (l, r) = (self.divisor(b.lhs()), self.divisor(b.rhs()));
                let common = || i64::try_from(gcd(l, r)).unwrap_or(1);
                match b.op() {
                    BinaryOp::Add | BinaryOp::Min | BinaryOp::Max | BinaryOp::Mod => common(),
                    BinaryOp::Mul => l.checked_mul(r).unwrap_or_else(|| l.max(r)),
                    BinaryOp::FloorDiv | BinaryOp::CeilDiv => match b.rhs().as_const() {
                        Some(c) if c > 0 && l % c == 0 => l / c,
                        _ => 1,
                    },
                }
            }
        }
    }

    /// Whether `n` provably divides the expression.
    pub(crate) fn is_multiple(&self, expr: &Expr, n: i64) -> bool {
        n > 0 && self.divisor(expr) % n == 0
    }
}

/// `expr / n`, for an expression that `n` divides.
pub(crate) fn divided(expr: &Expr, n: i64) -> Expr {
    if let Some((x, c)) = expr.as_scaled()
        && c % n == 0
    {
        return x.clone() * (c / n);
    }
    if let Some((x, c)) = expr.as_op_const(BinaryOp::Add)
        && c % n == 0
        && x.as_scaled().is_some_and(|(_, k)| k % n == 0)
    {
        return divided(x, n) + c / n;
    }
    expr.clone().floor_div(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divisors_hold_for_all_values() {
        let mut symbols = Symbols::default();
        let name = |n: &str| SymbolName::Value(n.to_owned());
        let x = symbols.variable(Symbol { name: name("%x"), divisor: 6, bounds: Interval::new(0, 60) });
        let y = symbols.variable(Symbol { name: name("%y"), divisor: 4, bounds: Interval::new(0, 60) });
        let exprs = [
            x.clone() * 3 + y.clone() * 2,
            x.clone().floor_div(3) * 5,
            (x.clone() + 12).floor_div(4),
            x.clone().modulo(10),
            (x.clone() * 2).min(y.clone()),
            y.clone().ceil_div(2) * x.clone(),
        ];
        for expr in exprs {
            let divisor = symbols.divisor(&expr);
            assert!(divisor > 0);
            for (a, b) in (0..=10).flat_map(|a| (0..=15).map(move |b| (a * 6, b * 4))) {
                let value = expr.evaluate(&[a, b]).expect("it has a value");
                assert_eq!(value % divisor, 0, "{expr} at {a}, {b}");
                assert!(symbols.range(&expr).contains(value));
            }
        }
        assert_eq!(symbols.divisor(&(x.clone() * 5 + 15)), 15);
        assert_eq!(divided(&(x.clone() * 10 + 20), 10), x + 2);
    }
}
