//! When the values of an allocation are alive.

use crate::dataflow::ValueId;
use crate::live_ranges::LiveRange;

/// The ranges of values in one allocation, by their start. They do not overlap, except where one ends and the next one starts.
#[derive(Debug, Default)]
pub(super) struct Taken {
    rows: Vec<(LiveRange, ValueId)>,
}

impl Taken {
    pub(super) fn insert(&mut self, range: LiveRange, value: ValueId) {
        let at = self.rows.partition_point(|&row| row < (range, value));
        self.rows.insert(at, (range, value));
    }

    pub(super) fn ranges(&self) -> impl Iterator<Item = LiveRange> + '_ {
        self.rows.iter().map(|&(range, _)| range)
    }

    /// The values that are alive at some time of `range`.
    pub(super) fn overlapping(&self, range: LiveRange) -> impl Iterator<Item = ValueId> + '_ {
        // Of those that start earlier, few reach into the range, since values do not overlap.
        let (before, behind) = self.rows.split_at(self.rows.partition_point(|row| row.0.start < range.start));
        let before = before.iter().rev().take_while(move |row| row.0.end >= range.start);
        let within = behind.iter().take_while(move |row| row.0.start <= range.end);
        before.chain(within).map(|&(_, value)| value)
    }
}
