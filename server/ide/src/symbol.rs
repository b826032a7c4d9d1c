//! Names of a text: what they refer to and where they are.

use mlir::{BlockId, ValueId};
use syntax::Span;

use crate::TextRange;
use crate::hlo::locate::InstructionRef;

/// The definition that a name refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Symbol {
    /// An instruction of HLO.
    Instruction(InstructionRef),
    /// A computation of HLO, by its index in the module.
    Computation(usize),
    /// A result or an argument in MLIR: `%name`.
    Value { piece: usize, value: ValueId },
    /// A block of MLIR, for example `^bb0`.
    Block { piece: usize, block: BlockId },
    /// `@name`, stored without `@`, in a part of an MLIR file.
    Global { part: usize, name: String },
    /// `#map` or `!array`, stored with its sign, in a part of an MLIR file.
    Alias { part: usize, name: String },
}

impl Symbol {
    /// The sign that starts its name.
    pub(crate) fn sign(&self) -> char {
        match self {
            Symbol::Instruction(_) | Symbol::Computation(_) | Symbol::Value { .. } => '%',
            Symbol::Block { .. } => '^',
            Symbol::Global { .. } => '@',
            Symbol::Alias { name, .. } if name.starts_with('!') => '!',
            Symbol::Alias { .. } => '#',
        }
    }
}

/// What a name does at one of its occurrences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Definition,
    /// `(p: f32[8])` in the header of a computation, for its parameter.
    Header,
    /// An operand, or the name of a called computation.
    Use,
    ControlPredecessor,
    /// `scheduling_name="…"` in the metadata of the instruction with this name.
    SchedulingName,
}

/// An occurrence of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Occurrence {
    pub(crate) piece: usize,
    /// The name: of HLO without `%`, of MLIR with its sign and without the `#1` of a result pack.
    pub(crate) span: Span,
    pub(crate) role: Role,
}

impl Occurrence {
    pub(crate) fn is_definition(&self) -> bool {
        self.role == Role::Definition
    }
}

/// The name under the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) at: Occurrence,
    pub(crate) symbol: Symbol,
}

/// The place of a definition in the file.
pub(crate) struct Defined {
    /// The whole definition.
    pub(crate) range: TextRange,
    pub(crate) name: TextRange,
}

/// A computation of HLO, by its first part, or a function of MLIR, by the op that starts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Function {
    pub(crate) piece: usize,
    pub(crate) id: u32,
}
