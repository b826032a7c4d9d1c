//! Links of last resort: the instruction that a new one was most likely made from. XLA's passes copy the metadata of the instruction
//! that they rewrite to what they make of it, so that agreeing metadata near the place of the change is strong evidence.

use rustc_hash::FxHashMap;

use crate::links::{How, Links, is_parameter};

/// At most so many instructions with the same metadata, and users of one instruction, are compared.
const MAX_CANDIDATES: usize = 64;
const MAX_USERS: usize = 16;
/// Operands of instructions with more of them are unrelated to each other.
const MAX_OPERANDS: usize = 16;

/// Below this a candidate has little in common with the instruction.
const MIN_SCORE: u32 = 18;

/// Candidates with points for being near, in the order of their discovery.
type Near = Vec<(u32, u32)>;

impl Links<'_, '_, '_> {
    pub(crate) fn by_nearness(&mut self) {
        let mut by_metadata: FxHashMap<(u64, &str), Vec<u32>> = FxHashMap::default();
        let before = self.before;
        for (id, instruction) in before.instructions.iter().enumerate() {
            if instruction.metadata != 0 {
                for opcode in [instruction.opcode_text, ""] {
                    let same = by_metadata.entry((instruction.metadata, opcode)).or_default();
                    if same.len() < MAX_CANDIDATES {
                        same.push(id as u32);
                    }
                }
            }
        }
        let is_value = |id: &u32| !is_parameter(self.after.instruction(*id));
        let new: Vec<u32> = self.unlinked().into_iter().filter(is_value).collect();
        // Users first, because replaced values keep their users; then what only operands lead to.
        for id in new.iter().rev().chain(&new) {
            cancel::tick();
            if self.is_linked(*id) {
                continue;
            }
            let mut candidates = self.near(*id);
            let instruction = self.after.instruction(*id);
            if instruction.metadata != 0 {
                for opcode in [instruction.opcode_text, ""] {
                    let same = by_metadata.get(&(instruction.metadata, opcode));
                    for &candidate in same.into_iter().flatten() {
                        add(&mut candidates, candidate, 0);
                    }
                }
            }
            let scored =
                candidates.iter().map(|&(candidate, near)| (self.score(candidate, *id, near), candidate));
            // The first of the best.
            let best = scored.rev().max_by_key(|&(score, _)| score);
            if let Some((_, source)) = best.filter(|&(score, _)| score >= MIN_SCORE) {
                self.link(*id, source, How::Near);
            }
        }
    }

    /// Instructions that stand where `id` stands: operands of the counterparts of its users, users of the counterparts of its
    /// operands, and those counterparts, out of which it may have been split. Two points each; three for the same operand.
    fn near(&self, id: u32) -> Near {
        let (before, after) = (self.before, self.after);
        let mut near = Near::new();
        for used in after.users(id).iter().take(MAX_USERS) {
            let Some(source) = self.source(used.user) else { continue };
            let operands = before.operands(source);
            for (at, operand) in operands.iter().enumerate() {
                let is_same = at == used.operand as usize;
                if is_same || operands.len() <= MAX_OPERANDS {
                    add(&mut near, operand.instruction, if is_same { 3 } else { 2 });
                }
            }
            add(&mut near, source, 2);
        }
        for operand in after.operands(id).iter().take(MAX_OPERANDS) {
            let Some(source) = self.source(operand.instruction) else { continue };
            for used in before.users(source).iter().take(MAX_USERS) {
                add(&mut near, used.user, 2);
            }
            add(&mut near, source, 2);
        }
        near
    }

    fn score(&self, candidate: u32, id: u32, near: u32) -> u32 {
        let (one, other) = (self.before.instruction(candidate), self.after.instruction(id));
        let points = |is_so: bool, points: u32| if is_so { points } else { 0 };
        let dimensions = match () {
            () if one.dimensions == other.dimensions => 4,
            () if one.elements == other.elements => 2,
            () => 0,
        };
        points(one.metadata == other.metadata && other.metadata != 0, 20)
            + points(one.opcode_text == other.opcode_text, 12)
            + dimensions
            + points(!self.is_used[candidate as usize], 4)
            + 3 * near.min(5)
            + points(one.names.stem == other.names.stem, 4)
    }
}

fn add(near: &mut Near, candidate: u32, points: u32) {
    match near.iter_mut().find(|(known, _)| *known == candidate) {
        Some((_, sum)) => *sum += points,
        None => near.push((candidate, points)),
    }
}
