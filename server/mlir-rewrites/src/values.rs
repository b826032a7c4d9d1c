//! Properties of index values in the text: definitions by affine maps, loop bounds, constants.

use indexing_map::{BinaryOp, Expr, Interval};
use mlir::{Definition, OpId};

use crate::names::index_constant;
use crate::numbers::{LARGEST, Number, Symbol, SymbolName, Symbols};
use mlir_ops::{LoopBound, LoopVariable, Mixed, OpKind, OpText, Operand, Source};

/// The longest chain of definitions that is followed.
const MAX_STEPS: usize = 8;
/// The largest number of operators in the expression of a value; beyond it the value is a symbol.
const MAX_OPERATORS: usize = 24;

/// Returns the extent that a `tensor.dim` gives, by tensor and dimension.
pub(crate) type Extents<'a> = dyn Fn(&Operand, i64) -> Option<Expr> + 'a;

pub(crate) struct Values<'a, 'e> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) extents: &'e Extents<'e>,
}

impl Values<'_, '_> {
    /// The number for an entry of offsets or strides. A constant value becomes its number.
    pub(crate) fn number(&self, entry: &Mixed, symbols: &mut Symbols) -> Number {
        match entry {
            Mixed::Static(n) => Number::constant(*n),
            Mixed::Dynamic(operand) => {
                Number { text: operand.name.clone(), expr: self.expr(operand, symbols, MAX_STEPS) }
            }
        }
    }

    /// The number for an entry of sizes. A constant value stays a value, because types distinguish it from a
    /// literal.
    pub(crate) fn size(&self, entry: &Mixed, symbols: &mut Symbols) -> Number {
        let number = self.number(entry, symbols);
        match (entry, number.expr.as_const()) {
            (Mixed::Dynamic(operand), Some(n)) => {
                let (divisor, bounds) = (n.checked_abs().unwrap_or(1), Interval::point(n));
                let name = SymbolName::Value(operand.name.clone());
                Number { expr: symbols.variable(Symbol { name, divisor, bounds }), ..number }
            }
            _ => number,
        }
    }

    fn definition(&self, operand: &Operand) -> Option<Definition> {
        Some(self.source.parse.values.get(operand.value? as usize)?.definition)
    }

    /// The number of a constant operand.
    pub(crate) fn constant(&self, operand: &Operand) -> Option<i64> {
        match self.definition(operand)? {
            Definition::Result(op) => index_constant(self.source, op),
            _ => None,
        }
    }

    fn expr(&self, operand: &Operand, symbols: &mut Symbols, steps: usize) -> Expr {
        let read = |symbols: &mut Symbols| match self.definition(operand)? {
            Definition::Result(op) if steps > 0 => self.result(op, symbols, steps - 1),
            _ => None,
        };
        if let Some(expr) = read(symbols).filter(|e| !e.is_too_large() && e.node_count() <= MAX_OPERATORS) {
            return expr;
        }
        let (divisor, bounds) =
            self.facts(operand, symbols, steps).unwrap_or((1, Interval::new(-LARGEST, LARGEST)));
        symbols.variable(Symbol { name: SymbolName::Value(operand.name.clone()), divisor, bounds })
    }

    /// The value of an op's result in terms of other values.
    fn result(&self, op: OpId, symbols: &mut Symbols, steps: usize) -> Option<Expr> {
        if let Some(number) = index_constant(self.source, op) {
            return Some(Expr::Const(number));
        }
        match self.source.op(op) {
            OpKind::Apply => {
                let results = self.applied(op, symbols, steps)?;
                <[Expr; 1]>::try_from(results).ok().map(|[expr]| expr)
            }
            OpKind::Dim => {
                let operands = OpText::new(self.source, op)?.operands();
                let [tensor, axis] = operands.as_slice() else { return None };
                (self.extents)(tensor, self.constant(axis)?)
            }
            _ => None,
        }
    }

    /// The results of the map of an `affine.apply`, `affine.min` or `affine.max`, applied to its operands.
    fn applied(&self, op: OpId, symbols: &mut Symbols, steps: usize) -> Option<Vec<Expr>> {
        let text = OpText::new(self.source, op)?;
        let map = text.applied_map()?;
        let operands: Vec<Expr> =
            text.operands().iter().map(|operand| self.expr(operand, symbols, steps)).collect();
        let dims = map.arity().0.min(operands.len());
        let results = map.apply(&operands[..dims], &operands[dims..])?;
        Some(results.iter().map(in_multiples).collect())
    }

    /// A divisor of a value, and its bounds.
    fn facts(&self, operand: &Operand, symbols: &mut Symbols, steps: usize) -> Option<(i64, Interval)> {
        match self.definition(operand)? {
            Definition::Binder(_) | Definition::BlockArgument(_) => self.counted(operand),
            Definition::Result(op) => {
                let combine = match self.source.op(op) {
                    OpKind::AffineMin if steps > 0 => Interval::min,
                    OpKind::AffineMax if steps > 0 => Interval::max,
                    _ => return None,
                };
                let results = self.applied(op, symbols, steps - 1)?;
                let divisor = results
                    .iter()
                    .map(|e| symbols.divisor(e))
                    .reduce(|a, b| i64::try_from(indexing_map::gcd(a, b)).unwrap_or(1))?;
                let bounds = results.iter().map(|e| symbols.range(e)).reduce(combine)?;
                Some((divisor.max(1), bounds.intersect(Interval::new(-LARGEST, LARGEST))))
            }
        }
    }

    /// A divisor of a loop's variable, and its bounds.
    fn counted(&self, operand: &Operand) -> Option<(i64, Interval)> {
        let variable = LoopVariable::of(self.source, operand.value?)?;
        let text = &variable.text;
        let known = |bound: &LoopBound| match bound {
            LoopBound::Operand(operand) => self.constant(operand),
            LoopBound::Written(range) => match text.operand_at(range.start).filter(|_| range.len() == 1) {
                Some(operand) => self.constant(&operand),
                None => text.text_of(range.clone()).parse().ok(),
            },
            LoopBound::Known(values) => values.first()?.as_const().filter(|_| values.len() == 1),
            LoopBound::Map(_) => None,
        };
        let bounds = variable.bounds()?;
        let (lower, upper, step) = (known(&bounds.lower), known(&bounds.upper), known(&bounds.step));
        // An unknown step is still positive.
        let divisor = match (lower, step) {
            (Some(lower), Some(step)) => i64::try_from(indexing_map::gcd(lower, step)).unwrap_or(1).max(1),
            _ => 1,
        };
        let first = lower.unwrap_or(-LARGEST);
        let last = match (upper, step) {
            (Some(upper), Some(step)) if upper > first && step > 0 && lower.is_some() => {
                first.checked_add(upper.checked_sub(1)?.checked_sub(first)? / step * step)?
            }
            (Some(upper), _) => upper.checked_sub(1)?,
            _ => LARGEST,
        };
        (first <= last).then(|| (divisor, Interval::new(first, last)))
    }
}

/// Rewrites `x - x mod 8` to `(x floordiv 8) * 8`, which shows the divisor.
fn in_multiples(expr: &Expr) -> Expr {
    let Some((op, l, r)) = expr.as_binary() else { return expr.clone() };
    if op == BinaryOp::Add
        && let Some((remainder, -1)) = r.as_scaled()
        && let Some((x, c)) = remainder.as_op_const(BinaryOp::Mod)
        && x == l
        && c > 0
    {
        return in_multiples(l).floor_div(c) * c;
    }
    Expr::binary(op, in_multiples(l), in_multiples(r))
}

#[cfg(test)]
mod tests {
    use mlir_ops::AffineMap;

    use super::*;

    #[test]
    fn differences_with_remainders_are_multiples() {
        for text in [
            "d0 - d0 mod 8",
            "(d0 - d0 mod 4) * 3 + d1",
            "d1 - d0 mod 8",
            "d0 mod 8 - d0",
            "d0 - (d0 mod 8) * 2",
        ] {
            let map = AffineMap::parse(&format!("affine_map<(d0, d1) -> ({text})>")).expect("it is a map");
            let found = in_multiples(&map.results[0]);
            for point in (-20..20).flat_map(|x| [[x, 0], [x, 7]]) {
                assert_eq!(found.evaluate(&point), map.results[0].evaluate(&point), "{text} as {found}");
            }
        }
        let map = AffineMap::parse("affine_map<(d0) -> (d0 - d0 mod 8)>").expect("it is a map");
        assert_eq!(in_multiples(&map.results[0]), Expr::var(0).floor_div(8) * 8);
    }
}
