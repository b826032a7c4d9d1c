//! The instructions of a module as XLA has them after its parser: nested ones and `%t#0` are instructions of their own,
//! names are unique in the module, computations and instructions are in the order in which XLA prints them.
//!
//! Source: XLA `hlo_parser.cc`, `hlo_computation.cc` MakeInstructionPostOrder, `hlo_module.cc` MakeComputationPostOrder.

mod builder;

use std::borrow::Cow;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use syntax::Span;
use syntax::hlo::{
    AttributeKey, ComputationId, ComputationKind, Instruction, InstructionId, Opcode, ValueNode,
};

use super::names::Uniquer;
use crate::attributes::{Attributes, Callee};
use crate::block::Block;
use crate::infer::{Called, Given, result_shape};
use crate::module::Module;
use crate::shape::Shape;
use builder::Builder;

pub(super) type NodeId = u32;

#[derive(Debug, Clone, Copy)]
pub(super) enum Source {
    Written {
        piece: usize,
        id: InstructionId,
    },
    /// Element `index` of a tuple: `%t#0`.
    Element {
        index: i64,
    },
    /// An operand of a text that is one instruction.
    Parameter {
        number: u32,
    },
}

#[derive(Debug)]
pub(super) struct Node<'a> {
    pub(super) source: Source,
    pub(super) name: Cow<'a, str>,
    pub(super) shape: Option<Cow<'a, Shape>>,
    operands: (u32, u32),
}

#[derive(Debug)]
pub(super) struct Computation<'a> {
    pub(super) name: Cow<'a, str>,
    pub(super) is_entry: bool,
    /// Inside of its quotes; empty where none is written.
    pub(super) thread: &'a str,
    pub(super) nodes: Vec<Node<'a>>,
    operands: Vec<NodeId>,
    pub(super) root: NodeId,
    control: Vec<(NodeId, Vec<NodeId>)>,
    /// The nodes at either end of those, in ascending order.
    controlled: Vec<NodeId>,
    /// Computations called by each node, in XLA's order.
    calls: Vec<(NodeId, Vec<usize>)>,
    /// The nodes in the order of printing.
    pub(super) order: Vec<NodeId>,
    /// Called by a fusion: a schedule says nothing about it.
    is_fused: bool,
}

/// One module of a file.
pub(super) struct Program<'a> {
    pub(super) blocks: &'a [&'a Block],
    pub(super) computations: Vec<Computation<'a>>,
    by_place: FxHashMap<(usize, ComputationId), usize>,
    by_name: FxHashMap<&'a str, usize>,
    is_scheduled: bool,
}

impl<'a> Program<'a> {
    /// Module number `section` of a file.
    pub(super) fn build(blocks: &'a [&'a Block], module: &Module, section: u32) -> Program<'a> {
        let mut program = Program {
            blocks,
            computations: Vec::new(),
            by_place: FxHashMap::default(),
            by_name: FxHashMap::default(),
            is_scheduled: false,
        };
        let mut parts = Vec::new();
        for (index, computation) in module.computations.iter().enumerate() {
            if computation.section != section {
                continue;
            }
            // Inline bodies are complete before the computation that holds them.
            for segment in &computation.segments {
                let of = |c: ComputationId| &blocks[segment.piece].parse.computations[c as usize];
                let outer = of(segment.computation).span;
                for id in 0..blocks[segment.piece].parse.computations.len() as ComputationId {
                    let span = of(id).span;
                    let is_inside = outer.start <= span.start && span.end <= outer.end;
                    if matches!(of(id).kind, ComputationKind::Inline(_)) && is_inside {
                        parts.push((vec![(segment.piece, id)], false));
                    }
                }
            }
            let segments = computation.segments.iter().map(|s| (s.piece, s.computation)).collect();
            parts.push((segments, module.is_entry(index)));
        }
        for (index, (segments, is_entry)) in parts.iter().enumerate() {
            let (piece, id) = segments[0];
            program.is_scheduled |= is_scheduled(blocks, piece);
            for &(piece, id) in segments {
                program.by_place.insert((piece, id), index);
            }
            let name = blocks[piece].parse.computations[id as usize].name.of(&blocks[piece].text);
            if !name.is_empty() {
                program.by_name.entry(name).or_insert(index);
            }
            let computation = Builder::new(blocks, segments).build(name, *is_entry);
            program.computations.push(computation);
        }
        program.calls();
        program.shapes();
        program.names();
        program
    }

    /// Shapes that were left out and follow from called computations, which lowering does not see.
    fn shapes(&mut self) {
        for index in 0..self.computations.len() {
            for node in 0..self.computations[index].nodes.len() {
                if self.computations[index].nodes[node].shape.is_none() {
                    let shape = self.inferred(index, node as NodeId);
                    self.computations[index].nodes[node].shape = shape.map(Cow::Owned);
                }
            }
        }
    }

    fn inferred(&self, index: usize, node: NodeId) -> Option<Shape> {
        let computation = &self.computations[index];
        let shape_of = |node: NodeId| computation.nodes[node as usize].shape.as_deref();
        let operands: Option<Vec<&Shape>> =
            computation.operands_of(node).iter().map(|&operand| shape_of(operand)).collect();
        match computation.nodes[node as usize].source {
            Source::Element { index } => operands?.first()?.element_at(&[index]).cloned(),
            Source::Parameter { .. } => None,
            Source::Written { piece, id } => {
                let block = self.blocks[piece];
                let instruction = self.instruction(piece, id);
                let attributes = Attributes::from_syntax(&block.text, &block.parse, instruction);
                let called = |callee: Callee<'_>| {
                    let Callee::Name(name) = callee else { return None };
                    let callee = &self.computations[*self.by_name.get(name)?];
                    let mut parameters: Vec<(u32, Shape)> = Vec::new();
                    for node in &callee.nodes {
                        if let Some(number) = parameter_number(self, node) {
                            parameters.push((number, node.shape.as_deref()?.clone()));
                        }
                    }
                    parameters.sort_by_key(|(number, _)| *number);
                    Some(Arc::new(Called {
                        parameters: parameters.into_iter().map(|(_, shape)| shape).collect(),
                        result: callee.nodes.get(callee.root as usize)?.shape.as_deref()?.clone(),
                        thread: Box::default(),
                        root_sharding: None,
                        first_sharding: None,
                    }))
                };
                let given = Given {
                    operands: &operands?,
                    attributes: attributes.view(),
                    declared: None,
                    called: &called,
                };
                result_shape(instruction.opcode?, &given).ok()
            }
        }
    }

    pub(super) fn instruction(&self, piece: usize, id: InstructionId) -> &'a Instruction {
        &self.blocks[piece].parse.instructions[id as usize]
    }

    /// The computation that `value` of an attribute names, or holds.
    pub(super) fn called(&self, piece: usize, value: &ValueNode) -> Vec<usize> {
        let block = self.blocks[piece];
        let named = |span: Span| self.by_name.get(span.of(&block.text)).copied();
        // The name of an inline body is empty and comes after its closing brace.
        let inline = |behind: Span| {
            let of_piece = block.parse.computations.iter().enumerate();
            let mut inline = of_piece.filter(|(_, c)| matches!(c.kind, ComputationKind::Inline(_)));
            let (id, _) = inline.find(|(_, c)| c.span.end == behind.end)?;
            self.by_place.get(&(piece, id as ComputationId)).copied()
        };
        match *value {
            ValueNode::Computation(span) => named(span).into_iter().collect(),
            ValueNode::Inline(id) => self.by_place.get(&(piece, id)).copied().into_iter().collect(),
            ValueNode::Computations { start, len } => {
                let spans = block.parse.spans(start, len).iter();
                spans.filter_map(|&s| if s.is_empty() { inline(s) } else { named(s) }).collect()
            }
            _ => Vec::new(),
        }
    }

    fn calls(&mut self) {
        let mut fused = Vec::new();
        for index in 0..self.computations.len() {
            let mut calls = Vec::new();
            for (node, source) in self.computations[index].nodes.iter().enumerate() {
                let Source::Written { piece, id } = source.source else { continue };
                let instruction = self.instruction(piece, id);
                let attributes = self.blocks[piece].parse.attributes_of(instruction);
                let mut of_node: Vec<(bool, Vec<usize>)> = Vec::new();
                for attribute in attributes {
                    let called = self.called(piece, &attribute.value);
                    if instruction.opcode == Some(Opcode::Fusion) {
                        fused.extend(called.iter().copied());
                    }
                    if !called.is_empty() {
                        // The body of a loop is its first called computation, though it is written last.
                        of_node.push((attribute.key == Some(AttributeKey::Condition), called));
                    }
                }
                of_node.sort_by_key(|(is_condition, _)| *is_condition);
                if !of_node.is_empty() {
                    calls.push((node as NodeId, of_node.into_iter().flat_map(|(_, c)| c).collect()));
                }
            }
            self.computations[index].calls = calls;
        }
        for index in fused {
            self.computations[index].is_fused = true;
        }
        for computation in &mut self.computations {
            computation.order = computation.instruction_order(self.is_scheduled);
            // XLA goes by the order of parsing here; by that of printing the printed text is printed the same again.
            let mut place = vec![0; computation.order.len()];
            computation.order.iter().enumerate().for_each(|(at, &node)| place[node as usize] = at);
            computation.calls.sort_by_key(|(node, _)| place[*node as usize]);
        }
    }

    fn names(&mut self) {
        let mut computations = Uniquer::default();
        let mut instructions = Uniquer::default();
        for computation in &mut self.computations {
            let name = match &computation.name {
                Cow::Borrowed(name) if !name.is_empty() => computations.unique(name),
                _ => computations.unique("_"),
            };
            computation.name = name;
            for node in &mut computation.nodes {
                node.name = match std::mem::take(&mut node.name) {
                    Cow::Borrowed(name) => instructions.unique(name),
                    Cow::Owned(name) => instructions.unique_owned(name),
                };
            }
        }
    }

    /// Computations, callees before their callers.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut is_called = vec![false; self.computations.len()];
        for computation in &self.computations {
            computation.calls.iter().flat_map(|(_, c)| c).for_each(|&c| is_called[c] = true);
        }
        let mut visited = vec![false; self.computations.len()];
        let mut order = Vec::new();
        // Recursive computations, which no valid module has, come last.
        let roots = (0..is_called.len()).filter(|&c| !is_called[c]).chain(0..is_called.len());
        for root in roots {
            if !std::mem::replace(&mut visited[root], true) {
                self.visit(root, &mut visited, &mut order);
            }
        }
        order
    }

    fn visit(&self, root: usize, visited: &mut [bool], order: &mut Vec<usize>) {
        let mut stack: Vec<(usize, usize)> = vec![(root, 0)];
        while let Some(top) = stack.last_mut() {
            let (computation, at) = *top;
            match self.computations[computation].calls.get(at) {
                None => {
                    stack.pop();
                    order.push(computation);
                }
                Some((_, next)) => {
                    top.1 += 1;
                    for &callee in next.iter().rev() {
                        if !std::mem::replace(&mut visited[callee], true) {
                            stack.push((callee, 0));
                        }
                    }
                }
            }
        }
    }
}

impl Computation<'_> {
    /// The nodes of a computation in the order of printing: operands first, or as scheduled.
    fn instruction_order(&self, is_scheduled: bool) -> Vec<NodeId> {
        let count = self.nodes.len();
        if is_scheduled && !self.is_fused {
            return (0..count as NodeId).collect();
        }
        let mut is_used = vec![false; count];
        self.operands.iter().for_each(|&o| is_used[o as usize] = true);
        let control: FxHashMap<NodeId, &[NodeId]> =
            self.control.iter().map(|(node, before)| (*node, before.as_slice())).collect();
        let mut state = vec![0u8; count];
        let mut order = Vec::with_capacity(count);
        let mut stack = Vec::new();
        for root in (0..count).filter(|&n| !is_used[n]) {
            stack.push(root as NodeId);
            while let Some(&node) = stack.last() {
                let seen = &mut state[node as usize];
                if *seen > 0 {
                    stack.pop();
                    if std::mem::replace(seen, 2) == 1 {
                        order.push(node);
                    }
                    continue;
                }
                *seen = 1;
                let is_open = |n: &&NodeId| state[**n as usize] < 2;
                stack.extend(self.operands_of(node).iter().rev().filter(is_open));
                if let Some(before) = control.get(&node) {
                    stack.extend(before.iter().filter(is_open));
                }
            }
        }
        order
    }

    pub(super) fn operands_of(&self, node: NodeId) -> &[NodeId] {
        let (start, len) = self.nodes[node as usize].operands;
        &self.operands[start as usize..(start + len) as usize]
    }

    pub(super) fn control_predecessors(&self, node: NodeId) -> &[NodeId] {
        let found = self.control.binary_search_by_key(&node, |(n, _)| *n);
        found.map_or(&[], |at| &self.control[at].1)
    }

    /// Whether a control dependency starts or ends at the node.
    pub(super) fn is_control_dependency(&self, node: NodeId) -> bool {
        self.controlled.binary_search(&node).is_ok()
    }

    /// Computations that nodes of this one call.
    pub(super) fn calls(&self) -> impl Iterator<Item = usize> + '_ {
        self.calls.iter().flat_map(|(_, called)| called.iter().copied())
    }
}

fn is_scheduled(blocks: &[&Block], piece: usize) -> bool {
    let header = blocks[..=piece].iter().rev().find(|b| b.parse.starts_module);
    header.and_then(|b| b.parse.header.as_ref()).is_some_and(|h| h.is_scheduled)
}

/// The parameter number of a node.
pub(super) fn parameter_number(program: &Program<'_>, node: &Node<'_>) -> Option<u32> {
    match node.source {
        Source::Parameter { number } => Some(number),
        Source::Written { piece, id } => {
            let instruction = program.instruction(piece, id);
            let argument = instruction.argument.of(&program.blocks[piece].text);
            (instruction.opcode == Some(Opcode::Parameter)).then(|| argument.trim().parse().ok())?
        }
        Source::Element { .. } => None,
    }
}
