//! The fusions that XLA makes of a computation, step by step.
//!
//! * [`Computation`]: a computation that is edited.
//! * [`fuse_by_priority`]: XLA's priority fusion.
//! * [`fuse_results`]: its multi-output fusion.
//!
//! Operands, parameters and results of fusions are in XLA's order, see `fuse.rs`.

#[cfg(test)]
mod against_xla;
mod age;
mod computation;
mod fuse;
mod fusion_id;
mod multi_output;
mod queue;

pub use computation::{Computation, Origin};
pub use multi_output::fuse_results;
pub use queue::{Step, fuse_by_priority};
