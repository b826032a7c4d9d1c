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

/// Intervals above this number are placed in both orders at once, on two threads.
const MANY: usize = 1000;

/// The smaller of both results; [`First::Largest`] where they are equal.
pub(crate) fn place(intervals: &[Interval], alignment: u64) -> Placed {
    let by = |first| place_by(intervals, alignment, first);
    let [largest, longest] = match intervals.len() > MANY {
        true => cancel::both(|| by(First::Largest), || by(First::Longest)),
        false => [by(First::Largest), by(First::Longest)],
    };
    if longest.size < largest.size { longest } else { largest }
}

pub(crate) fn place_by(intervals: &[Interval], alignment: u64, first: First) -> Placed {
    let mut order: Vec<u32> = (0..intervals.len() as u32).collect();
    order.sort_by_cached_key(|&i| {
        let interval = &intervals[i as usize];
        let (start, end) = interval.hull();
        let keys = match first {
            First::Largest => (interval.size, u64::from(interval.end - interval.start)),
            First::Longest => (u64::from(end - start), interval.size),
        };
        (std::cmp::Reverse(keys), i)
    });
    let mut offsets = vec![0; intervals.len()];
    let mut chunks = Chunks::new(intervals);
    for i in order {
        cancel::check();
        let interval = &intervals[i as usize];
        if interval.size > 0 {
            let offset = chunks.best_fit(interval, alignment);
            chunks.add(i, offset);
            offsets[i as usize] = offset;
        }
    }
    Placed { offsets, size: chunks.size }
}

impl Interval {
    fn times(&self) -> impl Iterator<Item = (u32, u32)> {
        std::iter::once((self.start, self.end)).chain(self.others.iter().copied())
    }

    /// The first and the last time.
    fn hull(&self) -> (u32, u32) {
        self.times().fold((self.start, self.end), join)
    }

    fn meets(&self, other: &Interval) -> bool {
        self.times().any(|one| other.times().any(|other| touch(one, other)))
    }
}

/// The intervals that have a place, by offset and start. All are compared with each new one: most values of a training step
/// are alive together, so that an index by time would skip few. In blocks, because those of one offset follow each other in
/// time and most blocks of them are skipped.
struct Chunks<'a> {
    intervals: &'a [Interval],
    blocks: Vec<Block>,
    size: u64,
}

/// Some intervals in order, at least one, and the times that hold all of them.
struct Block {
    hull: (u32, u32),
    rows: Vec<Chunk>,
}

#[derive(Clone, Copy)]
struct Chunk {
    offset: u64,
    end: u64,
    hull: (u32, u32),
    interval: u32,
    /// Whether the interval has gaps.
    has_others: bool,
}

/// A block is split at twice this length.
const BLOCK: usize = 64;

impl<'a> Chunks<'a> {
    fn new(intervals: &'a [Interval]) -> Chunks<'a> {
        Chunks { intervals, blocks: Vec::new(), size: 0 }
    }

    fn best_fit(&self, interval: &Interval, alignment: u64) -> u64 {
        let hull = interval.hull();
        let has_others = !interval.others.is_empty();
        let blocks = self.blocks.iter().filter(|block| touch(block.hull, hull));
        let met = blocks.flat_map(|block| &block.rows).filter(|row| {
            touch(row.hull, hull)
                && (!(has_others || row.has_others) || interval.meets(&self.intervals[row.interval as usize]))
        });
        best_fit(met.map(|row| (row.offset, row.end)), interval.size, alignment)
    }

    fn add(&mut self, i: u32, offset: u64) {
        let interval = &self.intervals[i as usize];
        let end = offset.saturating_add(interval.size);
        let has_others = !interval.others.is_empty();
        let new = Chunk { offset, end, hull: interval.hull(), interval: i, has_others };
        self.size = self.size.max(end);
        let key = |row: &Chunk| (row.offset, row.hull.0);
        let behind = self.blocks.partition_point(|block| key(&block.rows[0]) <= key(&new));
        let at = behind.saturating_sub(1);
        let Some(block) = self.blocks.get_mut(at) else {
            return self.blocks.push(Block::of(vec![new]));
        };
        let row = block.rows.partition_point(|row| key(row) <= key(&new));
        block.rows.insert(row, new);
        block.hull = join(block.hull, new.hull);
        if block.rows.len() == 2 * BLOCK {
            let second = block.rows.split_off(BLOCK);
            *block = Block::of(std::mem::take(&mut block.rows));
            self.blocks.insert(at + 1, Block::of(second));
        }
    }
}

impl Block {
    fn of(rows: Vec<Chunk>) -> Block {
        let hull = rows.iter().map(|row| row.hull).reduce(join).unwrap_or_default();
        Block { hull, rows }
    }
}

/// Whether two times, ends included, have one in common.
fn touch(one: (u32, u32), other: (u32, u32)) -> bool {
    one.0 <= other.1 && other.0 <= one.1
}

fn join(one: (u32, u32), other: (u32, u32)) -> (u32, u32) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// The start of the smallest gap between the used chunks that holds `size` bytes; the first of equal ones. Chunks are
/// given by their first byte and the byte behind them, in the order of the first.
fn best_fit(used: impl Iterator<Item = (u64, u64)>, size: u64, alignment: u64) -> u64 {
    let mut best: Option<(u64, u64)> = None;
    let mut start = 0u64;
    for (from, to) in used {
        let is_better = |&gap: &u64| gap >= size && best.is_none_or(|(own, _)| gap < own);
        if let Some(gap) = from.checked_sub(start).filter(is_better) {
            best = Some((gap, start));
        }
        start = start.max(to.checked_next_multiple_of(alignment).unwrap_or(u64::MAX));
    }
    best.map_or(start, |(_, start)| start)
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
