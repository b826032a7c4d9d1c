//! How many bytes are in use at each position of the schedule.

use rustc_hash::FxHashMap;

use crate::assignment::{Allocation, AllocationKind};
use crate::memory::Value;
use crate::schedule::Time;

/// What the bytes of an allocation are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Category {
    /// A parameter of the entry, also where a result takes its memory.
    Parameter,
    Constant,
    /// A result of the module.
    Output,
    /// All else that is alive while the module runs.
    Temporary,
    /// In registers.
    ThreadLocal,
}

impl Category {
    pub const ALL: [Category; 5] = [
        Category::Parameter,
        Category::Constant,
        Category::Output,
        Category::Temporary,
        Category::ThreadLocal,
    ];
}

/// Bytes per category, in the order of [`Category::ALL`].
pub type Bytes = [u64; Category::ALL.len()];

/// The bytes that hold a value which is alive. Where an operand and the result that overwrites it are alive at one position,
/// their bytes count once, so that no more is in use than is allocated. XLA's own peak ([`crate::Memory::peak`]) counts
/// both.
/// Size: 40 bytes per position.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usage {
    /// Per position of the schedule, and for its end.
    pub in_use: Vec<Bytes>,
    /// The first position at which most bytes are in use.
    pub peak: Time,
    /// Bytes of the allocations.
    pub allocated: Bytes,
    /// Bytes of the blocks of temporaries that are not in use when most of each block is.
    pub fragmentation: u64,
}

/// Neighbouring positions of the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// The first of them.
    pub first: Time,
    /// The first one at which most bytes are in use.
    pub position: Time,
    /// The bytes in use there.
    pub bytes: Bytes,
}

/// A place in an allocation, and the sizes of the values that are alive there: one, or two where one overwrites the other.
struct Place {
    allocation: u32,
    alive: Vec<u64>,
}

impl Usage {
    pub(crate) fn of(allocations: &[Allocation], values: &[Value], positions: Time) -> Usage {
        let mut places: Vec<Place> = Vec::new();
        let mut events: Vec<(Time, bool, u32, u64)> = Vec::new();
        for (number, allocation) in allocations.iter().enumerate() {
            let mut by_offset: FxHashMap<u64, u32> = FxHashMap::default();
            for &(value, offset) in &allocation.values {
                cancel::tick();
                let place = *by_offset.entry(offset).or_insert_with(|| {
                    places.push(Place { allocation: number as u32, alive: Vec::new() });
                    places.len() as u32 - 1
                });
                let Value { live, bytes, .. } = values[value as usize];
                events.push((live.start, false, place, bytes));
                events.push((live.end.saturating_add(1), true, place, bytes));
            }
        }
        // At one position the values that end go first: those that are alive there end behind it.
        events.sort_unstable_by_key(|&(time, is_end, ..)| (time, !is_end));
        let mut usage = Usage { allocated: allocated(allocations), ..Usage::default() };
        let mut of_allocation = vec![0u64; allocations.len()];
        let mut most_of = of_allocation.clone();
        let (mut now, mut most) = (Bytes::default(), 0);
        let mut events = events.into_iter().peekable();
        for time in 0..=positions {
            cancel::tick();
            while let Some((_, is_end, at, bytes)) = events.next_if(|event| event.0 <= time) {
                let place = &mut places[at as usize];
                let before = place.alive.iter().copied().max().unwrap_or(0);
                if !is_end {
                    place.alive.push(bytes);
                } else if let Some(own) = place.alive.iter().position(|&alive| alive == bytes) {
                    place.alive.swap_remove(own);
                }
                let after = place.alive.iter().copied().max().unwrap_or(0);
                let category = allocations[place.allocation as usize].category() as usize;
                now[category] = now[category].saturating_sub(before).saturating_add(after);
                let own = &mut of_allocation[place.allocation as usize];
                *own = own.saturating_sub(before).saturating_add(after);
                let most = &mut most_of[place.allocation as usize];
                // What ends has ended.
                *most = (*most).max(if is_end { 0 } else { *own });
            }
            let sum = sum(&now);
            if sum > most {
                (most, usage.peak) = (sum, time);
            }
            usage.in_use.push(now);
        }
        let blocks = allocations.iter().zip(&most_of).filter(|(a, _)| a.category() == Category::Temporary);
        let unused = blocks.map(|(allocation, &most)| allocation.size.saturating_sub(most));
        usage.fragmentation = unused.fold(0, u64::saturating_add);
        usage
    }

    /// All positions in at most `count` columns of about equal length.
    pub fn columns(&self, count: usize) -> Vec<Column> {
        let positions = self.in_use.len();
        let count = positions.min(count);
        let column = |n: usize| {
            let [first, end] = [n, n + 1].map(|n| (n * positions / count) as Time);
            let position = self.peak_within(first, end);
            Column { first, position, bytes: self.in_use[position as usize] }
        };
        (0..count).map(column).collect()
    }

    /// Bytes in use at the peak.
    pub fn at_peak(&self) -> Bytes {
        self.in_use.get(self.peak as usize).copied().unwrap_or_default()
    }

    /// The first position from `start` to `end`, the latter excluded, at which most bytes are in use.
    pub fn peak_within(&self, start: Time, end: Time) -> Time {
        let times = start..end.min(self.in_use.len() as Time);
        times.min_by_key(|&time| std::cmp::Reverse(sum(&self.in_use[time as usize]))).unwrap_or(start)
    }
}

/// Bytes of all categories.
pub fn sum(bytes: &Bytes) -> u64 {
    bytes.iter().fold(0, |sum, &own| sum.saturating_add(own))
}

fn allocated(allocations: &[Allocation]) -> Bytes {
    let mut bytes = Bytes::default();
    for allocation in allocations {
        let own = &mut bytes[allocation.category() as usize];
        *own = own.saturating_add(allocation.size);
    }
    bytes
}

impl Allocation {
    pub fn category(&self) -> Category {
        match self.kind {
            AllocationKind::Parameter { .. } => Category::Parameter,
            AllocationKind::Constant => Category::Constant,
            AllocationKind::ThreadLocal => Category::ThreadLocal,
            _ if self.is_result => Category::Output,
            _ => Category::Temporary,
        }
    }
}
