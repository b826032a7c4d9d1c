//! Counts of sectors, lines and bytes of an access.

use super::SECTOR_BYTES;

/// Requests and the memory they move. A request is one instruction of one warp.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub requests: u64,
    /// 32-byte sectors, each counted once per request.
    pub sectors: u64,
    /// 128-byte lines, each counted once per request.
    pub lines: u64,
    /// The fewest sectors that could hold the bytes that the lanes of each request use.
    pub ideal_sectors: u64,
    /// Bytes that the lanes use, each counted once per request.
    pub bytes_used: u64,
}

impl Counts {
    pub fn bytes_moved(&self) -> u64 {
        self.sectors.saturating_mul(SECTOR_BYTES)
    }

    pub fn sectors_per_request(&self) -> f64 {
        ratio(self.sectors, self.requests)
    }

    pub fn ideal_sectors_per_request(&self) -> f64 {
        ratio(self.ideal_sectors, self.requests)
    }

    /// Bytes used over bytes moved, from 0 to 1; 1 for an access that moves nothing.
    pub fn efficiency(&self) -> f64 {
        if self.sectors == 0 { 1.0 } else { ratio(self.bytes_used, self.bytes_moved()) }
    }

    /// Sectors moved over the ideal number of sectors; 1 for an access that moves nothing.
    pub fn excess(&self) -> f64 {
        if self.ideal_sectors == 0 { 1.0 } else { ratio(self.sectors, self.ideal_sectors) }
    }

    /// Adds `times` such requests.
    pub(super) fn add(&mut self, other: Counts, times: u64) {
        let sum = |a: u64, b: u64| a.saturating_add(b.saturating_mul(times));
        *self = Counts {
            requests: sum(self.requests, other.requests),
            sectors: sum(self.sectors, other.sectors),
            lines: sum(self.lines, other.lines),
            ideal_sectors: sum(self.ideal_sectors, other.ideal_sectors),
            bytes_used: sum(self.bytes_used, other.bytes_used),
        };
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(mut self, other: Counts) -> Counts {
        self.add(other, 1);
        self
    }

    /// Extrapolates the counts of `part` of the requests to `whole` of them.
    #[must_use]
    pub(super) fn scaled(self, whole: u64, part: u64) -> Counts {
        let scale = |n: u64| {
            let scaled = u128::from(n) * u128::from(whole) / u128::from(part.max(1));
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        Counts {
            requests: scale(self.requests),
            sectors: scale(self.sectors),
            lines: scale(self.lines),
            ideal_sectors: scale(self.ideal_sectors),
            bytes_used: scale(self.bytes_used),
        }
    }
}

fn ratio(a: u64, b: u64) -> f64 {
    if b == 0 { 0.0 } else { a as f64 / b as f64 }
}
