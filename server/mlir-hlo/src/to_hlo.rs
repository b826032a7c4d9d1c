//! From ops of StableHLO and MHLO to instructions of HLO: functions, and modules of them.

mod annotations;
mod arguments;
mod arithmetic;
mod asynchronous;
mod attributes;
mod body;
mod calls;
mod chlo;
mod constants;
mod control_flow;
mod devices;
mod dynamic;
mod einsum;
mod function;
mod host;
mod locations;
mod module;
mod one_instruction;
mod ops;
mod other_dialects;
mod regions;
mod results;
mod shardy;
mod sums;
mod windows;

pub use body::HloComputation;
pub(crate) use body::Operand;
pub(crate) use constants::literal_of;
pub use function::{FunctionHeader, HloFunction, functions};
pub(crate) use function::{Writer, pack_index, wanted_name};
pub use module::{HloModule, Origin, assemble, to_hlo};
pub(crate) use one_instruction::one_instruction;
