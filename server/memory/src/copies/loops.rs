//! Which instructions of a loop's body read its state, and which define the next one.

use ir::AttributeKey;

use super::Copies;
use crate::program::Id;

impl Copies<'_> {
    /// Per element of a loop's state that an iteration replaces, the instructions that read it, each with the instruction
    /// that defines its next value, of the same computation. In the order of the elements.
    pub fn state_reads(&self, id: Id) -> Vec<(Id, Id)> {
        let Some(body) = self.program.callee(id, AttributeKey::Body) else { return Vec::new() };
        let [parameter] = body.parameters[..] else { return Vec::new() };
        let (old, new) = (self.slots.top(parameter), self.slots.top(body.root));
        let count = self.slots.extent(old).min(self.slots.extent(new));
        let mut found = Vec::new();
        for element in 1..count {
            let values = self.dataflow.at(old + element).zip(self.dataflow.at(new + element));
            let Some((old, new)) = values.filter(|(old, new)| old != new) else { continue };
            if self.slots.is_tuple(self.dataflow.value(new).slot) {
                continue;
            }
            let writer = self.definition(new);
            for one in self.dataflow.uses(self.program, &self.slots, old) {
                let of = |id: Id| self.program.instruction(id).computation;
                if one.user != writer && of(one.user) == of(writer) {
                    found.push((one.user, writer));
                }
            }
        }
        found
    }
}
