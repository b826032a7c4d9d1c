//! Buffers in memory that others have at other times.

use ir::Opcode;
use rustc_hash::FxHashMap;

use super::open::Open;
use super::taken::Taken;
use super::{AllocationKind, Assigner};
use crate::aliases::BufferId;
use crate::dataflow::ValueId;
use crate::live_ranges::LiveRange;
use crate::schedule::Time;

/// Parts of the schedule, for each of which is known which allocations are taken all of the time.
const PARTS: u32 = 256;

/// Allocations that later buffers may use, each by its number in this list.
///
/// Most are taken when a buffer needs one, so that the list says at once which cannot be used.
pub(super) struct Reusable {
    allocations: Vec<u32>,
    number_of: FxHashMap<u32, u32>,
    /// Positions of the schedule in one part.
    width: Time,
    /// Per part a bit for each allocation that one value takes from before its first position until after its last.
    is_taken: Vec<Vec<u64>>,
}

impl Reusable {
    /// None, in a schedule of so many positions.
    pub(super) fn new(end: Time) -> Reusable {
        Reusable {
            allocations: Vec::new(),
            number_of: FxHashMap::default(),
            width: end / PARTS + 1,
            is_taken: vec![Vec::new(); PARTS as usize + 1],
        }
    }

    pub(super) fn allocation(&self, number: u32) -> u32 {
        self.allocations[number as usize]
    }

    /// Adds an allocation that is taken by some values.
    pub(super) fn add(&mut self, allocation: u32, taken: &Taken) {
        let number = self.allocations.len() as u32;
        self.allocations.push(allocation);
        self.number_of.insert(allocation, number);
        for range in taken.ranges() {
            self.mark(number, range);
        }
    }

    /// Says that one more value is in an allocation.
    pub(super) fn take(&mut self, allocation: u32, range: LiveRange) {
        if let Some(&number) = self.number_of.get(&allocation) {
            self.mark(number, range);
        }
    }

    fn mark(&mut self, number: u32, range: LiveRange) {
        let (word, bit) = (number as usize / 64, 1u64 << (number % 64));
        let behind = range.end / self.width;
        for part in range.start / self.width + 1..behind {
            if let Some(words) = self.is_taken.get_mut(part as usize) {
                if words.len() <= word {
                    words.resize(word + 1, 0);
                }
                words[word] |= bit;
            }
        }
    }

    /// The last allocation, in front of `before` if that is given, that may be free in the range: none that is taken for long in the
    /// middle of it.
    pub(super) fn last_free(&self, range: LiveRange, before: Option<u32>) -> Option<u32> {
        let middle = range.start + (range.end - range.start) / 2;
        let taken = self.is_taken.get((middle / self.width) as usize).map_or(&[][..], Vec::as_slice);
        let end = before.unwrap_or(self.allocations.len() as u32);
        let mut word = end / 64;
        // Below `end` in the last word, all in those in front of it.
        let mut wanted = (1u64 << (end % 64)) - 1;
        loop {
            let free = wanted & !taken.get(word as usize).copied().unwrap_or(0);
            if free != 0 {
                return Some(word * 64 + free.ilog2());
            }
            word = word.checked_sub(1)?;
            wanted = u64::MAX;
        }
    }
}

impl Assigner<'_> {
    /// Puts a buffer into the memory of an operand, or into another allocation that is large enough, if nothing in it is
    /// alive at the same time.
    pub(super) fn reuse(&self, open: &mut Open, buffer: BufferId, size: u64) -> bool {
        let slots = self.overwriting.slots;
        let dataflow = self.overwriting.dataflow;
        for &value in &self.aliases.buffers[buffer as usize] {
            let slot = dataflow.value(value).slot;
            if !slots.is_top(slot) || slots.is_tuple(slot) {
                continue;
            }
            for &operand in &self.program.instruction(slots.owner(slot)).operands {
                let held = dataflow.at(slots.top(operand));
                let allocation = held.and_then(|held| open.allocation_of[held as usize]);
                if allocation.is_some_and(|allocation| self.put(open, allocation, buffer, size)) {
                    return true;
                }
            }
        }
        let first = self.aliases.buffers[buffer as usize].first();
        let Some(range) = first.map(|&value| self.ranges[value as usize]) else { return false };
        let mut last = None;
        while let Some(n) = open.reusable.last_free(range, last) {
            if self.put(open, open.reusable.allocation(n), buffer, size) {
                return true;
            }
            last = Some(n);
        }
        false
    }

    /// Source: `BufferAssigner::MaybeAssignBuffer`.
    fn put(&self, open: &mut Open, allocation: u32, buffer: BufferId, size: u64) -> bool {
        let target = &open.allocations[allocation as usize];
        let is_result = self.aliases.is_result[buffer as usize];
        let may_write = match target.kind {
            AllocationKind::Parameter { is_donated, .. } => is_donated,
            AllocationKind::Result | AllocationKind::Temporary => true,
            AllocationKind::Constant | AllocationKind::ThreadLocal | AllocationKind::Tuple => false,
        };
        let fits = if is_result { size == target.size } else { size <= target.size };
        let values = &self.aliases.buffers[buffer as usize];
        if !may_write || !fits || self.space(buffer) != target.space {
            return false;
        }
        let interferes = values.iter().any(|&value| {
            open.taken[allocation as usize]
                .overlapping(self.ranges[value as usize])
                .any(|other| self.interferes(value, other))
        });
        if interferes || values.iter().any(|&value| self.copies_from(open, allocation, value)) {
            return false;
        }
        open.assign(self, allocation, buffer);
        true
    }

    /// Source: `BufferAssigner::LiveRangeInterferes`.
    fn interferes(&self, a: ValueId, b: ValueId) -> bool {
        let (ra, rb) = (self.ranges[a as usize], self.ranges[b as usize]);
        if !ra.overlaps(rb) {
            return false;
        }
        if ra.end == rb.start {
            !self.overwriting.takes_over(b, a)
        } else if rb.end == ra.start {
            !self.overwriting.takes_over(a, b)
        } else {
            true
        }
    }

    /// A copy is never in the memory of what it copies.
    fn copies_from(&self, open: &Open, allocation: u32, value: ValueId) -> bool {
        let (slots, dataflow) = (self.overwriting.slots, self.overwriting.dataflow);
        let instruction = self.program.instruction(slots.owner(dataflow.value(value).slot));
        instruction.opcode == Some(Opcode::Copy)
            && instruction.operands.iter().any(|&operand| {
                slots.of_instruction(operand).any(|slot| {
                    dataflow
                        .at(slot)
                        .is_some_and(|held| open.allocation_of[held as usize] == Some(allocation))
                })
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left out is taken: a value is alive before, in and after the middle of the range.
    #[test]
    fn only_allocations_that_are_taken_are_left_out() {
        let mut random = random::Rng::new(5);
        for end in [3, 90, 2_000, 70_000] {
            let mut reusable = Reusable::new(end);
            let mut range = || {
                let (a, b) = (random.index(end as usize + 1) as Time, random.index(end as usize + 1) as Time);
                LiveRange { start: a.min(b), end: a.max(b) }
            };
            let taken: Vec<Taken> = (0..150)
                .map(|value| {
                    let mut taken = Taken::default();
                    taken.insert(range(), value);
                    taken
                })
                .collect();
            for (allocation, taken) in (0..).zip(&taken) {
                reusable.add(allocation, taken);
            }
            let mut left_out = 0;
            for _ in 0..50 {
                let wanted = range();
                let numbers = std::iter::successors(reusable.last_free(wanted, None), |&n| {
                    reusable.last_free(wanted, Some(n))
                });
                let found: Vec<u32> = numbers.collect();
                assert!(found.is_sorted_by(|a, b| a > b), "{found:?}");
                for number in (0..150).filter(|number| !found.contains(number)) {
                    let is_free = taken[number as usize].ranges().all(|own| {
                        !own.overlaps(wanted) || own.start == wanted.end || own.end == wanted.start
                    });
                    assert!(!is_free, "{number} is free in {wanted:?}");
                    left_out += 1;
                }
            }
            assert!(end < 1_000 || left_out > 0);
        }
    }
}
