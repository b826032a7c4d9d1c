//! The entries of a sort: kernels that run in sequence, each of which exchanges pairs of elements, until all
//! are sorted. The operands are copied to the results first. Source: `EmitSort`,
//! `backends/gpu/codegen/llvm/llvm_emitter.cc`; `sort_util.cc`.

use gpu::{SortEmitter, SortStep};
use indexing_map::{Constraint, Expr, Interval, ceil_div};
use ir::{ArrayShape, AttributeKey, Opcode};

use crate::Reason;
use crate::emit::entry::{Entry, either};
use crate::emit::{Emission, arrays, sort_comparison};
use crate::kernel::{Condition, Kernel, OpKind, SharedArray, Type, ValueId};

/// The number of elements of a tile that a thread copies; it compares half as many pairs. In a kernel without
/// a tile, the number of pairs that a thread compares.
const UNROLL: i64 = 4;
/// The number of threads that compare neighbouring pairs at once.
const WARP: i64 = 32;
/// The maximum number of emitted comparisons, over all kernels and operands.
const MAX_COMPARISONS: usize = 20_000;
/// The minimum length of the shared array of an operand.
const MIN_SHARED: i64 = 64;

pub(super) fn emit(emission: &Emission<'_>, sort: &SortEmitter, kernel: &mut Kernel) -> Result<(), Reason> {
    let operands = kernel.params.iter().filter(|param| param.is_result()).count();
    let comparisons: usize = sort.steps.iter().map(|step| step.masks.len()).sum();
    if comparisons.saturating_mul(operands) > MAX_COMPARISONS {
        return Err(format!("it takes {comparisons} comparisons of {operands} operands").into());
    }
    let name = kernel.name.clone();
    for (number, step) in sort.steps.iter().enumerate() {
        let launch = step.launch;
        let here = emission.with_launch(launch);
        let mut own = Kernel { launch, functions: Vec::new(), then: Vec::new(), ..kernel.clone() };
        if number > 0 {
            own.name = format!("{name}__{number}");
        }
        one(&here, step, number == 0, &mut own)?;
        match number {
            0 => *kernel = own,
            _ => kernel.then.push(own),
        }
    }
    Ok(())
}

/// The common properties of all pairs of a kernel.
struct Sort<'k> {
    /// The index of the first elements of the thread's rows; the sorted dimension is filled in.
    row: Vec<Expr>,
    dim: usize,
    size: i64,
    /// The comparison function, and per operand whether it reads the operand.
    compare: usize,
    is_read: &'k [bool],
    /// Per operand that is an iota and not a parameter, its dimension.
    iotas: Vec<Option<usize>>,
}

fn one(emission: &Emission<'_>, step: &SortStep, is_first: bool, kernel: &mut Kernel) -> Result<(), Reason> {
    let fused = &emission.source.analysis.fused;
    let root = fused.roots[0];
    let op = fused.op(root);
    let mut shapes = Vec::new();
    arrays(&op.shape, &mut shapes);
    let keys = shapes.first().ok_or("it sorts nothing")?.clone();
    let dim = op.attributes.ints(AttributeKey::Dimensions).first();
    let dim = dim.and_then(|&dim| usize::try_from(dim).ok()).filter(|&dim| dim < keys.dims.len());
    let dim = dim.ok_or("it names no dimension")?;
    let size = keys.dims[dim];
    let iota = |&operand: &u32| {
        let op = fused.op(operand);
        match op.opcode {
            Opcode::Parameter => Ok(None),
            Opcode::Iota if is_first => {
                let dim = op.attributes.int(AttributeKey::IotaDimension).unwrap_or(0);
                Ok(Some(usize::try_from(dim).unwrap_or(0)))
            }
            Opcode::Iota => Ok(None),
            other => Err(Reason::from(format!("{other} before a sort is not written"))),
        }
    };
    let operands = emission.graph().operands.get(root as usize).ok_or("it has no operands")?;
    let iotas = operands.iter().map(iota).collect::<Result<Vec<_>, _>>()?;
    if iotas.len() != shapes.len() || kernel.params.iter().filter(|p| p.is_result()).count() != shapes.len() {
        return Err("it has as many results as operands".into());
    }
    let mut entry = Entry::new(emission, kernel);
    entry.elements.body.origin = Some(root);
    let called = op.attributes.computation(AttributeKey::ToApply).ok_or("it calls no computation")?;
    let (compare, is_read) = sort_comparison::comparison(emission, called, iotas.len())?;
    let compare = emission.add(compare);
    let mut sort = Sort { row: Vec::new(), dim, size, compare, is_read: &is_read, iotas };
    let tensors = entry.results.clone();
    entry.results = match step.tile {
        Some(tile) => sort.tiled(&mut entry, step, &keys, tile, tensors)?,
        None => sort.plain(&mut entry, step, &keys, tensors)?,
    };
    entry.finish(kernel);
    Ok(())
}

impl Sort<'_> {
    /// Sets the row of a block or a thread: the sorted dimension varies fastest, then the others, starting
    /// with the slowest in memory. `turns` is the number of parts of the sorted dimension; returns the number
    /// of the part.
    fn find_row(&mut self, entry: &Entry<'_>, keys: &ArrayShape, linear: &Expr, turns: i64) -> Expr {
        self.row = vec![Expr::ZERO; keys.dims.len()];
        let body = &entry.elements.body;
        let turn = body.simplify(&linear.clone().modulo(turns));
        let mut rest = linear.clone().floor_div(turns);
        let mut others: Vec<usize> =
            keys.minor_to_major().into_iter().filter(|&dim| dim != self.dim).collect();
        let last = others.first().copied();
        others.reverse();
        for dim in others {
            let size = keys.dims[dim];
            let digit = if Some(dim) == last { rest.clone() } else { rest.clone().modulo(size) };
            self.row[dim] = body.simplify(&digit);
            rest = rest.floor_div(size);
        }
        turn
    }

    fn at(&self, index: Expr) -> Vec<Expr> {
        let mut at = self.row.clone();
        at[self.dim] = index;
        at
    }

    /// The constraint that the expression is below `bound`; none if that is proved.
    fn below(entry: &Entry<'_>, index: &Expr, bound: i64) -> Vec<Constraint> {
        let expr = entry.elements.body.simplify(index);
        entry.elements.body.open_constraints(vec![Constraint { expr, interval: Interval::from_size(bound) }])
    }

    /// A tile in shared memory, with all comparisons inside one tile.
    fn tiled(
        &mut self,
        entry: &mut Entry<'_>,
        step: &SortStep,
        keys: &ArrayShape,
        tile: i64,
        tensors: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Reason> {
        let tiles = ceil_div(self.size, tile).unwrap_or(1);
        let block = entry.grid[3].clone();
        let number = self.find_row(entry, keys, &block, tiles);
        let thread = entry.grid[0].clone();
        let start = number.clone() * tile;
        let mut shared: Vec<ValueId> = Vec::new();
        for &tensor in &tensors {
            let body = &mut entry.elements.body;
            let element = body.function.element(tensor);
            let array = body.value(Type::Shared(SharedArray { element, dims: vec![tile.max(MIN_SHARED)] }));
            body.push(OpKind::AllocateShared, vec![array]);
            shared.push(array);
        }
        let count = UNROLL.min(tile);
        for (operand, &tensor) in tensors.iter().enumerate() {
            // Elements that are either all present or all absent are copied together, except for the first
            // operand.
            let is_one = operand > 0 && self.size % count == 0;
            let group = if is_one { count } else { 1 };
            for first in (0..count).step_by(group as usize) {
                let here = |n: i64| thread.clone() * count + n;
                let within = Self::below(entry, &(start.clone() + here(first + group - 1)), self.size);
                let carried = vec![shared[operand]];
                let written = only_where(entry, within, carried, |entry, mut carried| {
                    for n in first..first + group {
                        let at = self.at(start.clone() + here(n));
                        let value = match self.iotas[operand] {
                            Some(dim) => {
                                let index = at.get(dim).cloned().unwrap_or(Expr::ZERO);
                                let element = entry.elements.body.function.element(tensor);
                                entry.elements.body.compute_as(OpKind::FromIndex { index }, element)
                            }
                            None => entry.elements.body.read(tensor, at),
                        };
                        carried[0] = entry.elements.body.write(value, carried[0], vec![here(n)]);
                    }
                    Ok(carried)
                })?;
                shared[operand] = written[0];
            }
        }
        shared = sync(entry, shared);
        // A thread has two pairs; those of a warp are adjacent.
        let threads = tile / UNROLL;
        let pair = |n: i64| match threads % WARP {
            0 => thread.clone().floor_div(WARP) * (2 * WARP) + thread.clone().modulo(WARP) + n * WARP,
            _ => thread.clone() * 2 + n,
        };
        let pairs: Vec<Expr> = (0..(tile / 2).min(2)).map(pair).collect();
        let rest = self.size % tile;
        for &mask in &step.masks {
            let all = |entry: &mut Entry<'_>, bound: i64, mut shared: Vec<ValueId>| {
                for pair in &pairs {
                    shared = self.exchange(entry, mask, pair, bound, tile, &shared, |index| vec![index])?;
                }
                Ok::<_, Reason>(shared)
            };
            shared = if rest == 0 {
                all(entry, tile, shared)?
            } else if tiles == 1 {
                all(entry, rest, shared)?
            } else {
                let last = Constraint { expr: number.clone(), interval: Interval::point(tiles - 1) };
                let same = shared.clone();
                let condition = Condition::Within(vec![last]);
                either(entry, condition, |entry| all(entry, rest, shared), |entry| all(entry, tile, same))?
            };
            shared = sync(entry, shared);
        }
        let mut results = tensors;
        for operand in 0..results.len() {
            for n in 0..count {
                let here = thread.clone() * count + n;
                let within = Self::below(entry, &(start.clone() + here.clone()), self.size);
                let from = shared[operand];
                let written = only_where(entry, within, vec![results[operand]], |entry, tensors| {
                    let value = entry.elements.body.read(from, vec![here.clone()]);
                    let at = self.at(start.clone() + here);
                    Ok(vec![entry.elements.body.write(value, tensors[0], at)])
                })?;
                results[operand] = written[0];
            }
        }
        Ok(results)
    }

    /// Compares pairs in global memory.
    fn plain(
        &mut self,
        entry: &mut Entry<'_>,
        step: &SortStep,
        keys: &ArrayShape,
        tensors: Vec<ValueId>,
    ) -> Result<Vec<ValueId>, Reason> {
        let whole = 1i64 << (64 - (self.size - 1).leading_zeros()).min(62);
        let pairs = whole / 2;
        let turns = ceil_div(pairs, UNROLL).unwrap_or(1);
        let threads = entry.emission.launch.block[0];
        let linear = entry.grid[3].clone() * threads + entry.grid[0].clone();
        let linear = entry.elements.body.simplify(&linear);
        let turn = self.find_row(entry, keys, &linear, turns);
        let rows = self.row.iter().zip(&keys.dims).enumerate();
        let rows: i64 = rows.filter(|(dim, _)| *dim != self.dim).map(|(_, (_, &size))| size).product();
        let within = Self::below(entry, &linear, turns.saturating_mul(rows));
        let numbers: Vec<Expr> = match pairs {
            ..UNROLL => (0..pairs).map(Expr::Const).collect(),
            _ => (0..UNROLL).map(|n| turn.clone() * 2 + n % 2 + n / 2 * (pairs / 2)).collect(),
        };
        only_where(entry, within, tensors, |entry, mut tensors| {
            for &mask in &step.masks {
                for number in &numbers {
                    tensors = self.counted(entry, mask, number, tensors);
                    let at = |index| self.at(index);
                    tensors = self.exchange(entry, mask, number, self.size, whole, &tensors, at)?;
                }
            }
            Ok(tensors)
        })
    }

    /// Writes the elements of an iota operand before they are compared.
    fn counted(
        &self,
        entry: &mut Entry<'_>,
        mask: i64,
        pair: &Expr,
        mut tensors: Vec<ValueId>,
    ) -> Vec<ValueId> {
        let (first, second) = elements(mask, pair);
        for (operand, dim) in self.iotas.iter().enumerate() {
            let Some(dim) = *dim else { continue };
            for index in [first.clone(), second.clone()] {
                let at = self.at(index);
                let body = &mut entry.elements.body;
                let element = body.function.element(tensors[operand]);
                let index = at.get(dim).cloned().unwrap_or(Expr::ZERO);
                let value = body.compute_as(OpKind::FromIndex { index }, element);
                tensors[operand] = body.write(value, tensors[operand], at);
            }
        }
        tensors
    }

    /// Exchanges two elements if the second one sorts before the first. `bound`: the number of existing
    /// elements, of `whole` possible ones.
    #[allow(clippy::too_many_arguments, reason = "what one comparison is about")]
    fn exchange(
        &self,
        entry: &mut Entry<'_>,
        mask: i64,
        pair: &Expr,
        bound: i64,
        whole: i64,
        tensors: &[ValueId],
        at: impl Fn(Expr) -> Vec<Expr>,
    ) -> Result<Vec<ValueId>, Reason> {
        let (first, second) = elements(mask, pair);
        let [first, second] = [first, second].map(|index| entry.elements.body.simplify(&index));
        let within = match bound == whole {
            true => Vec::new(),
            false => Self::below(entry, &second, bound),
        };
        let [first, second] = [first, second].map(&at);
        only_where(entry, within, tensors.to_vec(), |entry, tensors| {
            let body = &mut entry.elements.body;
            let mut read = |tensor| [&second, &first].map(|index| body.read(tensor, index.clone()));
            let values: Vec<Option<[ValueId; 2]>> = tensors
                .iter()
                .zip(self.is_read)
                .map(|(&tensor, is_read)| is_read.then(|| read(tensor)))
                .collect();
            let args = values.iter().flatten().flatten().copied().collect();
            let call = OpKind::Call { function: self.compare, args, at: Vec::new() };
            let is_less = body.compute_as(call, syntax::hlo::ElementType::Pred);
            let same = tensors.clone();
            let swap = |entry: &mut Entry<'_>| {
                let body = &mut entry.elements.body;
                let all = tensors.iter().zip(values).map(|(&tensor, values)| {
                    let [later, earlier] = values
                        .unwrap_or_else(|| [&second, &first].map(|index| body.read(tensor, index.clone())));
                    let tensor = body.write(later, tensor, first.clone());
                    body.write(earlier, tensor, second.clone())
                });
                Ok(all.collect())
            };
            either(entry, Condition::Value(is_less), swap, |_| Ok(same))
        })
    }
}

/// The elements of a pair, whose indices differ by exclusive or with the mask: a power of two, or one less
/// than a power of two.
fn elements(mask: i64, pair: &Expr) -> (Expr, Expr) {
    let turns = mask > 1 && mask & (mask + 1) == 0;
    let half = if turns { mask / 2 + 1 } else { mask };
    let within = pair.clone().modulo(half);
    let start = pair.clone().floor_div(half) * (half * 2);
    let first = start.clone() + within.clone();
    let second = match turns {
        true => start + within * -1 + mask,
        false => first.clone() + half,
    };
    (first, second)
}

fn sync(entry: &mut Entry<'_>, tensors: Vec<ValueId>) -> Vec<ValueId> {
    let results = entry.like(&tensors);
    entry.elements.body.push(OpKind::Sync { tensors }, results.clone());
    results
}

/// The tensors that `write` returns if the conditions hold, else unchanged.
fn only_where<'a>(
    entry: &mut Entry<'a>,
    conditions: Vec<Constraint>,
    tensors: Vec<ValueId>,
    write: impl FnOnce(&mut Entry<'a>, Vec<ValueId>) -> Result<Vec<ValueId>, Reason>,
) -> Result<Vec<ValueId>, Reason> {
    crate::emit::entry::only_where(entry, Condition::Within(conditions), tensors, write)
}
