//! StableHLO and MHLO as HLO, and HLO as StableHLO: whole modules and single ops.
//!
//! Both directions, and the instruction of which a single op is the twin, read one table (`op_table`): an op, its opcode, and
//! how each attribute is written in both languages. What one language cannot say is reported by name at its place, and the rest
//! is converted.
//!
//! Architecture Invariant: text in, text out; no salsa, no files. What is written parses and verifies.

mod dot_algorithms;
mod environment;
mod floats;
mod incomplete;
mod instruction;
mod lists;
mod literals;
mod names;
mod op_attributes;
mod op_row;
mod op_table;
mod op_text;
mod other_dialects;
mod piece_names;
mod sharding_messages;
mod shardy;
mod stablehlo_rules;
mod strings;
mod to_hlo;
mod to_mlir;
mod twin;
mod types;

pub use environment::{Declared, Environment, Slice};
pub use incomplete::Incomplete;
pub use instruction::{Instruction, instruction};
pub use op_table::{op_names, opcode_of};
pub use piece_names::PieceNames;
pub use stablehlo_rules::allows_more_than_hlo;
pub use to_hlo::{
    FunctionHeader, HloComputation, HloFunction, HloModule, Origin, assemble, functions, to_hlo,
};
pub use to_mlir::{MissingInstruction, StablehloModule, to_stablehlo};
pub use twin::{Twin, is_checked_as_hlo, twin};
pub use types::static_hlo_shape;
