//! Numbers that a text gives as values, with their known properties.

use indexing_map::{BinaryOp, Expr, Interval, RangeContext, Variable};

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
        let of_symbol = |v: u32| self.0.get(v as usize).map_or(1, |s| s.divisor.unsigned_abs());
        i64::try_from(expr.divisor(&of_symbol)).unwrap_or(1)
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
    fn quotients_of_multiples_are_exact() {
        let mut symbols = Symbols::default();
        let name = SymbolName::Value("%x".to_owned());
        let x = symbols.variable(Symbol { name, divisor: 6, bounds: Interval::new(0, 60) });
        assert_eq!(symbols.divisor(&(x.clone() * 5 + 15)), 15);
        assert!(symbols.is_multiple(&(x.clone() * 5), 10) && !symbols.is_multiple(&x, 4));
        assert_eq!(divided(&(x.clone() * 10 + 20), 10), x + 2);
    }
}
