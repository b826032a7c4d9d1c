//! Executes tile programs: the MLIR that a Triton fusion's emitter writes for one block, over the blocks of a launch.
//!
//! [`Program::read`] takes the text of an `xtile.entry_func`, of ours or of XLA's, as emitted or in Triton's operations. [`Program::run`] executes one block on a
//! [`Memory`], which has the arrays and decides what an element outside of an array is. Ops on tiles become ops of HLO
//! (`mlir_hlo::computed_op`), which `eval` evaluates: no rule of arithmetic is written here.
//!
//! Architecture Invariant: nothing of the fusion is known here, so that a program can be compared with it.
//! Architecture Invariant: no panic, and no more work than the caller allows, on any text.

mod memory;
mod problem;
mod program;
mod read;
mod run;
mod tiles;

pub use memory::Memory;
pub use problem::Problem;
pub use program::{Argument, Program};
