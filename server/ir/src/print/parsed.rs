//! A module as owned data, as XLA has it after its parser: what a pass starts from.

use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, InstructionId, Opcode, ValueNode};

use super::header::tables;
use super::program::{NodeId, Program, Source, parameter_number};
use crate::attributes::Attributes;
use crate::block::Block;
use crate::graph::Op;
use crate::module::{Module, ModuleSettings};
use crate::shape::Shape;

/// A module whose instructions are typed ops: nested instructions, `%t#0` and computations that are written in place are
/// instructions and computations of their own, names are unique, default layouts are left out of the shapes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedModule {
    /// Empty where the text has no header.
    pub name: String,
    pub settings: ModuleSettings,
    /// The attributes of the header that `settings` lacks, as written, in order.
    pub other_settings: Vec<(String, String)>,
    /// The tables of source locations after the header, as written.
    pub tables: String,
    /// In the order of the text.
    pub computations: Vec<ParsedComputation>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedComputation {
    pub name: String,
    pub is_entry: bool,
    /// `execution_thread="…"`; empty for the main one.
    pub thread: String,
    /// In the order of the text.
    pub instructions: Vec<ParsedInstruction>,
    /// Index into `instructions`.
    pub root: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedInstruction {
    pub name: String,
    /// The number of its block and its number there; `None` for `%t#0`, which is part of another one.
    pub place: Option<(usize, InstructionId)>,
    /// Without the attributes that name computations or instructions. Of an unknown opcode, a custom call.
    pub op: Op,
    /// Indices into the instructions of the computation.
    pub operands: Vec<usize>,
    pub control_predecessors: Vec<usize>,
    /// Per attribute that calls computations, indices into the computations of the module.
    pub calls: Vec<(AttributeKey, Vec<usize>)>,
    /// What `op` lacks.
    pub verbatim: Option<Box<Verbatim>>,
}

/// The parts of an instruction that this vocabulary lacks, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verbatim {
    /// The word for the opcode, where the op's opcode is not spelled so: it is unknown, or the short form of an asynchronous op.
    pub opcode: Option<String>,
    /// What is in the parentheses of an unknown opcode that has no operands.
    pub argument: String,
    pub attributes: Vec<(String, String)>,
}

impl ParsedModule {
    /// Module number `section` of a file. Instructions that could not be read are left out.
    pub fn new(blocks: &[&Block], module: &Module, section: u32) -> ParsedModule {
        let program = Program::build(blocks, module, section);
        let header = blocks.iter().filter(|block| block.parse.starts_module).nth(section as usize);
        let header = header.and_then(|block| Some((block.parse.header.as_ref()?, *block)));
        let typed =
            ["is_scheduled", "entry_computation_layout", "input_output_alias", "buffer_donor"].as_slice();
        let other_settings = header.iter().flat_map(|(header, block)| {
            let written =
                header.attributes.iter().map(|(key, value)| (key.of(&block.text), value.of(&block.text)));
            written.filter(|(key, _)| !typed.contains(key))
        });
        ParsedModule {
            name: header.map_or(String::new(), |(header, block)| header.name.of(&block.text).to_owned()),
            settings: module.settings(section).cloned().unwrap_or_default(),
            other_settings: other_settings.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            tables: header.map_or("", |(header, block)| tables(header, block)).to_owned(),
            computations: (0..program.computations.len()).map(|index| computation(&program, index)).collect(),
        }
    }
}

fn computation(program: &Program<'_>, index: usize) -> ParsedComputation {
    let of = &program.computations[index];
    // Most shapes occur many times, and share their memory in the block.
    let mut known: FxHashMap<*const Shape, Shape> = FxHashMap::default();
    let mut shapes: Vec<Shape> = Vec::with_capacity(of.nodes.len());
    for node in &of.nodes {
        cancel::tick();
        let shape = node.shape.as_deref().map(|shape| {
            known.entry(std::ptr::from_ref(shape)).or_insert_with(|| shape.without_default_layouts()).clone()
        });
        // Only a text with errors has instructions without a shape.
        shapes.push(shape.unwrap_or(Shape::Opaque));
    }
    let instruction = |node: NodeId| {
        cancel::tick();
        let operands: Vec<usize> = of.operands_of(node).iter().map(|&operand| operand as usize).collect();
        let own = &of.nodes[node as usize];
        let mut parsed = ParsedInstruction {
            name: own.name.to_string(),
            place: None,
            op: Op {
                operand_shapes: operands.iter().map(|&operand| shapes[operand].clone()).collect(),
                parameter: parameter_number(program, own),
                ..Op::leaf(shapes[node as usize].clone())
            },
            operands,
            control_predecessors: of.control_predecessors(node).iter().map(|&n| n as usize).collect(),
            calls: Vec::new(),
            verbatim: None,
        };
        match own.source {
            Source::Written { piece, id } => {
                parsed.place = Some((piece, id));
                parsed.read(program, piece, id);
            }
            Source::Element { index } => {
                parsed.op.opcode = Opcode::GetTupleElement;
                parsed.op.attributes.push(AttributeKey::Index, index);
            }
            Source::Parameter { .. } => {}
        }
        parsed
    };
    ParsedComputation {
        name: of.name.to_string(),
        is_entry: of.is_entry,
        thread: of.thread.to_owned(),
        instructions: (0..of.nodes.len() as NodeId).map(instruction).collect(),
        root: of.root as usize,
    }
}

impl ParsedInstruction {
    fn read(&mut self, program: &Program<'_>, piece: usize, id: syntax::hlo::InstructionId) {
        let block = program.blocks[piece];
        let instruction = program.instruction(piece, id);
        let word = instruction.opcode_span.of(&block.text);
        let argument = instruction.argument.of(&block.text).trim();
        let mut verbatim = Verbatim::default();
        self.op.opcode = instruction.opcode.unwrap_or(Opcode::CustomCall);
        if instruction.opcode.is_none_or(|opcode| opcode.name() != word) {
            verbatim.opcode = Some(word.to_owned());
        }
        if instruction.opcode.is_none() && self.operands.is_empty() {
            verbatim.argument = argument.to_owned();
        }
        if self.op.opcode == Opcode::Constant {
            self.op.literal = Some(argument.to_owned());
        }
        let mut attributes = Attributes::from_syntax(&block.text, &block.parse, instruction);
        for attribute in block.parse.attributes_of(instruction) {
            let Some(key) = attribute.key else {
                let text = |span: syntax::Span| span.of(&block.text).to_owned();
                verbatim.attributes.push((text(attribute.key_span), text(attribute.value_span)));
                continue;
            };
            let called = program.called(piece, &attribute.value);
            let is_of_instructions = matches!(attribute.value, ValueNode::Names { .. })
                && key == AttributeKey::ControlPredecessors;
            if is_of_instructions || !called.is_empty() {
                attributes.remove(key);
            }
            if !called.is_empty() {
                self.calls.push((key, called));
            }
        }
        self.op.attributes = attributes;
        if verbatim != Verbatim::default() {
            self.verbatim = Some(Box::new(verbatim));
        }
    }
}
