//! Instructions without control flow: each is a function of registers, or an access.

use super::block::Machine;
use super::lanes::{Doubles, Map, Words};
use super::problem::Problem;
use super::program::*;
use super::warp::Warp;

impl Machine<'_, '_> {
    #[inline]
    fn words<'w>(&mut self, warp: &'w Warp, slot: Slot, step: u32, active: u32) -> &'w Words {
        self.unknown_register(Warp::unknown(&warp.known_words, slot, active), step, warp);
        warp.word(slot)
    }

    #[inline]
    fn doubles<'w>(&mut self, warp: &'w Warp, slot: Slot, step: u32, active: u32) -> &'w Doubles {
        self.unknown_register(Warp::unknown(&warp.known_doubles, slot, active), step, warp);
        warp.double(slot)
    }

    #[inline]
    pub(crate) fn holds(&mut self, warp: &Warp, condition: Condition, step: u32, active: u32) -> u32 {
        self.unknown_register(Warp::unknown(&warp.known_predicates, condition.slot, active), step, warp);
        warp.lanes(condition)
    }

    /// Executes an instruction that keeps the lanes together.
    pub(crate) fn plain(
        &mut self,
        warp: &mut Warp,
        op: &DecodedOp,
        step: u32,
        active: u32,
    ) -> Result<(), Problem> {
        match *op {
            DecodedOp::Map { map, to, from, mask } => self.map(warp, map, to, from, mask, step, active),
            DecodedOp::Compare { map, to, other, from: [a, b], gate, with } => {
                let lanes = match map {
                    Map::Compare32(f) => {
                        f(self.words(warp, a, step, active), self.words(warp, b, step, active))
                    }
                    Map::Compare64(f) => {
                        f(self.doubles(warp, a, step, active), self.doubles(warp, b, step, active))
                    }
                    Map::Test32(f) => f(self.words(warp, a, step, active)),
                    Map::Test64(f) => f(self.doubles(warp, a, step, active)),
                    _ => 0,
                };
                let with = if gate == Gate::First { 0 } else { self.holds(warp, with, step, active) };
                warp.put_lanes(to, gated(gate, lanes, with), active);
                warp.put_lanes(other, gated(gate, !lanes, with), active);
            }
            DecodedOp::SelectWord { to, from: [a, b], by } => {
                let lanes = self.holds(warp, by, step, active);
                let (a, b) =
                    (self.words(warp, a, step, active & lanes), self.words(warp, b, step, active & !lanes));
                let chosen = std::array::from_fn(|i| if lanes >> i & 1 == 1 { a[i] } else { b[i] });
                warp.put_words(to, &chosen, u32::MAX, active);
            }
            DecodedOp::SelectDouble { to, from: [a, b], by } => {
                let lanes = self.holds(warp, by, step, active);
                let (a, b) = (
                    self.doubles(warp, a, step, active & lanes),
                    self.doubles(warp, b, step, active & !lanes),
                );
                let chosen = std::array::from_fn(|i| if lanes >> i & 1 == 1 { a[i] } else { b[i] });
                warp.put_doubles(to, &chosen, active);
            }
            DecodedOp::Logic { to, gate, a, b } => {
                let a = self.holds(warp, a, step, active);
                let b = if gate == Gate::First { 0 } else { self.holds(warp, b, step, active) };
                warp.put_lanes(to, gated(gate, a, b), active);
            }
            DecodedOp::SplitWord { to, from } => {
                let values = *self.words(warp, from, step, active);
                warp.put_words(to[0], &values, 0xFFFF, active);
                warp.put_words(to[1], &values.map(|v| v >> 16), u32::MAX, active);
            }
            DecodedOp::SplitDouble { to, from } => {
                let values = *self.doubles(warp, from, step, active);
                warp.put_words(to[0], &values.map(|v| v as u32), u32::MAX, active);
                warp.put_words(to[1], &values.map(|v| (v >> 32) as u32), u32::MAX, active);
            }
            DecodedOp::SplitQuarters { to, from } => {
                let values = *self.doubles(warp, from, step, active);
                for (i, to) in to.into_iter().enumerate() {
                    warp.put_words(to, &values.map(|v| (v >> (16 * i)) as u32), 0xFFFF, active);
                }
            }
            DecodedOp::JoinQuarters { to, from } => {
                let mut values = [0; 32];
                for (i, from) in from.into_iter().enumerate() {
                    let part = self.words(warp, from, step, active);
                    for (value, part) in values.iter_mut().zip(part) {
                        *value |= u64::from(part & 0xFFFF) << (16 * i);
                    }
                }
                warp.put_doubles(to, &values, active);
            }
            DecodedOp::Carry { to, from, kind, takes, leaves } => {
                let [a, b, c] = from.map(|slot| *self.words(warp, slot, step, active));
                let mut carries = 0;
                let sums = std::array::from_fn(|i| {
                    let carry = u64::from(takes && warp.carry >> i & 1 == 1);
                    let product = u64::from(a[i]) * u64::from(b[i]);
                    let sum = match kind {
                        CarryKind::Add => u64::from(a[i]) + u64::from(b[i]) + carry,
                        CarryKind::Subtract => {
                            u64::from(a[i]).wrapping_sub(u64::from(b[i])).wrapping_sub(carry)
                        }
                        CarryKind::MultiplyLow => (product & 0xFFFF_FFFF) + u64::from(c[i]) + carry,
                        CarryKind::MultiplyHigh => (product >> 32) + u64::from(c[i]) + carry,
                    };
                    carries |= u32::from(sum >> 32 != 0) << i;
                    sum as u32
                });
                if leaves {
                    warp.carry = (warp.carry & !active) | (carries & active);
                }
                warp.put_words(to, &sums, u32::MAX, active);
            }
            DecodedOp::Special { to, which, is_wide } => {
                let values: Words = std::array::from_fn(|lane| self.special(warp, which, lane as u32));
                match is_wide {
                    true => warp.put_doubles(to, &values.map(u64::from), active),
                    false => warp.put_words(to, &values, u32::MAX, active),
                }
            }
            DecodedOp::ActiveLanes { to } => warp.put_words(to, &[active; 32], u32::MAX, active),
            DecodedOp::Load(access) => self.load(warp, access, step, active)?,
            DecodedOp::Store(access) => self.store(warp, access, step, active)?,
            DecodedOp::AsyncCopy(number) => {
                let copy = self.program.async_copies[number as usize];
                self.copy_async(warp, &copy, step, active)?;
            }
            DecodedOp::Atomic { access, update, kind, to, swap } => {
                self.atomic(warp, access, (update, kind), to, swap, step, active)?;
            }
            _ => (),
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn map(
        &mut self,
        warp: &mut Warp,
        map: Map,
        to: Slot,
        from: [Slot; 4],
        mask: u32,
        step: u32,
        active: u32,
    ) {
        macro_rules! words {
            ($i:literal) => {
                self.words(warp, from[$i], step, active)
            };
        }
        macro_rules! doubles {
            ($i:literal) => {
                self.doubles(warp, from[$i], step, active)
            };
        }
        let words = match map {
            Map::W1(f) => f(words!(0)),
            Map::W2(f) => f(words!(0), words!(1)),
            Map::W3(f) => f(words!(0), words!(1), words!(2)),
            Map::W4(f) => f(words!(0), words!(1), words!(2), words!(3)),
            Map::WofD(f) => f(doubles!(0)),
            wide => {
                let doubles = match wide {
                    Map::D1(f) => f(doubles!(0)),
                    Map::D2(f) => f(doubles!(0), doubles!(1)),
                    Map::D3(f) => f(doubles!(0), doubles!(1), doubles!(2)),
                    Map::DofW(f) => f(words!(0)),
                    Map::DofWW(f) => f(words!(0), words!(1)),
                    Map::DofWWD(f) => f(words!(0), words!(1), doubles!(2)),
                    Map::DofDW(f) => f(doubles!(0), words!(1)),
                    Map::DofDWW(f) => f(doubles!(0), words!(1), words!(2)),
                    _ => return,
                };
                return warp.put_doubles(to, &doubles, active);
            }
        };
        warp.put_words(to, &words, mask, active);
    }

    fn special(&self, warp: &Warp, which: Special, lane: u32) -> u32 {
        let axis = |i: u8| usize::from(i.min(2));
        let below = (1u32 << lane) - 1;
        match which {
            Special::Thread(i) => self.thread(warp, lane).thread[axis(i)],
            Special::Threads(i) => self.launch.threads[axis(i)],
            Special::Block(i) => self.block[axis(i)],
            Special::Blocks(i) => self.launch.grid[axis(i)],
            Special::Lane => lane,
            Special::Warp => warp.first / 32,
            Special::WarpSize => 32,
            Special::LanesBelow => below,
            Special::LanesUpTo => below | 1 << lane,
            Special::LanesAbove => !(below | 1 << lane),
            Special::LanesFrom => !below,
            Special::LaneItself => 1 << lane,
            Special::DynamicShared => self.launch.dynamic_shared as u32,
            Special::Zero => 0,
        }
    }
}

fn gated(gate: Gate, a: u32, b: u32) -> u32 {
    match gate {
        Gate::And => a & b,
        Gate::Or => a | b,
        Gate::Xor => a ^ b,
        Gate::First => a,
    }
}
