//! Counterparts of computations. A pass that flattens the call graph clones computations under new names; the clone of an
//! instruction is at the same place of the cloned computation.

use crate::links::{How, Links};

impl Links<'_, '_, '_> {
    /// Pairs the callees of linked callers, and links the instructions of clones place by place.
    pub(crate) fn by_caller(&mut self) {
        let has_callees = |&id: &u32| !self.after.callees(id).is_empty() && self.is_linked(id);
        let mut callers: Vec<u32> = (0..self.after.instructions.len() as u32).filter(has_callees).collect();
        while let Some(caller) = callers.pop() {
            cancel::tick();
            let Some(source) = self.source(caller) else { continue };
            let (ours, theirs) = (self.after.callees(caller), self.before.callees(source));
            if ours.len() != theirs.len()
                || !self.before.has_opcode_of(source, self.after.instruction(caller))
            {
                continue;
            }
            for (&ours, &theirs) in ours.iter().zip(theirs) {
                if self.computations[ours as usize].is_none() && self.is_clone(ours, theirs) {
                    self.computations[ours as usize] = Some(theirs);
                    self.link_clone(ours, theirs, &mut callers);
                }
            }
        }
    }

    fn is_clone(&self, ours: u32, theirs: u32) -> bool {
        let ours = self.after.computation(ours).instructions.clone();
        let theirs = self.before.computation(theirs).instructions.clone();
        ours.len() == theirs.len()
            && ours
                .zip(theirs)
                .all(|(ours, theirs)| self.before.has_opcode_of(theirs, self.after.instruction(ours)))
    }

    fn link_clone(&mut self, ours: u32, theirs: u32, callers: &mut Vec<u32>) {
        let ours = self.after.computation(ours).instructions.clone();
        let theirs = self.before.computation(theirs).instructions.clone();
        for (id, source) in ours.zip(theirs) {
            if !self.is_linked(id) {
                self.link(id, source, How::Clone);
                if !self.after.callees(id).is_empty() {
                    callers.push(id);
                }
            }
        }
    }
}
