//! The reads and writes of a kernel, as maps from threads to positions in memory.

use indexing::{OperandIndexing, Rules, RuntimeSource, grouped, logical_to_linear, no_callees};
use indexing_map::{Expr, IndexingMap, RangeContext, Simplifier, SimplifyMode, Variable};
use ir::{ElementTypeExt, Graph, OpId, Opcode, Shape};

use super::requests::MAX_VECTOR_BYTES;
use super::traffic::Access;
use crate::emitters::Emitter;
use crate::fusion_analysis::FusionAnalysis;
use crate::thread_map::then;

/// An array that a kernel reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Buffer {
    /// The fusion's operand of this number.
    Operand(u32),
    /// The fusion's result of this number; 0 if it has one.
    Result(usize),
}

/// One way in which a kernel accesses an array.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryAccess {
    pub buffer: Buffer,
    /// The shape of the array in memory.
    pub shape: Shape,
    /// Maps threads to the element's index. Undefined if it is not known, with the reason.
    pub elements: OperandIndexing,
    /// Maps threads to the element's position, counted in elements.
    pub positions: IndexingMap,
    /// The op from whose elements, assigned to threads, the access follows.
    pub from: OpId,
    /// Maps threads to the elements of `from`.
    pub threads: IndexingMap,
    /// Whether it reads for the hero and is not a scalar: XLA's rule considers only these reads.
    pub is_of_hero: bool,
    /// As `positions`, plus those loops of a thread on which only runtime variables depend: each iteration is
    /// a request of its own. `None` if that is `positions`.
    counted: Option<IndexingMap>,
    gathered_at: Vec<IndexingMap>,
}

impl MemoryAccess {
    fn new(
        graph: &Graph,
        buffer: Buffer,
        shape: &Shape,
        start: &Start,
        elements: OperandIndexing,
        exact: Option<OperandIndexing>,
    ) -> MemoryAccess {
        let mut positions = match elements.map.is_undefined() {
            true => IndexingMap::undefined(),
            false => then(&elements.map, &logical_to_linear(shape)),
        };
        positions.remove_unused_symbols();
        let counted = exact.as_ref().map(|exact| then(&exact.map, &logical_to_linear(shape)));
        let counted = counted.filter(|counted| !counted.is_undefined());
        let gathered_at = match (&counted, &exact) {
            (Some(_), Some(exact)) => gathered_at(exact, graph),
            _ => gathered_at(&elements, graph),
        };
        MemoryAccess {
            buffer,
            shape: shape.clone(),
            elements,
            positions,
            from: start.op,
            threads: start.threads.clone(),
            is_of_hero: start.is_of_hero,
            counted,
            gathered_at,
        }
    }

    /// The input of [`super::traffic()`] in the kernel of `analysis`; `None` if the map or the launch is not
    /// known.
    pub fn access(&self, analysis: &FusionAnalysis) -> Option<Access<'_>> {
        let launch = analysis.launch()?;
        Some(Access {
            map: self.counted.as_ref().unwrap_or(&self.positions),
            gathered_at: &self.gathered_at,
            element_bits: element_bits(&self.shape)?,
            at_once: None,
            beside: &[],
            grid: launch.grid,
            block: launch.block,
            threads_per_warp: analysis.device.threads_per_warp,
        })
    }
}

/// Bits of an element in memory: those of its type rounded up to whole bytes, unless the layout states
/// others.
pub(crate) fn element_bits(shape: &Shape) -> Option<i64> {
    let array = shape.as_array()?;
    match array.layout.as_ref().map_or(0, |layout| layout.element_bits) {
        bits if bits > 0 => Some(bits),
        _ => Some(i64::from(array.element.bits()?.max(1).next_multiple_of(8))),
    }
}

/// Composes `access` with `threads`, keeping the loops on which only the positions of its runtime variables
/// depend. `None` if it has no runtime variables, or their loops are not its own.
fn in_step(threads: &OperandIndexing, access: &OperandIndexing) -> Option<OperandIndexing> {
    let loops = access.map.num_ranges();
    let is_own = |map: &IndexingMap| map.num_ranges() == 0 || map.num_ranges() == loops;
    let variables = &access.runtime_variables;
    let is_in_step = !variables.is_empty() && variables.iter().all(|variable| is_own(&variable.map));
    let exact = is_in_step.then(|| threads.compose_by(access, Rules::Exact))?;
    (!exact.map.is_undefined()).then_some(exact)
}

/// Merges a thread's writes of the operands of a concatenate, if they are consecutive elements, into one map
/// with a loop over the elements that one instruction stores. `None` if they are not consecutive.
fn side_by_side(maps: &[IndexingMap], element_bits: i64) -> Option<IndexingMap> {
    let (first, others) = maps.split_first()?;
    if others.is_empty() || maps.iter().any(|map| !map.is_mapped()) {
        return None;
    }
    // The result in which they differ, by 1 from each to the next.
    let mut moved = None;
    for (step, other) in (1i64..).zip(others) {
        let is_alike = other.variables() == first.variables()
            && other.constraints() == first.constraints()
            && other.results().len() == first.results().len();
        if !is_alike {
            return None;
        }
        let context = RangeContext::new(first.variables(), first.constraints());
        let mut simplifier = Simplifier::new(context, SimplifyMode::Replace);
        let mut own_moved = None;
        for (at, (own, first)) in other.results().iter().zip(first.results()).enumerate() {
            match simplifier.simplify(&(own.clone() - first.clone())).as_const()? {
                0 => {}
                distance if distance == step && own_moved.is_none() => own_moved = Some(at),
                _ => return None,
            }
        }
        if own_moved.is_none() || moved.is_some_and(|known| own_moved != Some(known)) {
            return None;
        }
        moved = own_moved;
    }
    let (moved, symbols) = (moved?, first.num_dims() + first.num_ranges());
    let count = maps.len() as i64;
    let at_once = (8 * MAX_VECTOR_BYTES / element_bits.max(1)).max(1);
    let at_once = if count % at_once == 0 { at_once } else { count };
    let behind = |e: &Expr| e.substitute(&mut |v| (v as usize >= symbols).then(|| Expr::var(v as usize + 2)));
    let mut results: Vec<Expr> = first.results().iter().map(behind).collect();
    let mut ranges = first.ranges().to_vec();
    ranges.extend([Variable::from_size(count / at_once), Variable::from_size(at_once)]);
    results[moved] = results[moved].clone() + Expr::var(symbols) * at_once + Expr::var(symbols + 1);
    let mut map = IndexingMap::new(first.dims().to_vec(), ranges, first.runtime().to_vec(), results);
    for constraint in first.constraints() {
        map.add_constraint(behind(&constraint.expr), constraint.interval);
    }
    Some(map)
}

/// The maps to the positions from which runtime variables are read, for those variables that lanes of a warp
/// may read at different positions. Loops of the thread are at their first iteration.
fn gathered_at(elements: &OperandIndexing, graph: &Graph) -> Vec<IndexingMap> {
    let differs = |m: &IndexingMap| m.results().iter().any(|result| (0..3).any(|id| result.uses_var(id)));
    let mut maps = Vec::new();
    for variable in elements.runtime_variables.iter().filter(|v| differs(&v.map)) {
        let map = &variable.map;
        let dims = map.num_dims();
        let first = |v: u32| {
            let bounds = map.variables().get(v as usize).filter(|_| v as usize >= dims)?.bounds;
            Some(Expr::Const(bounds.lower))
        };
        let results = map.results().iter().map(|e| e.substitute(&mut { first })).collect();
        let mut at = IndexingMap::new(map.dims().to_vec(), Vec::new(), Vec::new(), results);
        // The linear position has a shorter period than the index components.
        if let RuntimeSource::Op { op, .. } = &variable.source
            && let Some(source) = graph.ops.get(*op as usize)
            && source.shape.dims().len() == at.results().len()
        {
            at = then(&at, &logical_to_linear(&source.shape));
        }
        maps.push(at);
    }
    maps
}

/// An op of the fusion and the map from threads to the elements of it that they compute.
struct Start {
    op: OpId,
    threads: IndexingMap,
    is_of_hero: bool,
}

impl FusionAnalysis {
    /// Every way in which the kernel reads an operand or writes a result, each once, reads first. Empty if
    /// the kernel is not written by one of XLA's own emitters. The map is undefined if it is not known how an
    /// array is accessed.
    ///
    /// Assumes that a value that several results need is read once if it is read at the same indices.
    pub fn memory_accesses(&self) -> Vec<MemoryAccess> {
        let mut accesses: Vec<MemoryAccess> = Vec::new();
        if matches!(self.emitter, Emitter::Elsewhere(_) | Emitter::Sort(_)) {
            return accesses;
        }
        let outputs = self.outputs_by_root();
        let inputs = self.thread_to_input();
        let all: Vec<OpId> = (0..self.fused.graph.ops.len() as OpId).collect();
        let mut starts: Vec<Start> = Vec::new();
        for (root, maps) in outputs.iter().enumerate() {
            let (op, hero) = (self.fused.roots[root], self.heroes[root]);
            if matches!(self.emitter, Emitter::Loop(_)) {
                let threads = maps.first().cloned().unwrap_or_else(IndexingMap::undefined);
                starts.push(Start { op, threads, is_of_hero: true });
                continue;
            }
            let of_hero = inputs.iter().find(|(known, _)| *known == hero).map_or(&[][..], |(_, maps)| maps);
            let epilogues = match &self.emitter {
                Emitter::Concatenate(_) => self.concatenated(root, of_hero),
                _ => maps.clone(),
            };
            for (&operand, threads) in self.fused.operands(hero).iter().zip(of_hero) {
                let is_of_hero = !self.fused.op(operand).shape.dims().is_empty();
                let start = Start { op: operand, threads: threads.clone(), is_of_hero };
                if starts.iter().all(|s| s.op != start.op || s.threads != start.threads) {
                    starts.push(start);
                }
            }
            if hero != op && !matches!(self.emitter, Emitter::DynamicUpdateSlice(_)) {
                let outside_hero: Vec<OpId> = all.iter().copied().filter(|&op| op != hero).collect();
                for threads in epilogues {
                    self.read(&Start { op, threads, is_of_hero: false }, &outside_hero, &mut accesses);
                }
            }
        }
        for start in &starts {
            self.read(start, &all, &mut accesses);
        }
        // The hero's reads come first, because the kernel is built around them.
        accesses.sort_by_key(|a| (a.buffer, !a.is_of_hero));
        self.write(&mut accesses);
        accesses
    }

    /// Per root, the maps from threads to its elements.
    fn outputs_by_root(&self) -> Vec<Vec<IndexingMap>> {
        let of_outputs = self.thread_to_output();
        let position = |root: usize| self.fused.outputs.iter().position(|&r| r == root);
        let map = |root| position(root).and_then(|at| of_outputs.get(at)?.clone());
        (0..self.fused.roots.len()).map(|root| map(root).into_iter().collect()).collect()
    }

    /// Maps the threads of a concatenate to the elements of its root, one map per operand.
    fn concatenated(&self, root: usize, of_hero: &[IndexingMap]) -> Vec<IndexingMap> {
        let (op, hero) = (self.fused.roots[root], self.heroes[root]);
        let graph = &self.fused.graph;
        let epilogue = indexing::epilogue(graph, hero, op, Rules::Xla, &no_callees);
        let part = |(operand, threads): (usize, &IndexingMap)| {
            let forward = indexing::in_graph_input_to_output(graph, hero, operand, Rules::Xla);
            match forward.operands.first().map(Vec::as_slice) {
                Some([placed]) => then(&then(threads, &placed.map), &epilogue.map),
                _ => IndexingMap::undefined(),
            }
        };
        of_hero.iter().enumerate().map(part).collect()
    }

    fn read(&self, start: &Start, set: &[OpId], accesses: &mut Vec<MemoryAccess>) {
        let graph = &self.fused.graph;
        let known = |accesses: &[MemoryAccess], new: &MemoryAccess| {
            accesses.iter().any(|a| {
                a.buffer == new.buffer
                    && a.positions == new.positions
                    && a.elements.runtime_variables.len() == new.elements.runtime_variables.len()
                    && (a.is_of_hero || !new.is_of_hero)
            })
        };
        let from = OperandIndexing::from(start.threads.clone());
        for op in grouped(graph, start.op, 0, set, Rules::Xla, &no_callees).ops {
            let Some(number) =
                graph.ops[op.place.op as usize].parameter.filter(|_| op.place.computation.is_none())
            else {
                continue;
            };
            let shape = &graph.ops[op.place.op as usize].shape;
            for access in &op.indexing {
                let elements = from.compose(access);
                let exact = in_step(&from, access);
                let new = MemoryAccess::new(graph, Buffer::Operand(number), shape, start, elements, exact);
                if !known(accesses, &new) {
                    accesses.retain(|a| a.buffer != new.buffer || a.positions != new.positions);
                    accesses.push(new);
                }
            }
        }
    }

    fn write(&self, accesses: &mut Vec<MemoryAccess>) {
        let maps = self.thread_to_output();
        for (result, &root) in self.fused.outputs.iter().enumerate() {
            let op = self.fused.roots[root];
            // The number of this array among the arrays of the root.
            let nth = self.fused.outputs[..result].iter().filter(|&&r| r == root).count();
            let mut leaves = Vec::new();
            array_leaves(&self.fused.op(op).shape, &mut leaves);
            let Some(&shape) = leaves.get(nth % leaves.len().max(1)) else { continue };
            let written: Vec<OperandIndexing> = match &self.emitter {
                Emitter::Concatenate(_) => {
                    let inputs = self.thread_to_input();
                    let of_hero = inputs.first().map_or(&[][..], |(_, maps)| maps);
                    let maps = self.concatenated(root, of_hero);
                    let one = element_bits(shape).and_then(|bits| side_by_side(&maps, bits));
                    let maps = one.map_or(maps, |one| vec![one]);
                    maps.into_iter().map(Into::into).collect()
                }
                Emitter::DynamicUpdateSlice(_) => vec![self.updated(root, maps[result].as_ref())],
                _ => vec![match &maps[result] {
                    Some(map) => map.clone().into(),
                    None => OperandIndexing::undefined("where it is written is decided in the kernel"),
                }],
            };
            for elements in written {
                let threads = elements.map.clone();
                let start = Start { op, threads, is_of_hero: false };
                accesses.push(MemoryAccess::new(
                    &self.fused.graph,
                    Buffer::Result(result),
                    shape,
                    &start,
                    elements,
                    None,
                ));
            }
        }
    }

    /// Maps the threads of an in-place update to the elements of the whole array. The start indices are
    /// runtime variables.
    fn updated(&self, root: usize, threads: Option<&IndexingMap>) -> OperandIndexing {
        let (op, hero) = (self.fused.roots[root], self.heroes[root]);
        let graph = &self.fused.graph;
        let unknown = || OperandIndexing::undefined("where it is written is known at run time");
        let Some(threads) = threads else { return unknown() };
        if graph.ops[hero as usize].opcode != Opcode::DynamicUpdateSlice {
            return unknown();
        }
        let forward = indexing::in_graph_input_to_output(graph, hero, 1, Rules::Exact);
        let Some([placed]) = forward.operands.first().map(Vec::as_slice) else { return unknown() };
        let at = OperandIndexing::from(threads.clone()).compose(placed);
        let epilogue = indexing::epilogue(graph, hero, op, Rules::Xla, &no_callees);
        let map = at.map.compose(&epilogue.map).simplified(SimplifyMode::Replace);
        if map.is_undefined() { unknown() } else { OperandIndexing { map, ..at } }
    }
}

fn array_leaves<'s>(shape: &'s Shape, out: &mut Vec<&'s Shape>) {
    match shape {
        Shape::Tuple(elements) => elements.iter().for_each(|e| array_leaves(e, out)),
        other => out.extend(other.as_array().map(|_| other)),
    }
}
