//! StableHLO and MHLO as HLO, and HLO as StableHLO: whole modules and single ops.
//!
//! Both directions read one table (`op_table`): an op, its opcode, and how each attribute is written in both languages. Ops of
//! MLIR become typed ops of HLO (`ir::Op`, in an `ir::Graph` per computation): kernels, evaluation and maps take these, and
//! conversion prints them. What one language cannot say is reported by name at its place, and the rest is converted.
//!
//! Architecture Invariant: no salsa, no files. The output parses and verifies.

mod custom_form;
mod dimension_lists;
mod dot_algorithms;
mod environment;
mod floats;
mod hlo_instructions;
mod hlo_op;
mod incomplete;
mod lists;
mod literals;
mod names;
mod not_in_hlo;
mod not_in_stablehlo;
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
mod types;

pub use custom_form::{CustomForm, Piece, Types, custom_form};
pub use dot_algorithms::fields as dot_algorithm_fields;
pub use environment::{Declared, Environment, Slice};
pub use hlo_instructions::{HloInstructions, hlo_instructions};
pub use hlo_op::{HloOp, computed_op, hlo_op, is_checked_as_hlo};
pub use incomplete::Incomplete;
pub use not_in_hlo::NotInHlo;
pub use op_table::{op_names, opcode_of};
pub use piece_names::PieceNames;
pub use stablehlo_rules::allows_more_than_hlo;
pub use to_hlo::{
    FunctionHeader, HloComputation, HloFunction, HloModule, Origin, assemble, functions, to_hlo,
};
pub use to_mlir::{MissingInstruction, StablehloModule, to_stablehlo};
pub use types::{mlir_element, static_hlo_shape};
