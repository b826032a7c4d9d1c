//! What two compiles of a module have different.
//!
//! ```text
//! text ─► Module ─┐
//!                 ├─► Pairing ─► Changes ─┐
//! text ─► Module ─┘                       ├─► Report
//! figures of kernels, from the caller ────┘
//! ```
//!
//! Names and order mean nothing: instructions are paired by structure ([`matching::pair_programs`]), and a computation under another
//! name is no change. Fusions are transparent: an operand is the instruction that computes it, in whatever fusion, so that a
//! fusion that is split changes nothing but where instructions are computed.
//!
//! Architecture Invariant: no salsa, no LSP, no JSON, no IO.

mod changes;
mod config;
mod differences;
mod kernels;
mod missing;
mod module;
mod report;
mod words;

pub use changes::{Change, Changes, changes};
pub use differences::{Difference, What};
pub use kernels::{Kernel, KernelChange, Verdict};
pub use module::Module;
pub use report::{DataMovement, MeasuredModule, Report, Totals, growth};
