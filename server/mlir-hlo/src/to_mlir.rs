//! From instructions of HLO to ops of StableHLO, and of MHLO where StableHLO has none.

mod annotations;
mod asynchronous;
mod attributes;
mod calls;
mod constants;
mod control_flow;
mod dimension_numbers;
mod function;
mod header;
mod host;
mod locations;
mod matrices;
mod module;
mod ops;
mod pretty;
mod statement;
mod values;
mod windows;

pub use module::{MissingInstruction, StablehloModule, to_stablehlo};
