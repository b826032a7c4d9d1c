//! The op graph of one computation: what both languages lower to, and what `indexing` walks.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntax::hlo::{ComputationId, InstructionId, Opcode, OperandKind, PieceState};

use crate::attributes::{Attributes, not_understood};
use crate::block::{Block, OperandRef};
use crate::shape::Shape;

pub type OpId = u32;

/// One op with all that its indexing depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Op {
    pub opcode: Opcode,
    pub shape: Shape,
    pub operand_shapes: Vec<Shape>,
    pub attributes: Attributes,
    /// Of a parameter: its number.
    pub parameter: Option<u32>,
    /// Of a constant: its text.
    pub literal: Option<String>,
}

/// A computation, in order of definition: operands come before their users.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Graph {
    pub ops: Vec<Op>,
    pub names: Vec<String>,
    /// Per op, the ops that define its operands. A `get-tuple-element` suffix is an op of its own.
    pub operands: Vec<Vec<OpId>>,
    pub root: OpId,
    /// Whether all of the text could be lowered.
    pub is_complete: bool,
    /// Opcodes that this vocabulary lacks, in the words of the warnings: the graph lacks their instructions.
    pub unknown: Vec<String>,
}

impl Op {
    /// Parameter `number` of a computation.
    pub fn parameter(number: u32, shape: Shape) -> Op {
        Op { parameter: Some(number), ..Op::leaf(shape) }
    }

    /// A constant, by its text.
    pub fn constant(literal: String, shape: Shape) -> Op {
        Op { opcode: Opcode::Constant, literal: Some(literal), ..Op::leaf(shape) }
    }

    /// Stands for a value of `shape` of which nothing else is known.
    pub fn leaf(shape: Shape) -> Op {
        Op {
            opcode: Opcode::Parameter,
            shape,
            operand_shapes: Vec::new(),
            attributes: Attributes::default(),
            parameter: None,
            literal: None,
        }
    }
}

/// The graphs of the computations in a text, by their names. For callers without pieces, like tests.
pub fn graphs_of_text(text: &str) -> Vec<(String, Arc<Graph>)> {
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(syntax::hlo::parse(&text, PieceState::HEADER));
    let block = crate::lower(text.clone(), parse.clone());
    let named = parse.computations.iter().enumerate().filter_map(|(i, computation)| {
        let graph = Graph::build(&[(&block, i as u32)])?;
        Some((computation.name.of(&text).trim_start_matches('%').to_owned(), Arc::new(graph)))
    });
    named.collect()
}

impl Graph {
    /// The first thing that is not understood: an opcode, an attribute or a value that XLA may have added since.
    pub fn not_understood(&self) -> Option<String> {
        let of_ops = self.ops.iter().zip(&self.names);
        let mut of_ops = of_ops.filter_map(|(op, name)| Some((op.attributes.unknown().first()?, name)));
        match (self.unknown.first(), of_ops.next()) {
            (Some(unknown), _) => Some(format!("{unknown}; it is not understood")),
            (None, Some((unknown, name))) => Some(format!("%{name}: {unknown}; it is not understood")),
            (None, None) => None,
        }
    }

    /// Builds the graph of a computation from its parts, in order.
    pub fn build(parts: &[(&Block, ComputationId)]) -> Option<Graph> {
        let mut graph = Graph { is_complete: true, ..Graph::default() };
        let mut by_name: FxHashMap<String, OpId> = FxHashMap::default();
        let mut elements = FxHashMap::default();
        let mut root = None;
        for &(block, computation) in parts {
            let mut local: FxHashMap<InstructionId, OpId> = FxHashMap::default();
            let range = block.parse.computations[computation as usize].instructions.clone();
            for id in range {
                let shape_of = |name: &str| by_name.get(name).map(|&op| graph.ops[op as usize].shape.clone());
                let Some(op) = block.op(id, shape_of) else {
                    graph.unknown.extend(not_understood(&block.text, &block.parse, block.instruction(id)));
                    graph.is_complete = false;
                    continue;
                };
                let Some(operands) = graph.operand_ids(block, id, &local, &by_name, &mut elements) else {
                    graph.is_complete = false;
                    continue;
                };
                let this = graph.push(op, operands, block.name(id).to_owned());
                local.insert(id, this);
                by_name.insert(block.name(id).to_owned(), this);
                if block.instruction(id).is_root {
                    root = Some(this);
                }
            }
        }
        graph.root = root.or_else(|| (graph.ops.len() as OpId).checked_sub(1))?;
        Some(graph)
    }

    /// Adds an op of these operands, which are in the graph.
    pub fn add(
        &mut self,
        opcode: Opcode,
        shape: Shape,
        operands: &[OpId],
        attributes: Attributes,
        name: impl Into<String>,
    ) -> OpId {
        let operand_shapes = operands.iter().map(|&id| self.ops[id as usize].shape.clone()).collect();
        let op = Op { opcode, shape, operand_shapes, attributes, parameter: None, literal: None };
        self.push(op, operands.to_vec(), name.into())
    }

    /// Makes room for so many more ops.
    pub fn reserve(&mut self, ops: usize) {
        self.ops.reserve(ops);
        self.operands.reserve(ops);
        self.names.reserve(ops);
    }

    pub fn push(&mut self, op: Op, operands: Vec<OpId>, name: String) -> OpId {
        cancel::tick();
        self.ops.push(op);
        self.operands.push(operands);
        self.names.push(name);
        self.ops.len() as OpId - 1
    }

    fn operand_ids(
        &mut self,
        block: &Block,
        id: InstructionId,
        local: &FxHashMap<InstructionId, OpId>,
        by_name: &FxHashMap<String, OpId>,
        elements: &mut FxHashMap<(OpId, i64), OpId>,
    ) -> Option<Vec<OpId>> {
        let mut ids = Vec::new();
        for (operand, target) in block.operands_of(id) {
            let mut op = match target {
                OperandRef::Local(id) => *local.get(&id)?,
                OperandRef::External(_) => *by_name.get(operand.name.of(&block.text))?,
                OperandRef::Missing => return None,
            };
            if let OperandKind::Element { start, len } = operand.kind {
                for &index in block.parse.ints(start, len) {
                    op = match elements.get(&(op, index)) {
                        Some(&known) => known,
                        None => {
                            let new = self.element(op, index)?;
                            elements.insert((op, index), new);
                            new
                        }
                    };
                }
            }
            ids.push(op);
        }
        Some(ids)
    }

    /// The op that takes element `index` of a tuple.
    fn element(&mut self, tuple: OpId, index: i64) -> Option<OpId> {
        let name = format!("{}_{index}", self.names[tuple as usize]);
        let whole = self.ops[tuple as usize].shape.clone();
        let shape = whole.element_at(&[index])?.clone();
        let op = Op {
            opcode: Opcode::GetTupleElement,
            shape,
            operand_shapes: vec![whole],
            attributes: Attributes::default(),
            parameter: None,
            literal: None,
        };
        Some(self.push(op, vec![tuple], name))
    }

    pub fn find(&self, name: &str) -> Option<OpId> {
        self.names.iter().position(|n| n == name).map(|i| i as OpId)
    }

    /// The ops of all parameters, by their numbers. Numbers beyond those of the ops are ignored.
    pub fn parameters(&self) -> Vec<Option<OpId>> {
        let mut found = Vec::new();
        for (id, op) in self.ops.iter().enumerate() {
            let Some(number) = op.parameter.map(|n| n as usize).filter(|&n| n < self.ops.len()) else {
                continue;
            };
            if found.len() <= number {
                found.resize(number + 1, None);
            }
            // Of two by one number the first counts.
            found[number].get_or_insert(id as OpId);
        }
        found
    }

    /// The op of parameter `number`.
    pub fn parameter(&self, number: u32) -> Option<OpId> {
        self.ops.iter().position(|op| op.parameter == Some(number)).map(|i| i as OpId)
    }
}
