//! The entry of a kernel: the function that every thread runs.

use indexing_map::{Constraint, Expr, IndexingMap, Variable};
use ir::{OpId, Opcode, Shape};

use crate::Reason;
use crate::emit::body::Body;
use crate::emit::elemental::{Elements, element_types, function};
use crate::emit::{Emission, arrays};
use crate::kernel::{Condition, Function, Kernel, OpKind, Role, Type, ValueId};

/// A number that no function has, so that all ops are called.
const NO_FUNCTION: u32 = u32::MAX;

/// Emits the functions of the partition after the entry: number n of the partition is function n + 1 of the
/// kernel.
pub(super) fn functions(emission: &Emission<'_>, kernel: &mut Kernel) {
    for number in 0..emission.partition.functions.len() {
        // The tuple of the results is not a value: its elements are roots themselves.
        let planned = &emission.partition.functions[number];
        let opcode = emission.graph().ops[planned.root as usize].opcode;
        if planned.is_entry || opcode == Opcode::Tuple {
            kernel.functions.push(Function::default());
            continue;
        }
        let function = function(emission, number, &mut kernel.missing);
        kernel.functions.push(function);
    }
}

/// An entry under construction, with its arguments: operands, then results.
pub(super) struct Entry<'a> {
    pub emission: &'a Emission<'a>,
    pub elements: Elements<'a>,
    /// The tensors of the results, with the writes so far.
    pub results: Vec<ValueId>,
    /// Thread and block ids.
    pub grid: Vec<Expr>,
}

impl<'a> Entry<'a> {
    pub fn new(emission: &'a Emission<'a>, kernel: &Kernel) -> Entry<'a> {
        let body = Body::new(&kernel.name, None);
        let mut elements = Elements::new(emission, NO_FUNCTION, body);
        let results = kernel
            .params
            .iter()
            .filter(|param| param.is_result())
            .map(|param| elements.body.arg(Type::Tensor(param.shape.clone())))
            .collect();
        let grid = Variable::gpu_grid(emission.launch.sizes());
        let grid = grid.into_iter().map(|variable| elements.body.index_arg(variable)).collect();
        Entry { emission, elements, results, grid }
    }

    /// Finishes the kernel with the entry and the functions that it calls.
    pub fn finish(self, kernel: &mut Kernel) {
        let Entry { emission, mut elements, results, .. } = self;
        kernel.missing.append(&mut elements.missing);
        kernel.functions.insert(0, elements.body.finish(results));
        functions(emission, kernel);
        kernel.functions.append(&mut emission.added.borrow_mut());
    }

    /// The results of an op, by a call of the function whose root it is.
    pub fn call(&mut self, root: OpId, at: Vec<Expr>) -> Vec<ValueId> {
        let function = self.emission.partition.function_of[root as usize] as usize + 1;
        let body = &mut self.elements.body;
        let elements = element_types(&self.emission.graph().ops[root as usize].shape);
        let results: Vec<ValueId> = elements.into_iter().map(|e| body.scalar(e)).collect();
        let args = self.elements.tensors.clone();
        body.push_of(Some(root), OpKind::Call { function, args, at }, results.clone());
        results
    }

    /// An operand of an op, inlined into the entry if it is in the op's function.
    pub fn operand(&mut self, op: OpId, number: usize, at: &[Expr]) -> ValueId {
        let operand = self.elements.operands(op)[number];
        self.inside(op, |elements| elements.value(operand, at))
    }

    /// Emits a part of the function of `op` into the entry.
    pub fn inside<T>(&mut self, op: OpId, write: impl FnOnce(&mut Elements<'a>) -> T) -> T {
        self.elements.number = self.emission.partition.function_of[op as usize];
        let result = write(&mut self.elements);
        self.elements.number = NO_FUNCTION;
        result
    }

    /// A loop over the range variables of a thread map. `carried` are tensors; `write` gets the results of
    /// the map, the range variables and the tensors, and returns the written tensors.
    pub fn each(
        &mut self,
        map: &IndexingMap,
        sizes: &[i64],
        carried: Vec<ValueId>,
        write: impl FnOnce(&mut Self, &[Expr], &[Expr], Vec<ValueId>) -> Vec<ValueId>,
    ) -> Vec<ValueId> {
        let body = &mut self.elements.body;
        let vars: Vec<u32> = map.ranges().iter().map(|v| body.index_var(v.clone())).collect();
        let names = ["ra", "rb", "rc", "rd", "re", "rf", "rg"];
        let results: Vec<u32> = sizes
            .iter()
            .enumerate()
            .map(|(n, &size)| {
                let name = names.get(n).map_or_else(|| format!("r{n}"), |&name| name.to_owned());
                body.index_var(Variable::named(&name, 0, (size - 1).max(0)))
            })
            .collect();
        let inner = self.like(&carried);
        let ends = self.like(&carried);
        self.elements.enter(inner.clone());
        let of = |ids: &[u32]| -> Vec<Expr> { ids.iter().map(|&id| Expr::var(id as usize)).collect() };
        let yields = write(self, &of(&results), &of(&vars), inner);
        let body = self.elements.leave(yields);
        let dims = self.grid.clone();
        let map = map.clone();
        let kind = OpKind::Loop { map, dims, vars, results, inits: carried, body };
        self.elements.body.push(kind, ends.clone());
        ends
    }

    /// Writes the results of a root at the position that `index` has in the root's first array.
    pub fn write(&mut self, root: OpId, values: Vec<ValueId>, index: &[Expr], to: &mut [ValueId]) {
        self.write_where(root, values, index, &[], to);
    }

    /// The same for threads for which all constraints hold.
    pub fn write_where(
        &mut self,
        root: OpId,
        values: Vec<ValueId>,
        index: &[Expr],
        constraints: &[Constraint],
        to: &mut [ValueId],
    ) {
        let shape = self.emission.graph().ops[root as usize].shape.clone();
        let mut leaves = Vec::new();
        arrays(&shape, &mut leaves);
        let Some(first) = leaves.first().cloned().map(Shape::Array) else { return };
        self.on_behalf(root, |entry| {
            for ((value, leaf), tensor) in values.into_iter().zip(leaves).zip(to) {
                let at = through(&entry.elements.body, &gpu::bitcast(&first, &Shape::Array(leaf)), index);
                *tensor = entry.write_if(value, *tensor, at, constraints.to_vec());
            }
        });
    }

    /// Runs `write`, whose ops originate from `op`.
    pub fn on_behalf<T>(&mut self, op: OpId, write: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.elements.body.origin.replace(op);
        let result = write(self);
        self.elements.body.origin = before;
        result
    }
}

/// An index over the variables of a thread map: ids of thread and block, then its range variables.
pub(super) fn on_threads(entry: &Entry<'_>, index: &[Expr], ranges: &[Expr]) -> Vec<Expr> {
    let grid = &entry.grid;
    let at = |e: &Expr| {
        e.substitute(&mut |v| grid.get(v as usize).or_else(|| ranges.get(v as usize - grid.len())).cloned())
    };
    index.iter().map(|e| entry.elements.body.simplify(&at(e))).collect()
}

/// The results at an index of a map that has only dimensions.
pub(super) fn through(body: &Body, map: &IndexingMap, index: &[Expr]) -> Vec<Expr> {
    let at = |e: &Expr| e.substitute(&mut |v| index.get(v as usize).cloned());
    map.results().iter().map(|e| body.simplify(&at(e))).collect()
}

/// Per root, its results.
pub(super) fn results_of(emission: &Emission<'_>) -> Vec<std::ops::Range<usize>> {
    let mut next = 0;
    let roots = emission.source.analysis.fused.roots.iter();
    roots
        .map(|&root| {
            let mut leaves = Vec::new();
            arrays(&emission.graph().ops[root as usize].shape, &mut leaves);
            let start = next;
            next += leaves.len();
            start..next
        })
        .collect()
}

/// The operand of the fusion whose buffer is operand number `number` of an op, so that a result may be
/// written into it.
pub(super) fn buffer(emission: &Emission<'_>, op: OpId, number: usize) -> Option<u32> {
    let graph = emission.graph();
    let mut op = *graph.operands[op as usize].get(number)?;
    while graph.ops[op as usize].opcode == Opcode::Bitcast {
        op = *graph.operands[op as usize].first()?;
    }
    graph.ops[op as usize].parameter
}

/// Records that result number `result` shares the buffer of an operand.
pub(super) fn share_buffer(kernel: &mut Kernel, result: usize, operand: Option<u32>) {
    let Some(operand) = operand.map(|n| n as usize) else { return };
    let find = |kernel: &Kernel, role| kernel.params.iter().position(|param| param.role == role);
    let (from, to) = (find(kernel, Role::Operand(operand)), find(kernel, Role::Result(result)));
    if let (Some(from), Some(to)) = (from, to) {
        kernel.params[to].aliases = Some(from);
        kernel.params[from].align = kernel.params[to].align;
    }
}

/// The values of one of two regions, with the types of the second one's values.
pub(super) fn either<'a>(
    entry: &mut Entry<'a>,
    condition: Condition,
    then: impl FnOnce(&mut Entry<'a>) -> Result<Vec<ValueId>, Reason>,
    otherwise: impl FnOnce(&mut Entry<'a>) -> Result<Vec<ValueId>, Reason>,
) -> Result<Vec<ValueId>, Reason> {
    entry.elements.enter(Vec::new());
    let values = then(entry)?;
    let then = entry.elements.leave(values);
    entry.elements.enter(Vec::new());
    let values = otherwise(entry)?;
    let results = entry.like(&values);
    let otherwise = entry.elements.leave(values);
    entry.elements.body.push(OpKind::If { condition, then, otherwise }, results.clone());
    Ok(results)
}

/// The tensors that `write` returns if the condition holds, else unchanged.
pub(super) fn only_where<'a>(
    entry: &mut Entry<'a>,
    condition: Condition,
    tensors: Vec<ValueId>,
    write: impl FnOnce(&mut Entry<'a>, Vec<ValueId>) -> Result<Vec<ValueId>, Reason>,
) -> Result<Vec<ValueId>, Reason> {
    if matches!(&condition, Condition::Within(all) if all.is_empty()) {
        return write(entry, tensors);
    }
    let before = tensors.clone();
    either(entry, condition, |entry| write(entry, tensors), |_| Ok(before))
}
