//! Reference evaluation: the dependences of each element of an op's result, computed by running the op's
//! definition as plain loops over indices on tensors whose elements are tags; random valid programs to test
//! with; the values of elements; and execution of kernels.
//!
//! * [`trace`]: one op. [`trace_graph`]: a graph, through its ops, over one or several replicas.
//! * [`generate`]: random instructions and fusions of every opcode, as HLO text and as graphs.
//! * [`mod@reference`]: the interpreter, which returns values with the error that a right answer may have.
//! * [`ptx`]: executes PTX text: threads, warps and blocks. [`agreement`]: compares kernels with the
//!   interpreter.
//!
//! Other crates compare their faster results with these, element by element.
//!
//! Architecture Invariant: no maps, no algebra, no shortcuts: what is fast elsewhere is slow and obvious
//! here. It does not depend on `indexing`. Nothing panics, whatever the op; work is bounded by
//! [`MAX_ELEMENTS`] and [`MAX_WORK`].

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
pub use graph::{TracedValue, trace_graph};
pub use replicas::replica_group;
pub use traced::{Read, Traced, for_each_index, index_at, position};
