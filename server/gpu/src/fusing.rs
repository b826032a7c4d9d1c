//! The fusions that XLA makes of a computation, step by step.
//!
//! * [`Computation`]: a computation that is edited.
//! * [`fuse_by_priority`]: XLA's priority fusion.
//! * [`Estimates`]: what it knows of kernels, kept for the next run.
//! * [`fuse_results`]: its multi-output fusion.
//!
//! Operands, parameters and results of fusions are in XLA's order, see `fuse.rs`.

#[cfg(test)]
mod against_xla;
mod age;
mod computation;
mod content;
mod estimates;
mod fuse;
mod fusion_id;
mod model;
mod multi_output;
mod queue;

pub use computation::{Computation, Origin};
pub use estimates::Estimates;
pub use multi_output::fuse_results;
pub use queue::{Step, fuse_by_priority};
