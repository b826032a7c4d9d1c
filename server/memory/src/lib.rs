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
mod builder;
mod contradictions;
mod copies;
mod dataflow;
mod depth_first;
mod devices;
mod dumped;
mod heap;
mod in_place;
mod list_scheduler;
mod live_ranges;
mod memory;
mod order;
mod overwriting;
mod part;
mod problems;
mod program;
mod recursive_calls;
mod schedule;
mod sharing;
mod simulation;
mod sizes;
mod slots;
mod usage;

pub use advice::{
    Action, Advice, CostOf, Donation, Move, Relayout, Rematerialisation, SecondCopy, Sharding, advise,
};
pub use assignment::{Allocation, AllocationKind};
pub use copies::{Conflict, Copies, Path, Reason, Special};
pub use dataflow::ValueId;
pub use devices::{Devices, PerDevice, ShardedParameter};
pub use dumped::{Difference, DumpedAllocation, DumpedAssignment, DumpedValue, ValuePlace};
pub use live_ranges::LiveRange;
pub use memory::{Body, Memory, Peak, Step, Value};
pub use order::Order;
pub use overwriting::{OrderOf, adds_in_place};
pub use part::{Part, planned_as};
pub use program::{Computation, Id, Instruction, Program};
pub use schedule::Time;
pub use sharing::FusionOrder;
pub use sizes::bytes;
pub use usage::{Bytes, Category, Column, Usage, sum};
