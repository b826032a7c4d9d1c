//! PTX, run on the processor: [`Program::new`] reads text, [`run`] executes a grid of threads on a [`Memory`].
//!
//! A warp at a time: a register is 32 values, an instruction one function over them. Lanes that part at a branch go on one
//! group after the other, those furthest behind first, and join where they meet. The run finds accesses outside of buffers,
//! misaligned ones, races in shared memory, barriers that some lanes never reach, and reads of what nobody wrote.
//!
//! Not run: matrix instructions, textures, asynchronous copies, clusters, calls through pointers, recursion. They are
//! refused by name when the text is read.
//!
//! Architecture Invariant: a text is data; whatever it says, nothing panics, hangs or grows without bound.

mod accesses;
mod atomics;
mod block;
mod bodies;
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
mod memory;
mod moves;
mod names;
mod opcode;
mod parse;
mod problem;
mod program;
mod sectors;
mod shared;
mod steps;
mod stores;
mod tokens;
mod transfers;
mod variables;
mod warp;

pub use launch::{Argument, Blocks, Finding, Launch, MAX_THREADS, Report, run};
pub use memory::{Contents, Fill, Memory};
pub use problem::{Place, Problem, Thread};
pub use program::Program;
pub use sectors::{SECTOR, Traffic};
