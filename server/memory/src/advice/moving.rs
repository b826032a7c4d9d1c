//! Instructions at another place of the schedule: later, before the first use of what they define, or earlier, so that
//! what they read last is free at the peak.

use ir::{Opcode, op_info};
use rustc_hash::FxHashSet;

use super::{Action, Advice, Advisor};
use crate::dataflow::ValueId;
use crate::program::{Id, Program};
use crate::schedule::Time;

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
    /// Per instruction, its index in its computation.
    index: Vec<usize>,
    /// The peak, by position of the schedule with elements that are not written.
    peak: Time,
}

/// Instructions of one computation that move in front of the one at index `to`.
struct Change {
    moved: Vec<Id>,
    to: usize,
    is_later: bool,
}

/// The largest of what is alive at the peak first. Nothing where the order is not stated.
pub(super) fn advice(advisor: &Advisor<'_>) -> Vec<Advice> {
    let Advisor { program, memory, flow, .. } = advisor;
    if !program.is_scheduled {
        return Vec::new();
    }
    let mut index = vec![0; program.instructions.len()];
    for computation in &program.computations {
        for (at, &id) in computation.instructions.iter().enumerate() {
            index[id as usize] = at;
        }
    }
    let behind = flow.schedule.written.partition_point(|&written| written <= memory.usage.peak);
    let moving = Moving { advisor, index, peak: behind.saturating_sub(1) as Time };
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

    fn time(&self, id: Id) -> Option<Time> {
        self.advisor.flow.schedule.at(id)
    }

    /// In front of the first use, if that is behind the peak.
    fn later(&self, value: ValueId) -> Option<Change> {
        let program = self.program();
        let id = self.defined_by(value)?;
        let mut moved = vec![id];
        let mut at = 0;
        let mut to = usize::MAX;
        while let Some(&one) = moved.get(at) {
            at += 1;
            for &user in &program.instruction(one).users {
                match program.instruction(user).opcode {
                    Some(Opcode::Bitcast) if !moved.contains(&user) => moved.push(user),
                    Some(Opcode::Bitcast) => {}
                    _ => to = to.min(self.index[user as usize]),
                }
            }
        }
        moved.sort_by_key(|&one| self.index[one as usize]);
        let order = &program.computation_of(id).instructions;
        let target = *order.get(to)?;
        let crossed = &order[self.index[id as usize]..to];
        let is_fixed = moved.iter().any(|&one| program.is_root(one))
            || crossed.iter().any(|&one| program.instruction(one).waits);
        let is_useful = self.time(id)? < self.peak && self.time(target)? > self.peak;
        let is_intact = !self.is_overwritten(id, self.time(id)?, self.time(target)?);
        (is_useful && !is_fixed && is_intact).then_some(Change { moved, to, is_later: true })
    }

    /// The only instruction behind the peak that reads the value moves in front of the peak, if it defines less.
    fn earlier(&self, value: ValueId) -> Option<Change> {
        let Advisor { program, memory, flow, .. } = self.advisor;
        let uses = flow.dataflow.uses(program, &flow.slots, value);
        let mut late = uses.iter().map(|one| one.user).filter(|&user| self.time(user) > Some(self.peak));
        let user = late.next()?;
        if late.any(|other| other != user) {
            return None;
        }
        let defined = flow.dataflow.at(flow.slots.top(user))?;
        if self.defined_by(defined)? != user
            || memory.values[defined as usize].bytes >= memory.values[value as usize].bytes
        {
            return None;
        }
        let computation = program.instruction(user).computation;
        let others = uses.iter().map(|one| one.user).filter(|&other| other != user);
        let needed = others.filter(|&other| program.instruction(other).computation == computation);
        let needed = needed.chain(program.instruction(user).operands.iter().copied());
        let mut to = needed.map(|id| self.index[id as usize] + 1).max()?;
        let order = &program.computation_of(user).instructions;
        // Parameters stay in front, and elements that are not written have no place in the text.
        while order.get(to).is_some_and(|&id| {
            let instruction = program.instruction(id);
            !instruction.is_written || instruction.opcode == Some(Opcode::Parameter)
        }) {
            to += 1;
        }
        let target = *order.get(to)?;
        let is_useful = to < self.index[user as usize] && self.time(target)? <= self.peak;
        let is_intact = !self.is_overwritten(user, self.time(target)?, self.time(user)?);
        (is_useful && is_intact).then_some(Change { moved: vec![user], to, is_later: false })
    }

    /// The instruction that defines a value, if that is all it does, and its memory is that of no other value.
    fn defined_by(&self, value: ValueId) -> Option<Id> {
        let Advisor { program, flow, .. } = self.advisor;
        let slot = flow.dataflow.value(value).slot;
        let id = flow.slots.owner(slot);
        let instruction = program.instruction(id);
        let is_step = flow.schedule.started_by[instruction.computation as usize].is_none();
        let buffer = flow.aliases.buffer_of[value as usize] as usize;
        let is_alone = flow.aliases.buffers[buffer].len() == 1;
        let is_plain = is_pure(program, id) && !instruction.waits && instruction.shape.as_array().is_some();
        let is_read_as_written = instruction.operands.iter().all(|&own| program.instruction(own).is_written);
        (is_step && is_alone && is_plain && is_read_as_written).then_some(id)
    }

    /// Whether something is written over an operand of an instruction in a part of the schedule.
    fn is_overwritten(&self, id: Id, from: Time, to: Time) -> bool {
        let flow = &self.advisor.flow;
        let operands = self.program().instruction(id).operands.iter();
        let mut read = operands
            .flat_map(|&own| flow.slots.of_instruction(own))
            .filter_map(|slot| flow.dataflow.at(slot));
        read.any(|value| {
            let buffer = &flow.aliases.buffers[flow.aliases.buffer_of[value as usize] as usize];
            let mut others = buffer.iter().filter(|&&other| other != value);
            others.any(|&other| (from..=to).contains(&flow.ranges[other as usize].start))
        })
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

/// Whether an instruction does no more than compute its result. Custom calls are not looked into.
fn is_pure(program: &Program, id: Id) -> bool {
    use Opcode::{Bitcast, Constant, CustomCall, GetTupleElement, Parameter, Tuple};
    program.instruction(id).opcode.is_some_and(|opcode| {
        let info = op_info(opcode);
        !info.has_side_effect
            && info.steps.is_empty()
            && !matches!(opcode, Bitcast | Constant | CustomCall | GetTupleElement | Parameter | Tuple)
    })
}
