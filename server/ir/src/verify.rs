//! What XLA's verifier refuses.

use rustc_hash::FxHashMap;
use syntax::hlo::Opcode;

use crate::block::Block;
use crate::finding::InstructionFinding;
use crate::infer::Called;
use crate::module::{ComputationIndex, Module, ModuleFinding};
use crate::shape::Shape;

/// What a block sees of the rest of its module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// The computations that its instructions call, by name, where all of their shapes are known.
    pub callees: FxHashMap<Box<str>, Called>,
    /// Parallel to [`Block::externals`].
    pub externals: Vec<Option<Value>>,
    pub replica_count: i64,
    pub num_partitions: i64,
    pub is_scheduled: bool,
}

/// What another block of the same computation defines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    pub shape: Shape,
    pub opcode: Option<Opcode>,
}

impl Default for Surroundings {
    fn default() -> Self {
        Surroundings {
            callees: FxHashMap::default(),
            externals: Vec::new(),
            replica_count: 1,
            num_partitions: 1,
            is_scheduled: false,
        }
    }
}

/// All findings of a block, in the order of its instructions.
pub fn verify(_block: &Block, _around: &Surroundings) -> Vec<InstructionFinding> {
    Vec::new()
}

/// What is wrong between headers and computations.
pub fn verify_module(
    _module: &Module,
    _called: &dyn Fn(ComputationIndex) -> Option<Called>,
) -> Vec<ModuleFinding> {
    Vec::new()
}
