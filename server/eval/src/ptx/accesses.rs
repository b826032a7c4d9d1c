//! Loads and stores of a warp.

use super::block::Machine;
use super::memory::{PAGE, Page, Refused};
use super::names::{GLOBAL, LOCAL, SHARED};
use super::problem::Problem;
use super::program::{Access, Base, Cell, Space};
use super::sectors::{self, Traffic};
use super::warp::Warp;

/// The most bytes that a thread moves with one instruction.
const WIDEST: usize = 64;

/// The whole number that bytes hold.
#[inline]
fn value(bytes: &[u8], is_signed: bool) -> u64 {
    match *bytes {
        [a] if is_signed => a as i8 as u64,
        [a] => u64::from(a),
        [a, b] if is_signed => i16::from_le_bytes([a, b]) as u64,
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] if is_signed => i32::from_le_bytes([a, b, c, d]) as u64,
        [a, b, c, d] => u64::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => 0,
    }
}

fn in_page(address: u64) -> usize {
    (address % PAGE) as usize
}

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

    /// The page that all accesses of a request lie in, all aligned: the common case of global memory.
    #[inline]
    fn one_page(
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

    /// Whether all accesses of a request are aligned and inside of shared memory, by its own addresses.
    #[inline]
    fn is_plainly_shared(&self, addresses: &[u64; 32], access: &Access, bytes: u64, active: u32) -> bool {
        let size = self.shared.bytes.len() as u64;
        access.space == Space::Shared
            && lanes_of(active).all(|lane| {
                let address = addresses[lane as usize];
                address & (bytes - 1) == 0 && address < size && bytes <= size - address
            })
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
        if let Some(page) = self.one_page(&addresses, &access, bytes, active) {
            let mut unknown = 0;
            if !page.is_known() {
                for lane in lanes_of(active) {
                    let at = in_page(addresses[lane as usize]);
                    unknown |= u32::from(!page.knows(at, bytes as usize)) << lane;
                }
            }
            for (k, cell) in cells.iter().enumerate() {
                let from = |lane: u32| {
                    let at = in_page(addresses[lane as usize]) + k * width;
                    value(&page.bytes[at..at + width], access.is_signed)
                };
                match *cell {
                    Cell::Word(slot, mask) => {
                        let to = &mut warp.words[slot as usize];
                        lanes_of(active).for_each(|lane| to[lane as usize] = from(lane) as u32 & mask);
                        warp.known_words[slot as usize] |= active;
                    }
                    Cell::Double(slot) => {
                        let to = &mut warp.doubles[slot as usize];
                        lanes_of(active).for_each(|lane| to[lane as usize] = from(lane));
                        warp.known_doubles[slot as usize] |= active;
                    }
                    Cell::Nowhere => (),
                }
            }
            if unknown != 0 {
                self.finding("uninitialised-global", step, warp, unknown, || {
                    "reads global memory that nobody wrote".to_owned()
                });
            }
            return Ok(());
        }
        if self.is_plainly_shared(&addresses, &access, bytes, active) {
            for (k, cell) in cells.iter().enumerate() {
                let from = |lane: u32| {
                    let at = addresses[lane as usize] as usize + k * width;
                    value(&self.shared.bytes[at..at + width], access.is_signed)
                };
                match *cell {
                    Cell::Word(slot, mask) => {
                        let to = &mut warp.words[slot as usize];
                        lanes_of(active).for_each(|lane| to[lane as usize] = from(lane) as u32 & mask);
                        warp.known_words[slot as usize] |= active;
                    }
                    Cell::Double(slot) => {
                        let to = &mut warp.doubles[slot as usize];
                        lanes_of(active).for_each(|lane| to[lane as usize] = from(lane));
                        warp.known_doubles[slot as usize] |= active;
                    }
                    Cell::Nowhere => (),
                }
            }
            for lane in lanes_of(active) {
                let amiss = self.shared.note_read(addresses[lane as usize], bytes, warp.first + lane);
                if amiss.is_some() {
                    self.amiss(amiss, step, warp, lane);
                }
            }
            return Ok(());
        }
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
                let value = value(part, access.is_signed);
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
        if let Some(page) = self.one_page(&addresses, &access, bytes, active) {
            for (k, cell) in cells.iter().enumerate() {
                let mut put = |lane: u32, value: u64| {
                    let at = in_page(addresses[lane as usize]) + k * width;
                    page.bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                };
                match *cell {
                    Cell::Word(slot, _) => {
                        let from = warp.word(slot);
                        lanes_of(active).for_each(|lane| put(lane, u64::from(from[lane as usize])));
                    }
                    Cell::Double(slot) => {
                        let from = warp.double(slot);
                        lanes_of(active).for_each(|lane| put(lane, from[lane as usize]));
                    }
                    Cell::Nowhere => lanes_of(active).for_each(|lane| put(lane, 0)),
                }
            }
            lanes_of(active).for_each(|lane| page.mark(in_page(addresses[lane as usize]), bytes as usize));
            return Ok(());
        }
        if self.is_plainly_shared(&addresses, &access, bytes, active) {
            for (k, cell) in cells.iter().enumerate() {
                let mut put = |lane: u32, value: u64| {
                    let at = addresses[lane as usize] as usize + k * width;
                    self.shared.bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                };
                match *cell {
                    Cell::Word(slot, _) => {
                        let from = warp.word(slot);
                        lanes_of(active).for_each(|lane| put(lane, u64::from(from[lane as usize])));
                    }
                    Cell::Double(slot) => {
                        let from = warp.double(slot);
                        lanes_of(active).for_each(|lane| put(lane, from[lane as usize]));
                    }
                    Cell::Nowhere => lanes_of(active).for_each(|lane| put(lane, 0)),
                }
            }
            for lane in lanes_of(active) {
                let amiss = self.shared.note_write(addresses[lane as usize], bytes, warp.first + lane, false);
                if amiss.is_some() {
                    self.amiss(amiss, step, warp, lane);
                }
            }
            return Ok(());
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
