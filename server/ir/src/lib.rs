//! The op model: what the languages' syntax means. Shapes and layouts, the table of opcodes, lowering from flat
//! arrays of syntax, names and operands, and the op graph that `indexing` reads.
//!
//! Architecture Invariant: one op model for all languages; nothing to the right of this crate knows syntax.

mod attributes;
mod block;
mod checks;
mod cost;
mod element_type;
mod finding;
mod graph;
mod infer;
mod lower;
mod module;
mod names;
mod op_table;
mod shape;

pub use attributes::{Attributes, ConvolutionDims, WindowDim};
pub use block::{Block, Export, External, OperandRef, Segment, Signature};
pub use cost::{CalledCost, Cost, called_cost, op_cost};
pub use element_type::ElementTypeExt;
pub use finding::{Finding, Severity};
pub use graph::{Graph, Op, OpId};
pub use infer::{Called, Given, ShapeReason, result_shape};
pub use lower::lower;
pub use module::{ComputationIndex, Module, ModuleComputation, ModuleFinding, SegmentRef, Slot};
pub use names::NameTable;
pub use op_table::{Arity, OpInfo, is_elementwise, op_info};
pub use shape::{ArrayShape, Layout, Shape, Tile};
pub use syntax::hlo::{AttributeKey, ElementType, Opcode};
