//! From instructions of HLO to ops of StableHLO, and of MHLO where StableHLO has none.

mod annotations;
mod attributes;
mod calls;
mod control_flow;
mod function;
mod groups;
mod host;
mod locations;
mod module;
mod ops;
mod pretty;
mod values;

pub use module::{MissingInstruction, StablehloModule, to_stablehlo};
