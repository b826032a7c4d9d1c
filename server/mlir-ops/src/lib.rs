//! Ops of MLIR as data: what an op of any dialect has written, read once.
//!
//! * [`Source`]: the text around an op, its aliases and the types of its values.
//! * [`OpText`]: operands, lists of numbers and values, attributes, clauses.
//! * [`OpKind`]: what an op does, from one table of names.
//! * `attributes`: the attributes and clauses of each family of ops, by methods of [`OpText`].
//! * [`LoopVariable`], [`SliceLists`], [`constant_integer`]: parts of ops of several dialects.
//! * [`Layout`]: where a memref has its elements.
//! * [`AffineMap`], [`AffineSet`], [`WrittenMap`]: maps as written in attributes; [`map_use()`]: maps with their
//!   arguments.
//! * [`NoMap`]: why an op has no map.
//!
//! Architecture Invariant: nothing here panics, whatever the text of an op.
//! Architecture Invariant: an op is read on demand; a [`Source`] remembers aliases and maps.

mod affine_expr;
mod affine_map;
mod attribute_text;
mod attributes;
mod constants;
mod layout;
mod loop_variable;
mod map_use;
mod named_ops;
mod no_map;
mod op_kind;
mod op_table;
mod op_text;
mod source;

pub use affine_expr::{AffineReader, Lookup, NoAffineText};
pub use affine_map::{AffineMap, AffineSet};
pub use attributes::{
    Comparison, OPERAND_SEGMENTS, Relation, SLICE_BOUNDS, ScaledOperand, Scan, SliceLists, StridedPart,
    Tiles, WinogradTile, argument_range, known_size,
};
pub use constants::{constant_integer, constant_integers, leading_number};
pub use layout::Layout;
pub use loop_variable::{LoopBound, LoopBounds, LoopVariable};
pub use map_use::{MapUse, WrittenMap, map_use};
pub use named_ops::NamedOp;
pub use no_map::NoMap;
pub use op_kind::{Arithmetic, HardwareId, Linalg, Loop, OpKind, Winograd};
pub use op_text::{Mixed, OpText};
pub use source::{Aliases, Operand, Source, alias_value};
