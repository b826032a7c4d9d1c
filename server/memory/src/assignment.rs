//! The memory that each buffer gets: a parameter's, a constant's, that of a result, or a place in the block of
//! temporaries.
//!
//! Source: `service/buffer_assignment.cc`, with the options of `RunBufferAssignment`,
//! `service/gpu/compile_module_to_llvm_ir.cc`.

use std::collections::BTreeSet;

use ir::{AttributeKey, Opcode};

use crate::aliases::{Aliases, BufferId};
use crate::dataflow::{ValueId, post_order};
use crate::heap::place;
use crate::live_ranges::LiveRange;
use crate::overwriting::Overwriting;
use crate::program::{Id, Program};
use crate::schedule::Schedule;
use crate::simulation::simulate;
use crate::sizes;

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

/// What is assigned so far.
#[derive(Default)]
struct Open {
    allocations: Vec<Allocation>,
    allocation_of: Vec<Option<u32>>,
    /// Per allocation, when its values are alive. They do not overlap, except where one ends and the next one starts.
    taken: Vec<BTreeSet<(u32, u32, ValueId)>>,
    /// Allocations that later buffers may use.
    reusable: Vec<u32>,
}

impl Assigner<'_> {
    pub(crate) fn assign(&self) -> Assignment {
        let buffers = self.aliases.buffers.len();
        let buffer_size = |buffer: usize| {
            self.aliases.buffers[buffer].iter().map(|&value| self.bytes[value as usize]).max().unwrap_or(0)
        };
        let sizes: Vec<u64> = (0..buffers).map(buffer_size).collect();
        let mut open = Open { allocation_of: vec![None; self.bytes.len()], ..Open::default() };
        let mut is_delayed = vec![false; self.bytes.len()];
        for buffer in self.order(&sizes) {
            cancel::tick();
            let size = sizes[buffer as usize];
            if let Some(kind) = self.special(buffer) {
                let allocation = open.add(self, buffer, size, kind);
                if let AllocationKind::Parameter { is_donated: true, .. } = kind {
                    open.reusable.push(allocation);
                }
                continue;
            }
            if self.reuse(&mut open, buffer, size) {
                continue;
            }
            if self.aliases.is_result[buffer as usize] {
                let allocation = open.add(self, buffer, size, AllocationKind::Result);
                open.reusable.push(allocation);
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

    /// Puts a buffer into the memory of an operand, or into another allocation that is large enough, if nothing in it is
    /// alive at the same time.
    fn reuse(&self, open: &mut Open, buffer: BufferId, size: u64) -> bool {
        let slots = self.overwriting.slots;
        let dataflow = self.overwriting.dataflow;
        for &value in &self.aliases.buffers[buffer as usize] {
            let slot = dataflow.value(value).slot;
            if !slots.is_top(slot) || slots.is_tuple(slot) {
                continue;
            }
            for &operand in &self.program.instruction(slots.owner(slot)).operands {
                let held = dataflow.at(slots.top(operand));
                let allocation = held.and_then(|held| open.allocation_of[held as usize]);
                if allocation.is_some_and(|allocation| self.put(open, allocation, buffer, size)) {
                    return true;
                }
            }
        }
        for n in (0..open.reusable.len()).rev() {
            if self.put(open, open.reusable[n], buffer, size) {
                return true;
            }
        }
        false
    }

    /// Source: `BufferAssigner::MaybeAssignBuffer`.
    fn put(&self, open: &mut Open, allocation: u32, buffer: BufferId, size: u64) -> bool {
        let target = &open.allocations[allocation as usize];
        let is_result = self.aliases.is_result[buffer as usize];
        let may_write = match target.kind {
            AllocationKind::Parameter { is_donated, .. } => is_donated,
            AllocationKind::Result | AllocationKind::Temporary => true,
            AllocationKind::Constant | AllocationKind::ThreadLocal | AllocationKind::Tuple => false,
        };
        let fits = if is_result { size == target.size } else { size <= target.size };
        let values = &self.aliases.buffers[buffer as usize];
        if !may_write || !fits || self.space(buffer) != target.space {
            return false;
        }
        let interferes = values.iter().any(|&value| {
            open.overlapping(allocation, self.ranges[value as usize])
                .any(|other| self.interferes(value, other))
        });
        if interferes || values.iter().any(|&value| self.copies_from(open, allocation, value)) {
            return false;
        }
        open.assign(self, allocation, buffer);
        true
    }

    /// Source: `BufferAssigner::LiveRangeInterferes`.
    fn interferes(&self, a: ValueId, b: ValueId) -> bool {
        let (ra, rb) = (self.ranges[a as usize], self.ranges[b as usize]);
        if !ra.overlaps(rb) {
            return false;
        }
        if ra.end == rb.start {
            !self.overwriting.takes_over(b, a)
        } else if rb.end == ra.start {
            !self.overwriting.takes_over(a, b)
        } else {
            true
        }
    }

    /// A copy is never in the memory of what it copies.
    fn copies_from(&self, open: &Open, allocation: u32, value: ValueId) -> bool {
        let (slots, dataflow) = (self.overwriting.slots, self.overwriting.dataflow);
        let instruction = self.program.instruction(slots.owner(dataflow.value(value).slot));
        instruction.opcode == Some(Opcode::Copy)
            && instruction.operands.iter().any(|&operand| {
                slots.of_instruction(operand).any(|slot| {
                    dataflow
                        .at(slot)
                        .is_some_and(|held| open.allocation_of[held as usize] == Some(allocation))
                })
            })
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

    /// Scalars of the computations that run inside an instruction, fusions excluded.
    fn thread_local(&self, open: &mut Open) {
        for computation in inside_instructions(self.program, self.schedule) {
            for &id in &self.program.computations[computation as usize].instructions {
                let instruction = self.program.instruction(id);
                let passes_on = matches!(
                    instruction.opcode,
                    Some(Opcode::Bitcast | Opcode::GetTupleElement | Opcode::OptBarrier)
                );
                if passes_on {
                    continue;
                }
                let kind = match instruction.opcode {
                    Some(Opcode::Constant) => AllocationKind::Constant,
                    _ => AllocationKind::ThreadLocal,
                };
                let slots = self.overwriting.slots;
                let count = if instruction.opcode == Some(Opcode::Tuple) { 1 } else { usize::MAX };
                for slot in slots.of_instruction(id).take(count) {
                    open.allocations.push(Allocation {
                        size: sizes::bytes(slots.shape(slot)).unwrap_or(0),
                        kind,
                        is_result: false,
                        space: 0,
                        values: Vec::new(),
                    });
                }
            }
        }
    }
}

impl Open {
    fn add(&mut self, assigner: &Assigner<'_>, buffer: BufferId, size: u64, kind: AllocationKind) -> u32 {
        let allocation = self.allocations.len() as u32;
        let space = assigner.space(buffer);
        self.allocations.push(Allocation { size, kind, is_result: false, space, values: Vec::new() });
        self.taken.push(BTreeSet::new());
        self.assign(assigner, allocation, buffer);
        allocation
    }

    fn assign(&mut self, assigner: &Assigner<'_>, allocation: u32, buffer: BufferId) {
        for &value in &assigner.aliases.buffers[buffer as usize] {
            self.allocation_of[value as usize] = Some(allocation);
            self.allocations[allocation as usize].values.push((value, 0));
            let range = assigner.ranges[value as usize];
            self.taken[allocation as usize].insert((range.start, range.end, value));
        }
        self.allocations[allocation as usize].is_result |= assigner.aliases.is_result[buffer as usize];
    }

    /// Makes one block of all temporaries of a memory space, one after the other. The order, on which padding depends,
    /// is that in which the C++ function `std::partition` leaves them.
    /// Source: `BufferAssignment::CombineTempAllocations`.
    fn combine(&mut self) {
        let is_temporary = |allocation: &Allocation| {
            !allocation.is_result
                && matches!(allocation.kind, AllocationKind::Temporary | AllocationKind::Tuple)
        };
        let (mut first, mut last) = (0, self.allocations.len());
        while first < last {
            if !is_temporary(&self.allocations[first]) {
                first += 1;
            } else if is_temporary(&self.allocations[last - 1]) {
                last -= 1;
            } else {
                self.allocations.swap(first, last - 1);
                first += 1;
                last -= 1;
            }
        }
        let mut blocks: Vec<Allocation> = Vec::new();
        for temporary in self.allocations.drain(first..) {
            match blocks.iter_mut().find(|block| block.space == temporary.space) {
                None => blocks.push(Allocation { kind: AllocationKind::Temporary, ..temporary }),
                Some(block) => {
                    let base = block.size.next_multiple_of(ALIGNMENT);
                    block.size = base + temporary.size;
                    block
                        .values
                        .extend(temporary.values.iter().map(|&(value, offset)| (value, base + offset)));
                }
            }
        }
        self.allocations.append(&mut blocks);
        for (number, allocation) in self.allocations.iter().enumerate() {
            for &(value, _) in &allocation.values {
                self.allocation_of[value as usize] = Some(number as u32);
            }
        }
    }

    /// The values of an allocation that are alive at some time of `range`.
    fn overlapping(&self, allocation: u32, range: LiveRange) -> impl Iterator<Item = ValueId> + '_ {
        // Values that start at one time, or earlier and reach into the range: since values do not overlap, few do.
        let taken = &self.taken[allocation as usize];
        let before =
            taken.range(..(range.start, 0, 0)).rev().take_while(move |(_, end, _)| *end >= range.start);
        let within = taken.range((range.start, 0, 0)..=(range.end, u32::MAX, ValueId::MAX));
        before.chain(within).map(|&(_, _, value)| value)
    }
}

/// Computations that run inside one instruction, for each of its elements: reducers, comparators and the like.
fn inside_instructions(program: &Program, schedule: &Schedule) -> Vec<u32> {
    let mut found = vec![false; program.computations.len()];
    let mut order = Vec::new();
    let mut open: Vec<Id> = schedule.order.clone();
    while let Some(id) = open.pop() {
        let instruction = program.instruction(id);
        for &(key, callee) in &instruction.callees {
            let is_step = schedule.span[callee as usize].is_some();
            if is_step || std::mem::replace(&mut found[callee as usize], true) {
                continue;
            }
            // The values of a fusion are in registers, those of the reducers in it are not.
            let is_fused = instruction.opcode == Some(Opcode::Fusion) && key == AttributeKey::Calls;
            if !is_fused {
                order.push(callee);
            }
            open.extend(&program.computations[callee as usize].instructions);
        }
    }
    order
}
