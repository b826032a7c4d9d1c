//! Which instructions of the text each instruction of a module stands for.
//!
//! Edits keep it: what replaces an instruction, or is a copy of it, stands for it too. What passes add besides stands for what it is
//! computed for.

use smallvec::SmallVec;
use syntax::hlo::Opcode;

use super::{InstructionId, Module};

/// Instructions of the text, which keep their ids.
pub type Origins = SmallVec<[InstructionId; 2]>;

/// The number of a block of the text, and of an instruction in it.
pub type Place = (usize, syntax::hlo::InstructionId);

/// The most instructions that one takes over by edits. Passes that merge many instructions one by one would make the lists quadratic.
const MAX_ORIGINS: usize = 64;

impl Module {
    /// Where an instruction is in the text; `None` for those that passes added, and for `%t#0`.
    pub fn place(&self, id: InstructionId) -> Option<Place> {
        self.places.get(id.0 as usize).copied().flatten()
    }

    /// The instructions that the text had, in its order. Passes may have removed them.
    pub fn read_instructions(&self) -> impl Iterator<Item = InstructionId> + use<> {
        (0..self.read as u32).map(InstructionId)
    }

    /// The number of an instruction: the index into what [`Module::origins`] returns.
    pub fn index(id: InstructionId) -> usize {
        id.0 as usize
    }

    /// Adds the origins of another instruction to those of one.
    pub(super) fn inherit_origins(&mut self, id: InstructionId, from: InstructionId) {
        for origin in self.origins[from.0 as usize].clone() {
            self.add_origin(id, origin);
        }
    }

    fn add_origin(&mut self, id: InstructionId, origin: InstructionId) {
        add(&mut self.origins[id.0 as usize], origin);
    }

    /// Per instruction by [`Module::index`], those of the text that it stands for: itself, what it replaced or is a copy of. What a
    /// pass added on the way to a result stands for what the result does, and a fusion for all that it
    /// computes. Empty for removed ones, and for parameters that a pass added.
    pub fn origins(&self) -> Vec<Origins> {
        let mut all = self.origins.clone();
        for (origins, instruction) in all.iter_mut().zip(&self.instructions) {
            if instruction.is_removed {
                origins.clear();
            }
        }
        // Callees come first, so that a fusion inside a fusion is complete.
        for computation in self.computation_post_order() {
            let order = self.post_order(computation);
            for &id in order.iter().rev() {
                cancel::tick();
                if all[id.0 as usize].is_empty() && self[id].opcode() != Opcode::Parameter {
                    let user = self[id].users.iter().find(|user| !all[user.0 as usize].is_empty());
                    all[id.0 as usize] = user.map(|user| all[user.0 as usize].clone()).unwrap_or_default();
                }
            }
            for &id in order.iter().filter(|&&id| self[id].opcode() == Opcode::Fusion) {
                let inner = self[id].called().flat_map(|callee| self.instructions(callee));
                let inner = inner.filter(|&id| self[id].opcode() != Opcode::Parameter);
                let mut own: Origins = inner.flat_map(|id| all[id.0 as usize].clone()).collect();
                own.extend(all[id.0 as usize].iter().copied());
                own.sort_unstable();
                own.dedup();
                all[id.0 as usize] = own;
            }
        }
        all
    }
}

fn add(origins: &mut Origins, origin: InstructionId) {
    if origins.len() < MAX_ORIGINS && !origins.contains(&origin) {
        origins.push(origin);
    }
}
