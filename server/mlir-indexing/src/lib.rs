//! Indexing maps of MLIR ops of any dialect: which elements of its operands an op reads, where a store
//! writes, the value of an index.
//!
//! * [`op_maps()`]: one op, one result. Dynamic extents, offsets and strides are symbols, with their known
//!   ranges: those of loop variables, of arguments with `xla.range`, of thread ids. Conditions around an op
//!   narrow its domain.
//! * [`through_producers`]: from a value to arguments, composed over the ops in between.
//! * [`MapChecks`]: provable errors in maps and subscripts; [`op_hints`]: inlay hints for lists.
//! * [`words()`], [`injectivity()`]: descriptions of a map.
//!
//! Maps are over *logical* indices. For a buffer with a layout, an [`Access`] also has an [`Address`]. Each
//! file names the documents it follows.
//!
//! Architecture Invariant: no op panics, whatever its text. If there is no map, an error gives the reason.
//! Architecture Invariant: an op is read on demand; nothing is kept between two calls.

mod access;
mod addresses;
mod bounds_checks;
mod checks;
mod compose;
mod einsum;
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
mod memref_ops;
mod op_maps;
mod pack;
mod plain;
mod producers;
mod reshapes;
mod shape_lists;
mod slices;
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
pub use checks::{MapChecks, has_checked_maps};
pub use hints::op_hints;
pub use index_ops::{index_range, is_index_value};
pub use injectivity::{Injectivity, injectivity};
pub use map_builder::result_of;
pub use op_maps::op_maps;
pub use producers::{FarAccess, MapsOf, Producers, through_producers};
pub use words::words;
