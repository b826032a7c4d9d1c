//! The indexing maps of one instruction of a file.

use std::sync::Arc;

use indexing::{OpIndexing, OperandIndexing, Rules};
use indexing_map::{PrintStyle, domain_short};
use ir::{Graph, Op, OpId, Opcode};

use crate::locate::{FileContext, InstructionRef};

/// Output to input maps, simplified: a list per operand. Nothing where a shape is not known.
pub(crate) fn instruction_maps(
    context: &FileContext<'_>,
    at: InstructionRef,
    output: usize,
    rules: Rules,
) -> Option<OpIndexing> {
    Some(LocalGraph::of(context, at)?.maps(context, output, rules))
}

/// An instruction and the ops that define its operands, and no more: a map depends on nothing else of the computation
/// around it, which may have 100,000 instructions. Made once for all maps of the instruction.
pub(crate) struct LocalGraph {
    pub(crate) graph: Graph,
    pub(crate) op: OpId,
    at: InstructionRef,
}

impl LocalGraph {
    /// Nothing where a shape is not known.
    pub(crate) fn of(context: &FileContext<'_>, at: InstructionRef) -> Option<LocalGraph> {
        let (graph, op) = local_graph(context, at)?;
        Some(LocalGraph { graph, op, at })
    }

    pub(crate) fn op(&self) -> &Op {
        &self.graph.ops[self.op as usize]
    }

    /// Output to input maps, simplified: a list per operand.
    pub(crate) fn maps(&self, context: &FileContext<'_>, output: usize, rules: Rules) -> OpIndexing {
        let callees = |name: &str| callee_graph(context, self.at, name);
        let mut maps = indexing::in_graph(&self.graph, self.op, output, rules, &callees);
        maps.simplify_by(rules);
        maps
    }
}

pub(crate) fn callee_graph(context: &FileContext<'_>, at: InstructionRef, name: &str) -> Option<Arc<Graph>> {
    context.graph(context.callee(at, name)?)
}

/// The graph of [`LocalGraph`], and the instruction in it.
pub(crate) fn local_graph(context: &FileContext<'_>, at: InstructionRef) -> Option<(Graph, OpId)> {
    let op = context.op(at)?;
    let mut graph = Graph { is_complete: true, ..Graph::default() };
    let block = context.block(at.piece);
    let mut operands = Vec::new();
    for (i, (operand, _)) in block.operands_of(at.id).enumerate() {
        cancel::check();
        let name = operand.name.of(&block.text).to_owned();
        let is_element = matches!(operand.kind, syntax::hlo::OperandKind::Element { .. });
        let definition = context.definition(at, i).filter(|_| !is_element).and_then(|d| context.op(d));
        let shape = op.operand_shapes.get(i)?.clone();
        operands.push(graph.push(definition.unwrap_or_else(|| Op::leaf(shape)), Vec::new(), name));
    }
    let id = graph.push(op, operands, block.name(at.id).to_owned());
    graph.root = id;
    Some((graph, id))
}

/// How many outputs an instruction has that are worth a map of their own: the elements of a fusion's tuple.
pub(crate) fn outputs(context: &FileContext<'_>, at: InstructionRef) -> usize {
    let is_fusion = context.block(at.piece).instruction(at.id).opcode == Some(Opcode::Fusion);
    match context.shape(at).and_then(|s| s.tuple_elements()) {
        Some(elements) if is_fusion => elements.len(),
        _ => 1,
    }
}

/// The domain of an instruction's maps in a few letters: of the widest one, but of what is put together of parts
/// the domain of each part. Empty for single elements.
pub(crate) fn domain_label(opcode: Opcode, maps: &OpIndexing) -> Option<String> {
    let of = |access: &OperandIndexing| domain_short(&access.map, PrintStyle::Floordiv);
    if opcode != Opcode::Concatenate {
        return widest_access(maps).map(of);
    }
    let mut parts: Vec<String> =
        maps.operands.iter().flatten().filter(|a| a.map.is_mapped()).map(of).collect();
    parts.dedup();
    Some(parts.join(" | "))
}

/// The access that says most about the instruction's domain: the one with most range and runtime variables among
/// those that have a map.
fn widest_access(maps: &OpIndexing) -> Option<&OperandIndexing> {
    let mapped = maps.operands.iter().flatten().filter(|a| a.map.is_mapped() && a.map.num_dims() > 0);
    let extent =
        |a: &&OperandIndexing| (!a.map.results().is_empty(), a.map.num_ranges() + a.map.num_runtime());
    // Of equals the first: operand 0 is what the op is about.
    mapped.rev().max_by_key(extent)
}
