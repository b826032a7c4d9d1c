//! Where the memory of a scheduled module goes: which value is alive when, which values share a buffer, and where XLA
//! puts each.
//!
//! ```text
//! Part ─► Program ─► Slots, Schedule ─► Dataflow ─► Aliases ─► live ranges ─► Assignment
//! ```
//!
//! Architecture Invariant: pure functions of a [`Program`]. No salsa, no text.

mod advice;
mod aliases;
mod assignment;
mod asynchronous;
mod dataflow;
mod dumped;
mod heap;
mod in_place;
mod live_ranges;
mod memory;
mod overwriting;
mod part;
mod program;
mod schedule;
mod sharing;
mod simulation;
mod sizes;
mod slots;
mod usage;

pub use advice::{Action, Advice, Donation, Move, advise};
pub use assignment::{Allocation, AllocationKind};
pub use dataflow::ValueId;
pub use dumped::{Difference, DumpedAllocation, DumpedAssignment, DumpedValue, ValuePlace};
pub use live_ranges::LiveRange;
pub use memory::{Body, Memory, Peak, Step, Value};
pub use overwriting::OrderOf;
pub use part::Part;
pub use program::{Computation, Id, Instruction, Program};
pub use schedule::Time;
pub use sharing::FusionOrder;
pub use sizes::bytes;
pub use usage::{Bytes, Category, Column, Usage, sum};
