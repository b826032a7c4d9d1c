//! Operands that are paired: whether two instructions use the same values.

use matching::{Operand, Value};
use syntax::hlo::Opcode;

use super::{Comparer, Difference, What, difference};
use crate::module::Module;

impl Comparer<'_, '_, '_> {
    pub(super) fn operands(&self, source: u32, id: u32, follows: bool, found: &mut Vec<Difference>) {
        let (before, after) = (&self.before.program, &self.after.program);
        if let (Some(one), Some(other)) = (self.before.body(source), self.after.body(id)) {
            return self.arguments((source, one), (id, other), found);
        }
        let (theirs, ours) = (before.operands(source), after.operands(id));
        if theirs.len() != ours.len() {
            let is_root_of_fusion = self.before.is_plumbing(source) && self.after.is_plumbing(id);
            if !is_root_of_fusion && !follows {
                let count = |count: usize| count.to_string();
                found.push(difference(What::Operands, &count(theirs.len()), &count(ours.len())));
            }
            return;
        }
        let is_element = before.instruction(source).opcode == Some(Opcode::GetTupleElement);
        if is_element && self.is_same_element(source, id) {
            return;
        }
        for (at, (one, other)) in theirs.iter().zip(ours).enumerate() {
            if !self.is_same_operand(one, other) {
                found.push(self.operand((source, at), (id, at)));
            }
        }
    }

    fn operand(&self, (source, one): (u32, usize), (id, other): (u32, usize)) -> Difference {
        let (before, after) = (self.before.operand_title(source, one), self.after.operand_title(id, other));
        Difference { what: What::Operand(other as u32), before, after }
    }

    /// Operands of fusions and calls: what is passed to paired parameters. The users of other parameters have the difference.
    fn arguments(&self, (source, before): (u32, u32), (id, after): (u32, u32), found: &mut Vec<Difference>) {
        if self.pairing.computation_after[before as usize] != Some(after) {
            return;
        }
        for ours in self.after.program.computation(after).instructions.clone() {
            let other = self.after.program.instruction(ours);
            let Some(theirs) =
                self.pairing.before[ours as usize].filter(|_| other.opcode == Some(Opcode::Parameter))
            else {
                continue;
            };
            let one = self.before.program.instruction(theirs);
            let Some(numbers) = one.number.zip(other.number).filter(|_| one.computation == before) else {
                continue;
            };
            let (one, other) = (numbers.0 as usize, numbers.1 as usize);
            let operands =
                (self.before.program.operands(source).get(one), self.after.program.operands(id).get(other));
            if let (Some(was), Some(now)) = operands
                && !self.is_same_operand(was, now)
                && !self.is_used_for_the_same(ours)
            {
                found.push(self.operand((source, one), (id, other)));
            }
        }
    }

    /// Whether all users of a parameter use what their counterparts do: parameters are paired by their places, and a fusion that
    /// computes less has other ones.
    fn is_used_for_the_same(&self, parameter: u32) -> bool {
        let mut uses = self.after.program.uses(parameter).peekable();
        uses.peek().is_some()
            && uses.all(|(user, number)| {
                let Some(source) = self.pairing.before[user as usize] else { return true };
                let theirs = self.before.program.operands(source).get(number as usize);
                let ours = self.after.program.operands(user).get(number as usize);
                theirs.zip(ours).is_some_and(|(theirs, ours)| {
                    let (one, other) = (self.before.source(theirs), self.after.source(ours));
                    self.is_same(&one, &other) || self.is_new(&one, &other)
                })
            })
    }

    fn is_same_operand(&self, theirs: &Operand, ours: &Operand) -> bool {
        let written = |module: &Module<'_>, operand: &Operand| Value {
            instruction: operand.instruction,
            path: module.program.path(operand).to_vec(),
        };
        let (one, other) = (written(self.before, theirs), written(self.after, ours));
        if self.is_same(&one, &other) {
            return true;
        }
        let (one, other) = (self.before.source(theirs), self.after.source(ours));
        self.is_same(&one, &other) || self.is_new(&one, &other)
    }

    /// Whether two values are counterparts, or their counterparts have the same value.
    pub(super) fn is_same(&self, theirs: &Value, ours: &Value) -> bool {
        let Some(now) = self.pairing.after[theirs.instruction as usize] else { return false };
        let values = &self.pairing.values_after;
        let program = &self.after.program;
        let (one, other) = (program.instruction(now), program.instruction(ours.instruction));
        let is_equal = now == ours.instruction
            || values[now as usize] == values[ours.instruction as usize]
                && one.computation == other.computation
                && one.shape == other.shape;
        is_equal && theirs.path == ours.path
    }

    /// Whether one of two values is new or gone, which is reported there.
    pub(super) fn is_new(&self, theirs: &Value, ours: &Value) -> bool {
        self.pairing.after[theirs.instruction as usize].is_none()
            || self.pairing.before[ours.instruction as usize].is_none()
    }

    /// Whether a `get-tuple-element` of a fusion yields what its counterpart does.
    pub(super) fn is_same_element(&self, source: u32, id: u32) -> bool {
        let value = |module: &Module<'_>, id: u32| {
            let operand = module.program.operands(id).first()?;
            let mut value = module.source(operand);
            let number = module.program.instruction(id).number?;
            value.path.push(number);
            // The element of a fusion's tuple is what the fusion computes for it.
            let parts = module.program.operands(value.instruction);
            let is_tuple = module.program.instruction(value.instruction).opcode == Some(Opcode::Tuple);
            match value.path.as_slice() {
                [index] if is_tuple => Some(module.source(parts.get(*index as usize)?)),
                _ => Some(value),
            }
        };
        match (value(self.before, source), value(self.after, id)) {
            (Some(theirs), Some(ours)) => self.is_same(&theirs, &ours) || self.is_new(&theirs, &ours),
            _ => false,
        }
    }
}
