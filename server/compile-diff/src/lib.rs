//! What two compiles of a module have different.
//!
//! ```text
//! text ─► Module ─┐                 ┌─► Changes (new, gone, changed, computed elsewhere)
//!                 ├─► Pairing ──────┤
//! text ─► Module ─┘                 └─► KernelChanges, Totals ◄─ Kernel: the figures of each, from the caller
//!                                         └─► Report: text, and a picture
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
mod missing;
mod module;
mod words;

pub use changes::{Change, Changes, changes};
pub use differences::{Difference, What};
pub use module::Module;
