//! Findings about the meaning of a text: the tokens they are about, and their fixes.
//!
//! A finding names tokens, not offsets, wherever it outlives the parse that it was made from: white space then changes
//! no finding. A token becomes a span when somebody looks, by [`crate::Block::part`].

use syntax::Span;
use syntax::hlo::{AttributeKey, InstructionId};

use crate::shape::Shape;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

/// Something wrong with the meaning of a text, at a place of its piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub span: Span,
    pub severity: Severity,
    /// Stable kebab-case name.
    pub code: &'static str,
    pub message: String,
    /// Other places of the same piece.
    pub related: Vec<(Span, String)>,
    pub fix: Option<Fix>,
}

impl Finding {
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Finding {
        let severity = Severity::Error;
        Finding { span, severity, code, message: message.into(), related: Vec::new(), fix: None }
    }

    pub fn with_related(mut self, span: Span, message: impl Into<String>) -> Finding {
        self.related.push((span, message.into()));
        self
    }

    pub fn with_fix(mut self, fix: Option<Fix>) -> Finding {
        self.fix = fix;
        self
    }
}

/// What repairs a finding for certain: there is one such change, and the finding is gone with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fix {
    /// What the user is offered: `set the result shape to f32[8,16]`.
    pub title: String,
    pub edits: Vec<FixEdit>,
}

/// `insert` replaces the text at `place`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixEdit {
    pub place: Anchor,
    pub insert: String,
}

impl Fix {
    pub fn replace(title: impl Into<String>, place: Anchor, insert: impl Into<String>) -> Fix {
        Fix { title: title.into(), edits: vec![FixEdit { place, insert: insert.into() }] }
    }
}

/// The code of the warning that a word or a form is not known. XLA may have added it since: it is kept and printed as it is
/// written, while conversions and kernels refuse what they do not understand.
pub const UNKNOWN_WORD: &str = "unknown-word";

/// A token of an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Name,
    Opcode,
    /// The result shape; the opcode where none is written.
    Shape,
    /// The n-th operand with all that is written of it.
    Operand(u32),
    /// From the first operand to the last; the opcode where there is none.
    Operands,
    /// Inside the parentheses of `parameter(3)` and `constant(…)`.
    Argument,
    /// `key=value`.
    Attribute(AttributeKey),
    Value(AttributeKey),
    /// The n-th number of a list (lists in it counted through), range of `slice=`, or name of a list of computations.
    Element(AttributeKey, u32),
    /// The value of one field of `window={size=… stride=…}`.
    Field(AttributeKey, &'static str),
    /// After the last attribute, where one more may be inserted. Empty.
    End,
}

/// A place in the text, seen from one piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// In the same piece.
    Span(Span),
    /// In the same piece.
    Part(InstructionId, Part),
    /// Where the n-th operand of an instruction of this piece is defined, in this block or another one.
    Definition(InstructionId, u32),
    /// The n-th computation that an instruction of this piece calls through an attribute: the parameter of this number.
    CalleeParameter(InstructionId, AttributeKey, u32, u32),
    /// The same computation's root.
    CalleeRoot(InstructionId, AttributeKey, u32),
}

/// Something wrong with one instruction, as the verifier finds it. Names no offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstructionFinding {
    pub instruction: InstructionId,
    pub part: Part,
    pub severity: Severity,
    /// Stable kebab-case name.
    pub code: &'static str,
    pub message: String,
    /// What it should be and what it is, where both are shapes.
    pub shapes: Option<(Shape, Shape)>,
    pub related: Vec<(Anchor, String)>,
    pub fix: Option<Fix>,
}
