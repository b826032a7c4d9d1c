//! Extents that may be unknown, and maps over them.
//!
//! An extent is an expression: a constant, or a symbol. While a rule builds a map, the symbol of an unknown extent
//! is a variable whose id says which array and dimension it belongs to. [`Domain::access`] turns the symbols
//! that occur into runtime variables behind those of the rule.

use indexing_map::{Expr, IndexingMap, Interval, Variable};
use ir::{Extent, Op, Shape};
use smallvec::SmallVec;

use crate::checks::{self, Checked, Reason, ensure};
use crate::operand_indexing::{ArraySource, OperandIndexing, RuntimeSource, RuntimeVariable};

/// The extents of an array.
pub(crate) type Extents = SmallVec<[Expr; 4]>;

/// The id of the symbol of dimension 0 of operand 0; those of one array follow each other.
const SYMBOLS: u32 = 1 << 30;
/// The number of symbols per array: no array has more dimensions.
const PER_ARRAY: u32 = checks::MAX_RANK as u32;
/// The number that stands for the output among the operands.
const OUTPUT: u32 = 1 << 20;

const NOT_NEGATIVE: Interval = Interval::new(0, i64::MAX);
const NEGATIVE: Interval = Interval::new(i64::MIN, -1);

/// The extents of operand `i`.
pub(crate) fn operand(op: &Op, i: usize) -> Checked<Extents> {
    let shape = op.operand_shapes.get(i).ok_or_else(|| Reason::from(format!("operand {i} is missing")))?;
    let number = u32::try_from(i).ok().filter(|&i| i < OUTPUT).ok_or("too many operands")?;
    of_shape(shape, format_args!("operand {i}"), number)
}

/// The extents of an output: of a leaf of the result if that is a tuple.
pub(crate) fn output(op: &Op, id: usize) -> Checked<Extents> {
    of_shape(checks::output_shape(op, id)?, format_args!("the output"), OUTPUT)
}

/// The extents of an output that is as large as the operands of its rank: where its own is unknown, theirs.
pub(crate) fn output_like_operands(op: &Op, id: usize) -> Checked<Extents> {
    let mut extents = output(op, id)?;
    if are_known(&extents) {
        return Ok(extents);
    }
    let of_operands = (0..op.operand_shapes.len()).filter_map(|i| operand(op, i).ok());
    let alike: SmallVec<[Extents; 4]> = of_operands.filter(|of| of.len() == extents.len()).collect();
    for (dim, extent) in extents.iter_mut().enumerate() {
        let mut theirs = alike.iter().map(|of| of[dim].clone());
        let Some(mut common) = theirs.next() else { break };
        for other in theirs.chain([extent.clone()]) {
            common = shared(&common, &other).ok_or("the operands and the output are not of one shape")?;
        }
        *extent = common;
    }
    Ok(extents)
}

fn of_shape(shape: &Shape, what: std::fmt::Arguments<'_>, number: u32) -> Checked<Extents> {
    let array = checks::array_of_any_extents(shape, what)?;
    let extent = |dim: usize| match array.extent(dim) {
        Some(Extent::Known(size)) => Expr::Const(size),
        _ => Expr::Var(SYMBOLS + number * PER_ARRAY + dim as u32),
    };
    Ok((0..array.rank()).map(extent).collect())
}

/// The extent that two dimensions have in common: the known one, or the first. `None` if they differ.
pub(crate) fn shared(a: &Expr, b: &Expr) -> Option<Expr> {
    match (a.as_const(), b.as_const()) {
        (Some(a), Some(b)) if a != b => None,
        (None, Some(_)) => Some(b.clone()),
        _ => Some(a.clone()),
    }
}

/// [`shared`] for each dimension of two arrays of one rank.
pub(crate) fn all_shared(a: &[Expr], b: &[Expr]) -> Option<Extents> {
    if a.len() != b.len() {
        return None;
    }
    a.iter().zip(b).map(|(a, b)| shared(a, b)).collect()
}

/// A sum of extents.
pub(crate) fn sum(a: Expr, b: Expr) -> Checked<Expr> {
    let overflows = a.as_const().zip(b.as_const()).is_some_and(|(a, b)| a.checked_add(b).is_none());
    ensure(!overflows, "sizes beyond 64 bits")?;
    Ok(a + b)
}

/// Whether every extent is known.
pub(crate) fn are_known(extents: &[Expr]) -> bool {
    extents.iter().all(|extent| extent.as_const().is_some())
}

/// The variables and constraints of a map under construction.
#[derive(Clone)]
pub(crate) struct Domain<'a> {
    op: &'a Op,
    output_id: usize,
    dims: Vec<Variable>,
    ranges: Vec<Variable>,
    runtime: Vec<Variable>,
    sources: Vec<RuntimeVariable>,
    /// Variables below an unknown extent.
    below: Vec<(Expr, Expr)>,
    constraints: Vec<(Expr, Interval)>,
}

impl<'a> Domain<'a> {
    /// A dimension per extent.
    pub(crate) fn new(op: &'a Op, output_id: usize, dims: &[Expr]) -> Domain<'a> {
        let mut domain = Domain {
            op,
            output_id,
            dims: Vec::with_capacity(dims.len()),
            ranges: Vec::new(),
            runtime: Vec::new(),
            sources: Vec::new(),
            below: Vec::new(),
            constraints: Vec::new(),
        };
        for extent in dims {
            let variable = domain.variable(domain.dims.len(), extent);
            domain.dims.push(variable);
        }
        domain
    }

    fn variable(&mut self, id: usize, extent: &Expr) -> Variable {
        match extent.as_const() {
            Some(size) => Variable::from_size(size),
            None => {
                self.below.push((Expr::var(id), extent.clone()));
                Variable::from(NOT_NEGATIVE)
            }
        }
    }

    /// Adds a range variable below `extent`. To call before [`Domain::runtime`].
    pub(crate) fn range(&mut self, extent: &Expr) -> Expr {
        let id = self.dims.len() + self.ranges.len();
        let variable = self.variable(id, extent);
        self.ranges.push(variable);
        Expr::var(id)
    }

    /// Adds a runtime variable. `index` is where it is read.
    pub(crate) fn runtime(
        &mut self,
        source: RuntimeSource,
        index: Vec<Expr>,
        bounds: Interval,
        feasible: Interval,
    ) -> Expr {
        let id = self.dims.len() + self.ranges.len() + self.runtime.len();
        self.runtime.push(Variable::from(bounds));
        self.sources.push(RuntimeVariable { source, map: self.place(index), feasible });
        Expr::var(id)
    }

    /// Adds a runtime variable for a number of any size: an element of an operand.
    pub(crate) fn runtime_element(&mut self, operand: usize, index: Vec<Expr>) -> Expr {
        self.runtime(RuntimeSource::Operand(operand), index, Interval::ALL, Interval::ALL)
    }

    pub(crate) fn constrain(&mut self, expr: Expr, allowed: Interval) {
        self.constraints.push((expr, allowed));
    }

    /// Adds `0 <= index < extent`.
    pub(crate) fn within(&mut self, index: Expr, extent: &Expr) {
        match extent.as_const() {
            Some(size) => self.constrain(index, Interval::from_size(size)),
            None => {
                self.constrain(index.clone(), NOT_NEGATIVE);
                self.constrain(index - extent.clone(), NEGATIVE);
            }
        }
    }

    /// The index of a runtime variable, over dimensions and range variables. The access has the domain.
    fn place(&self, index: Vec<Expr>) -> IndexingMap {
        IndexingMap::new(self.dims.clone(), self.ranges.clone(), Vec::new(), index)
    }

    /// The access at `results`.
    pub(crate) fn access(&self, results: Vec<Expr>) -> OperandIndexing {
        let symbols = self.symbols(&results);
        if symbols.is_empty() {
            let mut map =
                IndexingMap::new(self.dims.clone(), self.ranges.clone(), self.runtime.clone(), results);
            for (expr, allowed) in &self.constraints {
                map.add_constraint(expr.clone(), *allowed);
            }
            return OperandIndexing { runtime_variables: self.sources.clone(), ..map.into() };
        }
        let first = self.dims.len() + self.ranges.len() + self.runtime.len();
        let own =
            |e: &Expr| e.substitute(&mut |v| Some(Expr::var(first + symbols.iter().position(|&s| s == v)?)));
        let (mut runtime, mut sources) = (self.runtime.clone(), self.sources.clone());
        for symbol in &symbols {
            let (source, bounds) = self.source(symbol - SYMBOLS);
            runtime.push(Variable::from(bounds));
            sources.push(RuntimeVariable { source, map: self.place(Vec::new()), feasible: bounds });
        }
        let results = results.iter().map(own).collect();
        let mut map = IndexingMap::new(self.dims.clone(), self.ranges.clone(), runtime, results);
        for (variable, extent) in &self.below {
            map.add_constraint(variable.clone() - own(extent), NEGATIVE);
        }
        for (expr, allowed) in &self.constraints {
            map.add_constraint(own(expr), *allowed);
        }
        OperandIndexing { runtime_variables: sources, ..map.into() }
    }

    /// The ids of the symbols that occur, in the order of the dimensions and results that use them.
    fn symbols(&self, results: &[Expr]) -> Vec<u32> {
        let mut found = Vec::new();
        let below = self.below.iter().map(|(_, extent)| extent);
        for expr in below.chain(results).chain(self.constraints.iter().map(|(expr, _)| expr)) {
            expr.for_each_var(&mut |v| {
                if v >= SYMBOLS && v != u32::MAX && !found.contains(&v) {
                    found.push(v);
                }
            });
        }
        found
    }

    /// The array and dimension of a symbol, and the values that it may have.
    fn source(&self, symbol: u32) -> (RuntimeSource, Interval) {
        let (number, dimension) = (symbol / PER_ARRAY, (symbol % PER_ARRAY) as usize);
        let (array, shape) = match number {
            OUTPUT => (ArraySource::Output, checks::leaf(&self.op.shape, self.output_id)),
            _ => (ArraySource::Operand(number as usize), self.op.operand_shapes.get(number as usize)),
        };
        let extent = shape.and_then(|shape| shape.as_array()?.extent(dimension));
        let bounds = match extent {
            Some(Extent::Unknown { at_most }) => Interval::new(0, at_most),
            _ => NOT_NEGATIVE,
        };
        (RuntimeSource::Extent { array, dimension }, bounds)
    }
}
