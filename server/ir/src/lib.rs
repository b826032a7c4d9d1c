//! The op model: what the languages' syntax means. Shapes and layouts, the table of opcodes, lowering from flat
//! arrays of syntax, names and operands, and the op graph that `indexing` reads.
//!
//! Architecture Invariant: one op model for all languages; nothing to the right of this crate knows syntax.

mod attributes;
mod block;
mod checks;
mod cost;
mod element_type;
mod exports;
mod finding;
mod graph;
mod header;
mod infer;
mod literal;
mod lower;
mod module;
mod names;
mod op_table;
mod outline;
mod parts;
mod print;
mod shape;
mod shape_difference;
mod suggest;
mod verify;
mod warnings;

pub use attributes::{
    AttributeValue, AttributeView, Attributes, Callee, ConvolutionDims, WindowDim, decides_value,
};
pub use block::{Block, Callable, External, OperandRef, Segment, Signature};
pub use cost::{CalledCost, Cost, called_cost, op_cost};
pub use element_type::ElementTypeExt;
pub use exports::{Export, ExportNames, Exports};
pub use finding::{Anchor, Finding, Fix, FixEdit, InstructionFinding, Part, Severity, UNKNOWN_WORD};
pub use graph::{Graph, Op, OpId, graphs_of_text};
pub use infer::{Called, CalleePart, Given, Problem, ShapeReason, has_result_of, result_shape};
pub use literal::{complex_parts, literal_elements};
pub use lower::lower;
pub use module::{
    Alias, ComputationIndex, Module, ModuleComputation, ModuleFinding, ModuleSettings, SegmentRef, Slot,
};
pub use names::NameTable;
pub use op_table::{
    Arity, Counterpart, KernelFlops, KernelTraffic, OneElementPerThread, OpInfo, Page, Parameters, Phase,
    halves, is_elementwise, op_info,
};
pub use outline::{Outline, OutlineCall, OutlinePart, PartRole};
pub use print::{
    ParsedComputation, ParsedInstruction, ParsedModule, PrintOptions, TextTooLarge, Token, Tokens, Uniquer,
    Verbatim, bracketed, escape, is_json_dict, print_fragment, print_module, split_top_level, unescape,
};
pub use shape::{ArrayShape, Extent, Layout, Shape, Tile, UNBOUNDED};
pub use syntax::hlo::{AttributeKey, ElementType, Opcode};
pub use verify::{
    ExternalValue, Surroundings, frontend_attribute, op_fault, preserves_layout, sharding_parts, verify,
    verify_module,
};
pub use warnings::{Condition, Remedy, Warning, WarningKind, has_side_effect, is_caller, warnings};
