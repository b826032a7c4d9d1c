//! The memory that each buffer gets: a parameter's, a constant's, that of a result, or a place in the block of
//! temporaries.
//!
//! Source: `service/buffer_assignment.cc`, with the options of `RunBufferAssignment`,
//! `service/gpu/compile_module_to_llvm_ir.cc`.

mod open;
mod reuse;
mod taken;
mod thread_local;

use ir::Opcode;

use crate::aliases::{Aliases, BufferId};
use crate::dataflow::{ValueId, post_order};
use crate::heap::place;
use crate::live_ranges::LiveRange;
use crate::overwriting::Overwriting;
use crate::program::Program;
use crate::schedule::Schedule;
use crate::simulation::simulate;

use open::Open;

/// XLA aligns every buffer in the block of temporaries to so many bytes.
const ALIGNMENT: u64 = 256;

/// Memory that is one piece while the program runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allocation {
    /// Bytes.
    pub size: u64,
    pub kind: AllocationKind,
    /// Whether a result of the module is in it.
    pub is_result: bool,
    /// The memory space; 0 is the device's main memory.
    pub space: i64,
    /// Values with their offsets in bytes, by value.
    pub values: Vec<(ValueId, u64)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AllocationKind {
    /// A parameter of the entry, or an element of one; its number.
    Parameter {
        number: u32,
        is_donated: bool,
    },
    Constant,
    /// A scalar of a reducer or comparator, in registers.
    ThreadLocal,
    /// The table of pointers of a tuple.
    Tuple,
    /// A result that is in no parameter's memory.
    Result,
    /// Temporaries.
    Temporary,
}

pub(crate) struct Assignment {
    pub(crate) allocations: Vec<Allocation>,
    /// Per value, the allocation.
    pub(crate) allocation_of: Vec<Option<u32>>,
    /// Per value, bytes of its buffer.
    pub(crate) size_of: Vec<u64>,
}

pub(crate) struct Assigner<'a> {
    pub(crate) program: &'a Program,
    pub(crate) schedule: &'a Schedule,
    pub(crate) aliases: &'a Aliases,
    pub(crate) ranges: &'a [LiveRange],
    pub(crate) overwriting: &'a Overwriting<'a>,
    /// Per value, its own bytes.
    pub(crate) bytes: &'a [u64],
    pub(crate) spaces: &'a [i64],
}

impl Assigner<'_> {
    pub(crate) fn assign(&self) -> Assignment {
        let buffers = self.aliases.buffers.len();
        let buffer_size = |buffer: usize| {
            self.aliases.buffers[buffer].iter().map(|&value| self.bytes[value as usize]).max().unwrap_or(0)
        };
        let sizes: Vec<u64> = (0..buffers).map(buffer_size).collect();
        let mut open = Open::new(self.bytes.len(), self.schedule.end);
        let mut is_delayed = vec![false; self.bytes.len()];
        for buffer in self.order(&sizes) {
            cancel::tick();
            let size = sizes[buffer as usize];
            if let Some(kind) = self.special(buffer) {
                let allocation = open.add(self, buffer, size, kind);
                if let AllocationKind::Parameter { is_donated: true, .. } = kind {
                    open.offer(allocation);
                }
                continue;
            }
            if self.reuse(&mut open, buffer, size) {
                continue;
            }
            if self.aliases.is_result[buffer as usize] {
                let allocation = open.add(self, buffer, size, AllocationKind::Result);
                open.offer(allocation);
            } else {
                for &value in &self.aliases.buffers[buffer as usize] {
                    is_delayed[value as usize] = true;
                }
            }
        }
        self.temporaries(&mut open, &is_delayed, &sizes);
        self.thread_local(&mut open);
        open.combine();
        let size_of = self.aliases.buffer_of.iter().map(|&buffer| sizes[buffer as usize]).collect();
        let Open { allocations, allocation_of, .. } = open;
        Assignment { allocations, allocation_of, size_of }
    }

    /// Largest buffers first, results before others, and then in the order of the program.
    fn order(&self, sizes: &[u64]) -> Vec<BufferId> {
        let mut position = vec![u32::MAX; self.program.instructions.len()];
        let program_order = post_order(self.program, self.schedule.computations.iter().rev());
        for (at, &id) in program_order.iter().enumerate() {
            position[id as usize] = at as u32;
        }
        let slots = self.overwriting.slots;
        let dataflow = self.overwriting.dataflow;
        let first = |buffer: BufferId| {
            let values = &self.aliases.buffers[buffer as usize];
            values.iter().map(|&value| position[slots.owner(dataflow.value(value).slot) as usize]).min()
        };
        let mut order: Vec<BufferId> = (0..self.aliases.buffers.len() as BufferId).collect();
        order.sort_by_cached_key(|&buffer| {
            let is_result = self.aliases.is_result[buffer as usize];
            (std::cmp::Reverse(sizes[buffer as usize]), !is_result, first(buffer), buffer)
        });
        order
    }

    /// Buffers with an allocation of their own.
    fn special(&self, buffer: BufferId) -> Option<AllocationKind> {
        let slots = self.overwriting.slots;
        let values = &self.aliases.buffers[buffer as usize];
        let slots_of = || values.iter().map(|&value| self.overwriting.dataflow.value(value).slot);
        for slot in slots_of() {
            let id = slots.owner(slot);
            let instruction = self.program.instruction(id);
            match instruction.opcode {
                Some(Opcode::Constant) => return Some(AllocationKind::Constant),
                Some(Opcode::Parameter) if instruction.computation as usize == self.program.entry => {
                    let number = instruction.number.unwrap_or_default();
                    let is_donated = self.program.is_donated(number, &slots.path(slot));
                    return Some(AllocationKind::Parameter { number, is_donated });
                }
                _ => {}
            }
        }
        slots_of().any(|slot| slots.is_tuple(slot)).then_some(AllocationKind::Tuple)
    }

    fn space(&self, buffer: BufferId) -> i64 {
        self.aliases.buffers[buffer as usize].first().map_or(0, |&value| self.spaces[value as usize])
    }

    /// One block per memory space for what is left.
    fn temporaries(&self, open: &mut Open, is_delayed: &[bool], sizes: &[u64]) {
        let bytes: Vec<u64> = self.aliases.buffer_of.iter().map(|&buffer| sizes[buffer as usize]).collect();
        let mut spaces: Vec<i64> =
            (0..is_delayed.len()).filter(|&v| is_delayed[v]).map(|v| self.spaces[v]).collect();
        spaces.sort_unstable();
        spaces.dedup();
        for space in spaces {
            let is_wanted: Vec<bool> = is_delayed
                .iter()
                .zip(self.spaces)
                .map(|(&is_delayed, own)| is_delayed && *own == space)
                .collect();
            let (intervals, values) =
                simulate(self.overwriting, self.aliases, self.ranges, &bytes, &is_wanted);
            let placed = place(&intervals, ALIGNMENT);
            let allocation = open.allocations.len() as u32;
            let mut inside: Vec<(ValueId, u64)> = Vec::new();
            for (group, &offset) in values.iter().zip(&placed.offsets) {
                inside.extend(group.iter().map(|&value| (value, offset)));
            }
            inside.sort_unstable();
            for &(value, _) in &inside {
                open.allocation_of[value as usize] = Some(allocation);
            }
            open.allocations.push(Allocation {
                size: placed.size,
                kind: AllocationKind::Temporary,
                is_result: false,
                space,
                values: inside,
            });
        }
    }
}
