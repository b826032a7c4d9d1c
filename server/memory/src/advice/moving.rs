//! Instructions at another place of the schedule: later, before the first use of what they define, or earlier, so that
//! what they read last is free at the peak.

use ir::Opcode;
use rustc_hash::FxHashSet;

use super::places::Places;
use super::{Action, Advice, Advisor};
use crate::dataflow::ValueId;
use crate::program::{Id, Program};

/// An instruction at another place of its computation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    /// The instruction, and the bitcasts of its result that move with it, in order.
    pub names: Vec<Box<str>>,
    /// The instruction that it is moved in front of.
    pub before: Box<str>,
    /// The value that is alive for a shorter time.
    pub value: String,
    pub is_later: bool,
}

struct Moving<'a> {
    advisor: &'a Advisor<'a>,
    places: &'a Places<'a>,
}

/// Instructions of one computation that move in front of the one at index `to`.
struct Change {
    moved: Vec<Id>,
    to: usize,
    is_later: bool,
}

/// The largest of what is alive at the peak first. Nothing where the order is not stated.
pub(super) fn advice(advisor: &Advisor<'_>, places: &Places<'_>) -> Vec<Advice> {
    let memory = advisor.memory;
    let moving = Moving { advisor, places };
    let mut known = FxHashSet::default();
    let changes = memory.alive_at(memory.usage.peak).into_iter().flat_map(|value| {
        cancel::tick();
        let changes = [moving.later(value), moving.earlier(value)];
        changes.into_iter().flatten().map(move |change| (value, change))
    });
    let changes = changes.filter(|(_, change)| known.insert(change.moved[0])).take(advisor.plans());
    changes.filter_map(|(value, change)| moving.plan(value, &change)).collect()
}

impl Moving<'_> {
    fn program(&self) -> &Program {
        self.advisor.program
    }

    /// In front of the first use, if that is behind the peak.
    fn later(&self, value: ValueId) -> Option<Change> {
        let program = self.program();
        let id = self.places.defined_by(value)?;
        let mut moved = vec![id];
        let mut at = 0;
        let mut to = usize::MAX;
        while let Some(&one) = moved.get(at) {
            at += 1;
            for &user in &program.instruction(one).users {
                match program.instruction(user).opcode {
                    Some(Opcode::Bitcast) if !moved.contains(&user) => moved.push(user),
                    Some(Opcode::Bitcast) => {}
                    _ => to = to.min(self.places.index[user as usize]),
                }
            }
        }
        moved.sort_by_key(|&one| self.places.index[one as usize]);
        let order = &program.computation_of(id).instructions;
        let target = *order.get(to)?;
        let crossed = &order[self.places.index[id as usize]..to];
        let is_fixed = moved.iter().any(|&one| program.is_root(one))
            || crossed.iter().any(|&one| program.instruction(one).waits);
        let is_useful =
            self.places.time(id)? < self.places.peak && self.places.time(target)? > self.places.peak;
        let is_intact = !self.places.is_overwritten(id, self.places.time(id)?, self.places.time(target)?);
        (is_useful && !is_fixed && is_intact).then_some(Change { moved, to, is_later: true })
    }

    /// The only instruction behind the peak that reads the value moves in front of the peak, if it defines less.
    fn earlier(&self, value: ValueId) -> Option<Change> {
        let Advisor { program, memory, flow, .. } = self.advisor;
        let uses = flow.dataflow.uses(program, &flow.slots, value);
        let mut late =
            uses.iter().map(|one| one.user).filter(|&user| self.places.time(user) > Some(self.places.peak));
        let user = late.next()?;
        if late.any(|other| other != user) {
            return None;
        }
        let defined = flow.dataflow.at(flow.slots.top(user))?;
        if self.places.defined_by(defined)? != user
            || memory.values[defined as usize].bytes >= memory.values[value as usize].bytes
        {
            return None;
        }
        let computation = program.instruction(user).computation;
        let others = uses.iter().map(|one| one.user).filter(|&other| other != user);
        let needed = others.filter(|&other| program.instruction(other).computation == computation);
        let needed = needed.chain(program.instruction(user).operands.iter().copied());
        let mut to = needed.map(|id| self.places.index[id as usize] + 1).max()?;
        let order = &program.computation_of(user).instructions;
        // Parameters stay in front, and elements that are not written have no place in the text.
        while order.get(to).is_some_and(|&id| {
            let instruction = program.instruction(id);
            !instruction.is_written || instruction.opcode == Some(Opcode::Parameter)
        }) {
            to += 1;
        }
        let target = *order.get(to)?;
        let is_useful =
            to < self.places.index[user as usize] && self.places.time(target)? <= self.places.peak;
        let is_intact = !self.places.is_overwritten(user, self.places.time(target)?, self.places.time(user)?);
        (is_useful && is_intact).then_some(Change { moved: vec![user], to, is_later: false })
    }

    fn plan(&self, value: ValueId, change: &Change) -> Option<Advice> {
        let Advisor { program, memory, .. } = self.advisor;
        let mut changed = (*program).clone();
        let number = program.instruction(change.moved[0]).computation as usize;
        let order = &program.computations[number].instructions;
        let (front, behind) = order.split_at(change.to);
        let is_kept = |id: &&Id| !change.moved.contains(id);
        let parts = front.iter().filter(is_kept).chain(&change.moved).chain(behind.iter().filter(is_kept));
        changed.computations[number].instructions = parts.copied().collect();
        let value = &memory.values[value as usize];
        let name = |&id: &Id| program.instruction(id).name.clone();
        let action = Action::Move(Move {
            names: change.moved.iter().map(name).collect(),
            before: name(&order[change.to]),
            value: value.name.clone(),
            is_later: change.is_later,
        });
        self.advisor.plan(&changed, action, value.bytes)
    }
}
