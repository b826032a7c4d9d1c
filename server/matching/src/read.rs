//! From the text of a module to a [`Program`].

mod hashes;
mod tables;

use rustc_hash::FxHashMap;
use syntax::Span;
use syntax::hlo::{
    Attribute, AttributeKey, ComputationKind, InstructionId, Opcode, OperandKind, Parse, PieceState,
    ValueNode, parse,
};

use self::hashes::{ShapeHashes, is_annotation, metadata, shapes, squeezed};
use crate::hash::{Hash, Kind, text as text_hash};
use crate::program::{Computation, Instruction, NameHashes, Operand, Program};

/// Why a text is no module that can be matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    pub message: String,
    /// Bytes from the start of the text.
    pub offset: usize,
}

impl<'t> Program<'t> {
    /// Reads a module.
    ///
    /// # Errors
    /// The first error of the parser, a text without computations, an operand or a callee that is not defined, or a name that is
    /// defined twice in one computation.
    pub fn read(text: &'t str) -> Result<Program<'t>, Unreadable> {
        let (program, errors) = Program::of(text, &parse(text, PieceState::HEADER))?;
        match errors.into_iter().next() {
            None => Ok(program),
            Some(error) => Err(error),
        }
    }

    /// Reads what can be read of a module that is parsed, without the operands and the callees that are not defined; and the first
    /// errors, in the order in which [`Program::read`] meets them.
    ///
    /// # Errors
    /// A text that is no module, that has no instructions, or that has a computation without any.
    pub fn of(text: &'t str, parse: &Parse) -> Result<(Program<'t>, Vec<Unreadable>), Unreadable> {
        let is_module = parse.header.is_some() || parse.computations.iter().any(|c| !c.name.is_empty());
        let mut errors = Vec::new();
        for error in parse.errors.iter().take(MAX_ERRORS) {
            let what = if is_module { "" } else { "no module of HLO: " };
            let message = format!("{what}{}", error.message);
            errors.push(Unreadable { message, offset: error.span.start as usize });
        }
        if parse.ends_in_body {
            let message = "the text ends inside a computation".into();
            errors.push(Unreadable { message, offset: text.len() });
        }
        if parse.instructions.is_empty() || !is_module && !errors.is_empty() {
            let message = "no module of HLO: the text has no instructions".into();
            return Err(errors.into_iter().next().unwrap_or(Unreadable { message, offset: 0 }));
        }
        let empty = parse.computations.iter().find(|computation| computation.instructions.is_empty());
        if let Some(empty) = empty {
            let message = format!("computation {} is empty", empty.name.of(text));
            let empty = Unreadable { message, offset: empty.span.start as usize };
            return Err(errors.into_iter().next().unwrap_or(empty));
        }
        let bodies = FxHashMap::default();
        let shapes = shapes(parse);
        Ok(Reader { text, parse, shapes, bodies, program: Program::default(), errors }.read())
    }
}

/// Further errors of a module are not kept.
const MAX_ERRORS: usize = 100;

struct Reader<'t, 'p> {
    text: &'t str,
    parse: &'p Parse,
    shapes: Vec<ShapeHashes>,
    /// Computations that are written in place, by the instruction that contains them.
    bodies: FxHashMap<InstructionId, Vec<u32>>,
    program: Program<'t>,
    errors: Vec<Unreadable>,
}

impl<'t> Reader<'t, '_> {
    fn read(mut self) -> (Program<'t>, Vec<Unreadable>) {
        self.computations();
        let count = self.parse.computations.len();
        for computation in 0..count {
            self.instructions(computation as u32);
        }
        self.program.fill_names();
        self.program.fill_users();
        (self.program, self.errors)
    }

    fn of(&self, span: Span) -> &'t str {
        span.of(self.text)
    }

    fn error(&mut self, span: Span, message: String) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(Unreadable { message, offset: span.start as usize });
        }
    }

    /// Computations in the order of their instructions, as inline bodies have ranges behind those of the computations that
    /// contain them.
    fn computations(&mut self) {
        let written = &self.parse.computations;
        let mut last_named = 0;
        for (at, computation) in written.iter().enumerate() {
            let name = self.of(computation.name);
            if let ComputationKind::Inline(holder) = computation.kind {
                self.bodies.entry(holder).or_default().push(at as u32);
            }
            let is_inline = matches!(computation.kind, ComputationKind::Inline(_));
            if !name.is_empty() && self.program.computation_by_name.insert(name, at as u32).is_some() {
                self.error(computation.name, format!("a second computation named {name}"));
            }
            let range = computation.instructions.clone();
            if !is_inline {
                last_named = at as u32;
            }
            let mut own = range.clone().filter(|&id| !self.parse.instructions[id as usize].is_nested);
            let root = own.clone().find(|&id| self.parse.instructions[id as usize].is_root);
            let root = root.or_else(|| own.next_back()).unwrap_or(range.start);
            self.program.computations.push(Computation { name, instructions: range, root, callers: 0 });
        }
        let entry = written.iter().position(|computation| computation.is_entry);
        self.program.entry = entry.map_or(last_named, |at| at as u32);
    }

    fn instructions(&mut self, computation: u32) {
        let range = self.program.computation(computation).instructions.clone();
        let written = &self.parse.instructions;
        // Computations are visited in order, and their ranges may not be.
        if self.program.instructions.len() < range.end as usize {
            let blank = Instruction {
                name: "",
                opcode: None,
                opcode_text: "",
                shape_text: "",
                text: "",
                computation: 0,
                is_root: false,
                number: None,
                operands: (0, 0),
                callees: (0, 0),
                shape: 0,
                dimensions: 0,
                elements: 0,
                attributes: 0,
                semantics: 0,
                metadata: 0,
                names: NameHashes::default(),
            };
            self.program.instructions.resize(range.end as usize, blank);
        }
        let mut defined: FxHashMap<&str, InstructionId> = FxHashMap::default();
        for id in range {
            cancel::tick();
            let instruction = &written[id as usize];
            let operands = self.operands(id, &defined);
            let name = self.of(instruction.name);
            if !instruction.is_nested && defined.insert(name, id).is_some() {
                self.error(instruction.name, format!("a second instruction named {name} in one computation"));
            }
            let (shape, dimensions, elements) =
                instruction.shape.map_or((0, 0, 0), |shape| self.shapes[shape.0 as usize]);
            let argument = self.of(instruction.argument).trim();
            let attributes = self.attributes(id);
            let number = match instruction.opcode {
                Some(Opcode::Parameter) => argument.parse().ok(),
                _ => attributes.index,
            };
            let literal = if instruction.opcode == Some(Opcode::Constant) { text_hash(argument) } else { 0 };
            self.program.instructions[id as usize] = Instruction {
                name,
                opcode: instruction.opcode,
                opcode_text: self.of(instruction.opcode_span),
                shape_text: self.shape_text(instruction),
                text: self.of(instruction.span),
                computation,
                is_root: self.program.computation(computation).root == id,
                number,
                operands,
                callees: attributes.callees,
                shape,
                dimensions,
                elements,
                attributes: Hash::of(Kind::Attributes).words([attributes.all, literal]).end(),
                semantics: Hash::of(Kind::Attributes).words([attributes.semantic, literal]).end(),
                metadata: attributes.metadata,
                names: NameHashes::of(name),
            };
        }
    }

    /// The text between the name and the opcode.
    fn shape_text(&self, instruction: &syntax::hlo::Instruction) -> &'t str {
        let between = Span { start: instruction.name.end, end: instruction.opcode_span.start };
        if between.start > between.end {
            return "";
        }
        self.of(between).trim_start_matches(['"', ' ', '\t', '=']).trim_end()
    }

    fn operands(&mut self, id: InstructionId, defined: &FxHashMap<&str, InstructionId>) -> (u32, u32) {
        let parse = self.parse;
        let start = self.program.operands.len() as u32;
        for operand in parse.operands_of(&parse.instructions[id as usize]) {
            let first = self.program.paths.len() as u32;
            let instruction = match operand.kind {
                OperandKind::Nested(inner) => inner,
                // Text of one instruction: its operands are shapes alone.
                OperandKind::ShapeOnly => continue,
                OperandKind::Name | OperandKind::Element { .. } => {
                    let name = self.of(operand.name);
                    let Some(&defined) = defined.get(name) else {
                        let message = format!("no instruction named {name} above in this computation");
                        self.error(operand.name, message);
                        continue;
                    };
                    defined
                }
            };
            if let OperandKind::Element { start, len } = operand.kind {
                let path =
                    parse.ints(start, len).iter().map(|&index| u32::try_from(index).unwrap_or(u32::MAX));
                self.program.paths.extend(path);
            }
            let path = (first, self.program.paths.len() as u32 - first);
            self.program.operands.push(Operand { instruction, path });
        }
        (start, self.program.operands.len() as u32 - start)
    }

    fn attributes(&mut self, id: InstructionId) -> ReadAttributes {
        let parse = self.parse;
        let instruction = &parse.instructions[id as usize];
        let start = self.program.callees.len() as u32;
        let mut read = ReadAttributes::default();
        let mut bodies = self.bodies.get(&id).cloned().unwrap_or_default().into_iter();
        // Sums, because the order of attributes is not fixed.
        for attribute in parse.attributes_of(instruction) {
            let value = self.of(attribute.value_span);
            match attribute.key {
                Some(AttributeKey::Metadata) => read.metadata = metadata(value),
                Some(key) if is_annotation(key) => (),
                _ if self.callees(attribute, &mut bodies) => {
                    read.semantic = read.semantic.wrapping_add(text_hash(self.of(attribute.key_span)));
                }
                key => {
                    let hash = squeezed(Hash::of(Kind::Text).text(self.of(attribute.key_span)), value);
                    if key == Some(AttributeKey::BackendConfig) {
                        read.all = read.all.wrapping_add(hash);
                    } else {
                        read.semantic = read.semantic.wrapping_add(hash);
                    }
                    if let (Some(AttributeKey::Index), ValueNode::Int(index)) = (key, attribute.value) {
                        read.index = u32::try_from(index).ok();
                    }
                }
            }
        }
        read.all = read.all.wrapping_add(read.semantic);
        read.callees = (start, self.program.callees.len() as u32 - start);
        read
    }

    /// Adds the computations that an attribute names; whether it names any. `bodies` are those that are written in place.
    fn callees(&mut self, attribute: &Attribute, bodies: &mut impl Iterator<Item = u32>) -> bool {
        let named: &[Span] = match &attribute.value {
            ValueNode::Computation(name) => std::slice::from_ref(name),
            ValueNode::Computations { start, len } => self.parse.spans(*start, *len),
            ValueNode::Inline(_) => &[Span { start: 0, end: 0 }],
            _ => return false,
        };
        for &name in named {
            let callee = match self.of(name) {
                "" => bodies.next(),
                name => self.program.computation_by_name.get(name).copied(),
            };
            match callee {
                Some(callee) => self.call(callee),
                None => self.error(name, format!("no computation named {}", self.of(name))),
            }
        }
        true
    }

    fn call(&mut self, callee: u32) {
        self.program.callees.push(callee);
        self.program.computations[callee as usize].callers += 1;
    }
}

#[derive(Default)]
struct ReadAttributes {
    all: u64,
    semantic: u64,
    metadata: u64,
    index: Option<u32>,
    callees: (u32, u32),
}
