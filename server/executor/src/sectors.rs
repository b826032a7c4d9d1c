//! Counts memory traffic: the 32-byte sectors that each request of a warp touches.

/// The bytes of a sector, the unit of memory transfers.
pub const SECTOR: u64 = 32;

/// All requests of one instruction to one buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traffic {
    /// The line of the instruction in the text.
    pub line: u32,
    pub buffer: usize,
    pub is_store: bool,
    pub is_atomic: bool,
    /// The bytes that one thread requests.
    pub bytes: u64,
    /// The number of requests. A warp's execution of the instruction is one request.
    pub requests: u64,
    /// The sectors of all requests together, each counted once per request.
    pub sectors: u64,
    /// The sectors of the smallest and the largest request.
    pub fewest: u64,
    pub most: u64,
    /// The number of participating threads, over all requests.
    pub threads: u64,
}

/// The number of sectors that accesses of `bytes` at `addresses` touch, each counted once.
pub(crate) fn count(addresses: &mut [u64], bytes: u64) -> u64 {
    addresses.sort_unstable();
    let mut sectors = 0;
    let mut next = 0;
    for &address in addresses.iter() {
        let (first, last) = (address / SECTOR, (address + bytes.max(1) - 1) / SECTOR);
        let from = first.max(next);
        sectors += (last + 1).saturating_sub(from);
        next = next.max(last + 1);
    }
    sectors
}

#[cfg(test)]
mod tests {
    use super::count;

    #[test]
    fn sectors_of_requests() {
        let each = |stride: u64, bytes| {
            count(&mut (0..32).map(|lane| 4096 + lane * stride).collect::<Vec<_>>(), bytes)
        };
        assert_eq!((each(4, 4), each(16, 16), each(0, 4), each(32, 4), each(64, 8)), (4, 16, 1, 32, 32));
        assert_eq!(each(2, 2), 2);
        assert_eq!(count(&mut [30], 4), 2);
    }
}
