//! Builds maps over variables whose number is not known in advance.

use std::sync::Arc;

use indexing_map::{Expr, Interval, Variable};
use mlir::{ArrayType, OpId};
use mlir_ops::{Mixed, OpText, Operand, Source};
use rustc_hash::FxHashMap;

use crate::access::{Symbol, SymbolSource};

/// The first ids of range variables and symbols during building; dimensions start at zero.
pub(crate) const RANGES: u32 = 1 << 20;
pub(crate) const SYMBOLS: u32 = 1 << 21;

/// The domain of an op's maps during building: variables, symbols, constraints. Its expressions use its own
/// ids and are meaningless elsewhere.
#[derive(Clone)]
pub(crate) struct MapBuilder<'a> {
    pub(crate) source: &'a Source<'a>,
    pub(crate) dims: Vec<Variable>,
    pub(crate) ranges: Vec<Variable>,
    pub(crate) symbols: Vec<Symbol>,
    pub(crate) constraints: Vec<(Expr, Interval)>,
    /// Conditions around the op. Where they do not hold, the op is not executed.
    pub(crate) guards: Vec<(Expr, Interval)>,
    /// Memoised values of indices.
    pub(crate) known: FxHashMap<(mlir::ValueId, u32), Expr>,
    /// The number of ops followed for values of indices.
    pub(crate) steps: usize,
    /// The current depth of that recursion.
    pub(crate) depth: usize,
    /// Enclosing loops become dimensions, outermost first.
    pub(crate) around: bool,
}

/// `e < 0`
const NEGATIVE: Interval = Interval::new(i64::MIN, -1);
const NOT_NEGATIVE: Interval = Interval::new(0, i64::MAX);

impl<'a> MapBuilder<'a> {
    pub(crate) fn new(source: &'a Source<'a>) -> MapBuilder<'a> {
        MapBuilder {
            source,
            dims: Vec::new(),
            ranges: Vec::new(),
            symbols: Vec::new(),
            constraints: Vec::new(),
            guards: Vec::new(),
            known: FxHashMap::default(),
            steps: 0,
            depth: 0,
            around: false,
        }
    }

    /// Adds a dimension with values in `[0, extent)`.
    pub(crate) fn dimension(&mut self, extent: &Expr) -> Expr {
        let id = Expr::var(self.dims.len());
        let bounds = self.below(&id, extent);
        self.dims.push(Variable::from(bounds));
        id
    }

    pub(crate) fn dimensions(&mut self, extents: &[Expr]) -> Vec<Expr> {
        extents.iter().map(|extent| self.dimension(extent)).collect()
    }

    pub(crate) fn named_dimension(&mut self, name: &str, extent: &Expr) -> Expr {
        let id = self.dimension(extent);
        if let Some(last) = self.dims.last_mut() {
            last.name = Some(Arc::from(name));
        }
        id
    }

    /// Adds a range variable with values in `[0, extent)`.
    pub(crate) fn range(&mut self, name: Option<&str>, extent: &Expr) -> Expr {
        let id = Expr::Var(RANGES + self.ranges.len() as u32);
        let bounds = self.below(&id, extent);
        self.ranges.push(Variable { bounds, name: name.map(Arc::from) });
        id
    }

    fn below(&mut self, variable: &Expr, extent: &Expr) -> Interval {
        match extent.as_const() {
            Some(n) => Interval::from_size(n),
            None => {
                self.constraints.push((variable.clone() - extent.clone(), NEGATIVE));
                NOT_NEGATIVE
            }
        }
    }

    pub(crate) fn constrain(&mut self, expr: Expr, allowed: Interval) {
        self.constraints.push((expr, allowed));
    }

    /// `0 <= index < extent`, as constraints of one access.
    pub(crate) fn within(index: &Expr, extent: &Expr) -> Vec<(Expr, Interval)> {
        match extent.as_const() {
            Some(n) => vec![(index.clone(), Interval::from_size(n))],
            None => vec![(index.clone(), NOT_NEGATIVE), (index.clone() - extent.clone(), NEGATIVE)],
        }
    }

    /// The complement of `when`: the largest violation is at least 1.
    pub(crate) fn otherwise(when: &[(Expr, Interval)]) -> Vec<(Expr, Interval)> {
        let mut missed = Vec::new();
        for (expr, allowed) in when {
            if allowed.lower != i64::MIN {
                missed.push(Expr::Const(allowed.lower) - expr.clone());
            }
            if allowed.upper != i64::MAX {
                missed.push(expr.clone() - allowed.upper);
            }
        }
        let worst = missed.into_iter().reduce(|a, b| a.max(b)).unwrap_or(Expr::ZERO);
        vec![(worst, Interval::new(1, i64::MAX))]
    }

    /// A symbol for a number known only at run time, one per source.
    pub(crate) fn symbol(&mut self, source: SymbolSource, bounds: Interval) -> Expr {
        self.indexed_symbol(source, bounds, Vec::new())
    }

    fn indexed_symbol(&mut self, source: SymbolSource, bounds: Interval, index: Vec<Expr>) -> Expr {
        let at = match self.symbols.iter().position(|s| s.source == source) {
            Some(at) => at,
            None => {
                let name = Arc::from(source.short_name());
                self.symbols.push(Symbol { source, name, bounds, index });
                self.symbols.len() - 1
            }
        };
        Expr::Var(SYMBOLS + at as u32)
    }

    /// An element of an array of indices.
    pub(crate) fn element(
        &mut self,
        array: &Operand,
        nth: usize,
        index: Vec<Expr>,
        bounds: Interval,
    ) -> Expr {
        let source = SymbolSource::Element { of: array.key(), name: array.name.clone(), nth };
        self.indexed_symbol(source, bounds, index)
    }

    /// The symbol that an expression is.
    pub(crate) fn symbol_at(&self, e: &Expr) -> Option<&Symbol> {
        self.symbols.get(e.as_var()?.checked_sub(SYMBOLS)? as usize)
    }

    /// Narrows the bounds of a symbol to those of programs with defined behaviour. Has no effect on other
    /// expressions.
    pub(crate) fn narrow(&mut self, symbol: &Expr, bounds: Interval) {
        if let Some(symbol) = symbol
            .as_var()
            .and_then(|v| v.checked_sub(SYMBOLS))
            .and_then(|at| self.symbols.get_mut(at as usize))
        {
            let narrowed = symbol.bounds.intersect(bounds);
            // Contradictory bounds are ignored.
            if !narrowed.is_empty() {
                symbol.bounds = narrowed;
            }
        }
    }

    /// The extent of a dimension of an operand: a number, or a symbol.
    pub(crate) fn extent(&mut self, operand: &Operand, ty: &ArrayType, dimension: usize) -> Expr {
        if let Some(Some(n)) = ty.extents.get(dimension) {
            return Expr::Const(*n);
        }
        if let Some(known) = self.extent_of_producer(operand, dimension) {
            return known;
        }
        let most = ty.bound(dimension).unwrap_or(i64::MAX);
        let source = SymbolSource::Extent { of: operand.key(), name: operand.name.clone(), dimension };
        self.symbol(source, Interval::new(0, most))
    }

    pub(crate) fn extents(&mut self, operand: &Operand, ty: &ArrayType) -> Vec<Expr> {
        (0..ty.rank()).map(|k| self.extent(operand, ty, k)).collect()
    }

    /// The extents of a result: those of its type, or of `else_` where they are dynamic.
    pub(crate) fn result_extents(
        &mut self,
        text: &OpText<'_>,
        result: usize,
        ty: &ArrayType,
        else_: &[Option<Expr>],
    ) -> Vec<Expr> {
        let of = result_operand(text, result);
        let known = |k: usize| else_.get(k).cloned().flatten();
        (0..ty.rank())
            .map(|k| match (ty.extents[k], known(k)) {
                (Some(n), _) => Expr::Const(n),
                (None, Some(extent)) => extent,
                (None, None) => self.extent(&of, ty, k),
            })
            .collect()
    }

    /// An entry of a list of numbers and values.
    pub(crate) fn mixed(&mut self, entry: &Mixed) -> Expr {
        match entry {
            Mixed::Static(n) => Expr::Const(*n),
            Mixed::Dynamic(operand) => self.index_value(operand),
        }
    }
}

/// The result of an op as an operand, to name symbols.
pub(crate) fn result_operand(text: &OpText<'_>, result: usize) -> Operand {
    result_of(text.source, text.id, result)
}

/// The result of an op as the operand of others.
pub fn result_of(source: &Source<'_>, id: OpId, result: usize) -> Operand {
    let parse = source.parse;
    let mut left = result;
    for value in parse.op(id).results.clone() {
        let found = &parse.values[value as usize];
        let count = found.count as usize;
        if left < count {
            let name = found.name.of(source.text);
            let name = if count > 1 { format!("{name}#{left}") } else { name.to_owned() };
            return Operand { name, value: Some(value), index: left as u32 };
        }
        left -= count;
    }
    Operand { name: "%result".to_owned(), value: None, index: result as u32 }
}
