//! Atomic updates, lane by lane from the lowest.

use syntax::hlo::float_format::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};

use super::accesses::each_lane;
use super::block::Machine;
use super::floats::{larger, put, smaller};
use super::problem::Problem;
use super::program::*;
use super::warp::Warp;

impl Machine<'_, '_> {
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn atomic(
        &mut self,
        warp: &mut Warp,
        access: Access,
        (update, kind): (Update, Kind),
        to: (u32, u32),
        swap: Slot,
        step: u32,
        active: u32,
    ) -> Result<(), Problem> {
        let program = self.program;
        let values = &program.cells[access.cells.0 as usize..access.cells.1 as usize];
        let results = &program.cells[to.0 as usize..to.1 as usize];
        let width = usize::from(access.width);
        let bytes = (width * values.len()) as u64;
        let addresses = self.addresses(warp, &access, step, active);
        self.trace(&addresses, &access, bytes, step, active, (true, true));
        for cell in values {
            let unknown = match *cell {
                Cell::Word(slot, _) => Warp::unknown(&warp.known_words, slot, active),
                Cell::Double(slot) => Warp::unknown(&warp.known_doubles, slot, active),
                Cell::Nowhere => 0,
            };
            self.unknown_register(unknown, step, warp);
        }
        let mut problem = None;
        each_lane(active, |lane| {
            if problem.is_none() {
                let address = addresses[lane as usize];
                let held = (values, results, width);
                problem =
                    self.update(warp, access.space, address, held, (update, kind), swap, step, lane).err();
            }
        });
        if let Some(problem) = problem {
            return Err(problem);
        }
        for cell in results {
            match *cell {
                Cell::Word(slot, _) => warp.known_words[slot as usize] |= active,
                Cell::Double(slot) => warp.known_doubles[slot as usize] |= active,
                Cell::Nowhere => (),
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn update(
        &mut self,
        warp: &mut Warp,
        space: Space,
        address: u64,
        (values, results, width): (&[Cell], &[Cell], usize),
        (update, kind): (Update, Kind),
        swap: Slot,
        step: u32,
        lane: u32,
    ) -> Result<(), Problem> {
        let (space, address) = self.resolve(space, address);
        let bytes = (width * values.len()) as u64;
        self.aligned(step, warp, lane, address, bytes)?;
        let at = usize::try_from(lane).unwrap_or(0);
        let new = |cell: &Cell| match *cell {
            Cell::Word(slot, _) => u64::from(warp.word(slot)[at]),
            Cell::Double(slot) => warp.double(slot)[at],
            Cell::Nowhere => 0,
        };
        let operands: Vec<u64> = values.iter().map(new).collect();
        let swap = match swap {
            NOWHERE => 0,
            slot if width == 8 => warp.double(slot)[at],
            slot => u64::from(warp.word(slot)[at]),
        };
        let mut is_unknown = false;
        let mut old = [0u8; 64];
        let place: &mut [u8] = match space {
            Space::Shared => {
                let start = self.shared_range(step, warp, lane, address, bytes)?;
                let amiss = self.shared.note_write(address, bytes, warp.first + lane, true);
                self.amiss(amiss, step, warp, lane);
                &mut self.shared.bytes[start..start + bytes as usize]
            }
            Space::Local => self.local(step, warp, lane, address, bytes)?,
            _ => match self.memory.page(address, bytes) {
                Ok((page, start)) => {
                    is_unknown = !page.knows(start, bytes as usize);
                    page.mark(start, bytes as usize);
                    &mut page.bytes[start..start + bytes as usize]
                }
                Err(why) => return Err(self.outside(step, warp, lane, bytes, why)),
            },
        };
        old[..place.len()].copy_from_slice(place);
        for (part, operand) in place.chunks_exact_mut(width).zip(operands) {
            let mut held = [0u8; 8];
            held[..width].copy_from_slice(part);
            let held = u64::from_le_bytes(held);
            let result = combine(update, kind, width as u32 * 8, held, operand, swap);
            part.copy_from_slice(&result.to_le_bytes()[..width]);
        }
        if is_unknown {
            self.finding("uninitialised-global", step, warp, 1 << lane, || {
                "updates uninitialised global memory".to_owned()
            });
        }
        for (cell, part) in results.iter().zip(old.chunks_exact(width)) {
            let mut held = [0u8; 8];
            held[..width].copy_from_slice(part);
            let held = u64::from_le_bytes(held);
            match *cell {
                Cell::Word(slot, mask) => warp.words[slot as usize][at] = held as u32 & mask,
                Cell::Double(slot) => warp.doubles[slot as usize][at] = held,
                Cell::Nowhere => (),
            }
        }
        Ok(())
    }
}

/// The new memory value after updating `old` with `value`.
pub(crate) fn combine(update: Update, kind: Kind, bits: u32, old: u64, value: u64, swap: u64) -> u64 {
    let cut = |value: u64| if bits >= 64 { value } else { value & ((1 << bits) - 1) };
    let signed = |value: u64| (value << (64 - bits)) as i64 >> (64 - bits);
    let (old, value) = (cut(old), cut(value));
    match (update, kind) {
        (Update::Exchange, _) => value,
        (Update::CompareAndSwap, _) => {
            if old == value {
                cut(swap)
            } else {
                old
            }
        }
        (_, Kind::F32) => {
            u64::from(float(update, f32::from_bits(old as u32), f32::from_bits(value as u32)).to_bits())
        }
        (Update::Add, Kind::F64) => (f64::from_bits(old) + f64::from_bits(value)).to_bits(),
        (Update::Min, Kind::F64) => f64::from_bits(old).min(f64::from_bits(value)).to_bits(),
        (_, Kind::F64) => f64::from_bits(old).max(f64::from_bits(value)).to_bits(),
        (_, Kind::F16 | Kind::Bf16) => half(update, kind, old, value),
        (_, Kind::F16x2 | Kind::Bf16x2) => {
            let kind = if kind == Kind::F16x2 { Kind::F16 } else { Kind::Bf16 };
            half(update, kind, old & 0xFFFF, value & 0xFFFF)
                | half(update, kind, old >> 16, value >> 16) << 16
        }
        (Update::Add, _) => cut(old.wrapping_add(value)),
        (Update::And, _) => old & value,
        (Update::Or, _) => old | value,
        (Update::Xor, _) => old ^ value,
        (Update::Min, Kind::Signed) => cut(signed(old).min(signed(value)) as u64),
        (Update::Max, Kind::Signed) => cut(signed(old).max(signed(value)) as u64),
        (Update::Min, _) => old.min(value),
        (Update::Max, _) => old.max(value),
        (Update::Increment, _) => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        (Update::Decrement, _) => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
    }
}

fn float(update: Update, old: f32, value: f32) -> f32 {
    match update {
        Update::Add => f32::from_bits(put::<false>(old + value)),
        Update::Min => smaller(old, value),
        _ => larger(old, value),
    }
}

fn half(update: Update, kind: Kind, old: u64, value: u64) -> u64 {
    let (old, value) = (old as u32, value as u32);
    u64::from(match kind {
        Kind::F16 => f32_to_f16(float(update, f16_to_f32(old), f16_to_f32(value))),
        _ => f32_to_bf16(float(update, bf16_to_f32(old), bf16_to_f32(value))),
    })
}
