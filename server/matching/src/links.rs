//! The state of a matching while it grows: which instruction of the second module is linked to which of the first.

use crate::numbering::Known;
use crate::program::{Instruction, Program};

/// Why two instructions are linked, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    /// Same name and opcode.
    Name,
    /// Same place in modules that differ in names alone.
    Place,
    /// Same place in a computation and its clone.
    Clone,
    /// Same value.
    Value,
    /// A name that XLA derives for clones.
    DerivedName,
    /// The root of the fused computation.
    Root,
    /// The users of the one use the other.
    Uses,
    /// Metadata and neighbours.
    Near,
}

impl How {
    /// Whether linked instructions compute the same value.
    fn is_equal(self) -> bool {
        !matches!(self, How::Value | How::Root | How::Near)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Link {
    pub(crate) source: u32,
    pub(crate) how: How,
}

pub(crate) struct Links<'a, 't, 's> {
    pub(crate) before: &'a Program<'t>,
    pub(crate) after: &'a Program<'s>,
    /// Per instruction of `after`.
    pub(crate) links: Vec<Option<Link>>,
    /// Per instruction of `after`: the instruction with its name and opcode, whether it is the same or not; or the one in its
    /// place in a module that differs in names alone.
    pub(crate) namesakes: Vec<Option<u32>>,
    /// Per instruction of `before`: whether a link leads to it.
    pub(crate) is_used: Vec<bool>,
    /// Per computation of `after`: its counterpart.
    pub(crate) computations: Vec<Option<u32>>,
}

impl<'a, 't, 's> Links<'a, 't, 's> {
    /// Computations of equal names are counterparts.
    pub(crate) fn new(before: &'a Program<'t>, after: &'a Program<'s>) -> Links<'a, 't, 's> {
        let by_name =
            |computation: &crate::Computation<'_>| before.computation_by_name.get(computation.name).copied();
        let mut computations: Vec<_> = after.computations.iter().map(by_name).collect();
        computations[after.entry as usize].get_or_insert(before.entry);
        Links {
            before,
            after,
            links: vec![None; after.instructions.len()],
            namesakes: vec![None; after.instructions.len()],
            is_used: vec![false; before.instructions.len()],
            computations,
        }
    }

    pub(crate) fn link(&mut self, id: u32, source: u32, how: How) {
        self.links[id as usize] = Some(Link { source, how });
        self.is_used[source as usize] = true;
    }

    pub(crate) fn source(&self, id: u32) -> Option<u32> {
        Some(self.links[id as usize]?.source)
    }

    pub(crate) fn is_linked(&self, id: u32) -> bool {
        self.links[id as usize].is_some()
    }

    pub(crate) fn unlinked(&self) -> Vec<u32> {
        (0..self.links.len() as u32).filter(|&id| !self.is_linked(id)).collect()
    }

    /// How much the names and the metadata of a candidate of `before` resemble those of an instruction of `after`.
    pub(crate) fn likeness(&self, candidate: u32, id: u32) -> u32 {
        let (one, other) = (self.before.instruction(candidate), self.after.instruction(id));
        let metadata = if one.metadata == other.metadata { 8 } else { 0 };
        let names = match () {
            () if other.names.base == one.names.base || other.names.base == one.names.full => 5,
            () if other.names.stem == one.names.stem => 2,
            () => 0,
        };
        metadata + names
    }

    /// The candidate that is most like `id`; of equal ones the first that has no link yet.
    pub(crate) fn best(&self, candidates: &[u32], id: u32) -> Option<u32> {
        if let [only] = candidates {
            return Some(*only);
        }
        let score =
            |&&candidate: &&u32| self.likeness(candidate, id) + u32::from(!self.is_used[candidate as usize]);
        // `max_by_key` returns the last of equal ones.
        candidates.iter().rev().max_by_key(score).copied()
    }
}

/// What the numbering of the first module knows: nothing.
pub(crate) struct Before;

impl Known for Before {
    fn value(&self, _: u32) -> Option<u64> {
        None
    }

    fn computation(&self, computation: u32) -> u64 {
        u64::from(computation)
    }

    fn own(&self, instruction: u32) -> u64 {
        u64::from(instruction)
    }
}

/// What the numbering of the second module knows: the numbers of the instructions that are linked.
pub(crate) struct After<'a, 'b, 't, 's> {
    pub(crate) links: &'b Links<'a, 't, 's>,
    /// Of the first module.
    pub(crate) values: &'b [u64],
}

/// Distinguishes the second module where nothing is shared.
const UNPAIRED: u64 = 1 << 40;

impl Known for After<'_, '_, '_, '_> {
    fn value(&self, instruction: u32) -> Option<u64> {
        let link = self.links.links[instruction as usize]?;
        link.how.is_equal().then(|| self.values[link.source as usize])
    }

    fn computation(&self, computation: u32) -> u64 {
        match self.links.computations[computation as usize] {
            Some(counterpart) => u64::from(counterpart),
            None => UNPAIRED + u64::from(computation),
        }
    }

    fn own(&self, instruction: u32) -> u64 {
        UNPAIRED + u64::from(instruction)
    }
}

/// Instructions that matching treats as places rather than values.
pub(crate) fn is_parameter(instruction: &Instruction<'_>) -> bool {
    instruction.opcode == Some(syntax::hlo::Opcode::Parameter)
}
