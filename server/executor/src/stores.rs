//! Stores of a warp.

use super::accesses::{WIDEST, in_page, lanes_of};
use super::block::Machine;
use super::problem::Problem;
use super::program::{Access, Cell, Space};
use super::warp::Warp;

/// Calls `put` with each active lane and the value of its register.
#[inline]
fn each_value(warp: &Warp, cell: Cell, active: u32, mut put: impl FnMut(u32, u64)) {
    match cell {
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

impl Machine<'_, '_> {
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
                let put = |lane: u32, value: u64| {
                    let at = in_page(addresses[lane as usize]) + k * width;
                    page.bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                };
                each_value(warp, *cell, active, put);
            }
            lanes_of(active).for_each(|lane| page.mark(in_page(addresses[lane as usize]), bytes as usize));
            return Ok(());
        }
        if self.is_plainly_shared(&addresses, &access, bytes, active) {
            for (k, cell) in cells.iter().enumerate() {
                let put = |lane: u32, value: u64| {
                    let at = addresses[lane as usize] as usize + k * width;
                    self.shared.bytes[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                };
                each_value(warp, *cell, active, put);
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
}
