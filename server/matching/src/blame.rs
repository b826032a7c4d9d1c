//! Which stage of a compile introduced each instruction.

use crate::matching::Matching;
use crate::program::Program;

/// The stage that introduced each instruction of the current stage.
///
/// An instruction is the same as long as its name and opcode stay; a stage that only renames does not end the row. A clone under
/// a new name is new, and an instruction that a pass replaces by another of the same name and opcode keeps its origin.
#[derive(Debug, Clone)]
pub struct Blame {
    introduced: Vec<u32>,
    stage: u32,
}

impl Blame {
    /// The blame of the first stage itself: stage 0 introduced everything.
    pub fn new(first: &Program<'_>) -> Blame {
        Blame { introduced: vec![0; first.instructions.len()], stage: 0 }
    }

    /// Goes on to the next stage.
    pub fn step(&mut self, matching: &Matching) {
        self.stage += 1;
        let introduced = |id: u32| match matching.namesake(id) {
            Some(source) => self.introduced[source as usize],
            None => self.stage,
        };
        self.introduced = (0..matching.origins.len() as u32).map(introduced).collect();
    }

    /// The index of the stage that introduced an instruction of the current stage.
    pub fn introduced(&self, instruction: u32) -> u32 {
        self.introduced[instruction as usize]
    }
}
