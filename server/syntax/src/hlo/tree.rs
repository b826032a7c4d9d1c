//! The result of parsing: one flat array per kind of entity, linked by `u32` indices, with spans into the
//! text.
//!
//! Owner: the memo of `db::parse`, one per piece. Only an edit of that piece invalidates it.
//! Size: about 60 bytes per instruction, 16 per operand and 24 per attribute; the text itself is shared.

use std::ops::Range;

use super::vocabulary::{AttributeKey, ElementType, Opcode};
use crate::{Span, SyntaxError};

pub type InstructionId = u32;
pub type ComputationId = u32;

/// The id of a shape in this piece. Equal texts have equal ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ShapeId(pub u32);

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parse {
    pub header: Option<ModuleHeader>,
    pub computations: Vec<Computation>,
    pub instructions: Vec<Instruction>,
    pub operands: Vec<Operand>,
    pub attributes: Vec<Attribute>,
    pub parameters: Vec<Parameter>,
    pub shapes: Vec<ShapeNode>,
    pub layouts: Vec<LayoutNode>,
    pub ints: Vec<i64>,
    pub spans: Vec<Span>,
    /// Sorted by position.
    pub errors: Vec<SyntaxError>,
    /// Problems that XLA tolerates.
    pub warnings: Vec<SyntaxError>,
    /// Words and forms that this vocabulary lacks, but that a newer XLA may have. They are kept as text.
    /// Sorted by position.
    pub unknown: Vec<SyntaxError>,
    /// Whether a module starts with this piece: the first of the file, or one after `// -----`.
    pub starts_module: bool,
    /// Whether the piece ends inside a body, which continues in the next piece.
    pub ends_in_body: bool,
}

/// A computation, or the part of it in this piece if it is giant.
#[derive(Debug, Clone, PartialEq)]
pub struct Computation {
    /// Empty for a block that continues one of the previous piece, for inline bodies, and in
    /// single-instruction texts.
    pub name: Span,
    pub kind: ComputationKind,
    pub is_entry: bool,
    /// `(name: shape, …)` of the header, if it is written.
    pub parameters: Option<Range<u32>>,
    pub result: Option<(ShapeId, Span)>,
    pub instructions: Range<InstructionId>,
    /// From the first byte of the header to the end of the closing brace, as far as they are in this piece.
    pub span: Span,
    /// Whether the closing brace is in this piece.
    pub is_closed: bool,
    /// The text inside the quotes of `execution_thread="…"` after the brace; empty if there is none.
    pub execution_thread: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComputationKind {
    /// The header is in this piece.
    Whole,
    /// The body continues one of the previous piece.
    Continued,
    /// The header could not be parsed, which is reported as an error.
    Headless,
    /// `to_apply={ … }`, with the instruction that contains it.
    Inline(InstructionId),
    /// A text that consists of one instruction.
    Bare,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Instruction {
    pub name: Span,
    /// `None` if the opcode is missing, which is an error at its position, or unknown, which is in
    /// [`Parse::unknown`].
    pub opcode: Option<Opcode>,
    pub is_root: bool,
    /// Whether an error was reported inside it, so that missing parts are not reported again.
    pub is_broken: bool,
    /// Whether it is written as an operand of another one: `add(max(x, y), z)`.
    pub is_nested: bool,
    pub opcode_span: Span,
    pub shape: Option<ShapeId>,
    pub shape_span: Span,
    pub operands: (u32, u32),
    pub attributes: (u32, u32),
    /// The text inside the parentheses: `parameter(3)`, `constant({1, 2})`.
    pub argument: Span,
    /// From the name (or ROOT) to the end of the last attribute.
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Operand {
    /// Without `%` and without the `#i` suffixes.
    pub name: Span,
    pub shape: Option<ShapeId>,
    pub kind: OperandKind,
    /// Shape, name and suffix.
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    Name,
    /// `%t#0#1`: the path is `ints[start..start + len]`.
    Element {
        start: u32,
        len: u32,
    },
    Nested(InstructionId),
    /// `f32[2]` without a name, in a text that consists of one instruction.
    ShapeOnly,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attribute {
    /// `None` for a name that is not an attribute of any opcode; it is in [`Parse::unknown`].
    pub key: Option<AttributeKey>,
    pub key_span: Span,
    pub value: ValueNode,
    pub value_span: Span,
}

/// An attribute's value. Lists are ranges of the pools of [`Parse`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ValueNode {
    Bool(bool),
    Int(i64),
    /// `{1, 2}`
    Ints {
        start: u32,
        len: u32,
    },
    /// Triples: low, high, interior of `padding=`; start, limit, stride of `slice=`.
    Triples {
        start: u32,
        len: u32,
    },
    /// Seven numbers per dimension of `window=`: size, stride, low, high, base dilation, window dilation,
    /// reversal.
    Window {
        start: u32,
        len: u32,
    },
    /// An identifier: an enum value or the name of a computation.
    Name(Span),
    Names {
        start: u32,
        len: u32,
    },
    Computation(Span),
    /// Names of computations. Empty names refer to inline bodies, in order.
    Computations {
        start: u32,
        len: u32,
    },
    Inline(ComputationId),
    String(Span),
    DimLabels(Span),
    Shape(ShapeId),
    /// Syntactically checked and kept as text.
    Text,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: Span,
    pub shape: ShapeId,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ShapeNode {
    /// `dims` are `ints[start..start + rank]`; a dynamic bound `<=n` is stored as `-n - 1`, an unbounded `?` as
    /// `i64::MIN`.
    Array {
        element: ElementType,
        dims: (u32, u32),
        layout: Option<u32>,
    },
    Tuple(Vec<ShapeId>),
    /// `b(f32[2])`
    Buffer(ShapeId),
}

/// The braces after a shape. Source: `xla/layout.cc`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct LayoutNode {
    pub minor_to_major: Vec<i64>,
    /// `T(8,128)(2,1)`; `*` is `i64::MIN`.
    pub tiles: Vec<Vec<i64>>,
    pub tail_alignment: i64,
    pub index_type: Option<ElementType>,
    pub pointer_type: Option<ElementType>,
    pub element_bits: i64,
    pub memory_space: i64,
    /// `SC(dim:idx,idx)`
    pub split: Option<Vec<i64>>,
    pub dynamic_metadata_bytes: i64,
    /// Fields that this grammar lacks, as written: `X(3)Y`.
    pub unknown: String,
}

/// `HloModule name, …` and the tables that metadata refers to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ModuleHeader {
    pub name: Span,
    pub span: Span,
    /// Key and value, as text.
    pub attributes: Vec<(Span, Span)>,
    pub is_scheduled: bool,
    pub replica_count: Option<i64>,
    pub num_partitions: Option<i64>,
    pub entry_layout: Option<(Vec<ShapeId>, ShapeId)>,
    /// `FileNames` and `FunctionNames`: index and text.
    pub file_names: Vec<(u32, Span)>,
    pub function_names: Vec<(u32, Span)>,
    /// Index, file name, function name, line.
    pub file_locations: Vec<[u32; 4]>,
    /// Index, file location, parent frame.
    pub stack_frames: Vec<[u32; 3]>,
}

impl Parse {
    pub fn operands_of(&self, instruction: &Instruction) -> &[Operand] {
        let (start, len) = instruction.operands;
        &self.operands[start as usize..(start + len) as usize]
    }

    pub fn attributes_of(&self, instruction: &Instruction) -> &[Attribute] {
        let (start, len) = instruction.attributes;
        &self.attributes[start as usize..(start + len) as usize]
    }

    /// Returns the words of `instruction` that this vocabulary lacks.
    pub fn unknown_of(&self, instruction: &Instruction) -> &[SyntaxError] {
        let first = self.unknown.partition_point(|word| word.span.start < instruction.span.start);
        let behind = &self.unknown[first..];
        &behind[..behind.partition_point(|word| word.span.start < instruction.span.end)]
    }

    pub fn ints(&self, start: u32, len: u32) -> &[i64] {
        &self.ints[start as usize..(start + len) as usize]
    }

    pub fn spans(&self, start: u32, len: u32) -> &[Span] {
        &self.spans[start as usize..(start + len) as usize]
    }

    /// Returns the instruction whose span contains `offset`; the innermost if several do.
    pub fn instruction_at(&self, offset: usize) -> Option<InstructionId> {
        let candidates = self.instructions.iter().enumerate().filter(|(_, i)| i.span.contains(offset));
        candidates.min_by_key(|(_, i)| i.span.end - i.span.start).map(|(id, _)| id as InstructionId)
    }

    pub fn computation_of(&self, instruction: InstructionId) -> Option<ComputationId> {
        let found = self.computations.iter().position(|c| c.instructions.contains(&instruction));
        found.map(|c| c as ComputationId)
    }
}
