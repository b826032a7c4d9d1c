//! Places for intervals of time in one block of memory: the largest or the longest first, each in the gap that it fits
//! best.
//!
//! Source: `GlobalDecreasingSizeBestFitHeap`, `service/heap_simulator/heap_simulator.cc`.

/// Memory that is taken from one event to another. Every event has a time of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Interval {
    /// Bytes.
    pub(crate) size: u64,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Further intervals at the same place, the first one excluded.
    pub(crate) others: Vec<(u32, u32)>,
}

/// Which intervals are placed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum First {
    Largest,
    Longest,
}

/// Offsets of the intervals, and the bytes of the block.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) offsets: Vec<u64>,
    pub(crate) size: u64,
}

/// The smaller of both results; [`First::Largest`] where they are equal.
pub(crate) fn place(intervals: &[Interval], alignment: u64) -> Placed {
    let [largest, longest] =
        [First::Largest, First::Longest].map(|first| place_by(intervals, alignment, first));
    if longest.size < largest.size { longest } else { largest }
}

pub(crate) fn place_by(intervals: &[Interval], alignment: u64, first: First) -> Placed {
    let mut order: Vec<u32> = (0..intervals.len() as u32).collect();
    order.sort_by_key(|&i| {
        let interval = &intervals[i as usize];
        let own = interval.end - interval.start;
        let starts = interval.others.iter().map(|other| other.0).chain([interval.start]);
        let ends = interval.others.iter().map(|other| other.1).chain([interval.end]);
        let whole = ends.max().unwrap_or(0) - starts.min().unwrap_or(0);
        let keys = match first {
            First::Largest => (interval.size, u64::from(own)),
            First::Longest => (u64::from(whole), interval.size),
        };
        (std::cmp::Reverse(keys), i)
    });
    let ends = intervals.iter().flat_map(|i| i.others.iter().map(|other| other.1).chain([i.end])).max();
    let mut taken = Taken::new(ends.map_or(0, |end| end + 1));
    let mut placed = Placed { offsets: vec![0; intervals.len()], size: 0 };
    // The placed intervals by offset, and per interval the last one that met it.
    let mut by_offset: Vec<u32> = Vec::new();
    let mut met_by = vec![u32::MAX; intervals.len()];
    let mut met = Vec::new();
    for i in order {
        cancel::tick();
        let interval = &intervals[i as usize];
        if interval.size == 0 {
            continue;
        }
        met.clear();
        let times = || interval.others.iter().copied().chain([(interval.start, interval.end)]);
        for (start, end) in times() {
            taken.each_within(start, end, |other| {
                if std::mem::replace(&mut met_by[other as usize], i) != i {
                    met.push(other);
                }
            });
        }
        let offset_of = |other: &u32| placed.offsets[*other as usize];
        // Of many it is faster to skip the others than to sort.
        let offset = if met.len().saturating_mul(8) > by_offset.len() {
            let met = by_offset.iter().filter(|&&other| met_by[other as usize] == i);
            best_fit(
                met.map(|other| (offset_of(other), intervals[*other as usize].size)),
                interval.size,
                alignment,
            )
        } else {
            met.sort_unstable_by_key(offset_of);
            best_fit(
                met.iter().map(|other| (offset_of(other), intervals[*other as usize].size)),
                interval.size,
                alignment,
            )
        };
        let at = by_offset.partition_point(|other| offset_of(other) < offset);
        by_offset.insert(at, i);
        placed.offsets[i as usize] = offset;
        placed.size = placed.size.max(offset + interval.size);
        for (start, end) in times() {
            taken.add(start, end, i);
        }
    }
    placed
}

/// The start of the smallest gap between the used chunks that holds `size` bytes; the first of equal ones. Chunks are
/// given as offset and size, by offset.
fn best_fit(used: impl Iterator<Item = (u64, u64)>, size: u64, alignment: u64) -> u64 {
    let mut best: Option<(u64, u64)> = None;
    let mut start = 0u64;
    for (from, bytes) in used {
        let is_better = |&gap: &u64| gap >= size && best.is_none_or(|(own, _)| gap < own);
        if let Some(gap) = from.checked_sub(start).filter(is_better) {
            best = Some((gap, start));
        }
        start = start.max((from + bytes).next_multiple_of(alignment));
    }
    best.map_or(start, |(_, start)| start)
}

/// Intervals by their times. A segment tree: an interval is stored at the nodes that its times consist of.
struct Taken {
    leaves: usize,
    /// Intervals whose times cover the node.
    covering: Vec<Vec<u32>>,
    /// Whether a node below has intervals.
    is_used_below: Vec<bool>,
}

impl Taken {
    fn new(times: u32) -> Taken {
        let leaves = (times as usize).next_power_of_two().max(1);
        Taken { leaves, covering: vec![Vec::new(); 2 * leaves], is_used_below: vec![false; 2 * leaves] }
    }

    /// The nodes that make up the times from `start` to `end`, both included.
    fn nodes(&self, start: u32, end: u32) -> impl Iterator<Item = usize> + use<> {
        let (mut low, mut high) = (start as usize + self.leaves, end as usize + self.leaves + 1);
        let mut nodes = Vec::new();
        while low < high {
            if low % 2 == 1 {
                nodes.push(low);
                low += 1;
            }
            if high % 2 == 1 {
                high -= 1;
                nodes.push(high);
            }
            low /= 2;
            high /= 2;
        }
        nodes.into_iter()
    }

    fn add(&mut self, start: u32, end: u32, interval: u32) {
        for node in self.nodes(start, end) {
            self.covering[node].push(interval);
            let mut above = node / 2;
            while above > 0 && !self.is_used_below[above] {
                self.is_used_below[above] = true;
                above /= 2;
            }
        }
    }

    /// Calls `each` for all intervals with a time from `start` to `end`; several times for some.
    fn each_within(&self, start: u32, end: u32, mut each: impl FnMut(u32)) {
        let mut open = Vec::new();
        for node in self.nodes(start, end) {
            let mut above = node / 2;
            while above > 0 {
                self.covering[above].iter().copied().for_each(&mut each);
                above /= 2;
            }
            open.push(node);
            while let Some(node) = open.pop() {
                self.covering[node].iter().copied().for_each(&mut each);
                if node < self.leaves && self.is_used_below[node] {
                    open.extend([2 * node, 2 * node + 1]);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn interval(size: u64, start: u32, end: u32) -> Interval {
        Interval { size, start, end, others: Vec::new() }
    }

    #[test]
    fn a_gap_is_filled_before_the_block_grows() {
        let intervals = [interval(512, 0, 9), interval(256, 1, 3), interval(256, 4, 8), interval(100, 2, 5)];
        let placed = place_by(&intervals, 256, First::Largest);
        assert_eq!(placed.offsets, [0, 512, 512, 768]);
        assert_eq!(placed.size, 868);
    }

    /// Chunks that are taken at the same time never overlap, and no block is smaller than what is alive at one time.
    #[test]
    fn places_are_disjoint() {
        let mut random = random::Rng::new(7);
        for _ in 0..200 {
            let count = 1 + random.index(60);
            let mut time = || random.index(100) as u32;
            let mut intervals = Vec::new();
            for _ in 0..count {
                let (a, b) = (time(), time());
                let others =
                    if time() < 20 { vec![(a.max(b) + 1, a.max(b) + 1 + time())] } else { Vec::new() };
                intervals.push(Interval {
                    size: u64::from(time() * 37),
                    start: a.min(b),
                    end: a.max(b),
                    others,
                });
            }
            for first in [First::Largest, First::Longest] {
                let placed = place_by(&intervals, 64, first);
                let times =
                    |i: &Interval| i.others.iter().copied().chain([(i.start, i.end)]).collect::<Vec<_>>();
                for (a, one) in intervals.iter().enumerate() {
                    assert_eq!(placed.offsets[a] % 64, 0);
                    assert!(one.size == 0 || placed.offsets[a] + one.size <= placed.size);
                    for (b, other) in intervals.iter().enumerate().skip(a + 1) {
                        let meets =
                            times(one).iter().any(|x| times(other).iter().any(|y| x.0 <= y.1 && y.0 <= x.1));
                        let overlaps = placed.offsets[a] < placed.offsets[b] + other.size
                            && placed.offsets[b] < placed.offsets[a] + one.size;
                        assert!(!(meets && overlaps && one.size > 0 && other.size > 0));
                    }
                }
            }
        }
    }
}
