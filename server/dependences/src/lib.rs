//! The operand elements on which each element of an op's result depends, computed by running the op's
//! definition as plain loops over tensors whose elements are tags of their own indices. For tests: maps are
//! compared with these sets, element by element.
//!
//! [`trace()`]: one op. [`trace_graph`]: a graph, through its ops, over one or several replicas.
//!
//! Architecture Invariant: no maps, no algebra, no shortcuts: what is fast elsewhere is slow and obvious
//! here. It does not depend on `indexing`. Nothing panics, whatever the op; work is bounded by
//! [`MAX_ELEMENTS`] and [`MAX_WORK`].

mod case;
mod contractions;
mod graph;
mod indexed;
mod moves;
mod numbers;
mod replicas;
mod rows;
mod trace;
mod traced;
mod windows;

pub use case::{MAX_ELEMENTS, MAX_WORK, Setting};
pub use graph::{TracedValue, trace_graph};
pub use trace::trace;
pub use traced::{Read, Traced, for_each_index, index_at, position};
