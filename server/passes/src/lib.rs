//! XLA's optimizer. [`optimize`] runs passes on an owned [`Module`] and says what each did where; [`pass`] and [`pipeline`] describe
//! those of XLA in one sentence, by the names in its dumps.
//!
//! ```text
//! text ─► ir::ParsedModule ─► Module ─► pass ─► pass ─► … ─► Module ─► text
//! ```
//!
//! A pass is a file in `rewrites/` and a row in its table. It does what XLA's pass of that name does, so that previews are what
//! XLA would make of the module; what it cannot know, such as the elements of an elided constant, it leaves alone.

mod dimensions;
mod driver;
mod module;
mod rewrites;
mod shapes;
mod words;

pub use driver::{
    Applied, Change, Options, Pass, Run, Stop, Stopped, optimize, optimize_until_stop, pipelines,
};
pub use module::{
    Computation, ComputationId, Header, Instruction, InstructionId, Module, ModuleGraph, NewOp, Origins,
    Place, Relaid, Relayout, WrittenBy, is_commutative,
};
pub use rewrites::PASSES;
pub use words::{pass, pipeline};
