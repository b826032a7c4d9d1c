//! The memory accesses of a warp: addresses, spaces, pages, and the sectors of a request.

use super::block::Machine;
use super::memory::{PAGE, Page, Refused};
use super::names::{GLOBAL, LOCAL, SHARED};
use super::problem::Problem;
use super::program::{Access, Base, Space};
use super::sectors::{self, Traffic};
use super::warp::Warp;

/// The most bytes that a thread moves with one instruction.
pub(crate) const WIDEST: usize = 64;

pub(crate) fn in_page(address: u64) -> usize {
    (address % PAGE) as usize
}

/// Calls `f` with each set lane.
pub(crate) fn each_lane(mut lanes: u32, mut f: impl FnMut(u32)) {
    while lanes != 0 {
        f(lanes.trailing_zeros());
        lanes &= lanes - 1;
    }
}

pub(crate) fn lanes_of(mut lanes: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        (lanes != 0).then(|| {
            let lane = lanes.trailing_zeros();
            lanes &= lanes - 1;
            lane
        })
    })
}

impl Machine<'_, '_> {
    pub(crate) fn addresses(&mut self, warp: &Warp, access: &Access, step: u32, active: u32) -> [u64; 32] {
        let offset = access.offset as u64;
        match access.base {
            Base::Double(slot) => {
                self.unknown_register(Warp::unknown(&warp.known_doubles, slot, active), step, warp);
                warp.double(slot).map(|base| base.wrapping_add(offset))
            }
            Base::Word(slot) => {
                self.unknown_register(Warp::unknown(&warp.known_words, slot, active), step, warp);
                warp.word(slot).map(|base| u64::from(base).wrapping_add(offset))
            }
        }
    }

    /// The state space of a generic address, and the address in it.
    pub(crate) fn resolve(&self, space: Space, address: u64) -> (Space, u64) {
        match space {
            Space::Generic if address >= GLOBAL => (Space::Global, address),
            Space::Generic if address >= LOCAL => (Space::Local, address - LOCAL),
            Space::Generic if address >= SHARED => (Space::Shared, address - SHARED),
            Space::Generic => (Space::Global, address),
            // A generic address equals the state-space address in global memory only, but both refer to the
            // same bytes.
            Space::Shared if (SHARED..LOCAL).contains(&address) => (Space::Shared, address - SHARED),
            known => (known, address),
        }
    }

    pub(crate) fn outside(&self, step: u32, warp: &Warp, lane: u32, bytes: u64, why: Refused) -> Problem {
        let (code, words) = match why {
            Refused::TooMuch => ("memory-limit", "too much memory is touched".to_owned()),
            Refused::Outside(None) => ("out-of-bounds", format!("{bytes} bytes where no buffer is")),
            Refused::Outside(Some((buffer, size))) => {
                let words = format!("{bytes} bytes outside of buffer {buffer}, which has {size}");
                ("out-of-bounds", words)
            }
        };
        self.problem(code, step, warp, 1 << lane, words)
    }

    pub(crate) fn aligned(
        &self,
        step: u32,
        warp: &Warp,
        lane: u32,
        address: u64,
        bytes: u64,
    ) -> Result<(), Problem> {
        if address.is_multiple_of(bytes) {
            return Ok(());
        }
        let words = format!("{bytes} bytes at the address {address:#x}, which is no multiple of that");
        Err(self.problem("misaligned", step, warp, 1 << lane, words))
    }

    /// The thread-local bytes of a lane.
    pub(crate) fn local(
        &mut self,
        step: u32,
        warp: &Warp,
        lane: u32,
        address: u64,
        bytes: u64,
    ) -> Result<&mut [u8], Problem> {
        let own = self.program.local_bytes;
        if address.checked_add(bytes).is_none_or(|end| end > own) {
            let words = format!("{bytes} bytes outside of the thread's own memory, which has {own}");
            return Err(self.problem("out-of-bounds", step, warp, 1 << lane, words));
        }
        let at = (u64::from(warp.first + lane) * own + address) as usize;
        Ok(&mut self.local[at..at + bytes as usize])
    }

    pub(crate) fn shared_range(
        &self,
        step: u32,
        warp: &Warp,
        lane: u32,
        address: u64,
        bytes: u64,
    ) -> Result<usize, Problem> {
        let size = self.shared.bytes.len() as u64;
        if address.checked_add(bytes).is_none_or(|end| end > size) {
            let words = format!("{bytes} bytes outside of shared memory, which has {size}");
            return Err(self.problem("out-of-bounds", step, warp, 1 << lane, words));
        }
        Ok(address as usize)
    }

    /// The page that contains all accesses of a request, if all are aligned: the common case of global
    /// memory.
    #[inline]
    pub(crate) fn one_page(
        &mut self,
        addresses: &[u64; 32],
        access: &Access,
        bytes: u64,
        active: u32,
    ) -> Option<&mut Page> {
        if !matches!(access.space, Space::Global | Space::Generic) {
            return None;
        }
        let (mut low, mut high, mut all) = (u64::MAX, 0, 0);
        for (lane, &address) in addresses.iter().enumerate() {
            if active >> lane & 1 == 1 {
                low = low.min(address);
                high = high.max(address);
                all |= address;
            }
        }
        let is_one = low >= GLOBAL && low / PAGE == high / PAGE && all & (bytes - 1) == 0;
        if is_one { self.memory.page(high, bytes).ok().map(|(page, _)| page) } else { None }
    }

    /// Whether all accesses of a request are aligned and inside shared memory, by shared-space addresses.
    #[inline]
    pub(crate) fn is_plainly_shared(
        &self,
        addresses: &[u64; 32],
        access: &Access,
        bytes: u64,
        active: u32,
    ) -> bool {
        let size = self.shared.bytes.len() as u64;
        access.space == Space::Shared
            && lanes_of(active).all(|lane| {
                let address = addresses[lane as usize];
                address & (bytes - 1) == 0 && address < size && bytes <= size - address
            })
    }

    /// Copies the arguments or results of a call, for the calling lanes.
    pub(crate) fn copy_local(&mut self, warp: &Warp, copies: (u32, u32), lanes: u32) {
        let own = self.program.local_bytes;
        for copy in &self.program.copies[copies.0 as usize..copies.1 as usize] {
            each_lane(lanes, |lane| {
                let base = u64::from(warp.first + lane) * own;
                let from = (base + copy.from) as usize;
                self.local.copy_within(from..from + copy.bytes as usize, (base + copy.to) as usize);
            });
        }
    }

    /// Counts the sectors of a request, per buffer.
    pub(crate) fn trace(
        &mut self,
        addresses: &[u64; 32],
        access: &Access,
        bytes: u64,
        step: u32,
        active: u32,
        (is_store, is_atomic): (bool, bool),
    ) {
        if !self.launch.traces || !matches!(access.space, Space::Global | Space::Generic) {
            return;
        }
        let mut left = active;
        while left != 0 {
            let Some((buffer, _)) = self.memory.place(addresses[left.trailing_zeros() as usize]) else {
                left &= left - 1;
                continue;
            };
            let mut own = 0u32;
            let mut list = Vec::with_capacity(32);
            for lane in lanes_of(left) {
                let address = addresses[lane as usize];
                if self.memory.place(address).is_some_and(|(number, _)| number == buffer) {
                    own |= 1 << lane;
                    list.push(address);
                }
            }
            left &= !own;
            let sectors = sectors::count(&mut list, bytes);
            let line = self.program.places[step as usize].line;
            let traffic = self.traffic.entry((step, buffer)).or_insert(Traffic {
                line,
                buffer,
                is_store,
                is_atomic,
                bytes,
                requests: 0,
                sectors: 0,
                fewest: u64::MAX,
                most: 0,
                threads: 0,
            });
            traffic.requests += 1;
            traffic.sectors += sectors;
            traffic.fewest = traffic.fewest.min(sectors);
            traffic.most = traffic.most.max(sectors);
            traffic.threads += u64::from(own.count_ones());
        }
    }
}
