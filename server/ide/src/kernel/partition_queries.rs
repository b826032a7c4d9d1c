//! The functions of fusions, for the machine interface.

use gpu::{Function, Partition};
use ir::{Graph, OpId, Opcode};

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;
use crate::indexing_queries::QueryError;
use crate::kernel::functions::partition_of;

/// A computation and its functions, with the root's first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionedComputation {
    /// The name without `%`.
    pub name: String,
    /// Or why there are too many to be listed.
    pub functions: Result<Vec<PartitionedFunction>, String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionedFunction {
    pub name: String,
    /// Names of instructions, without `%`.
    pub roots: Vec<String>,
    /// Operands before their users.
    pub instructions: Vec<String>,
    /// The signature in MLIR.
    pub signature: String,
    /// Whether it is inlined in the kernel's entry function.
    pub is_entry: bool,
}

pub(crate) fn partition(
    context: &FileContext<'_>,
    computation: Option<&str>,
    force_roots: &[String],
) -> Result<Vec<PartitionedComputation>, QueryError> {
    let module = context.module();
    let wanted: Vec<usize> = match computation {
        Some(name) => {
            vec![module.find(name).ok_or_else(|| QueryError(format!("no computation named {name}")))?]
        }
        None => fused_computations(context),
    };
    let of = |index: usize| {
        let name = module.computations[index].name.to_string();
        // The kernel's own functions, if one of XLA's emitters generates it.
        let segment = module.computations[index].segments.first();
        if force_roots.is_empty()
            && let Some((partition, graph)) = segment.and_then(|&segment| partition_of(context, segment))
        {
            return Ok(PartitionedComputation { name, functions: all_described(graph, partition) });
        }
        let graph = context
            .graph(index)
            .ok_or_else(|| QueryError(format!("computation {name} has no instruction with a shape")))?;
        let is_forced =
            |op: OpId| force_roots.iter().any(|name| name == graph.ops[op as usize].opcode.name());
        let callees = |callee: &str| context.graph(module.find(callee)?);
        let partition = gpu::partition(&graph, &name, &is_forced, &callees);
        Ok(PartitionedComputation { name, functions: all_described(&graph, &partition) })
    };
    wanted.into_iter().map(of).collect()
}

/// The computations that fusions call, in text order.
fn fused_computations(context: &FileContext<'_>) -> Vec<usize> {
    let mut fused: Vec<usize> = Vec::new();
    for piece in 0..context.pieces() {
        let block = context.block(piece);
        for (id, name) in block.callees() {
            if block.instruction(id).opcode == Some(Opcode::Fusion) {
                let name = name.of(&block.text).trim_start_matches('%');
                fused.extend(context.callee(InstructionRef { piece, id }, name));
            }
        }
    }
    fused.sort_unstable();
    fused.dedup();
    fused
}

fn all_described(graph: &Graph, partition: &Partition) -> Result<Vec<PartitionedFunction>, String> {
    let operands = graph.ops.iter().filter(|op| op.parameter.is_some()).count();
    partition.check_arguments(operands).map_err(|why| why.to_string())?;
    Ok(partition.functions.iter().map(|function| described(graph, function)).collect())
}

fn described(graph: &Graph, function: &Function) -> PartitionedFunction {
    let name = |op: &OpId| graph.names[*op as usize].clone();
    PartitionedFunction {
        name: function.name.clone(),
        roots: vec![name(&function.root)],
        instructions: function.ops.iter().map(name).collect(),
        signature: gpu::signature(graph, function),
        is_entry: function.is_entry,
    }
}
