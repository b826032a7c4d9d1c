//! A warp: the registers of 32 threads, and their positions in the program.

use super::lanes::{Doubles, Words};
use super::program::{CONSTANT, Condition, NOWHERE, Program, Slot};

/// Lanes at the same step of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Split {
    pub(crate) at: u32,
    pub(crate) lanes: u32,
    /// Whether they wait for other lanes at the same step.
    pub(crate) is_parked: bool,
}

/// The return point of a call.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) waiting: Vec<Split>,
    pub(crate) back: u32,
    pub(crate) results: (u32, u32),
    pub(crate) returned: u32,
}

pub(crate) struct Warp {
    pub(crate) words: Vec<Words>,
    pub(crate) doubles: Vec<Doubles>,
    pub(crate) predicates: Vec<u32>,
    /// For each register, the lanes that have written it.
    pub(crate) known_words: Vec<u32>,
    pub(crate) known_doubles: Vec<u32>,
    pub(crate) known_predicates: Vec<u32>,
    pub(crate) carry: u32,
    /// The running lanes; empty if the warp has ended.
    pub(crate) current: Split,
    pub(crate) others: Vec<Split>,
    pub(crate) frames: Vec<Frame>,
    /// Lanes that have not ended.
    pub(crate) live: u32,
    pub(crate) is_waiting: bool,
    /// The number of its first thread in the block.
    pub(crate) first: u32,
    /// The constants of the program, replicated for all lanes.
    word_constants: Vec<Words>,
    double_constants: Vec<Doubles>,
}

impl Warp {
    pub(crate) fn new(program: &Program) -> Warp {
        let (words, doubles) = (program.words as usize, program.doubles as usize);
        let predicates = program.predicates as usize;
        Warp {
            words: vec![[0; 32]; words],
            doubles: vec![[0; 32]; doubles],
            predicates: vec![0; predicates],
            known_words: vec![0; words],
            known_doubles: vec![0; doubles],
            known_predicates: vec![0; predicates],
            carry: 0,
            current: Split { at: program.entry, lanes: 0, is_parked: false },
            others: Vec::new(),
            frames: Vec::new(),
            live: 0,
            is_waiting: false,
            first: 0,
            word_constants: program.word_constants.iter().map(|&value| [value; 32]).collect(),
            double_constants: program.double_constants.iter().map(|&value| [value; 32]).collect(),
        }
    }

    /// Resets to the start of the program, with the lanes that exist.
    pub(crate) fn start(&mut self, entry: u32, first: u32, lanes: u32) {
        self.known_words.fill(0);
        self.known_doubles.fill(0);
        self.known_predicates.fill(0);
        self.carry = 0;
        self.current = Split { at: entry, lanes, is_parked: false };
        self.others.clear();
        self.frames.clear();
        self.live = lanes;
        self.is_waiting = false;
        self.first = first;
    }

    #[inline]
    pub(crate) fn word(&self, slot: Slot) -> &Words {
        if slot < CONSTANT {
            &self.words[slot as usize]
        } else {
            &self.word_constants[(slot - CONSTANT) as usize]
        }
    }

    #[inline]
    pub(crate) fn double(&self, slot: Slot) -> &Doubles {
        if slot < CONSTANT {
            &self.doubles[slot as usize]
        } else {
            &self.double_constants[(slot - CONSTANT) as usize]
        }
    }

    /// The lanes for which the condition holds.
    #[inline]
    pub(crate) fn lanes(&self, condition: Condition) -> u32 {
        let lanes =
            if condition.slot < CONSTANT { self.predicates[condition.slot as usize] } else { u32::MAX };
        if condition.is_negated { !lanes } else { lanes }
    }

    /// The lanes of `active` that have not written a register.
    #[inline]
    pub(crate) fn unknown(known: &[u32], slot: Slot, active: u32) -> u32 {
        if slot < CONSTANT { active & !known[slot as usize] } else { 0 }
    }

    #[inline]
    pub(crate) fn put_words(&mut self, slot: Slot, values: &Words, mask: u32, active: u32) {
        if slot == NOWHERE {
            return;
        }
        let to = &mut self.words[slot as usize];
        if active == u32::MAX {
            for (to, value) in to.iter_mut().zip(values) {
                *to = value & mask;
            }
        } else {
            for (lane, (to, value)) in to.iter_mut().zip(values).enumerate() {
                let chosen = 0u32.wrapping_sub(active >> lane & 1);
                *to = (value & mask & chosen) | (*to & !chosen);
            }
        }
        self.known_words[slot as usize] |= active;
    }

    #[inline]
    pub(crate) fn put_doubles(&mut self, slot: Slot, values: &Doubles, active: u32) {
        if slot == NOWHERE {
            return;
        }
        let to = &mut self.doubles[slot as usize];
        if active == u32::MAX {
            *to = *values;
        } else {
            for (lane, (to, value)) in to.iter_mut().zip(values).enumerate() {
                let chosen = 0u64.wrapping_sub(u64::from(active >> lane & 1));
                *to = (value & chosen) | (*to & !chosen);
            }
        }
        self.known_doubles[slot as usize] |= active;
    }

    #[inline]
    pub(crate) fn put_lanes(&mut self, slot: Slot, lanes: u32, active: u32) {
        if slot == NOWHERE {
            return;
        }
        let to = &mut self.predicates[slot as usize];
        *to = (*to & !active) | (lanes & active);
        self.known_predicates[slot as usize] |= active;
    }

    /// Selects the lanes at the lowest step that do not wait, merged with all lanes at the same step. Returns
    /// false if every lane waits.
    pub(crate) fn choose(&mut self) -> bool {
        if self.current.lanes != 0 {
            self.others.push(self.current);
            self.current.lanes = 0;
        }
        // Merges lanes at the same step; arriving lanes wake waiting ones.
        let mut merged: Vec<Split> = Vec::with_capacity(self.others.len());
        for split in self.others.drain(..) {
            match merged.iter_mut().find(|other| other.at == split.at) {
                Some(other) => {
                    other.lanes |= split.lanes;
                    other.is_parked &= split.is_parked;
                }
                None => merged.push(split),
            }
        }
        self.others = merged;
        let next =
            (0..self.others.len()).filter(|&i| !self.others[i].is_parked).min_by_key(|&i| self.others[i].at);
        match next {
            Some(next) => {
                self.current = self.others.swap_remove(next);
                true
            }
            None => self.others.is_empty(),
        }
    }

    /// The next step ahead of the current lanes where other lanes are.
    pub(crate) fn meeting(&self) -> u32 {
        let ahead = self.others.iter().map(|s| s.at).filter(|&at| at > self.current.at);
        ahead.min().unwrap_or(u32::MAX)
    }
}
