//! From ops of StableHLO and MHLO to instructions of HLO: functions, and modules of them.

mod annotations;
mod arguments;
mod asynchronous;
mod attributes;
mod body;
mod calls;
mod constants;
mod control_flow;
mod devices;
mod dynamic;
mod einsum;
mod function;
mod host;
mod locations;
mod module;
mod ops;
mod other_dialects;
mod regions;
mod results;
mod shardy;
mod sums;
mod windows;

pub use body::HloComputation;
pub use function::{FunctionHeader, HloFunction, functions};
pub(crate) use function::{Writer, pack_index};
pub use module::{HloModule, Origin, assemble, to_hlo};
