//! One instruction: `ROOT %name = shape opcode(operands), attributes`.

use std::fmt::Write as _;

use syntax::Span;
use syntax::hlo::{Attribute, AttributeKey, InstructionId, Opcode, Value};

use super::Printer;
use super::attribute_order::{always_printed, rank};
use super::escape::{requote, requote_or_json};
use super::literal::{write_literal, write_shaped_literal};
use super::program::{NodeId, Source};
use super::shapes::{separate, write_shape};
use super::values;
use crate::element_type::ElementTypeExt;
use crate::shape::Shape;

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
        for &key in always_printed(opcode) {
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
                    (Some(AttributeKey::Index), Value::Int(index)) => Some(index),
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
        match (opcode, key) {
            (Opcode::Topk, _) => self.out.push_str("true"),
            (Opcode::CollectiveBroadcast | Opcode::CollectiveReduce, AttributeKey::HasDynamicRoot) => {
                self.out.push_str("false")
            }
            (Opcode::Map, _) => {
                let dims: Vec<_> = (0..shape.map_or(0, |s| s.dims().len())).map(|d| d.to_string()).collect();
                let _ = write!(self.out, "{{{}}}", dims.join(","));
            }
            (Opcode::Outfeed, _) => {
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
        let of = |span: Span| span.of(&block.text);
        let text = of(attribute.value_span);
        let out = &mut self.out;
        let parse = &block.parse;
        let word = parse.unknown.partition_point(|word| word.span.start < attribute.value_span.start);
        let has_unknown =
            parse.unknown.get(word).is_some_and(|word| word.span.end <= attribute.value_span.end);
        match attribute.value {
            Value::Name(_) | Value::Text if has_unknown => out.push_str(text),
            Value::Bool(value) => {
                let _ = write!(out, "{value}");
            }
            Value::Int(value) => {
                let _ = write!(out, "{value}");
            }
            // Whatever is written, a map is over all dimensions.
            Value::Ints { .. } if opcode == Some(Opcode::Map) && attribute.key == Some(Dimensions) => {
                let shape =
                    self.program.computations[at.computation].nodes[at.node as usize].shape.as_deref();
                let rank = shape.map_or(0, |shape| shape.dims().len() as i64);
                write_ints(out, &(0..rank).collect::<Vec<_>>());
            }
            Value::Ints { start, len } => write_ints(out, block.parse.ints(start, len)),
            Value::Triples { start, len } => {
                let (triples, _) = block.parse.ints(start, len).as_chunks::<3>();
                match attribute.key {
                    Some(Slice) => write_ranges(out, triples),
                    _ => write_padding(out, triples),
                }
            }
            Value::Window { start, len } => {
                write_window(out, block.parse.ints(start, len).as_chunks::<7>().0)
            }
            Value::Computation(_) | Value::Inline(_) if opcode == Some(Opcode::CustomCall) => {
                self.computations(at, piece, attribute, true);
            }
            Value::Computation(_) | Value::Inline(_) => self.computations(at, piece, attribute, false),
            Value::Computations { .. } => self.computations(at, piece, attribute, true),
            Value::Names { .. } => {
                let computation = &self.program.computations[at.computation];
                let before = computation.control_predecessors(at.node);
                if before.is_empty() {
                    return;
                }
                out.push('{');
                for (i, &node) in before.iter().enumerate() {
                    separate(&mut self.out, i, false);
                    self.node_name(at, node);
                }
                self.out.push('}');
            }
            Value::String(span) => match attribute.key {
                Some(BackendConfig) => requote_or_json(out, of(span)),
                _ => requote(out, of(span)),
            },
            Value::Name(span) => write_word(out, of(span), attribute.key),
            Value::DimLabels(span) => out.push_str(of(span)),
            Value::Shape(shape) => write_shape(out, &block.shapes[shape.0 as usize]),
            Value::Text => match attribute.key {
                Some(Sharding) => values::write_sharding(out, text, self.options.metadata),
                Some(Metadata) => values::write_metadata(out, text),
                Some(FrontendAttributes) => values::write_frontend_attributes(out, text),
                Some(Statistics) => values::write_statistics(out, text),
                Some(ResultAccuracy) => values::write_result_accuracy(out, text),
                Some(ReplicaGroups) => values::write_replica_groups(out, text),
                Some(SourceTargetPairs | SliceSizes | ParameterReplication) => values::write_dense(out, text),
                Some(OperandPrecision) => {
                    if let Some(precisions) = values::precisions(text) {
                        out.push_str(&precisions);
                    }
                }
                Some(OutputToOperandAliasing) => {
                    out.push('{');
                    values::write_aliasing(out, text, false);
                    out.push('}');
                }
                Some(OperandLayoutConstraints) => {
                    out.push('{');
                    let inner = text.trim().trim_start_matches('{').strip_suffix('}').unwrap_or(text);
                    for (i, part) in super::tokens::split_top_level(inner).into_iter().enumerate() {
                        separate(out, i, false);
                        match parse_shape(part) {
                            Some(shape) => write_shape(out, &shape),
                            None => out.push_str(part),
                        }
                    }
                    out.push('}');
                }
                Some(Epsilon) => values::write_number(out, text),
                Some(Literal) => write_shaped_literal(out, text, &mut parse_shape),
                Some(Domain) => values::write_domain(out, text, self.options.metadata),
                Some(Origin | SparsityConfig | BlockScalingConfig) => values::write_spaced(out, text),
                _ => out.push_str(text),
            },
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

/// The shape that a text stands for.
fn parse_shape(text: &str) -> Option<Shape> {
    crate::shape::shape_from_text(text)
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
        Value::Bool(value) => {
            let is_printed = match opcode {
                Opcode::Topk | Opcode::CollectiveBroadcast => true,
                Opcode::CollectiveReduce => key == HasDynamicRoot,
                _ => false,
            };
            !value && !is_printed
        }
        Value::Int(value) => match key {
            FeatureGroupCount | BatchGroupCount => value == 1,
            InferredDimension => value == -1,
            _ => false,
        },
        Value::Ints { len: 0, .. } => matches!(
            key,
            LhsBatchDims
                | RhsBatchDims
                | OperandBatchingDims
                | StartIndicesBatchingDims
                | InputBatchingDims
                | ScatterIndicesBatchingDims
        ),
        Value::Window { len: 0, .. } => true,
        Value::String(span) => match key {
            InfeedConfig | OutfeedConfig | BackendConfig => span.is_empty(),
            AsyncExecutionThread => span.of(&block.text) == "main",
            _ => false,
        },
        Value::Name(span) => {
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

fn write_ints(out: &mut String, ints: &[i64]) {
    out.push('{');
    for (i, n) in ints.iter().enumerate() {
        let _ = write!(out, "{}{n}", if i > 0 { "," } else { "" });
    }
    out.push('}');
}

/// `{[0:4:2], [0:3:1]}`; strides only where one is not 1.
fn write_ranges(out: &mut String, ranges: &[[i64; 3]]) {
    let with_stride = ranges.iter().any(|r| r[2] != 1);
    out.push('{');
    for (i, [start, limit, stride]) in ranges.iter().enumerate() {
        separate(out, i, false);
        let _ = write!(out, "[{start}:{limit}");
        if with_stride {
            let _ = write!(out, ":{stride}");
        }
        out.push(']');
    }
    out.push('}');
}

/// `0_1x2_3`, or with interior padding `0_1_0x2_3_4`.
pub(super) fn write_padding(out: &mut String, dims: &[[i64; 3]]) {
    let with_interior = dims.iter().any(|d| d[2] != 0);
    for (i, [low, high, interior]) in dims.iter().enumerate() {
        let _ = write!(out, "{}{low}_{high}", if i > 0 { "x" } else { "" });
        if with_interior {
            let _ = write!(out, "_{interior}");
        }
    }
}

/// `{size=3x3 stride=2x2 pad=1_1x1_1 …}`: sizes, and what is not the default in some dimension.
pub(super) fn write_window(out: &mut String, dims: &[[i64; 7]]) {
    const SIZE: usize = 0;
    out.push('{');
    // Name, index of the number, default.
    let fields: [(&str, usize, i64); 6] = [
        ("size", SIZE, i64::MIN),
        ("stride", 1, 1),
        ("pad", 2, 0),
        ("lhs_dilate", 4, 1),
        ("rhs_dilate", 5, 1),
        ("rhs_reversal", 6, 0),
    ];
    for (name, at, default) in fields {
        let is_pad = name == "pad";
        if dims.iter().all(|d| d[at] == default && (!is_pad || d[at + 1] == default)) && at != SIZE {
            continue;
        }
        let _ = write!(out, "{}{name}=", if at == SIZE { "" } else { " " });
        for (i, d) in dims.iter().enumerate() {
            out.push_str(if i > 0 { "x" } else { "" });
            let _ = write!(out, "{}", d[at]);
            if is_pad {
                let _ = write!(out, "_{}", d[at + 1]);
            }
        }
    }
    out.push('}');
}

/// The spelling of an enum's value: some are read in any case.
fn write_word(out: &mut String, word: &str, key: Option<AttributeKey>) {
    use AttributeKey::*;
    match key {
        Some(Distribution | Algorithm) => out.push_str(&word.to_ascii_lowercase()),
        Some(Schedule | ApiVersion) => out.push_str(&word.to_ascii_uppercase()),
        _ => out.push_str(word),
    }
}
