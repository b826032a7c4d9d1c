//! The entry of the loop emitter: each thread computes a few neighbouring elements of every result.
//! Source: `backends/gpu/codegen/emitters/loop.cc`, `codegen/emitters/loop_kernel_emitter.cc`.

use indexing_map::{Expr, SimplifyMode, Variable};
use ir::{OpId, Opcode};

use crate::Reason;
use crate::emit::body::Body;
use crate::emit::elemental::{element_types, first_array, function};
use crate::emit::{Emission, arrays};
use crate::kernel::{Function, Kernel, OpKind, Type, ValueId};

/// The ids of thread and block, in the order of the dimensions of thread maps.
const GRID: usize = 6;

pub(super) fn emit(emission: &Emission<'_>, kernel: &mut Kernel) -> Result<(), Reason> {
    let entry = entry(emission, kernel)?;
    kernel.functions.push(entry);
    functions(emission, kernel);
    Ok(())
}

/// The functions of the partition, behind the entry: number n of the partition is function n + 1 of the kernel.
pub(super) fn functions(emission: &Emission<'_>, kernel: &mut Kernel) {
    for number in 0..emission.partition.functions.len() {
        // The tuple of the results is no value: its elements are roots themselves.
        let root = emission.partition.functions[number].root;
        if emission.graph().ops[root as usize].opcode == Opcode::Tuple {
            kernel.functions.push(Function::default());
            continue;
        }
        let function = function(emission, number, &mut kernel.missing);
        kernel.functions.push(function);
    }
}

/// An entry with its arguments: operands, then results.
pub(super) struct Entry {
    pub body: Body,
    pub operands: Vec<ValueId>,
    pub results: Vec<ValueId>,
    /// Thread and block ids.
    pub grid: Vec<Expr>,
}

impl Entry {
    pub fn new(emission: &Emission<'_>, kernel: &Kernel) -> Entry {
        let mut body = Body::new(&kernel.name, None);
        let (mut operands, mut results) = (Vec::new(), Vec::new());
        for param in &kernel.params {
            let arg = body.arg(Type::Tensor(param.shape.clone()));
            if param.is_result() { results.push(arg) } else { operands.push(arg) }
        }
        let grid = Variable::gpu_grid(emission.launch.sizes());
        let grid = grid.into_iter().map(|variable| body.index_arg(variable)).collect();
        Entry { body, operands, results, grid }
    }

    /// The results of the function that computes `root`, at an index.
    pub fn call(&mut self, emission: &Emission<'_>, root: OpId, at: Vec<Expr>) -> Vec<ValueId> {
        let function = emission.partition.function_of[root as usize] as usize + 1;
        let elements = element_types(&emission.graph().ops[root as usize].shape);
        let results: Vec<ValueId> = elements.into_iter().map(|e| self.body.scalar(e)).collect();
        let before = self.body.origin.replace(root);
        self.body.push(OpKind::Call { function, args: self.operands.clone(), at }, results.clone());
        self.body.origin = before;
        results
    }
}

fn entry(emission: &Emission<'_>, kernel: &Kernel) -> Result<Function, Reason> {
    let analysis = emission.source.analysis;
    let mut entry = Entry::new(emission, kernel);
    let maps = analysis.thread_to_output();
    let map = maps.first().cloned().flatten().ok_or("no thread is known to write its result")?;
    if map.is_undefined() {
        return Err("no thread is known to write its result".into());
    }
    let vars: Vec<u32> = map.ranges().iter().map(|v| entry.body.index_var(v.clone())).collect();
    let first = first_array(&analysis.fused.op(analysis.fused.roots[0]).shape).clone();
    let names = ["ra", "rb", "rc", "rd", "re", "rf", "rg"];
    let results: Vec<u32> = first
        .dims()
        .iter()
        .enumerate()
        .map(|(n, &size)| {
            let name = names.get(n).map_or_else(|| format!("r{n}"), |&name| name.to_owned());
            entry.body.index_var(Variable::named(&name, 0, (size - 1).max(0)))
        })
        .collect();
    let inits = entry.results.clone();
    let carried: Vec<ValueId> = inits
        .iter()
        .map(|&v| {
            let ty = entry.body.function.ty(v).clone();
            entry.body.value(ty)
        })
        .collect();
    entry.body.open(carried.clone());
    let at: Vec<Expr> = results.iter().map(|&var| Expr::var(var as usize)).collect();
    let mut yields = carried.clone();
    let mut written = 0;
    for &root in &analysis.fused.roots {
        let shape = first_array(&analysis.fused.op(root).shape);
        let bitcast = gpu::bitcast(&first, shape);
        if bitcast.is_undefined() {
            return Err("a result has other elements than the first one".into());
        }
        let index: Vec<Expr> = bitcast
            .results()
            .iter()
            .map(|e| e.substitute(&mut |v| at.get(v as usize).cloned()))
            .map(|e| entry.body.simplify(&e))
            .collect();
        let values = entry.call(emission, root, index.clone());
        let mut leaves = Vec::new();
        arrays(&analysis.fused.op(root).shape, &mut leaves);
        for (value, leaf) in values.into_iter().zip(leaves) {
            let of_leaf = gpu::bitcast(shape, &ir::Shape::Array(leaf));
            let at: Vec<Expr> = of_leaf
                .results()
                .iter()
                .map(|e| e.substitute(&mut |v| index.get(v as usize).cloned()))
                .map(|e| entry.body.simplify(&e))
                .collect();
            entry.body.origin = Some(root);
            let Some(&tensor) = yields.get(written) else { break };
            yields[written] = entry.body.write(value, tensor, at);
            written += 1;
        }
    }
    let body = entry.body.close(yields);
    entry.body.origin = Some(analysis.fused.roots[0]);
    let dims = entry.grid.clone();
    let ends: Vec<ValueId> = inits
        .iter()
        .map(|&v| {
            let ty = entry.body.function.ty(v).clone();
            entry.body.value(ty)
        })
        .collect();
    debug_assert_eq!(dims.len(), GRID);
    let map = map.simplified(SimplifyMode::Preserve);
    entry.body.push(OpKind::Loop { map, dims, vars, results, inits, body }, ends.clone());
    Ok(entry.body.finish(ends))
}
