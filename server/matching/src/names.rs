//! Links by name. In neighbouring stages of a compile an equal name means the same instruction, except where a pass
//! uses a name again.

use rustc_hash::FxHashMap;

use crate::links::{How, Links, is_parameter};
use crate::program::{Operand, Program};

/// More candidates of one derived name, and operands of one instruction, are not compared.
const MAX_CANDIDATES: usize = 16;

impl Links<'_, '_, '_> {
    /// Links every instruction to the one in its place, if the modules differ in names and metadata alone. A pass that renames
    /// everything may give one instruction the former name of another, so this precedes names.
    pub(crate) fn by_place(&mut self) -> bool {
        let (before, after) = (self.before, self.after);
        let is_renaming = before.instructions.len() == after.instructions.len()
            && before.entry == after.entry
            && before.computations.len() == after.computations.len()
            && before
                .computations
                .iter()
                .zip(&after.computations)
                .all(|(one, other)| one.instructions == other.instructions && one.root == other.root)
            && (0..before.instructions.len() as u32).all(|id| {
                cancel::tick();
                is_same_code(before, after, id)
            });
        if is_renaming {
            for id in 0..after.instructions.len() as u32 {
                self.namesakes[id as usize] = Some(id);
                self.link(id, id, How::Place);
            }
            self.computations = (0..after.computations.len() as u32).map(Some).collect();
        }
        is_renaming
    }

    /// Links instructions of equal name and opcode, unless the name is used again for something else.
    pub(crate) fn by_name(&mut self) {
        for id in 0..self.after.instructions.len() as u32 {
            cancel::tick();
            let instruction = self.after.instruction(id);
            let computation = self.after.computation_of(id).name;
            if let Some(source) = self.before.find(instruction, computation)
                && self.before.has_opcode_of(source, instruction)
            {
                self.namesakes[id as usize] = Some(source);
                if !self.is_name_reused(source, id) {
                    self.link(id, source, How::Name);
                }
            }
        }
    }

    /// Whether an instruction has neither the metadata nor an operand of its namesake.
    fn is_name_reused(&self, source: u32, id: u32) -> bool {
        let (one, other) = (self.before.instruction(source), self.after.instruction(id));
        if one.metadata == 0 || other.metadata == 0 || one.metadata == other.metadata {
            return false;
        }
        let (theirs, ours) = (self.before.operands(source), self.after.operands(id));
        let name_of =
            |program: &Program<'_>, operand: &Operand| program.instruction(operand.instruction).names.full;
        let is_common = |ours: &Operand| {
            let name = name_of(self.after, ours);
            theirs.iter().any(|theirs| name_of(self.before, theirs) == name)
        };
        (1..=MAX_CANDIDATES).contains(&ours.len())
            && theirs.len() <= MAX_CANDIDATES
            && !ours.iter().any(is_common)
    }

    /// Links clones to their originals by the name that XLA derives: `add.56.3` comes from an `add.56.N`. Only names whose
    /// base is numbered identify an instruction; the dimensions and the metadata have to agree.
    pub(crate) fn by_derived_name(&mut self) {
        let mut by_base: FxHashMap<(u64, &str), Vec<u32>> = FxHashMap::default();
        for (id, instruction) in self.before.instructions.iter().enumerate() {
            if !is_parameter(instruction) {
                let mut enter = |name: u64| {
                    let same = by_base.entry((name, instruction.opcode_text)).or_default();
                    if same.len() < MAX_CANDIDATES && same.last() != Some(&(id as u32)) {
                        same.push(id as u32);
                    }
                };
                enter(instruction.names.base);
                enter(instruction.names.full);
            }
        }
        for id in self.unlinked() {
            cancel::tick();
            let instruction = self.after.instruction(id);
            if is_parameter(instruction) || !instruction.names.base_is_numbered {
                continue;
            }
            let Some(same) = by_base.get(&(instruction.names.base, instruction.opcode_text)) else {
                continue;
            };
            let fits = |candidate: &u32| {
                let candidate = self.before.instruction(*candidate);
                candidate.dimensions == instruction.dimensions && candidate.metadata == instruction.metadata
            };
            let fitting: Vec<u32> = same.iter().copied().filter(fits).collect();
            if let Some(source) = self.best(&fitting, id) {
                self.link(id, source, How::DerivedName);
            }
        }
    }
}

fn is_same_code(before: &Program<'_>, after: &Program<'_>, id: u32) -> bool {
    let (one, other) = (before.instruction(id), after.instruction(id));
    one.opcode_text == other.opcode_text
        && one.shape == other.shape
        && one.attributes == other.attributes
        && one.number == other.number
        && before.callees(id) == after.callees(id)
        && before.operands(id).len() == after.operands(id).len()
        && before
            .operands(id)
            .iter()
            .zip(after.operands(id))
            .all(|(one, other)| one.instruction == other.instruction && before.path(one) == after.path(other))
}
