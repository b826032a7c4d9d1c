//! The indexing maps of one instruction of a file.

use std::sync::Arc;

use indexing::{MapBeside, OpIndexing, Rules};
use ir::{Graph, Op, OpId, Opcode};
use rustc_hash::FxHashMap;

use crate::file_context::FileContext;
use crate::hlo::locate::InstructionRef;

/// An instruction, the ops that define its operands, and the ops that compute its indices. A map depends on
/// nothing else in the computation, which may have 100,000 instructions. Built once for all maps of the
/// instruction.
pub(crate) struct LocalGraph {
    pub(crate) graph: Graph,
    pub(crate) op: OpId,
    at: InstructionRef,
}

impl LocalGraph {
    /// `None` if a shape is unknown.
    pub(crate) fn of(context: &FileContext<'_>, at: InstructionRef) -> Option<LocalGraph> {
        let (graph, op) = local_graph(context, at)?;
        Some(LocalGraph { graph, op, at })
    }

    pub(crate) fn op(&self) -> &Op {
        &self.graph.ops[self.op as usize]
    }

    /// The additional maps of a dot or iota; operands are named as in `names`.
    pub(crate) fn maps_beside(&self, context: &FileContext<'_>, names: &[String]) -> Vec<MapBeside> {
        let callees = |name: &str| callee_graph(context, self.at, name);
        indexing::maps_beside(&self.graph, self.op, names, &callees)
    }

    /// Simplified output-to-input maps, as a list per operand.
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
fn local_graph(context: &FileContext<'_>, at: InstructionRef) -> Option<(Graph, OpId)> {
    let op = context.op(at)?;
    let mut defined = Definitions {
        context,
        graph: Graph { is_complete: true, ..Graph::default() },
        known: FxHashMap::default(),
        left: if takes_indices(op.opcode) { MAX_DEFINITIONS } else { 0 },
    };
    let block = context.block(at.piece);
    let mut operands = Vec::new();
    for (i, (operand, _)) in block.operands_of(at.id).enumerate() {
        cancel::check();
        let name = operand.name.of(&block.text).to_owned();
        let shape = op.operand_shapes.get(i)?.clone();
        let definition = defined.definition(at, i).and_then(|definition| defined.push(definition));
        operands.push(definition.unwrap_or_else(|| defined.graph.push(Op::leaf(shape), Vec::new(), name)));
    }
    let mut graph = defined.graph;
    let id = graph.push(op, operands, block.name(at.id).to_owned());
    graph.root = id;
    Some((graph, id))
}

/// Whether the op reads at indices that other ops compute, and whose values may be known.
fn takes_indices(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::DynamicSlice | Opcode::DynamicUpdateSlice | Opcode::Gather | Opcode::Scatter)
}

/// The number of ops followed to find one op's indices.
const MAX_DEFINITIONS: usize = 256;

/// The ops that define one op's operands, including those that compute indices.
struct Definitions<'c, 'a> {
    context: &'c FileContext<'a>,
    graph: Graph,
    known: FxHashMap<InstructionRef, OpId>,
    left: usize,
}

impl Definitions<'_, '_> {
    /// The definition of operand `i`; `None` for an element of a tuple.
    fn definition(&self, at: InstructionRef, i: usize) -> Option<InstructionRef> {
        let block = self.context.block(at.piece);
        let (operand, _) = block.operands_of(at.id).nth(i)?;
        let is_element = matches!(operand.kind, syntax::hlo::OperandKind::Element { .. });
        if is_element { None } else { self.context.definition(at, i) }
    }

    /// Adds an instruction after those that it is computed from. Not recursive, because the length of chains
    /// is unbounded.
    fn push(&mut self, root: InstructionRef) -> Option<OpId> {
        let mut open = vec![(root, false)];
        while let Some((at, is_entered)) = open.pop() {
            if self.known.contains_key(&at) {
                continue;
            }
            let Some(op) = self.context.op(at) else { continue };
            let count = op.operand_shapes.len();
            let is_followed = indexing::is_folded_through(&op);
            if is_followed && !is_entered && self.left > 0 {
                self.left -= 1;
                open.push((at, true));
                let missing = (0..count).filter_map(|i| self.definition(at, i));
                open.extend(missing.map(|definition| (definition, false)));
                continue;
            }
            let mut operands = Vec::new();
            for (i, shape) in op.operand_shapes.iter().enumerate().filter(|_| is_entered) {
                let known =
                    self.definition(at, i).and_then(|definition| self.known.get(&definition).copied());
                let leaf = || self.graph.push(Op::leaf(shape.clone()), Vec::new(), String::new());
                operands.push(known.unwrap_or_else(leaf));
            }
            let name = self.context.block(at.piece).name(at.id).to_owned();
            let id = self.graph.push(op, operands, name);
            self.known.insert(at, id);
        }
        self.known.get(&root).copied()
    }
}

/// The number of outputs that have their own map: the elements of a fusion's tuple.
pub(crate) fn outputs(context: &FileContext<'_>, at: InstructionRef) -> usize {
    let is_fusion = context.block(at.piece).instruction(at.id).opcode == Some(Opcode::Fusion);
    match context.shape(at).and_then(|s| s.tuple_elements()) {
        Some(elements) if is_fusion => elements.len(),
        _ => 1,
    }
}
