//! One instruction: `ROOT %name = shape opcode(operands), attributes`.

use std::fmt::Write as _;

use syntax::hlo::{Attribute, AttributeKey, InstructionId, Opcode, ValueNode};

use super::Printer;
use super::attribute_order::rank;
use super::literal::write_literal;
use super::program::{NodeId, Source};
use super::shapes::{separate, write_shape};
use super::value::{write_ints, write_value};
use crate::attributes::ValueRef;
use crate::element_type::ElementTypeExt;
use crate::op_table::op_info;

/// An instruction in the computation that is being printed.
#[derive(Clone, Copy)]
pub(super) struct At<'n> {
    pub(super) computation: usize,
    pub(super) node: NodeId,
    /// The numbers of canonical names, by node; empty where names are kept.
    pub(super) canonical: &'n [u32],
    pub(super) indent: usize,
}

impl Printer<'_, '_> {
    pub(super) fn instruction(&mut self, at: At<'_>) {
        let computation = &self.program.computations[at.computation];
        let node = &computation.nodes[at.node as usize];
        for _ in 0..at.indent {
            self.out.push_str("  ");
        }
        if computation.root == at.node {
            self.out.push_str("ROOT ");
        }
        self.node_name(at, at.node);
        self.out.push_str(" = ");
        if let Some(shape) = &node.shape {
            write_shape(&mut self.out, shape);
            self.out.push(' ');
        }
        match node.source {
            Source::Written { piece, id } => self.written(at, piece, id),
            Source::Element { index } => {
                self.out.push_str("get-tuple-element(");
                self.operands(at);
                let _ = write!(self.out, "), index={index}");
            }
            Source::Parameter { number } => {
                let _ = write!(self.out, "parameter({number})");
            }
        }
        self.out.push('\n');
    }

    fn written(&mut self, at: At<'_>, piece: usize, id: InstructionId) {
        let block = self.program.blocks[piece];
        let instruction = block.instruction(id);
        self.out.push_str(instruction.opcode_span.of(&block.text));
        self.out.push('(');
        let argument = instruction.argument.of(&block.text);
        match (instruction.opcode, block.shape(id)) {
            (Some(Opcode::Parameter), _) => self.out.push_str(argument.trim()),
            (Some(Opcode::Constant), Some(shape)) => {
                write_literal(&mut self.out, argument, shape, self.options.large_constants);
            }
            // What an unknown opcode has in its parentheses need not be operands.
            (None, _) if instruction.operands.1 == 0 => self.out.push_str(argument.trim()),
            _ => self.operands(at),
        }
        self.out.push(')');
        let attributes = block.parse.attributes_of(instruction);
        let Some(opcode) = instruction.opcode else {
            return attributes.iter().for_each(|attribute| self.attribute(at, piece, id, None, attribute));
        };
        let mut places: smallvec::SmallVec<[(usize, Result<usize, AttributeKey>); 8]> =
            attributes.iter().enumerate().map(|(i, a)| (rank(opcode, a.key), Ok(i))).collect();
        let is_sugar = instruction.opcode_span.of(&block.text) != opcode.name();
        for &key in op_info(opcode).always_printed {
            if !is_sugar && attributes.iter().all(|a| a.key != Some(key)) {
                places.push((rank(opcode, Some(key)), Err(key)));
            }
        }
        places.sort_by_key(|(rank, _)| *rank);
        for (_, place) in places {
            match place {
                Ok(i) => self.attribute(at, piece, id, Some(opcode), &attributes[i]),
                Err(key) => self.default(at, opcode, key),
            }
        }
    }

    fn operands(&mut self, at: At<'_>) {
        let computation = &self.program.computations[at.computation];
        for (i, &operand) in computation.operands_of(at.node).iter().enumerate() {
            separate(&mut self.out, i, self.options.index_comments);
            let names = self.options.canonical_names || self.options.operand_names;
            if self.options.operand_shapes
                && let Some(shape) = &computation.nodes[operand as usize].shape
            {
                write_shape(&mut self.out, shape);
                self.out.push_str(if names { " " } else { "" });
            }
            if names {
                let (mut tuple, mut path) = (operand, Vec::new());
                while self.is_compacted(at.computation, tuple)
                    && let (Some(index), [of]) =
                        (self.element_index(at.computation, tuple), computation.operands_of(tuple))
                {
                    path.push(index);
                    tuple = *of;
                }
                self.node_name(at, tuple);
                for index in path.into_iter().rev() {
                    let _ = write!(self.out, "#{index}");
                }
            }
        }
    }

    /// Whether a node is written as `%t#0` where it is used, and nowhere else. One that control dependencies name stays.
    pub(super) fn is_compacted(&self, computation: usize, node: NodeId) -> bool {
        let within = &self.program.computations[computation];
        self.options.compact_gte
            && node != within.root
            && within.operands_of(node).len() == 1
            && self.element_index(computation, node).is_some()
            && !within.is_control_dependency(node)
    }

    /// Which element of its operand a node is.
    fn element_index(&self, computation: usize, node: NodeId) -> Option<i64> {
        match self.program.computations[computation].nodes[node as usize].source {
            Source::Element { index } => Some(index),
            Source::Written { piece, id } => {
                let block = self.program.blocks[piece];
                let instruction = block.instruction(id);
                let is_element = instruction.opcode == Some(Opcode::GetTupleElement);
                let attributes = block.parse.attributes_of(instruction);
                attributes.iter().filter(|_| is_element).find_map(|a| match (a.key, a.value) {
                    (Some(AttributeKey::Index), ValueNode::Int(index)) => Some(index),
                    _ => None,
                })
            }
            Source::Parameter { .. } => None,
        }
    }

    pub(super) fn node_name(&mut self, at: At<'_>, node: NodeId) {
        if self.options.percent {
            self.out.push('%');
        }
        match at.canonical.get(node as usize) {
            Some(number) => {
                let _ = write!(self.out, "tmp_{number}");
            }
            None => {
                let computation = &self.program.computations[at.computation];
                self.out.push_str(&computation.nodes[node as usize].name);
            }
        }
    }

    fn computation_name(&mut self, index: usize) {
        if self.options.percent {
            self.out.push('%');
        }
        self.out.push_str(&self.program.computations[index].name);
    }

    fn default(&mut self, at: At<'_>, opcode: Opcode, key: AttributeKey) {
        let _ = write!(self.out, ", {key}=");
        let computation = &self.program.computations[at.computation];
        let shape = computation.nodes[at.node as usize].shape.as_deref();
        match key {
            AttributeKey::Largest | AttributeKey::IsStable => self.out.push_str("true"),
            AttributeKey::HasDynamicRoot => self.out.push_str("false"),
            AttributeKey::Dimensions if opcode == Opcode::Map => {
                let dims: Vec<_> = (0..shape.map_or(0, |s| s.dims().len())).map(|d| d.to_string()).collect();
                let _ = write!(self.out, "{{{}}}", dims.join(","));
            }
            AttributeKey::OutfeedShape => {
                let operand = computation.operands_of(at.node).first();
                if let Some(shape) = operand.and_then(|&o| computation.nodes[o as usize].shape.as_deref()) {
                    write_shape(&mut self.out, shape);
                }
            }
            _ => self.out.push_str("{}"),
        }
    }

    // ---- attributes ----

    fn attribute(
        &mut self,
        at: At<'_>,
        piece: usize,
        id: InstructionId,
        opcode: Option<Opcode>,
        attribute: &Attribute,
    ) {
        use AttributeKey::*;
        let block = self.program.blocks[piece];
        let is_left_out = match attribute.key {
            Some(Metadata) => !self.options.metadata,
            Some(BackendConfig) => !self.options.backend_config,
            Some(ControlPredecessors) => !self.options.control_dependencies,
            Some(key) => opcode.is_some_and(|opcode| is_default(block, id, opcode, key, attribute)),
            None => false,
        };
        if is_left_out {
            return;
        }
        let before = self.out.len();
        let name = match attribute.key {
            // XLA has one name for both.
            Some(ToApply) if opcode == Some(Opcode::CustomCall) => CalledComputations.name(),
            Some(key) => key.name(),
            None => attribute.key_span.of(&block.text),
        };
        let _ = write!(self.out, ", {name}=");
        let behind_name = self.out.len();
        self.value(at, piece, opcode, attribute);
        if self.out.len() == behind_name {
            self.out.truncate(before);
        }
    }

    fn value(&mut self, at: At<'_>, piece: usize, opcode: Option<Opcode>, attribute: &Attribute) {
        use AttributeKey::*;
        let block = self.program.blocks[piece];
        let text = attribute.value_span.of(&block.text);
        let parse = &block.parse;
        let word = parse.unknown.partition_point(|word| word.span.start < attribute.value_span.start);
        let has_unknown =
            parse.unknown.get(word).is_some_and(|word| word.span.end <= attribute.value_span.end);
        match attribute.value {
            ValueNode::Name(_) | ValueNode::Text if has_unknown => self.out.push_str(text),
            // Whatever is written, a map is over all dimensions.
            ValueNode::Ints { .. } if opcode == Some(Opcode::Map) && attribute.key == Some(Dimensions) => {
                let shape =
                    self.program.computations[at.computation].nodes[at.node as usize].shape.as_deref();
                let rank = shape.map_or(0, |shape| shape.dims().len() as i64);
                write_ints(&mut self.out, &(0..rank).collect::<Vec<_>>());
            }
            ValueNode::Computation(_) | ValueNode::Inline(_) if opcode == Some(Opcode::CustomCall) => {
                self.computations(at, piece, attribute, true);
            }
            ValueNode::Computation(_) | ValueNode::Inline(_) => {
                self.computations(at, piece, attribute, false)
            }
            ValueNode::Computations { .. } => self.computations(at, piece, attribute, true),
            ValueNode::Names { .. } => {
                let computation = &self.program.computations[at.computation];
                let before = computation.control_predecessors(at.node);
                if before.is_empty() {
                    return;
                }
                self.out.push('{');
                for (i, &node) in before.iter().enumerate() {
                    separate(&mut self.out, i, false);
                    self.node_name(at, node);
                }
                self.out.push('}');
            }
            ValueNode::Shape(shape) => write_shape(&mut self.out, &block.shapes[shape.0 as usize]),
            _ => {
                let value = ValueRef::of_syntax(&block.text, parse, attribute);
                write_value(&mut self.out, attribute.key, &value, self.options.metadata);
            }
        }
    }

    /// Called computations, by name or with their bodies.
    fn computations(&mut self, at: At<'_>, piece: usize, attribute: &Attribute, is_list: bool) {
        let called = self.program.called(piece, &attribute.value);
        if is_list {
            self.out.push_str(if self.options.full_bodies { "{\n" } else { "{" });
        } else if self.options.full_bodies {
            self.out.push('\n');
        }
        for (i, &index) in called.iter().enumerate() {
            if self.options.full_bodies {
                self.out.push_str(if i > 0 { ",\n" } else { "" });
                self.body(index, at.indent);
            } else {
                separate(&mut self.out, i, false);
                self.computation_name(index);
            }
        }
        if is_list {
            self.out.push_str(if self.options.full_bodies { "\n}" } else { "}" });
        }
    }
}

/// Whether XLA leaves this value out, because it is what is meant without it.
fn is_default(
    block: &crate::block::Block,
    id: InstructionId,
    opcode: Opcode,
    key: AttributeKey,
    attribute: &Attribute,
) -> bool {
    use AttributeKey::*;
    match attribute.value {
        ValueNode::Bool(value) => !value && !op_info(opcode).always_printed.contains(&key),
        ValueNode::Int(value) => match key {
            FeatureGroupCount | BatchGroupCount => value == 1,
            InferredDimension => value == -1,
            _ => false,
        },
        ValueNode::Ints { len: 0, .. } => matches!(
            key,
            LhsBatchDims
                | RhsBatchDims
                | OperandBatchingDims
                | StartIndicesBatchingDims
                | InputBatchingDims
                | ScatterIndicesBatchingDims
        ),
        ValueNode::Window { len: 0, .. } => true,
        ValueNode::String(span) => match key {
            InfeedConfig | OutfeedConfig | BackendConfig => span.is_empty(),
            AsyncExecutionThread => span.of(&block.text) == "main",
            _ => false,
        },
        ValueNode::Name(span) => {
            let word = span.of(&block.text);
            match key {
                Type => Some(word) == default_comparison(block, id),
                Order => match default_comparison(block, id) {
                    Some("FLOAT") => word == "PARTIAL",
                    Some(_) => word == "TOTAL",
                    None => false,
                },
                Algorithm if opcode != Opcode::RngBitGenerator => word.eq_ignore_ascii_case("unset"),
                ConvolutionKind => word == "unset",
                Schedule => word.eq_ignore_ascii_case("SCHEDULE_NONE"),
                ApiVersion => word.eq_ignore_ascii_case("API_VERSION_ORIGINAL"),
                _ => false,
            }
        }
        _ => false,
    }
}

/// The comparison that the operands' element type implies. Source: `Comparison::DefaultComparisonType`.
fn default_comparison(block: &crate::block::Block, id: InstructionId) -> Option<&'static str> {
    let (operand, target) = block.operands_of(id).next()?;
    let shape = match target {
        crate::block::OperandRef::Local(id) => block.shape(id),
        _ => None,
    };
    let shape = shape.or_else(|| operand.shape.map(|s| &block.shapes[s.0 as usize]))?;
    let element = shape.element()?;
    Some(if element.is_floating() || element.is_complex() {
        "FLOAT"
    } else if element.is_signed_integer() {
        "SIGNED"
    } else {
        "UNSIGNED"
    })
}
