//! Code that computes nothing new: unused, repeated, undone at once. XLA reads all of it.
//!
//! A block's warnings follow from the block alone. What lies outside of it is left to whoever shows them:
//! [`Condition`] says what to ask.

mod constants;
mod duplicate;
mod no_op;
mod unused;

use syntax::hlo::InstructionId;

use crate::block::Block;
use crate::finding::Part;
use crate::graph::Op;

pub use unused::{has_side_effect, is_caller};

/// A warning about one instruction. Names no offsets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    pub kind: WarningKind,
    pub instruction: InstructionId,
    pub part: Part,
    pub message: String,
    /// Another instruction of the block that it is about, and why.
    pub related: Option<(InstructionId, &'static str)>,
    pub remedy: Remedy,
    pub condition: Condition,
}

/// What to do about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    None,
    /// The instruction goes.
    Remove,
    /// Its users use this one instead, and it goes.
    ReplaceBy(InstructionId),
}

/// A further condition, which the block does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Condition {
    /// No other block of the computation uses the name.
    pub is_unused_elsewhere: bool,
    /// The computations it calls have no side effect.
    pub callees_are_pure: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WarningKind {
    UnusedInstruction,
    UnusedComputation,
    DuplicateInstruction,
    NoOp,
    RoundTrip,
    ConstantOperands,
}

impl WarningKind {
    pub const ALL: [WarningKind; 6] = [
        WarningKind::UnusedInstruction,
        WarningKind::UnusedComputation,
        WarningKind::DuplicateInstruction,
        WarningKind::NoOp,
        WarningKind::RoundTrip,
        WarningKind::ConstantOperands,
    ];

    /// Stable kebab-case name.
    pub fn code(self) -> &'static str {
        match self {
            WarningKind::UnusedInstruction => "unused-instruction",
            WarningKind::UnusedComputation => "unused-computation",
            WarningKind::DuplicateInstruction => "duplicate-instruction",
            WarningKind::NoOp => "no-op",
            WarningKind::RoundTrip => "round-trip",
            WarningKind::ConstantOperands => "constant-operands",
        }
    }

    /// Whether the code it is about may go as it stands.
    pub fn is_unnecessary(self) -> bool {
        !matches!(self, WarningKind::RoundTrip | WarningKind::ConstantOperands)
    }
}

/// All warnings of a block, in the order of its instructions. `undoes` returns whether the first op, applied to the result
/// of the second, returns the second's operand.
pub fn warnings(block: &Block, undoes: &dyn Fn(&Op, &Op) -> bool) -> Vec<Warning> {
    let mut found = Vec::new();
    unused::find(block, &mut found);
    duplicate::find(block, &mut found);
    for (id, instruction) in block.parse.instructions.iter().enumerate() {
        let id = id as InstructionId;
        // Broken instructions have errors already; nested ones have no line of their own.
        if instruction.is_broken || instruction.is_nested {
            continue;
        }
        let Some(opcode) = instruction.opcode else { continue };
        found.extend(no_op::find(block, id, opcode, undoes));
        found.extend(constants::find(block, id, opcode));
    }
    found.sort_by_key(|w| w.instruction);
    found
}

impl Warning {
    fn new(kind: WarningKind, instruction: InstructionId, part: Part, message: impl Into<String>) -> Warning {
        Warning {
            kind,
            instruction,
            part,
            message: message.into(),
            related: None,
            remedy: Remedy::None,
            condition: Condition::default(),
        }
    }
}
