//! Values of indices, in terms of constants, enclosing loops and runtime values.

use indexing_map::{Expr, Interval, delinearized, linearized};
use mlir::{Definition, OpId};
use mlir_ops::{Arithmetic, MapUse, NoMap, OpKind, OpText, Operand, constant_integer, map_use};

use crate::access::SymbolSource;
use crate::map_builder::{MapBuilder, SYMBOLS, result_operand};

/// The largest number of ops followed for the indices of one op.
const MAX_STEPS: usize = 512;
/// The longest chain of definitions; each is a level of recursion.
const MAX_DEPTH: usize = 64;
/// The largest number of operators of an index, counted as a tree. In a chain of sums of sums they double
/// with each.
const MAX_NODES: usize = 1024;

impl MapBuilder<'_> {
    /// The value of an index operand: a constant, an expression, or a symbol.
    pub(crate) fn index_value(&mut self, operand: &Operand) -> Expr {
        let Some(key) = operand.key() else { return self.leaf(operand, Interval::ALL) };
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let Some(value) = self.source.parse.values.get(key.0 as usize) else {
            return self.leaf(operand, Interval::ALL);
        };
        let found = match value.definition {
            Definition::Result(op) => {
                let before: u32 = self
                    .source
                    .parse
                    .op(op)
                    .results
                    .clone()
                    .take_while(|&v| v < key.0)
                    .map(|v| self.source.parse.values[v as usize].count)
                    .sum();
                self.deeper(|this| this.result_of(op, (before + key.1) as usize))
            }
            Definition::Binder(_) | Definition::BlockArgument(_) => self.deeper(|this| this.bound(operand)),
        };
        let found = match found {
            Some(expr) if !expr.is_too_large() && expr.node_count() <= MAX_NODES => expr,
            _ => self.leaf(operand, Interval::ALL),
        };
        self.known.insert(key, found.clone());
        found
    }

    /// Follows one more op, unless a limit is reached.
    pub(crate) fn deeper(&mut self, f: impl FnOnce(&mut Self) -> Option<Expr>) -> Option<Expr> {
        if self.depth >= MAX_DEPTH || self.steps >= MAX_STEPS {
            return None;
        }
        cancel::check();
        self.steps += 1;
        self.depth += 1;
        let found = recursion::grow(|| f(self));
        self.depth -= 1;
        found
    }

    /// A symbol for a value of which only the range is known.
    pub(crate) fn leaf(&mut self, operand: &Operand, bounds: Interval) -> Expr {
        let bounds = match bounds {
            Interval::ALL => operand.key().map_or(bounds, |(v, _)| mlir_ops::argument_range(self.source, v)),
            known => known,
        };
        self.symbol(SymbolSource::Value { value: operand.key(), name: operand.name.clone() }, bounds)
    }

    /// The range of an expression over this builder's variables.
    pub(crate) fn range_of(&self, e: &Expr) -> Interval {
        if let Some(known) = e.as_const() {
            return Interval::point(known);
        }
        // The range of a lone symbol is its bounds.
        let symbol = e.as_var().and_then(|v| self.symbols.get(v.checked_sub(SYMBOLS)? as usize));
        if let Some(symbol) = symbol.filter(|_| self.constraints.is_empty()) {
            return symbol.bounds;
        }
        let map = self.finish(vec![e.clone()], Vec::new()).map;
        map.result_ranges().first().copied().unwrap_or(Interval::ALL)
    }

    /// The value of the `nth` result of an op whose results are indices.
    pub(crate) fn result_of(&mut self, op: OpId, nth: usize) -> Option<Expr> {
        let source = self.source;
        let kind = source.op(op);
        if kind.is_constant() {
            return constant_integer(source.parse, source.text, op).map(Expr::Const);
        }
        if let OpKind::Other(_) = kind {
            return None;
        }
        let text = OpText::new(source, op)?;
        match kind {
            OpKind::Integer(computed) => self.arithmetic(&text, computed),
            OpKind::Dim => {
                let operands = text.operands();
                let [of, which] = operands.as_slice() else { return None };
                let which = self.index_value(which).as_const()?;
                let (value, index) = of.key()?;
                let ty = source.array(&source.type_of(value, index)?, 0).ok()?;
                let which = usize::try_from(which).ok().filter(|&k| k < ty.rank())?;
                Some(self.extent(of, &ty, which))
            }
            OpKind::Apply | OpKind::AffineMin | OpKind::AffineMax | OpKind::ApplyIndexing => {
                let at = text.top().find(|&at| map_use(&text, at).is_some())?;
                let found = map_use(&text, at)?.ok()?;
                let results = self.map_results(&text, &found).ok()?;
                match kind {
                    OpKind::AffineMin => results.into_iter().reduce(|a, b| a.min(b)),
                    OpKind::AffineMax => results.into_iter().reduce(|a, b| a.max(b)),
                    _ => results.into_iter().nth(nth),
                }
            }
            OpKind::Delinearize => self.delinearize(&text)?.into_iter().nth(nth),
            OpKind::Linearize => self.linearize(&text),
            OpKind::LinalgIndex => self.loop_index(&text),
            OpKind::HardwareId(id) => self.launch_id(&text, id, nth).or_else(|| {
                let range = crate::value_ranges::hardware_range(&text, id);
                Some(self.leaf(&result_operand(&text, nth), range))
            }),
            _ => None,
        }
    }

    /// `%i into (3, 5, 7)`: the digits of a number. With one basis element fewer than results, the first
    /// digit is unbounded. With as many, the first element bounds the first digit and is not needed.
    pub(crate) fn delinearize(&mut self, text: &OpText<'_>) -> Option<Vec<Expr>> {
        let (linear, basis) = text.delinearized()?;
        let results = text.source.result_count(text.id);
        let linear = self.index_value(&linear);
        let mut basis: Vec<Expr> = basis.iter().map(|b| self.mixed(b)).collect();
        if basis.len() + 1 == results {
            basis.insert(0, Expr::Const(1));
        }
        (basis.len() == results).then(|| delinearized(&linear, &basis))
    }

    /// `[%a, %b] by (3, 5)`
    fn linearize(&mut self, text: &OpText<'_>) -> Option<Expr> {
        let (digits, basis) = text.linearized()?;
        let digits: Vec<Expr> = digits.iter().map(|d| self.mixed(d)).collect();
        let mut basis: Vec<Expr> = basis.iter().map(|b| self.mixed(b)).collect();
        if basis.len() + 1 == digits.len() {
            basis.insert(0, Expr::Const(1));
        }
        (basis.len() == digits.len()).then(|| linearized(&digits, &basis))
    }

    fn arithmetic(&mut self, text: &OpText<'_>, computed: Arithmetic) -> Option<Expr> {
        use Arithmetic::*;
        if matches!(computed, Compare | And | Or | Xor) {
            return None;
        }
        let operands = text.operands();
        let mut values = operands.iter().take(2).map(|operand| self.index_value(operand));
        let (a, b) = (values.next()?, values.next());
        let is_not_negative = |this: &Self, e: &Expr| this.range_of(e).lower >= 0;
        let result = match computed {
            Convert => a,
            // The same number if it is not negative.
            ConvertUnsigned => Some(a).filter(|a| is_not_negative(self, a))?,
            _ => {
                let b = b?;
                match computed {
                    Add => a + b,
                    Subtract => a - b,
                    Multiply => a * b,
                    Minimum => a.min(b),
                    Maximum => a.max(b),
                    FloorDivide => a.floor_div(b),
                    CeilDivide => a.ceil_div(b),
                    _ if !is_not_negative(self, &a) || !is_not_negative(self, &b) => return None,
                    Divide | DivideUnsigned => a.floor_div(b),
                    CeilDivideUnsigned => a.ceil_div(b),
                    Remainder | RemainderUnsigned => a.modulo(b),
                    MinimumUnsigned => a.min(b),
                    MaximumUnsigned => a.max(b),
                    _ => return None,
                }
            }
        };
        // Integers of a fixed width wrap around; an `index` is taken to be wide enough.
        let ty = text.source.result_type(text.id, 0)?;
        match ty.as_str() {
            "index" => Some(result),
            _ => {
                let bits = ty.strip_prefix('i')?.parse::<u32>().ok().filter(|b| (2..=64).contains(b))?;
                let most = ((1u128 << (bits - 1)) - 1) as i64;
                let range = self.range_of(&result);
                Interval::new(-most, most - i64::from(bits == 64)).contains_interval(range).then_some(result)
            }
        }
    }
}

impl MapBuilder<'_> {
    /// The results of a map for its arguments.
    pub(crate) fn map_results(&mut self, text: &OpText<'_>, found: &MapUse) -> Result<Vec<Expr>, NoMap> {
        let mut values = |range: &std::ops::Range<usize>| -> Option<Vec<Expr>> {
            let entries = text.mixed(range.clone())?;
            Some(entries.iter().map(|e| self.mixed(e)).collect())
        };
        let dims = values(&found.dims).ok_or(NoMap::NotRead("an argument of the map"))?;
        let symbols = values(&found.symbols).ok_or(NoMap::NotRead("an argument of the map"))?;
        found
            .map
            .apply(&dims, &symbols)
            .ok_or(NoMap::Arguments { takes: found.map.arity(), given: (dims.len(), symbols.len()) })
    }
}
