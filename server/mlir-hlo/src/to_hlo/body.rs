//! A computation while it is written.

use std::sync::Arc;

use ir::{Attributes, Graph, Op, Opcode, Shape};
use mlir::{OpId, ValueId};
use rustc_hash::FxHashMap;

use crate::names::UniqueNames;

/// A value: an instruction of the computation that is being written, and its shape.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Operand {
    pub id: ir::OpId,
    pub shape: Shape,
}

/// An instruction before it is in a computation.
#[derive(Debug)]
pub(crate) struct Draft {
    pub opcode: Opcode,
    shape: Shape,
    operands: Vec<Operand>,
    pub attributes: Attributes,
    parameter: Option<u32>,
    literal: Option<String>,
}

impl Draft {
    pub fn new(opcode: Opcode, shape: Shape, operands: &[Operand], attributes: Attributes) -> Draft {
        Draft { opcode, shape, operands: operands.to_vec(), attributes, parameter: None, literal: None }
    }

    pub fn constant(shape: Shape, literal: String, attributes: Attributes) -> Draft {
        Draft { literal: Some(literal), ..Draft::new(Opcode::Constant, shape, &[], attributes) }
    }
}

/// A computation of HLO, and the op of MLIR that each of its instructions is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HloComputation {
    pub name: Box<str>,
    pub graph: Arc<Graph>,
    /// Per instruction.
    pub ops: Vec<OpId>,
    /// Comments after instructions.
    pub(crate) comments: Vec<(ir::OpId, String)>,
}

/// Owner: the [`super::Writer`] of its function. Size: its instructions.
#[derive(Debug, Default)]
pub(crate) struct Body {
    graph: Graph,
    /// The op of MLIR of each instruction; `None` for an instruction that was removed.
    ops: Vec<Option<OpId>>,
    pub comments: Vec<(ir::OpId, String)>,
    names: UniqueNames,
    /// Results of packs by their number.
    pub values: FxHashMap<(ValueId, u32), Operand>,
    parameters: u32,
}

impl Body {
    /// Adds an instruction of the op `source` and returns it as an operand of others.
    pub fn push(&mut self, wanted: &str, draft: Draft, source: OpId) -> Operand {
        cancel::check();
        let Draft { opcode, shape, operands, attributes, parameter, literal } = draft;
        let name = self.names.take(wanted);
        let op = Op {
            opcode,
            shape: shape.clone(),
            operand_shapes: operands.iter().map(|operand| operand.shape.clone()).collect(),
            attributes,
            parameter,
            literal,
        };
        let operands = operands.into_iter().map(|operand| operand.id).collect();
        self.ops.push(Some(source));
        Operand { id: self.graph.push(op, operands, name), shape }
    }

    pub fn parameter(&mut self, wanted: &str, shape: Shape, attributes: Attributes, source: OpId) -> Operand {
        let number = self.parameters;
        self.parameters += 1;
        let draft = Draft::new(Opcode::Parameter, shape, &[], attributes);
        self.push(wanted, Draft { parameter: Some(number), ..draft }, source)
    }

    /// Returns how many instructions were added.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    pub fn op(&self, operand: &Operand) -> &Op {
        &self.graph.ops[operand.id as usize]
    }

    pub fn op_mut(&mut self, operand: &Operand) -> &mut Op {
        &mut self.graph.ops[operand.id as usize]
    }

    pub fn name(&self, operand: &Operand) -> &str {
        &self.graph.names[operand.id as usize]
    }

    /// The last instruction.
    pub fn last(&self) -> Option<Operand> {
        let id = self.ops.iter().rposition(Option::is_some)?;
        Some(Operand { id: id as ir::OpId, shape: self.graph.ops[id].shape.clone() })
    }

    /// Removes the instructions of an op from number `from` on. No other instruction may read them.
    pub fn take_back(&mut self, source: OpId, from: usize) {
        for op in self.ops.iter_mut().skip(from).filter(|op| **op == Some(source)) {
            *op = None;
        }
    }

    /// Removes and returns the last instruction, which no other reads.
    pub fn take_last(&mut self) -> Option<(Op, Vec<Operand>)> {
        let at = self.ops.iter().rposition(Option::is_some)?;
        self.ops[at] = None;
        let op = std::mem::replace(&mut self.graph.ops[at], Op::leaf(Shape::Opaque));
        let ids = std::mem::take(&mut self.graph.operands[at]);
        let operands = ids.into_iter().zip(&op.operand_shapes);
        let operands = operands.map(|(id, shape)| Operand { id, shape: shape.clone() }).collect();
        Some((op, operands))
    }

    /// Returns the computation without removed instructions.
    pub fn finish(self, name: &str, root: &Operand) -> HloComputation {
        let Body { mut graph, ops, mut comments, .. } = self;
        let mut root = root.id;
        if ops.contains(&None) {
            let mut left = 0;
            let ids: Vec<ir::OpId> = ops
                .iter()
                .map(|op| {
                    left += u32::from(op.is_some());
                    left.saturating_sub(1)
                })
                .collect();
            let Graph { ops: all, names, operands, .. } = std::mem::take(&mut graph);
            for (at, ((op, name), mut operands)) in all.into_iter().zip(names).zip(operands).enumerate() {
                if ops[at].is_some() {
                    operands.iter_mut().for_each(|id| *id = ids[*id as usize]);
                    graph.push(op, operands, name);
                }
            }
            root = ids[root as usize];
            comments.retain(|(id, _)| ops[*id as usize].is_some());
            comments.iter_mut().for_each(|(id, _)| *id = ids[*id as usize]);
        }
        graph.root = root;
        graph.is_complete = true;
        HloComputation {
            name: name.into(),
            graph: graph.into(),
            ops: ops.into_iter().flatten().collect(),
            comments,
        }
    }
}

impl HloComputation {
    pub(crate) fn into_graph(self) -> Graph {
        Arc::unwrap_or_clone(self.graph)
    }

    /// Writes the computation as text. `at` is called with the offset of each instruction.
    pub(crate) fn write(&self, out: &mut String, mut at: impl FnMut(usize, OpId)) {
        out.push_str(&self.name);
        out.push_str(" {\n");
        let mut comments = self.comments.iter().peekable();
        for (id, &op) in (0..).zip(&self.ops) {
            at(out.len(), op);
            out.push_str("  ");
            self.graph.write_instruction(out, id);
            if let Some((_, comment)) = comments.next_if(|(of, _)| *of == id) {
                out.push_str(" /* ");
                out.push_str(comment);
                out.push_str(" */");
            }
            out.push('\n');
        }
        out.push_str("}\n");
    }
}
