//! One computation of the program, from its parts in the pieces.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, ComputationId, InstructionId, OperandKind, ValueNode};

use super::{Computation, Node, NodeId, Source};
use crate::block::{Block, OperandRef};
use crate::shape::Shape;

pub(super) struct Builder<'a, 's> {
    blocks: &'a [&'a Block],
    segments: &'s [(usize, ComputationId)],
    nodes: Vec<Node<'a>>,
    operands: Vec<NodeId>,
    /// Where the nodes of each segment's instructions are.
    local: Vec<Vec<NodeId>>,
    /// Of a computation in several pieces.
    by_name: FxHashMap<&'a str, NodeId>,
    elements: FxHashMap<(NodeId, i64), NodeId>,
    /// Operands of a text that is one instruction.
    parameters: FxHashMap<&'a str, NodeId>,
    next_parameter: u32,
    control: Vec<(NodeId, Vec<NodeId>)>,
}

impl<'a, 's> Builder<'a, 's> {
    pub(super) fn new(blocks: &'a [&'a Block], segments: &'s [(usize, ComputationId)]) -> Self {
        Builder {
            blocks,
            segments,
            nodes: Vec::new(),
            operands: Vec::new(),
            local: Vec::new(),
            by_name: FxHashMap::default(),
            elements: FxHashMap::default(),
            parameters: FxHashMap::default(),
            next_parameter: 0,
            control: Vec::new(),
        }
    }

    pub(super) fn build(mut self, name: &'a str, is_entry: bool) -> Computation<'a> {
        let mut root = None;
        let mut last = 0;
        let mut thread = "";
        for &(piece, computation) in self.segments {
            let block = self.blocks[piece];
            let part = &block.parse.computations[computation as usize];
            thread = part.execution_thread.of(&block.text);
            self.local.push(Vec::with_capacity(part.instructions.len()));
            for id in part.instructions.clone() {
                let node = self.instruction(piece, id);
                let instruction = block.instruction(id);
                if let Some(local) = self.local.last_mut() {
                    local.push(node);
                }
                if self.segments.len() > 1 && !instruction.is_nested {
                    self.by_name.insert(instruction.name.of(&block.text), node);
                }
                if !instruction.is_nested {
                    last = node;
                }
                if instruction.is_root {
                    root = Some(node);
                }
            }
        }
        self.control.sort_by_key(|(node, _)| *node);
        let ends = self.control.iter().flat_map(|(node, before)| before.iter().chain([node]));
        let mut controlled: Vec<_> = ends.copied().collect();
        controlled.sort_unstable();
        controlled.dedup();
        Computation {
            controlled,
            name: Cow::Borrowed(name),
            is_entry,
            thread,
            nodes: self.nodes,
            operands: self.operands,
            root: root.unwrap_or(last),
            control: self.control,
            calls: Vec::new(),
            order: Vec::new(),
            is_fused: false,
        }
    }

    fn instruction(&mut self, piece: usize, id: InstructionId) -> NodeId {
        let block = self.blocks[piece];
        let instruction = block.instruction(id);
        let mut operands = smallvec::SmallVec::<[NodeId; 8]>::new();
        for (operand, target) in block.operands_of(id) {
            let name = operand.name.of(&block.text);
            let node = match target {
                OperandRef::Local(id) => self.node_of(piece, id),
                OperandRef::External(_) => self.by_name.get(name).copied(),
                OperandRef::Missing => {
                    let shape = operand.shape.map(|s| &block.shapes[s.0 as usize]);
                    shape.map(|shape| self.parameter(name, shape))
                }
            };
            let Some(mut node) = node else { continue };
            if let OperandKind::Element { start, len } = operand.kind {
                for &index in block.parse.ints(start, len) {
                    node = self.element(node, index);
                }
            }
            operands.push(node);
        }
        let name = instruction.name.of(&block.text);
        let name = match instruction.is_nested {
            true => Cow::Owned(format!("{}.anon", instruction.opcode_span.of(&block.text))),
            false if name.is_empty() => Cow::Borrowed(instruction.opcode_span.of(&block.text)),
            false => Cow::Borrowed(name),
        };
        let shape = block.shape(id).map(Cow::Borrowed);
        let node = self.push(Source::Written { piece, id }, name, shape, &operands);
        self.control_of(piece, id, node);
        node
    }

    fn control_of(&mut self, piece: usize, id: InstructionId, node: NodeId) {
        let block = self.blocks[piece];
        for attribute in block.parse.attributes_of(block.instruction(id)) {
            let (Some(AttributeKey::ControlPredecessors), ValueNode::Names { start, len }) =
                (attribute.key, attribute.value)
            else {
                continue;
            };
            let computation = self.segments[self.local.len() - 1].1;
            let before = block.parse.spans(start, len).iter().filter_map(|span| {
                let name = span.of(&block.text);
                let local = block.find(computation, name).and_then(|id| self.node_of(piece, id));
                local.or_else(|| self.by_name.get(name).copied())
            });
            let before: Vec<_> = before.collect();
            self.control.push((node, before));
        }
    }

    fn node_of(&self, piece: usize, id: InstructionId) -> Option<NodeId> {
        let (_, computation) = self.segments[self.local.len() - 1];
        let first = self.blocks[piece].parse.computations[computation as usize].instructions.start;
        self.local.last()?.get(id.checked_sub(first)? as usize).copied()
    }

    fn parameter(&mut self, name: &'a str, shape: &'a Shape) -> NodeId {
        if let Some(&known) = self.parameters.get(name).filter(|_| !name.is_empty()) {
            return known;
        }
        let number = self.next_parameter;
        self.next_parameter += 1;
        let shown = if name.is_empty() { "arg" } else { name };
        let node =
            self.push(Source::Parameter { number }, Cow::Borrowed(shown), Some(Cow::Borrowed(shape)), &[]);
        self.parameters.insert(name, node);
        node
    }

    fn element(&mut self, tuple: NodeId, index: i64) -> NodeId {
        if let Some(&known) = self.elements.get(&(tuple, index)) {
            return known;
        }
        let whole = &self.nodes[tuple as usize];
        let shape = whole.shape.as_deref().and_then(|s| s.element_at(&[index])).cloned().map(Cow::Owned);
        let name = format!("{}_{index}", whole.name);
        let node = self.push(Source::Element { index }, Cow::Owned(name), shape, &[tuple]);
        self.elements.insert((tuple, index), node);
        node
    }

    fn push(
        &mut self,
        source: Source,
        name: Cow<'a, str>,
        shape: Option<Cow<'a, Shape>>,
        operands: &[NodeId],
    ) -> NodeId {
        let range = (self.operands.len() as u32, operands.len() as u32);
        self.operands.extend_from_slice(operands);
        self.nodes.push(Node { source, name, shape, operands: range });
        self.nodes.len() as NodeId - 1
    }
}
