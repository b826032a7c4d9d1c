//! Reference evaluation: what each element of an op's result depends on, found by running the op's definition, in the
//! plainest loops over indices, on tensors whose elements are tags; random valid programs to ask it about; what the elements
//! are; and what kernels write.
//!
//! * [`trace`]: one op. [`trace_graph`]: a graph, through its ops, over one or several replicas.
//! * [`generate`]: random instructions and fusions of every opcode, as HLO text and as graphs.
//! * [`mod@reference`]: the interpreter, values with the error that a right answer may have.
//! * [`ptx`]: PTX text executed, threads, warps and blocks. [`agreement`]: whether it answers what the interpreter does.
//!
//! Other crates hold their own, cleverer answers against this one, element for element.
//!
//! Architecture Invariant: no maps, no algebra, no shortcuts: what is fast elsewhere is slow and obvious here. It knows
//! nothing of `indexing`. Nothing panics, whatever the op; work is bounded by [`MAX_ELEMENTS`] and [`MAX_WORK`].

pub mod agreement;
mod case;
mod contractions;
mod evaluate;
mod formats;
pub mod generate;
mod graph;
mod indexed;
mod moves;
mod numbers;
pub mod ptx;
pub mod reference;
mod replicas;
mod rows;
mod traced;
mod windows;

pub use case::{Callees, MAX_ELEMENTS, MAX_WORK, Reason, Setting, leaves, no_callees};
pub use evaluate::trace;
pub use graph::{Value, trace_graph};
pub use replicas::replica_group;
pub use traced::{Read, Traced, for_each_index, index_at, position};
