//! One lowered piece: names resolved, shapes built, findings collected.

use std::sync::{Arc, OnceLock};

use syntax::Span;
use syntax::hlo::{ComputationId, Instruction, InstructionId, Opcode, OperandKind, Parse, ValueNode};

use crate::attributes::Attributes;
use crate::finding::Finding;
use crate::graph::Op;
use crate::infer::Called;
use crate::names::NameTable;
use crate::shape::Shape;

/// Where an operand is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandRef {
    /// In the same computation of the same piece, above.
    Local(InstructionId),
    /// In a piece above, if anywhere: an index into [`Block::externals`].
    External(u32),
    /// Nowhere; a finding says so.
    Missing,
}

/// A name that this block uses and an earlier block of the same computation must define.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct External {
    pub name: Span,
    /// Index into the parse's operands.
    pub operand: u32,
}

/// Owner: the memo of `db::block`, one per piece. Invalidated by any edit of that piece, and by nothing else: what
/// other pieces define is looked up through their [`Signature`]s.
/// Size: in addition to the parse, 8 bytes per operand, 16 per name, and each distinct shape once.
#[derive(Debug)]
pub struct Block {
    pub text: Arc<str>,
    pub parse: Arc<Parse>,
    /// By `ShapeId`, then the inferred ones.
    pub shapes: Vec<Shape>,
    /// Index into `shapes` per instruction, `u32::MAX` where the shape is not known.
    pub(crate) result_shapes: Vec<u32>,
    /// Parallel to the parse's operands.
    pub operands: Vec<OperandRef>,
    pub externals: Vec<External>,
    /// Per computation of the parse.
    pub(crate) names: Vec<NameTable>,
    pub findings: Vec<Finding>,
    pub(crate) users: OnceLock<Users>,
}

/// Compressed rows: the users of instruction i are `list[starts[i]..starts[i + 1]]`.
#[derive(Debug)]
pub(crate) struct Users {
    starts: Vec<u32>,
    list: Vec<InstructionId>,
}

impl Block {
    pub fn instruction(&self, id: InstructionId) -> &Instruction {
        &self.parse.instructions[id as usize]
    }

    pub fn name(&self, id: InstructionId) -> &str {
        self.instruction(id).name.of(&self.text)
    }

    /// The result shape: as written, or inferred where it is left out.
    pub fn shape(&self, id: InstructionId) -> Option<&Shape> {
        self.shapes.get(self.result_shapes[id as usize] as usize)
    }

    /// The instruction called `name` in `computation`.
    pub fn find(&self, computation: ComputationId, name: &str) -> Option<InstructionId> {
        self.names.get(computation as usize)?.get(name, |id| self.name(id))
    }

    /// The operands of an instruction with what they refer to.
    pub fn operands_of(
        &self,
        id: InstructionId,
    ) -> impl Iterator<Item = (&syntax::hlo::Operand, OperandRef)> {
        let (start, len) = self.instruction(id).operands;
        let range = start as usize..(start + len) as usize;
        self.parse.operands[range.clone()].iter().zip(self.operands[range].iter().copied())
    }

    /// Instructions of this block that use `id`, each once per use.
    pub fn users(&self, id: InstructionId) -> &[InstructionId] {
        let users = self.users.get_or_init(|| Users::of(self));
        &users.list[users.starts[id as usize] as usize..users.starts[id as usize + 1] as usize]
    }

    /// The root of a computation's part in this block: the one marked, or the last.
    pub fn root(&self, computation: ComputationId) -> Option<InstructionId> {
        let range = self.parse.computations[computation as usize].instructions.clone();
        let written = range.clone().filter(|&id| !self.instruction(id).is_nested);
        written.clone().find(|&id| self.instruction(id).is_root).or_else(|| written.last())
    }

    /// The op of an instruction. `external` returns the shape of a name that another block defines.
    pub fn op(&self, id: InstructionId, external: impl Fn(&str) -> Option<Shape>) -> Option<Op> {
        let instruction = self.instruction(id);
        let operand_shapes = self.operands_of(id).map(|(operand, target)| {
            let shape = match target {
                OperandRef::Local(id) => self.shape(id).cloned(),
                OperandRef::External(_) => external(operand.name.of(&self.text)),
                OperandRef::Missing => None,
            };
            let shape = match operand.kind {
                OperandKind::Element { start, len } => {
                    shape.and_then(|s| s.element_at(self.parse.ints(start, len)).cloned())
                }
                _ => shape,
            };
            // The shape printed at the operand serves as well as its definition.
            shape.or_else(|| operand.shape.map(|s| self.shapes[s.0 as usize].clone()))
        });
        let argument = instruction.argument.of(&self.text);
        let opcode = instruction.opcode?;
        Some(Op {
            opcode,
            shape: self.shape(id)?.clone(),
            operand_shapes: operand_shapes.collect::<Option<Vec<_>>>()?,
            attributes: Attributes::from_syntax(&self.text, &self.parse, instruction),
            parameter: if opcode == Opcode::Parameter { argument.trim().parse().ok() } else { None },
            literal: if opcode == Opcode::Constant { Some(argument.trim().to_owned()) } else { None },
        })
    }

    /// Names of the computations that instructions of this block call, in the order of their places.
    pub fn callees(&self) -> impl Iterator<Item = (InstructionId, Span)> {
        let instructions = self.parse.instructions.iter().enumerate();
        instructions.flat_map(move |(id, instruction)| {
            let attributes = self.parse.attributes_of(instruction).iter();
            attributes.flat_map(move |attribute| {
                let spans: &[Span] = match &attribute.value {
                    ValueNode::Computation(span) => std::slice::from_ref(span),
                    ValueNode::Computations { start, len } => self.parse.spans(*start, *len),
                    _ => &[],
                };
                spans.iter().filter(|s| !s.is_empty()).map(move |&span| (id as InstructionId, span))
            })
        })
    }

    /// The number of a parameter.
    pub fn parameter_number(&self, id: InstructionId) -> Option<u32> {
        let instruction = self.instruction(id);
        if instruction.opcode != Some(Opcode::Parameter) {
            return None;
        }
        instruction.argument.of(&self.text).trim().parse().ok()
    }

    /// What callers of this piece's computations may know of them. Holds no offsets, so that white space changes nothing in it.
    pub fn signature(&self) -> Signature {
        let count = self.parse.computations.len() as ComputationId;
        let callable = |id| match self.is_partial(id) {
            true => Callable::Partial(Box::new(self.segment(id))),
            false => Callable::Whole(Called::of(std::iter::once(&self.segment(id))).map(Arc::new)),
        };
        Signature { callables: (0..count).map(callable).collect() }
    }
}

impl Block {
    /// Whether all that this piece holds of the computation could be read.
    pub fn is_readable(&self, id: ComputationId) -> bool {
        let c = &self.parse.computations[id as usize];
        let mut instructions =
            self.parse.instructions[c.instructions.start as usize..c.instructions.end as usize].iter();
        let is_within = |at: u32| c.span.contains(at as usize) && !c.span.is_empty();
        let errors = &self.parse.errors;
        let first = errors.partition_point(|error| error.span.start < c.span.start);
        instructions.all(|instruction| !instruction.is_broken)
            && !errors.get(first).is_some_and(|error| is_within(error.span.start))
    }

    /// `sharding={…}` of an instruction.
    pub fn sharding(&self, id: InstructionId) -> Option<Box<str>> {
        let mut attributes = self.parse.attributes_of(self.instruction(id)).iter();
        let found = attributes.find(|a| a.key == Some(syntax::hlo::AttributeKey::Sharding))?;
        Some(found.value_span.of(&self.text).into())
    }

    /// A computation, or the part of it that is in this piece.
    pub(crate) fn segment(&self, id: ComputationId) -> Segment {
        let c = &self.parse.computations[id as usize];
        let range = c.instructions.clone();
        let parameter = |id| Some((self.parameter_number(id)?, self.shape(id).cloned()));
        Segment {
            thread: c.execution_thread.of(&self.text).into(),
            root_sharding: self.root(id).and_then(|id| self.sharding(id)),
            first_sharding: range
                .clone()
                .find(|&id| self.parameter_number(id) == Some(0))
                .and_then(|id| self.sharding(id)),
            has_root: range.clone().any(|id| self.instruction(id).is_root),
            declared_result: c.result.map(|(shape, _)| self.shapes[shape.0 as usize].clone()),
            root_shape: self.root(id).and_then(|id| self.shape(id).cloned()),
            is_complete: self.is_partial(id) || self.is_readable(id),
            parameters: range.filter_map(parameter).collect(),
        }
    }
}

impl Users {
    fn of(block: &Block) -> Users {
        let count = block.parse.instructions.len();
        let mut starts = vec![0u32; count + 1];
        let uses = || {
            (0..count as InstructionId).flat_map(|user| {
                block.operands_of(user).filter_map(move |(_, target)| match target {
                    OperandRef::Local(id) => Some((id, user)),
                    _ => None,
                })
            })
        };
        uses().for_each(|(used, _)| starts[used as usize + 1] += 1);
        for i in 0..count {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut list = vec![0; starts[count] as usize];
        for (used, user) in uses() {
            list[next[used as usize] as usize] = user;
            next[used as usize] += 1;
        }
        Users { starts, list }
    }
}

/// The computations of a piece as their callers see them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Parallel to the computations of the piece.
    pub callables: Vec<Callable>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Callable {
    /// A computation; nothing where [`Called::of`] has none.
    Whole(Option<Arc<Called>>),
    /// A computation that has parts in other pieces, or is not closed.
    Partial(Box<Segment>),
}

impl Callable {
    /// A computation that has no other parts.
    pub fn alone(&self) -> Option<Arc<Called>> {
        match self {
            Callable::Whole(called) => called.clone(),
            Callable::Partial(segment) => Called::of(std::iter::once(&**segment)).map(Arc::new),
        }
    }

    /// The part of a computation that is not whole in its piece.
    pub fn part(&self) -> Option<&Segment> {
        match self {
            Callable::Whole(_) => None,
            Callable::Partial(segment) => Some(segment),
        }
    }
}

/// A computation, or the part of a giant one that is in this piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// `execution_thread="…"`; empty for the main one.
    pub thread: Box<str>,
    /// `sharding={…}` of the root, and of parameter 0, where they are in this part.
    pub root_sharding: Option<Box<str>>,
    pub first_sharding: Option<Box<str>>,
    /// Whether an instruction of it is marked `ROOT`.
    pub has_root: bool,
    pub declared_result: Option<Shape>,
    pub root_shape: Option<Shape>,
    /// Whether all of it could be read; if not, its parameters and root are unknown. Always true of a part of a
    /// giant computation: its other parts read this signature, and the first error that is typed must not change it
    /// for them (see [`Block::is_readable`]).
    pub is_complete: bool,
    /// Number and shape of each parameter that is defined here.
    pub parameters: Vec<(u32, Option<Shape>)>,
}
