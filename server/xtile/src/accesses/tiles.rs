//! The tiles that a program reads and writes, with their places in memory.

use codegen::Constant;
use gpu::CodeAccessKind;
use indexing_map::{Constraint, Expr, IndexingMap, Interval, RangeContext, Variable};
use ir::ElementTypeExt;
use rustc_hash::FxHashMap;

use super::axis_info::{divisibility, power_of_two_in, product};
use crate::Reason;
use crate::program::{Arithmetic, Block, Kind, Memory, Op, Predicate, Program, ValueId};

/// The number of the first variable of a program; those below are the ids of thread and block.
pub(super) const IDS: usize = 6;
/// The variable that is the number of the block.
const BLOCK: usize = 3;

/// The most elements of a tile. Triton's own limit is lower.
const MAX_ELEMENTS: i64 = 1 << 30;

/// A read or write of a tile.
#[derive(Debug, Clone)]
pub(super) struct TileAccess {
    pub kind: CodeAccessKind,
    pub argument: usize,
    /// The tile.
    pub value: ValueId,
    /// Bytes of an element. Two elements of 4 bits are one of a byte.
    pub bytes: i64,
    /// The dimensions along which the tile has several elements.
    pub dims: Vec<TileDim>,
    /// Whether two elements of 4 bits are one of the tile.
    pub is_packed: bool,
    /// Whether a bulk tensor copy (TMA) can move the tile.
    pub fits_bulk_copy: bool,
    /// The position of the first element, counted in elements.
    pub start: Expr,
    /// The power of two that is known to divide it.
    pub start_divisibility: i64,
    /// What holds where the access is executed.
    pub conditions: Vec<Constraint>,
    /// False if data decides whether it is executed.
    pub is_certain: bool,
}

/// A dimension of a tile and of its array.
#[derive(Debug, Clone)]
pub(super) struct TileDim {
    /// The size of the tile, a power of two.
    pub size: i64,
    /// The distance of neighbours in the tile, in elements of the array along this dimension.
    pub stride: i64,
    /// The distance of neighbours of the array in memory, in elements.
    pub step: i64,
    /// The size of the array.
    pub extent: i64,
    pub offset: Expr,
    pub offset_divisibility: i64,
    /// Whether elements beyond the end of the array are left out.
    pub is_masked: bool,
}

/// A loop or a number that only the running program knows.
#[derive(Debug, Clone)]
pub(super) struct ProgramVariable {
    pub bounds: Variable,
    pub is_loop: bool,
}

/// The tiles of a program, and the variables on which their places depend. Variable `n` has the number `IDS + n`.
#[derive(Debug, Default)]
pub(super) struct Tiles {
    pub accesses: Vec<TileAccess>,
    pub variables: Vec<ProgramVariable>,
}

impl Tiles {
    pub fn of(program: &Program) -> Result<Tiles, Reason> {
        let mut reader = Reader { program, tiles: Tiles::default(), known: FxHashMap::default() };
        let block = Index { expr: Expr::var(BLOCK), divisibility: 1, form: Form::Other };
        reader.known.insert(program.arguments.len() as ValueId, Scalar::Index(block));
        reader.block(&program.body, &Path { conditions: Vec::new(), is_certain: true })?;
        Ok(reader.tiles)
    }
}

/// What is known of a number: what it is, what divides it, and the op that computes it.
#[derive(Debug, Clone)]
struct Index {
    expr: Expr,
    divisibility: i64,
    form: Form,
}

#[derive(Debug, Clone)]
enum Form {
    Constant,
    /// An indexing map, with a number that divides its result, and the range of that.
    Applied {
        divisor: u64,
        range: Interval,
    },
    Other,
}

#[derive(Debug, Clone)]
enum Scalar {
    Index(Index),
    /// Holds if the expression is within the interval.
    Test(Expr, Interval),
}

struct Path {
    conditions: Vec<Constraint>,
    is_certain: bool,
}

struct Reader<'p> {
    program: &'p Program,
    tiles: Tiles,
    known: FxHashMap<ValueId, Scalar>,
}

impl Reader<'_> {
    fn block(&mut self, block: &Block, path: &Path) -> Result<(), Reason> {
        for op in &block.ops {
            cancel::tick();
            self.op(op, path)?;
        }
        Ok(())
    }

    fn op(&mut self, op: &Op, path: &Path) -> Result<(), Reason> {
        let scalar = match &op.kind {
            Kind::Extract { argument, strides } => {
                let value = op.result().ok_or("a read without a result")?;
                return self.access(CodeAccessKind::Read, *argument, value, strides, &op.operands, path);
            }
            Kind::Insert { argument, strides } => {
                let (&value, offsets) = op.operands.split_first().ok_or("a write without a tile")?;
                return self.access(CodeAccessKind::Write, *argument, value, strides, offsets, path);
            }
            Kind::For => return self.for_loop(op, path),
            Kind::If => return self.condition(op, path),
            Kind::IndexConstant(value) => Some(constant(*value)),
            Kind::Constant(number) => integer(number).map(constant),
            Kind::Apply { map, range } => Some(Scalar::Index(self.applied(map, *range, &op.operands)?)),
            Kind::IndexCast => self.operand(op, 0).map(Scalar::Index),
            Kind::Arithmetic(Arithmetic::Compare(predicate)) => self.test(op, *predicate),
            Kind::Arithmetic(arithmetic) => self.computed(op, *arithmetic),
            _ => None,
        };
        if let (Some(scalar), Some(result)) = (scalar, op.result()) {
            self.known.insert(result, scalar);
        }
        Ok(())
    }

    fn operand(&self, op: &Op, at: usize) -> Option<Index> {
        match self.known.get(op.operands.get(at)?)? {
            Scalar::Index(index) => Some(index.clone()),
            Scalar::Test(..) => None,
        }
    }

    /// Arithmetic on indices. Sums and differences that are used as offsets are of counters.
    fn computed(&self, op: &Op, arithmetic: Arithmetic) -> Option<Scalar> {
        let (left, right) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let (expr, divisibility) = match (arithmetic, right.expr.as_const()) {
            (Arithmetic::Add, _) => (left.expr + right.expr, left.divisibility.min(right.divisibility)),
            (Arithmetic::Subtract, _) => (left.expr - right.expr, left.divisibility.min(right.divisibility)),
            // Offsets are not negative.
            (Arithmetic::Divide, Some(by)) if by > 0 && by.count_ones() == 1 => {
                (left.expr.floor_div(by), (left.divisibility / by).max(1))
            }
            _ => return None,
        };
        Some(Scalar::Index(Index { expr, divisibility, form: Form::Other }))
    }

    fn test(&self, op: &Op, predicate: Predicate) -> Option<Scalar> {
        let (left, right) = (self.operand(op, 0)?, self.operand(op, 1)?);
        let holds = match predicate {
            Predicate::Equal => Interval::new(0, 0),
            Predicate::Less | Predicate::LessUnsigned => Interval::new(i64::MIN, -1),
            Predicate::AtMost | Predicate::AtMostUnsigned => Interval::new(i64::MIN, 0),
            Predicate::Greater | Predicate::GreaterUnsigned => Interval::new(1, i64::MAX),
            Predicate::AtLeast | Predicate::AtLeastUnsigned => Interval::new(0, i64::MAX),
            Predicate::NotEqual | Predicate::Unordered => return None,
        };
        Some(Scalar::Test(left.expr - right.expr, holds))
    }

    fn applied(
        &mut self,
        map: &IndexingMap,
        stated: Option<Interval>,
        operands: &[ValueId],
    ) -> Result<Index, Reason> {
        let result = map.results().first().ok_or("a map without a result")?;
        let range = RangeContext::new(map.variables(), map.constraints()).range(result);
        let range = stated.map_or(range, |stated| range.intersect(stated));
        let mut values = Vec::with_capacity(operands.len());
        for (&operand, bounds) in operands.iter().zip(map.variables()) {
            values.push(match self.known.get(&operand) {
                Some(Scalar::Index(index)) => index.clone(),
                _ => self.runtime(operand, bounds),
            });
        }
        let at = |v: u32| values.get(v as usize);
        Ok(Index {
            expr: result.substitute(&mut |v| at(v).map(|value| value.expr.clone())),
            divisibility: divisibility(result, &|v| at(v).map_or(1, |value| value.divisibility)),
            form: Form::Applied { divisor: result.divisor(&|_| 1), range },
        })
    }

    /// A number from data.
    fn runtime(&mut self, value: ValueId, bounds: &Variable) -> Index {
        let expr = Expr::var(IDS + self.tiles.variables.len());
        self.tiles.variables.push(ProgramVariable { bounds: bounds.clone(), is_loop: false });
        let index = Index { expr, divisibility: 1, form: Form::Other };
        self.known.insert(value, Scalar::Index(index.clone()));
        index
    }

    fn for_loop(&mut self, op: &Op, path: &Path) -> Result<(), Reason> {
        let bound = |at: usize| {
            let index = self.operand(op, at)?;
            index.expr.as_const()
        };
        let end = self.operand(op, 1).ok_or("a loop whose end is not known")?;
        // The end may depend on the block.
        let most = match (end.expr.as_const(), &end.form) {
            (Some(end), _) => Some(end),
            (None, Form::Applied { range, .. }) => Some(range.upper),
            _ => None,
        };
        let (Some(first), Some(most), Some(step)) = (bound(0), most, bound(2).filter(|step| *step > 0))
        else {
            return Err("a loop whose bounds are not known".into());
        };
        let steps = indexing_map::ceil_div(most.saturating_sub(first), step).unwrap_or(0);
        let body = op.blocks.first().ok_or("a loop without a body")?;
        let counter = body.arguments.first().ok_or("a loop without a counter")?;
        let expr = Expr::var(IDS + self.tiles.variables.len()) * step + first;
        self.tiles.variables.push(ProgramVariable { bounds: Variable::from_size(steps), is_loop: true });
        let divisibility = power_of_two_in(first).min(power_of_two_in(step));
        let mut inner = Path { conditions: path.conditions.clone(), is_certain: path.is_certain };
        if end.expr.as_const().is_none() {
            let left = expr.clone() - end.expr;
            inner.conditions.push(Constraint { expr: left, interval: Interval::new(i64::MIN, -1) });
        }
        self.known.insert(*counter, Scalar::Index(Index { expr, divisibility, form: Form::Other }));
        self.block(body, &inner)
    }

    fn condition(&mut self, op: &Op, path: &Path) -> Result<(), Reason> {
        let test = match op.operands.first().and_then(|test| self.known.get(test)) {
            Some(Scalar::Test(expr, interval)) => Some((expr.clone(), *interval)),
            _ => None,
        };
        for (at, block) in op.blocks.iter().enumerate() {
            let mut inner = Path { conditions: path.conditions.clone(), is_certain: path.is_certain };
            match test.as_ref().and_then(|(expr, holds)| {
                let interval = if at == 0 { *holds } else { complement(*holds)? };
                Some(Constraint { expr: expr.clone(), interval })
            }) {
                Some(constraint) => inner.conditions.push(constraint),
                None => inner.is_certain = false,
            }
            self.block(block, &inner)?;
        }
        Ok(())
    }

    fn access(
        &mut self,
        kind: CodeAccessKind,
        argument: usize,
        value: ValueId,
        strides: &[i64],
        offsets: &[ValueId],
        path: &Path,
    ) -> Result<(), Reason> {
        let memory = self.program.arguments.get(argument).ok_or("no such argument")?;
        let sizes = self.program.values.get(value as usize).map_or(&[][..], |ty| ty.sizes());
        let bits = i64::from(memory.element.bits().ok_or("elements without a size")?);
        let packed = if bits == 4 { memory.minor_to_major.first().copied() } else { None };
        let mut elements = 1i64;
        let (mut dims, mut start, mut start_divisibility) = (Vec::new(), Expr::ZERO, power_of_two_in(0));
        for (dim, step) in steps(memory, packed)?.into_iter().enumerate() {
            let (Some(&size), Some(&stride), Some(&offset)) =
                (sizes.get(dim), strides.get(dim), offsets.get(dim))
            else {
                return Err("a tile that has not the rank of its array".into());
            };
            let parts = if packed == Some(dim) { 2 } else { 1 };
            let (size, extent) = (size / parts, memory.dims[dim] / parts);
            if size == 0 {
                return Err("tiles of one element of 4 bits are not supported yet".into());
            }
            let index = match self.known.get(&offset) {
                Some(Scalar::Index(index)) => index.clone(),
                _ => self.runtime(offset, &Variable::new(0, extent - 1)),
            };
            let own = TileDim {
                size,
                stride: stride.max(1),
                step,
                extent,
                is_masked: size > 1 && !is_inside(&index, size, extent, parts),
                offset_divisibility: (index.divisibility / parts).max(1),
                offset: if parts == 1 { index.expr } else { index.expr.floor_div(parts) },
            };
            start = start + own.offset.clone() * step;
            let moves = product(own.offset_divisibility, power_of_two_in(step));
            start_divisibility = start_divisibility.min(moves);
            elements = elements
                .checked_mul(size)
                .filter(|&elements| elements <= MAX_ELEMENTS)
                .ok_or("too large a tile")?;
            if size > 1 {
                dims.push(own);
            }
        }
        self.tiles.accesses.push(TileAccess {
            kind,
            argument,
            value,
            bytes: (bits / 8).max(1),
            is_packed: packed.is_some(),
            fits_bulk_copy: fits_bulk_copy(memory, sizes, strides, bits),
            dims,
            start,
            start_divisibility,
            conditions: path.conditions.clone(),
            is_certain: path.is_certain,
        });
        Ok(())
    }
}

fn constant(value: i64) -> Scalar {
    let divisibility = power_of_two_in(value);
    Scalar::Index(Index { expr: Expr::Const(value), divisibility, form: Form::Constant })
}

/// The value of an integer constant.
fn integer(number: &Constant) -> Option<i64> {
    let bits = number.element.bits().filter(|_| !number.element.is_floating())?;
    let shift = 64u32.checked_sub(bits).filter(|_| bits > 0)?;
    Some(((number.bits as u64) << shift) as i64 >> shift)
}

fn complement(interval: Interval) -> Option<Interval> {
    match (interval.lower, interval.upper) {
        (i64::MIN, upper) => Some(Interval::new(upper.checked_add(1)?, i64::MAX)),
        (lower, i64::MAX) => Some(Interval::new(i64::MIN, lower.checked_sub(1)?)),
        _ => None,
    }
}

/// Whether XLA proves that the tile is within the array. Source: `CreateTensorOfPointersAndMask`,
/// `backends/gpu/codegen/triton/lowering_util.cc`.
fn is_inside(offset: &Index, size: i64, extent: i64, parts: i64) -> bool {
    let (divisor, range) = match (&offset.form, offset.expr.as_const()) {
        (Form::Constant, Some(value)) => (value.unsigned_abs(), Interval::new(value, value)),
        (Form::Applied { divisor, range }, _) => (*divisor, *range),
        _ => return false,
    };
    let (size, extent) = (size * parts, extent * parts);
    extent % size == 0
        && divisor.is_multiple_of(size.unsigned_abs())
        && range.lower >= 0
        && range.upper.checked_add(size).is_some_and(|end| end <= extent)
}

/// Source: `IsTmaCompatible`, `stream_executor/gpu/tma_metadata.cc`. That the offset is aligned is assumed.
fn fits_bulk_copy(memory: &Memory, sizes: &[i64], strides: &[i64], bits: i64) -> bool {
    let aligned = |elements: i64| elements.checked_mul(bits).is_some_and(|bits| bits % (16 * 8) == 0);
    let boxes = || sizes.iter().zip(strides).map(|(size, stride)| size.saturating_mul(*stride));
    let Some((&fastest, others)) = memory.minor_to_major.split_first() else { return false };
    let rows = others.is_empty() || memory.dims.get(fastest).is_some_and(|&extent| aligned(extent));
    memory.dims.len() <= 5
        && rows
        && boxes().all(|extent| extent <= 256)
        && boxes().nth(fastest).is_some_and(aligned)
}

/// Per dimension, the distance of neighbours in memory. Along `packed`, two elements are one.
fn steps(memory: &Memory, packed: Option<usize>) -> Result<Vec<i64>, Reason> {
    let mut steps = vec![0; memory.dims.len()];
    let mut step = 1i64;
    for &dim in &memory.minor_to_major {
        *steps.get_mut(dim).ok_or("a layout that is none of its array")? = step;
        let parts = if packed == Some(dim) { 2 } else { 1 };
        step = step.checked_mul(memory.dims[dim] / parts).ok_or("an array that exceeds 64 bits")?;
    }
    Ok(steps)
}
