//! Loads of a warp.

use super::accesses::{WIDEST, in_page, lanes_of};
use super::block::Machine;
use super::problem::Problem;
use super::program::{Access, Cell, Space};
use super::warp::Warp;

/// The integer in these bytes.
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

/// Fills a register of the active lanes.
#[inline]
fn fill(warp: &mut Warp, cell: Cell, active: u32, from: impl Fn(u32) -> u64) {
    match cell {
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

impl Machine<'_, '_> {
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
                fill(warp, *cell, active, from);
            }
            if unknown != 0 {
                self.finding("uninitialised-global", step, warp, unknown, || {
                    "reads uninitialised global memory".to_owned()
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
                fill(warp, *cell, active, from);
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
                                "reads uninitialised global memory".to_owned()
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
}
