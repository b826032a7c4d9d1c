//! Loads and stores of a warp.

use super::block::Machine;
use super::memory::Refused;
use super::names::{GLOBAL, LOCAL, SHARED};
use super::problem::Problem;
use super::program::{Access, Base, Cell, Space};
use super::sectors::{self, Traffic};
use super::warp::Warp;

/// The most bytes that a thread moves with one instruction.
const WIDEST: usize = 64;

/// Calls `f` with each lane that is set.
pub(crate) fn each_lane(mut lanes: u32, mut f: impl FnMut(u32)) {
    while lanes != 0 {
        f(lanes.trailing_zeros());
        lanes &= lanes - 1;
    }
}

fn lanes_of(mut lanes: u32) -> impl Iterator<Item = u32> {
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

    /// The space of a generic address, and the address there.
    pub(crate) fn resolve(&self, space: Space, address: u64) -> (Space, u64) {
        match space {
            Space::Generic if address >= GLOBAL => (Space::Global, address),
            Space::Generic if address >= LOCAL => (Space::Local, address - LOCAL),
            Space::Generic if address >= SHARED => (Space::Shared, address - SHARED),
            Space::Generic => (Space::Global, address),
            // A generic address stands for itself in global memory only, yet both name the same bytes.
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

    /// Thread-local bytes of a lane.
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

    pub(crate) fn load(
        &mut self,
        warp: &mut Warp,
        access: Access,
        step: u32,
        active: u32,
    ) -> Result<(), Problem> {
        let cells = &self.program.cells[access.cells.0 as usize..access.cells.1 as usize];
        let width = usize::from(access.width);
        let bytes = (width * cells.len()) as u64;
        let addresses = self.addresses(warp, &access, step, active);
        self.trace(&addresses, &access, bytes, step, active, (false, false));
        let mut buffer = [0u8; WIDEST];
        for lane in lanes_of(active) {
            let (space, address) = self.resolve(access.space, addresses[lane as usize]);
            self.aligned(step, warp, lane, address, bytes)?;
            let held = &mut buffer[..bytes as usize];
            match space {
                Space::Global | Space::Generic => match self.memory.page(address, bytes) {
                    Ok((page, at)) => {
                        held.copy_from_slice(&page.bytes[at..at + bytes as usize]);
                        if !page.knows(at, bytes as usize) {
                            self.finding("uninitialised-global", step, warp, 1 << lane, || {
                                "reads global memory that nobody wrote".to_owned()
                            });
                        }
                    }
                    Err(why) => return Err(self.outside(step, warp, lane, bytes, why)),
                },
                Space::Shared => {
                    let at = self.shared_range(step, warp, lane, address, bytes)?;
                    held.copy_from_slice(&self.shared.bytes[at..at + bytes as usize]);
                    let amiss = self.shared.note_read(address, bytes, warp.first + lane);
                    if amiss.is_some() {
                        self.amiss(amiss, step, warp, lane);
                    }
                }
                Space::Local => held.copy_from_slice(self.local(step, warp, lane, address, bytes)?),
                Space::Parameter => {
                    let from = usize::try_from(address).ok();
                    let from = from.and_then(|at| self.arguments.get(at..)?.get(..bytes as usize));
                    let Some(from) = from else {
                        return Err(self.problem("out-of-bounds", step, warp, 1 << lane, "no such argument"));
                    };
                    held.copy_from_slice(from);
                }
            }
            for (cell, part) in cells.iter().zip(held.chunks_exact(width)) {
                let mut value = [0u8; 8];
                value[..width].copy_from_slice(part);
                let mut value = u64::from_le_bytes(value);
                if access.is_signed && width < 8 {
                    let unused = 64 - 8 * width as u32;
                    value = ((value << unused) as i64 >> unused) as u64;
                }
                match *cell {
                    Cell::Word(slot, mask) => warp.words[slot as usize][lane as usize] = value as u32 & mask,
                    Cell::Double(slot) => warp.doubles[slot as usize][lane as usize] = value,
                    Cell::Nowhere => (),
                }
            }
        }
        for cell in cells {
            match *cell {
                Cell::Word(slot, _) => warp.known_words[slot as usize] |= active,
                Cell::Double(slot) => warp.known_doubles[slot as usize] |= active,
                Cell::Nowhere => (),
            }
        }
        Ok(())
    }

    pub(crate) fn store(
        &mut self,
        warp: &mut Warp,
        access: Access,
        step: u32,
        active: u32,
    ) -> Result<(), Problem> {
        let cells = &self.program.cells[access.cells.0 as usize..access.cells.1 as usize];
        let width = usize::from(access.width);
        let bytes = (width * cells.len()) as u64;
        let addresses = self.addresses(warp, &access, step, active);
        self.trace(&addresses, &access, bytes, step, active, (true, false));
        for cell in cells {
            let unknown = match *cell {
                Cell::Word(slot, _) => Warp::unknown(&warp.known_words, slot, active),
                Cell::Double(slot) => Warp::unknown(&warp.known_doubles, slot, active),
                Cell::Nowhere => 0,
            };
            self.unknown_register(unknown, step, warp);
        }
        let mut buffer = [0u8; WIDEST];
        for lane in lanes_of(active) {
            let (space, address) = self.resolve(access.space, addresses[lane as usize]);
            self.aligned(step, warp, lane, address, bytes)?;
            let held = &mut buffer[..bytes as usize];
            for (cell, part) in cells.iter().zip(held.chunks_exact_mut(width)) {
                let value = match *cell {
                    Cell::Word(slot, _) => u64::from(warp.word(slot)[lane as usize]),
                    Cell::Double(slot) => warp.double(slot)[lane as usize],
                    Cell::Nowhere => 0,
                };
                part.copy_from_slice(&value.to_le_bytes()[..width]);
            }
            match space {
                Space::Global | Space::Generic | Space::Parameter => match self.memory.page(address, bytes) {
                    Ok((page, at)) => {
                        page.bytes[at..at + bytes as usize].copy_from_slice(held);
                        page.mark(at, bytes as usize);
                    }
                    Err(why) => return Err(self.outside(step, warp, lane, bytes, why)),
                },
                Space::Shared => {
                    let at = self.shared_range(step, warp, lane, address, bytes)?;
                    self.shared.bytes[at..at + bytes as usize].copy_from_slice(held);
                    let amiss = self.shared.note_write(address, bytes, warp.first + lane, false);
                    if amiss.is_some() {
                        self.amiss(amiss, step, warp, lane);
                    }
                }
                Space::Local => self.local(step, warp, lane, address, bytes)?.copy_from_slice(held),
            }
        }
        Ok(())
    }

    /// Copies of a call, for the lanes that make it.
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
