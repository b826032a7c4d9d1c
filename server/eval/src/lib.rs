//! The reference interpreter: the elements of an op graph, by the ops' definitions.
//!
//! [`evaluate`] goes from literals, or from a [`Fill`] of all parameters, to text. [`Evaluator::elements`]
//! returns single elements, evaluating operands on demand; [`Evaluator::whole`] returns an array. Ops work on
//! [`Column`]s, many elements of one op at a time. Numbers are rounded to their type after every op, as the
//! GPU emitters do. Each value has an error bound for right answers ([`Column::error`]): none for integers,
//! data movement and single roundings, ulps for functions that the hardware approximates, n·u·Σ|x| for sums.
//!
//! Not evaluated: the ops that `dispatch.rs` refuses, collectives of more than one device, tiled layouts, and ops that read
//! across a dynamic dimension. Denormals are kept, as in XLA's evaluator and GPU code; its CPU code flushes
//! them to zero. Values that XLA does not define (`rng`) have a note ([`Evaluator::notes`]).
//!
//! Architecture Invariant: nothing of PTX or of kernels; only the graph is evaluated.

mod arrays;
mod batch_norms;
mod called;
mod checks;
mod collectives;
mod column;
mod complex;
mod contractions;
mod decompositions;
mod dispatch;
mod elementwise;
mod evaluation;
mod evaluator;
mod expansions;
mod extents;
mod fill;
mod folding;
mod frames;
mod indexed;
mod integers;
mod known;
mod literals;
mod moves;
mod positions;
mod precision;
mod ragged;
mod random_bits;
mod reals;
mod reductions;
mod replica_groups;
mod rng;
mod scans;
mod scatters;
mod sorting;
mod stochastic;
mod summary;
mod transforms;
mod types;
mod whole;
mod windows;

pub use arrays::EvaluatedArray;
pub use checks::{Callees, Checked, Reason, dimensions, ensure, leaves, no_callees};
pub use column::{Column, Values};
pub use elementwise::holds;
pub use evaluation::{Arguments, Evaluation, Form, Target, evaluate, needed_parameters};
pub use evaluator::{DEFAULT_WORK, Evaluator, Inputs};
pub use fill::Fill;
pub use literals::{parse as parse_literal, print as print_literal};
pub use positions::memory_strides;
pub use replica_groups::replica_group;
pub use types::{Kind, Short};
pub use windows::under;
