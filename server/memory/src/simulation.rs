//! What the heap is asked for while the program runs: memory for each value when it is defined, back after its last use.
//!
//! Source: `HeapSimulator::RunComputation`, `service/heap_simulator/heap_simulator.cc`.

use ir::Opcode;
use rustc_hash::FxHashMap;

use crate::aliases::{Aliases, BufferId};
use crate::dataflow::ValueId;
use crate::heap::Interval;
use crate::live_ranges::LiveRange;
use crate::overwriting::Overwriting;

/// The requests of the values that `is_wanted`. Returns the intervals, and per interval its values.
pub(crate) fn simulate(
    overwriting: &Overwriting<'_>,
    aliases: &Aliases,
    ranges: &[LiveRange],
    bytes: &[u64],
    is_wanted: &[bool],
) -> (Vec<Interval>, Vec<Vec<ValueId>>) {
    let mut wanted: Vec<ValueId> =
        (0..ranges.len() as ValueId).filter(|&value| is_wanted[value as usize]).collect();
    wanted.sort_by_key(|&value| (ranges[value as usize], value));
    let mut freed_at: Vec<Vec<ValueId>> = Vec::new();
    for &value in &wanted {
        let end = ranges[value as usize].end as usize;
        if freed_at.len() <= end {
            freed_at.resize_with(end + 1, Vec::new);
        }
        freed_at[end].push(value);
    }
    let mut heap = Heap {
        overwriting,
        aliases,
        ranges,
        bytes,
        is_wanted,
        requests: FxHashMap::default(),
        first: FxHashMap::default(),
        is_freed: vec![false; ranges.len()],
        time: 0,
        groups: Vec::new(),
    };
    let mut next = 0;
    for (time, freed) in freed_at.iter().enumerate() {
        while let Some(&value) =
            wanted.get(next).filter(|&&value| ranges[value as usize].start as usize == time)
        {
            cancel::tick();
            heap.define(value);
            next += 1;
        }
        for &value in freed {
            heap.free(value);
        }
    }
    heap.intervals()
}

struct Heap<'a> {
    overwriting: &'a Overwriting<'a>,
    aliases: &'a Aliases,
    ranges: &'a [LiveRange],
    bytes: &'a [u64],
    is_wanted: &'a [bool],
    /// Per value its group, and when it takes and returns its memory.
    requests: FxHashMap<ValueId, (usize, u32, u32)>,
    /// The first value of a buffer that got memory.
    first: FxHashMap<BufferId, ValueId>,
    is_freed: Vec<bool>,
    time: u32,
    /// Values at one place.
    groups: Vec<Vec<ValueId>>,
}

impl Heap<'_> {
    fn define(&mut self, value: ValueId) {
        let buffer = self.aliases.buffer_of[value as usize];
        if let Some(&first) = self.first.get(&buffer) {
            return self.share(value, first);
        }
        if let Some(operand) = self.overwritten(value, buffer) {
            self.free(operand);
            return self.share(value, operand);
        }
        self.groups.push(Vec::new());
        self.take(value, self.groups.len() - 1);
        self.first.insert(buffer, value);
    }

    fn share(&mut self, value: ValueId, with: ValueId) {
        // What takes no memory shares nothing.
        let group = match self.requests.get(&with) {
            Some(&(group, ..)) => group,
            None => {
                self.groups.push(Vec::new());
                self.groups.len() - 1
            }
        };
        self.take(value, group);
    }

    fn take(&mut self, value: ValueId, group: usize) {
        self.requests.insert(value, (group, self.time, u32::MAX));
        self.groups[group].push(value);
        self.time += 1;
    }

    fn free(&mut self, value: ValueId) {
        if std::mem::replace(&mut self.is_freed[value as usize], true) {
            return;
        }
        if let Some(request) = self.requests.get_mut(&value) {
            request.2 = self.time;
            self.time += 1;
        }
    }

    /// The operand whose memory the value takes over: nothing reads it later, and neither shares memory otherwise.
    fn overwritten(&self, value: ValueId, buffer: BufferId) -> Option<ValueId> {
        if self.aliases.buffers[buffer as usize].len() > 1 {
            return None;
        }
        let Overwriting { program, slots, dataflow, .. } = self.overwriting;
        let slot = dataflow.value(value).slot;
        let user = slots.owner(slot);
        let instruction = program.instruction(user);
        if instruction.opcode == Some(Opcode::Copy) {
            return None;
        }
        let start = self.ranges[value as usize].start;
        instruction.operands.iter().find_map(|&operand| {
            let held = dataflow.at(slots.top(operand))?;
            let of = dataflow.value(held).slot;
            let own_buffer = self.aliases.buffer_of[held as usize] as usize;
            let is_free = self.aliases.buffers[own_buffer].len() == 1
                && self.is_wanted[held as usize]
                && !self.is_freed[held as usize]
                && self.requests.contains_key(&held)
                && self.ranges[held as usize].end == start;
            let defined_by = slots.owner(of);
            let may = is_free
                && instruction.operands.contains(&defined_by)
                && self.overwriting.may_overwrite(defined_by, of, user, slot);
            may.then_some(held)
        })
    }

    fn intervals(self) -> (Vec<Interval>, Vec<Vec<ValueId>>) {
        let mut intervals = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let times = |value: &ValueId| {
                let (_, start, end) = self.requests[value];
                (start, end.min(self.time))
            };
            let size = group.iter().map(|&value| self.bytes[value as usize]).max().unwrap_or(0);
            let (start, end) = times(&group[0]);
            let others = group[1..].iter().map(times).collect();
            intervals.push(Interval { size, start, end, others });
        }
        (intervals, self.groups)
    }
}
