//! From when to when each value is in memory.
//!
//! Source: `hlo/utils/hlo_live_range.cc`, with the whole module in view.

use ir::{AttributeKey, Opcode};

use crate::aliases::Aliases;
use crate::asynchronous;
use crate::dataflow::{Dataflow, ValueId};
use crate::program::{Id, Program};
use crate::schedule::{Schedule, Time};
use crate::slots::Slots;

/// Positions of the schedule, both included. The end of a value that is live to the end is the number of positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LiveRange {
    pub start: Time,
    pub end: Time,
}

impl LiveRange {
    pub fn overlaps(&self, other: LiveRange) -> bool {
        self.start <= other.end && other.start <= self.end
    }

    pub fn contains(&self, time: Time) -> bool {
        self.start <= time && time <= self.end
    }
}

/// Per value its range.
pub(crate) fn live_ranges(ranges: &Ranges<'_>, aliases: &Aliases) -> Vec<LiveRange> {
    let values = 0..ranges.dataflow.values.len() as ValueId;
    let mut of: Vec<LiveRange> = values.map(|value| ranges.of(value)).collect();
    for values in &aliases.buffers {
        part(&mut of, values);
    }
    of
}

/// Values in one memory are live one after the other.
fn part(ranges: &mut [LiveRange], values: &[ValueId]) {
    if values.len() < 2 {
        return;
    }
    let mut order = values.to_vec();
    order.sort_by_key(|&value| (ranges[value as usize], value));
    for pair in order.windows(2) {
        let [first, second] = [pair[0] as usize, pair[1] as usize];
        ranges[second].end = ranges[first].end.max(ranges[second].end);
        ranges[first].end = ranges[first].end.min(ranges[second].start);
    }
}

pub(crate) struct Ranges<'a> {
    pub(crate) program: &'a Program,
    pub(crate) slots: &'a Slots,
    pub(crate) schedule: &'a Schedule,
    pub(crate) dataflow: &'a Dataflow,
}

impl Ranges<'_> {
    pub(crate) fn of(&self, value: ValueId) -> LiveRange {
        cancel::tick();
        let slot = self.dataflow.value(value).slot;
        let id = self.slots.owner(slot);
        let instruction = self.program.instruction(id);
        let span = self.schedule.span[instruction.computation as usize].unwrap_or_default();
        let at = self.schedule.at(id).unwrap_or(span.0);
        let is_parameter = instruction.opcode == Some(Opcode::Parameter);
        let mut start = if is_parameter { span.0 } else { at };
        let mut end = if self.program.is_root(id) { span.1 } else { at };
        if let Some(async_start) = self.schedule.started_by[instruction.computation as usize] {
            start = start.max(self.schedule.at(async_start).unwrap_or(start));
            end = end.max(self.end_of_chain(async_start).unwrap_or(span.1));
        }
        let is_entry = instruction.computation as usize == self.program.entry;
        let is_donated =
            || instruction.number.is_some_and(|n| self.program.is_donated(n, &self.slots.path(slot)));
        end = match is_parameter && is_entry && !is_donated() {
            true => self.schedule.end,
            false => end.max(self.used_until(value)),
        };
        LiveRange { start, end: end.max(start) }
    }

    /// The last position at which an instruction reads a value or passes it on.
    pub(crate) fn used_until(&self, value: ValueId) -> Time {
        let positions = self.dataflow.value(value).positions.iter();
        let passed_on = positions.filter_map(|&position| self.passed_on(self.slots.owner(position)));
        passed_on.chain(self.last_use(value)).max().unwrap_or(0)
    }

    /// Where an instruction passes on a value that it does not define.
    fn passed_on(&self, id: Id) -> Option<Time> {
        if self.program.is_root(id) {
            return Some(self.schedule.span[self.program.instruction(id).computation as usize]?.1);
        }
        self.schedule.at(id)
    }

    fn last_use(&self, value: ValueId) -> Option<Time> {
        let uses = self.dataflow.uses(self.program, self.slots, value);
        let at = uses.iter().filter_map(|one| match self.program.instruction(one.user).opcode {
            // The called computation uses it.
            Some(Opcode::Call) => None,
            // From the start of the body on its parameter holds the value.
            Some(Opcode::While) => {
                let body = self.program.callee(one.user, AttributeKey::Body)?;
                self.schedule.at(*body.parameters.first()?)
            }
            _ => self.schedule.at(one.user),
        });
        at.max()
    }

    fn end_of_chain(&self, start: Id) -> Option<Time> {
        self.schedule.at(asynchronous::done(self.program, start)?)
    }
}
