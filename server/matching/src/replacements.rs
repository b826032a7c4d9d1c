//! Links by uses: what took the place of an operand. Also new fusions, whose value is that of their root.

use syntax::hlo::Opcode;

use crate::links::{How, Links, is_parameter};
use crate::numbering::is_transparent;

/// More users of one instruction are not asked.
const MAX_USERS: usize = 64;

impl Links<'_, '_, '_> {
    /// Links a new fusion or call to the origin of its root.
    pub(crate) fn by_root(&mut self) {
        for id in self.unlinked() {
            let callee = self.after.callees(id).first();
            if let Some(&callee) = callee.filter(|_| is_transparent(self.after.instruction(id).opcode)) {
                let root = self.after.computation(callee).root;
                let opcode = self.after.instruction(root).opcode;
                if !matches!(opcode, Some(Opcode::Tuple | Opcode::Parameter))
                    && let Some(source) = self.source(root)
                {
                    self.link(id, source, How::Root);
                }
            }
        }
    }

    /// Links an instruction to the one that its linked users used in its place. Returns whether there were any.
    ///
    /// From users to operands, so that chains are followed upwards.
    pub(crate) fn by_uses(&mut self) -> bool {
        let mut has_changed = false;
        for id in self.unlinked().into_iter().rev() {
            cancel::tick();
            let instruction = self.after.instruction(id);
            let fits = |&&(candidate, _): &&(u32, u32)| {
                let candidate = self.before.instruction(candidate);
                candidate.dimensions == instruction.dimensions
                    || candidate.opcode_text == instruction.opcode_text
            };
            let votes = self.votes(id);
            let score = |&&(candidate, votes): &&(u32, u32)| (votes, self.likeness(candidate, id));
            let unused = votes.iter().filter(|(candidate, _)| !self.is_used[*candidate as usize]);
            if let Some(&(source, _)) = unused.max_by_key(score).filter(|best| fits(best)) {
                self.link(id, source, How::Uses);
                has_changed = true;
            }
        }
        has_changed
    }

    /// Operands of the first module where the linked users of `id` now use `id`, with their number.
    fn votes(&self, id: u32) -> Vec<(u32, u32)> {
        let (before, after) = (self.before, self.after);
        let mut votes: Vec<(u32, u32)> = Vec::new();
        let mut vote = |candidate: u32| match votes.iter_mut().find(|(known, _)| *known == candidate) {
            Some((_, count)) => *count += 1,
            None => votes.push((candidate, 1)),
        };
        for used in after.users(id).iter().take(MAX_USERS) {
            let user = after.instruction(used.user);
            let Some(link) = self.links[used.user as usize].filter(|link| link.how != How::Root) else {
                continue;
            };
            let operands = before.operands(link.source);
            let now = &after.operands(used.user)[used.operand as usize];
            if before.has_opcode_of(link.source, user)
                && operands.len() == after.operands(used.user).len()
                && let Some(then) = operands.get(used.operand as usize)
                && before.path(then) == after.path(now)
            {
                vote(then.instruction);
            }
        }
        let instruction = after.instruction(id);
        if instruction.is_root
            && !is_parameter(instruction)
            && let Some(counterpart) = self.computations[instruction.computation as usize]
        {
            vote(before.computation(counterpart).root);
        }
        votes
    }
}
