//! The shared memory of a block, with the accesses since the last barrier.

/// The last writer and readers of a grain (the narrowest access).
#[derive(Debug, Clone, Copy, Default)]
struct Trace {
    /// The last block that wrote it.
    block: u32,
    write_epoch: u32,
    writer: u32,
    read_epoch: u32,
    /// A thread, or [`MANY`].
    reader: u32,
}

const MANY: u32 = u32::MAX;

/// A defect of an access, which happens all the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Amiss {
    /// Another thread wrote or read it since the last barrier.
    Race { other: u32 },
    /// No thread of the block wrote it.
    Unknown,
}

pub(crate) struct Shared {
    pub(crate) bytes: Vec<u8>,
    traces: Vec<Trace>,
    /// The grain as an exponent of two, and the grain minus one.
    shift: u32,
    round: u64,
    /// Counters of blocks, and of barriers in all of them, from 1.
    block: u32,
    epoch: u32,
    /// Whether races within a warp count; not if the kernel orders its threads with `bar.warp.sync`.
    within_warps: bool,
}

#[inline]
fn is_other(within_warps: bool, one: u32, other: u32) -> bool {
    if within_warps { one != other } else { one / 32 != other / 32 }
}

impl Shared {
    pub(crate) fn new(size: u64, grain: u64, within_warps: bool) -> Shared {
        let grain = grain.max(1).next_power_of_two();
        let traces = vec![Trace::default(); size.div_ceil(grain) as usize];
        Shared {
            bytes: vec![0; size as usize],
            traces,
            shift: grain.trailing_zeros(),
            round: grain - 1,
            block: 0,
            epoch: 0,
            within_warps,
        }
    }

    pub(crate) fn next_block(&mut self) {
        self.block = self.block.wrapping_add(1);
        self.next_epoch();
    }

    pub(crate) fn next_epoch(&mut self) {
        self.epoch = self.epoch.wrapping_add(1);
    }

    /// Records a read of `len` bytes inside the memory.
    #[inline]
    pub(crate) fn note_read(&mut self, at: u64, len: u64, thread: u32) -> Option<Amiss> {
        let mut amiss = None;
        let (block, epoch, within) = (self.block, self.epoch, self.within_warps);
        let places = (at >> self.shift) as usize..((at + len + self.round) >> self.shift) as usize;
        for trace in &mut self.traces[places] {
            if trace.block != block {
                amiss = amiss.or(Some(Amiss::Unknown));
            } else if trace.write_epoch == epoch && is_other(within, trace.writer, thread) {
                amiss = amiss.or(Some(Amiss::Race { other: trace.writer }));
            }
            let is_first = trace.read_epoch != epoch;
            trace.reader = if is_first || trace.reader == thread { thread } else { MANY };
            trace.read_epoch = epoch;
        }
        amiss
    }

    /// Records a write of `len` bytes inside the memory; `is_atomic` ones do not race with each other.
    #[inline]
    pub(crate) fn note_write(&mut self, at: u64, len: u64, thread: u32, is_atomic: bool) -> Option<Amiss> {
        let mut amiss = None;
        let (block, epoch, within) = (self.block, self.epoch, self.within_warps);
        let places = (at >> self.shift) as usize..((at + len + self.round) >> self.shift) as usize;
        for trace in &mut self.traces[places] {
            if !is_atomic {
                if trace.write_epoch == epoch && is_other(within, trace.writer, thread) {
                    amiss = Some(Amiss::Race { other: trace.writer });
                }
                if trace.read_epoch == epoch
                    && (trace.reader == MANY || is_other(within, trace.reader, thread))
                {
                    amiss = Some(Amiss::Race { other: trace.reader });
                }
            }
            trace.block = block;
            if !is_atomic {
                trace.write_epoch = epoch;
                trace.writer = thread;
            }
        }
        amiss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_touched_it() {
        let mut shared = Shared::new(64, 4, true);
        shared.next_block();
        assert_eq!(shared.note_read(0, 4, 0), Some(Amiss::Unknown));
        assert_eq!(shared.note_write(4, 8, 1, false), None);
        assert_eq!(shared.note_read(8, 4, 1), None);
        assert_eq!(shared.note_read(8, 4, 2), Some(Amiss::Race { other: 1 }));
        shared.next_epoch();
        assert_eq!(shared.note_read(8, 4, 2), None);
        assert_eq!(shared.note_write(8, 4, 2, false), None);
        assert_eq!(shared.note_write(8, 4, 1, false), Some(Amiss::Race { other: 2 }));
        shared.next_epoch();
        assert_eq!(shared.note_write(12, 4, 5, true), None);
        assert_eq!(shared.note_write(12, 4, 6, true), None);
        shared.next_block();
        assert_eq!(shared.note_read(8, 4, 2), Some(Amiss::Unknown));
    }
}
