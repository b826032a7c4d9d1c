//! From an op of MLIR to its maps, whatever its dialect: which elements of its operands an op reads, where a store goes, what
//! an index is.
//!
//! * [`op_maps()`]: one op, one result. Extents, offsets and strides that are not known are symbols, with what is known of
//!   them: the ranges of loops' variables, of arguments with `xla.range`, of ids of threads. Conditions
//!   around an op narrow its domain.
//! * [`through_producers`]: from a value to arguments, composed over the ops in between.
//! * [`check_maps`]: what is wrong with maps and subscripts, as far as the text proves it; [`op_hints`]: what lists come to.
//! * [`words()`], [`injectivity()`]: what a map does.
//! * [`AffineMap`], [`AffineSet`], [`WrittenMap`]: maps as they are written in attributes.
//!
//! Maps are over *logical* indices; of a buffer with a layout an [`Access`] has its [`Address`] beside it. Each file names the
//! documents it follows.
//!
//! Architecture Invariant: no op panics, whatever its text. What has no map has a reason in words.
//! Architecture Invariant: an op is read when it is asked for; nothing is kept between two questions.

mod access;
mod addresses;
mod affine_expr;
mod affine_map;
mod array_type;
mod bounds_checks;
mod checks;
mod compose;
mod elements;
mod extents;
mod finish;
mod guards;
mod hints;
mod index_ops;
mod index_values;
mod injectivity;
mod launches;
mod linalg_index;
mod linalg_ops;
mod loops;
mod map_builder;
mod map_use;
mod memref_ops;
mod named_ops;
mod op_maps;
mod op_text;
mod pack;
mod plain;
mod producers;
mod reshapes;
mod slices;
mod source;
mod stablehlo_convolution;
mod stablehlo_einsum;
mod stablehlo_gather;
mod stablehlo_ops;
mod stablehlo_products;
mod stablehlo_ragged_dot;
mod stablehlo_rows;
mod stablehlo_scan;
mod stablehlo_scatter;
mod stablehlo_sizes;
mod stablehlo_slices;
mod stablehlo_windows;
mod structured;
mod subscripts;
mod tensor_ops;
mod transfers;
mod unused_symbols;
mod value_ranges;
mod variables;
mod vector_masks;
mod vector_memory;
mod vector_ops;
mod vector_parts;
mod vector_shuffle;
mod winograd;
mod words;
mod xla_ops;
mod xtile_ops;

pub use access::{Access, Address, OpMaps, Role, Space, Symbol, SymbolSource};
pub use affine_map::{AffineMap, AffineSet};
pub use array_type::{ArrayKind, ArrayType, Layout};
pub use checks::{check_maps, has_checked_maps};
pub use hints::op_hints;
pub use index_ops::{index_range, is_index_value};
pub use injectivity::{Injectivity, injectivity};
pub use map_use::WrittenMap;
pub use op_maps::op_maps;
pub use op_text::{Mixed, OpText};
pub use producers::{FarAccess, MapsOf, Producers, through_producers};
pub use source::{Operand, Source, alias_value};
pub use words::words;
