//! The allocations that there are so far.

use super::reuse::Reusable;
use super::taken::Taken;
use super::{ALIGNMENT, Allocation, AllocationKind, Assigner};
use crate::aliases::BufferId;
use crate::schedule::Time;

/// What is assigned so far.
pub(super) struct Open {
    pub(super) allocations: Vec<Allocation>,
    /// Per value, the allocation.
    pub(super) allocation_of: Vec<Option<u32>>,
    /// Per allocation, when its values are alive.
    pub(super) taken: Vec<Taken>,
    /// Allocations that later buffers may use.
    pub(super) reusable: Reusable,
}

impl Open {
    /// Nothing of so many values, in a schedule of so many positions.
    pub(super) fn new(values: usize, end: Time) -> Open {
        let reusable = Reusable::new(end);
        Open { allocations: Vec::new(), allocation_of: vec![None; values], taken: Vec::new(), reusable }
    }

    pub(super) fn add(
        &mut self,
        assigner: &Assigner<'_>,
        buffer: BufferId,
        size: u64,
        kind: AllocationKind,
    ) -> u32 {
        let allocation = self.allocations.len() as u32;
        let space = assigner.space(buffer);
        self.allocations.push(Allocation { size, kind, is_result: false, space, values: Vec::new() });
        self.taken.push(Taken::default());
        self.assign(assigner, allocation, buffer);
        allocation
    }

    pub(super) fn assign(&mut self, assigner: &Assigner<'_>, allocation: u32, buffer: BufferId) {
        for &value in &assigner.aliases.buffers[buffer as usize] {
            self.allocation_of[value as usize] = Some(allocation);
            self.allocations[allocation as usize].values.push((value, 0));
            let range = assigner.ranges[value as usize];
            self.taken[allocation as usize].insert(range, value);
            self.reusable.take(allocation, range);
        }
        self.allocations[allocation as usize].is_result |= assigner.aliases.is_result[buffer as usize];
    }

    /// Makes one block of all temporaries of a memory space, one after the other. The order, on which padding depends,
    /// is that in which the C++ function `std::partition` leaves them.
    /// Source: `BufferAssignment::CombineTempAllocations`.
    pub(super) fn combine(&mut self) {
        let is_temporary = |allocation: &Allocation| {
            !allocation.is_result
                && matches!(allocation.kind, AllocationKind::Temporary | AllocationKind::Tuple)
        };
        let (mut first, mut last) = (0, self.allocations.len());
        while first < last {
            if !is_temporary(&self.allocations[first]) {
                first += 1;
            } else if is_temporary(&self.allocations[last - 1]) {
                last -= 1;
            } else {
                self.allocations.swap(first, last - 1);
                first += 1;
                last -= 1;
            }
        }
        let mut blocks: Vec<Allocation> = Vec::new();
        for temporary in self.allocations.drain(first..) {
            match blocks.iter_mut().find(|block| block.space == temporary.space) {
                None => blocks.push(Allocation { kind: AllocationKind::Temporary, ..temporary }),
                Some(block) => {
                    let base = block.size.checked_next_multiple_of(ALIGNMENT).unwrap_or(u64::MAX);
                    block.size = base.saturating_add(temporary.size);
                    let moved = temporary.values.iter();
                    block.values.extend(moved.map(|&(value, offset)| (value, base.saturating_add(offset))));
                }
            }
        }
        self.allocations.append(&mut blocks);
        for (number, allocation) in self.allocations.iter().enumerate() {
            for &(value, _) in &allocation.values {
                self.allocation_of[value as usize] = Some(number as u32);
            }
        }
    }

    /// Lets later buffers use an allocation.
    pub(super) fn offer(&mut self, allocation: u32) {
        self.reusable.add(allocation, &self.taken[allocation as usize]);
    }
}
