//! Copies of values in buffers that nothing may write, and of results that need a buffer of their own.
//!
//! Source: `CopyInsertion::AddSpecialCaseCopies`, `service/copy_insertion.cc`.

use ir::Opcode;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Copies, Special};
use crate::dataflow::ValueId;
use crate::program::{Id, Program};
use crate::schedule::Schedule;
use crate::slots::Slot;

impl Copies<'_> {
    /// The values to copy, each once, in order.
    pub fn special(&self) -> Vec<Special> {
        let mut found: Vec<(Slot, &'static str)> = Vec::new();
        self.of_values(&mut found);
        let schedule = Schedule::of(self.program);
        for &computation in &schedule.computations {
            self.of_root(self.program, computation as usize, &mut found);
        }
        let mut seen = FxHashSet::default();
        found.retain(|&(slot, _)| seen.insert(slot) && self.slots.shape(slot).as_array().is_some());
        found.sort_by_key(|&(slot, _)| slot);
        let special = |(slot, why)| Special { id: self.slots.owner(slot), path: self.slots.path(slot), why };
        found.into_iter().map(special).collect()
    }

    fn of_values(&self, found: &mut Vec<(Slot, &'static str)>) {
        let overwriting = self.overwriting();
        for value in 0..self.dataflow.values.len() as ValueId {
            cancel::tick();
            let buffer = self.aliases.buffer_of[value as usize];
            if self.aliases.buffers[buffer as usize].len() < 2 {
                continue;
            }
            if let Some(why) = self.read_only(value) {
                found.push((self.dataflow.value(value).slot, why));
            }
            for one in self.dataflow.uses(self.program, &self.slots, value) {
                for slot in self.slots.of_instruction(one.user) {
                    let Some(other) = self.dataflow.at(slot).filter(|&other| other != value) else {
                        continue;
                    };
                    let is_same = self.aliases.buffer_of[other as usize] == buffer;
                    if is_same
                        && self.dataflow.value(other).slot == slot
                        && !overwriting.may_overwrite(self.slots.owner(one.slot), one.slot, one.user, slot)
                    {
                        found.push((one.slot, "its user cannot overwrite it, though both share a buffer"));
                    }
                }
            }
        }
    }

    /// Why nothing may write the buffer of a value.
    fn read_only(&self, value: ValueId) -> Option<&'static str> {
        let slot = self.dataflow.value(value).slot;
        let instruction = self.program.instruction(self.slots.owner(slot));
        match (instruction.opcode, instruction.number) {
            (Some(Opcode::Constant), _) => Some("nothing may write a constant"),
            (Some(Opcode::Parameter), Some(number))
                if instruction.computation as usize == self.program.entry
                    && !self.program.is_donated(number, &self.slots.path(slot)) =>
            {
                Some("nothing may write a parameter that is not donated")
            }
            _ => None,
        }
    }

    fn of_root(&self, program: &Program, computation: usize, found: &mut Vec<(Slot, &'static str)>) {
        const REPEATED: &str = "two results need buffers of their own";
        let root = program.computations[computation].root;
        let is_entry = computation == program.entry;
        let mut seen: FxHashMap<u32, Slot> = FxHashMap::default();
        for slot in self.slots.of_instruction(root) {
            let Some(value) = self.dataflow.at(slot) else { continue };
            let buffer = self.aliases.buffer_of[value as usize];
            let first = *seen.entry(buffer).or_insert(slot);
            let path = self.slots.path(slot);
            if first != slot && (is_entry || self.is_joined_by_caller(computation, &path)) {
                let is_alias = is_entry && program.aliases.iter().any(|alias| alias.output == path);
                found.push((if is_alias { first } else { slot }, REPEATED));
            }
            if let Some(why) = self.read_only(value).filter(|_| is_entry) {
                found.push((slot, why));
            }
        }
    }

    /// Whether a conditional that calls a computation joins values at this element of its result.
    fn is_joined_by_caller(&self, computation: usize, path: &[i64]) -> bool {
        let callers = self.program.computations[computation].callers.iter();
        let mut conditionals =
            callers.filter(|&&id| self.program.instruction(id).opcode == Some(Opcode::Conditional));
        conditionals.any(|&id: &Id| {
            let value = self.slots.at(self.slots.top(id), path).and_then(|slot| self.dataflow.at(slot));
            value.is_none_or(|value| self.dataflow.is_joined(value))
        })
    }
}
