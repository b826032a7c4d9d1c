//! Executes PTX on the CPU: [`Program::new`] reads text, [`run`] executes a grid of threads on a [`Memory`],
//! [`trace`] counts the sectors that its requests touch.
//!
//! One warp at a time: a register is 32 values, an instruction one function over them. Lanes that diverge at
//! a branch run one group after the other, the one at the lowest step first, and reconverge where they meet.
//! The run reports out-of-bounds and misaligned accesses, races in shared memory, barriers that some lanes
//! never reach, and reads of uninitialised data.
//!
//! Asynchronous copies and products of matrices are complete when they are issued, in program order.
//!
//! Not supported: textures, copies of tensors, barriers in memory, clusters, indirect calls, recursion.
//! Reading the text fails with the name of the instruction.
//!
//! Architecture Invariant: a text is data; whatever it says, nothing panics, hangs or grows without bound.

mod accesses;
mod async_copies;
mod atomics;
mod block;
mod calls;
mod comparisons;
mod conversions;
mod decode;
mod exchanges;
mod execute;
mod floats;
mod halves;
mod instructions;
mod integers;
mod lanes;
mod launch;
mod loads;
mod matrices;
mod memory;
mod moves;
mod names;
mod problem;
mod program;
mod sectors;
mod shared;
mod steps;
mod stores;
mod traced;
mod transfers;
mod warp;

pub use launch::{Argument, Blocks, Finding, Launch, MAX_THREADS, Report, run};
pub use memory::{Contents, Fill, Memory};
pub use problem::{Problem, Thread};
pub use program::Program;
pub use sectors::{SECTOR, Traffic};
pub use traced::{Buffers, trace};
