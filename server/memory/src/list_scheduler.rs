//! XLA's list scheduler: of the instructions that can run, the next is the one that frees most memory.
//!
//! Source: `ListScheduler`, `hlo/transforms/simplifiers/hlo_memory_scheduler.cc`.

use std::collections::BTreeSet;

use ir::Opcode;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dataflow::{Dataflow, ValueId};
use crate::memory::space;
use crate::program::{Id, Instruction, Program};
use crate::sizes::plain_bytes;
use crate::slots::Slots;

/// The memory space of the host, which takes no memory of the device.
const HOST_SPACE: i64 = 5;
/// Values that the instructions of one computation read in all, each tuple with its elements. Beyond it, the order stays.
const MOST_READS: usize = 1 << 26;

/// Which instructions may be put elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Freedom {
    All,
    /// Tuple elements that are not written; the others stay in their order.
    Elements,
}

/// The order of a computation's instructions.
pub(crate) struct Ordered {
    pub(crate) instructions: Vec<Id>,
    /// How many instructions that stay in their order run before one that frees more: none if this scheduler ordered them.
    pub(crate) exceptions: usize,
}

/// Bytes that an instruction frees, less those that it defines; then the number of its users.
type Priority = (i128, usize);
/// Of equal priorities, the one that was computed last wins.
type Key = (Priority, u32);

/// The uses of a value by instructions that did not run yet.
#[derive(Debug, Clone, Copy, Default)]
struct Uses {
    count: u32,
    /// The exclusive or of their ids: where one is left, this is its id.
    ids: Id,
}

/// Of one module: its tables are used again for each computation.
pub(crate) struct ListScheduler<'a> {
    program: &'a Program,
    slots: &'a Slots,
    dataflow: &'a Dataflow,
    /// Per value.
    uses: Vec<Uses>,
    /// Per instruction, how many operands and control predecessors did not run yet.
    waiting: Vec<u32>,
    /// Control successors.
    successors: FxHashMap<Id, Vec<Id>>,
    /// Per value, the last round in which it was seen.
    seen: Vec<u32>,
    round: u32,
}

/// The instructions that can run.
#[derive(Default)]
struct Ready {
    keys: FxHashMap<Id, Key>,
    all: BTreeSet<(Key, Id)>,
    /// Those that may be put elsewhere.
    free: BTreeSet<(Key, Id)>,
    count: u32,
}

impl Ready {
    fn add(&mut self, id: Id, priority: Priority, is_free: bool) {
        let key = (priority, self.count);
        self.count += 1;
        self.keys.insert(id, key);
        self.all.insert((key, id));
        if is_free {
            self.free.insert((key, id));
        }
    }

    fn remove(&mut self, id: Id) -> Option<Key> {
        let key = self.keys.remove(&id)?;
        self.all.remove(&(key, id));
        self.free.remove(&(key, id));
        Some(key)
    }
}

impl Freedom {
    fn moves(self, instruction: &Instruction) -> bool {
        self == Freedom::All || !instruction.is_written
    }
}

impl Uses {
    fn add(&mut self, id: Id) {
        *self = Uses { count: self.count + 1, ids: self.ids ^ id };
    }

    fn remove(&mut self, id: Id) {
        *self = Uses { count: self.count.saturating_sub(1), ids: self.ids ^ id };
    }
}

/// The instructions that run after one: its users, and its control successors.
fn followers<'a>(
    program: &'a Program,
    successors: &'a FxHashMap<Id, Vec<Id>>,
    id: Id,
) -> impl Iterator<Item = Id> + 'a {
    let others = successors.get(&id).into_iter().flatten();
    program.instruction(id).users.iter().chain(others).copied()
}

impl<'a> ListScheduler<'a> {
    pub(crate) fn new(program: &'a Program, slots: &'a Slots, dataflow: &'a Dataflow) -> ListScheduler<'a> {
        let mut successors: FxHashMap<Id, Vec<Id>> = FxHashMap::default();
        for &(first, then) in &program.control {
            successors.entry(first).or_default().push(then);
        }
        let values = dataflow.values.len();
        ListScheduler {
            program,
            slots,
            dataflow,
            uses: vec![Uses::default(); values],
            waiting: vec![0; program.instructions.len()],
            successors,
            seen: vec![0; values],
            round: 0,
        }
    }

    /// The order of a computation's instructions. `None` if it reads too much, or its control dependencies form a cycle.
    pub(crate) fn order(&mut self, computation: u32, freedom: Freedom) -> Option<Ordered> {
        let program = self.program;
        let computation = &program.computations[computation as usize];
        let instructions = &computation.instructions;
        let reads = instructions.iter().flat_map(|&id| &program.instruction(id).operands);
        if reads.map(|&of| self.slots.of_instruction(of).len()).sum::<usize>() > MOST_READS {
            return None;
        }
        for &id in instructions {
            for value in self.read_by(id) {
                self.uses[value as usize].add(id);
            }
            for next in followers(program, &self.successors, id) {
                self.waiting[next as usize] += 1;
            }
        }
        // What the computation returns is used at its end.
        for value in self.values_of(&[computation.root]) {
            self.uses[value as usize].add(Id::MAX);
        }
        let order = self.run(instructions, freedom);
        for value in self.values_of(&[computation.root]) {
            self.uses[value as usize] = Uses::default();
        }
        for &id in instructions {
            self.waiting[id as usize] = 0;
            for value in self.read_by(id) {
                self.uses[value as usize] = Uses::default();
            }
        }
        (order.instructions.len() == instructions.len()).then_some(order)
    }

    fn run(&mut self, instructions: &[Id], freedom: Freedom) -> Ordered {
        let program = self.program;
        let moves = |id: Id| freedom.moves(program.instruction(id));
        let mut ready = Ready::default();
        for &id in instructions {
            if self.waiting[id as usize] == 0 {
                ready.add(id, self.priority(id), moves(id));
            }
        }
        let mut fixed = instructions.iter().copied().filter(|&id| !moves(id)).peekable();
        let mut order = Ordered { instructions: Vec::with_capacity(instructions.len()), exceptions: 0 };
        loop {
            cancel::tick();
            let best = ready.free.last().copied();
            let id = match (fixed.peek(), best) {
                (None, None) => return order,
                (None, Some((_, best))) => best,
                (Some(next), Some((key, best))) if ready.keys.get(next).is_none_or(|&own| own < key) => best,
                (Some(&next), _) => {
                    fixed.next();
                    let own = ready.keys.get(&next).map(|(priority, _)| priority);
                    let most = ready.all.last().map(|((priority, _), _)| priority);
                    order.exceptions += usize::from(own < most);
                    next
                }
            };
            ready.remove(id);
            order.instructions.push(id);
            // It has run, whatever it waits for.
            self.waiting[id as usize] = u32::MAX;
            let mut last_uses = Vec::new();
            for value in self.read_by(id) {
                let uses = &mut self.uses[value as usize];
                uses.remove(id);
                if uses.count == 1 {
                    last_uses.push(uses.ids);
                }
            }
            last_uses.sort_unstable();
            last_uses.dedup();
            for next in followers(program, &self.successors, id).collect::<Vec<_>>() {
                let waiting = &mut self.waiting[next as usize];
                if *waiting != u32::MAX {
                    *waiting -= 1;
                    if *waiting == 0 {
                        ready.add(next, self.priority(next), moves(next));
                    }
                }
            }
            self.raise(id, &last_uses, &mut ready, freedom);
        }
    }

    /// Computes the priorities of what is now the last to read a value. As in XLA, only of the users of what `ran` reads.
    fn raise(&mut self, ran: Id, last_uses: &[Id], ready: &mut Ready, freedom: Freedom) {
        if last_uses.iter().all(|id| !ready.keys.contains_key(id)) {
            return;
        }
        let operands: FxHashSet<Id> = self.program.instruction(ran).operands.iter().copied().collect();
        for &id in last_uses {
            let Some(&(old, _)) = ready.keys.get(&id) else { continue };
            let instruction = self.program.instruction(id);
            if instruction.operands.iter().any(|of| operands.contains(of)) {
                let new = self.priority(id);
                if new != old {
                    ready.remove(id);
                    ready.add(id, new, freedom.moves(instruction));
                }
            }
        }
    }

    fn priority(&mut self, id: Id) -> Priority {
        let instruction = self.program.instruction(id);
        // Scalars stay together, so that they may be in registers.
        if instruction.shape.as_array().is_some_and(|array| array.dims.iter().all(|&size| size == 1)) {
            return (i128::MAX, usize::MAX);
        }
        let read = self.read_by(id);
        let freed = read.iter().filter(|&&value| self.uses[value as usize].count == 1);
        let freed: i128 = freed.map(|&value| self.bytes(value)).sum();
        let defined = self.slots.of_instruction(id).filter_map(|slot| {
            let value = self.dataflow.at(slot)?;
            (self.dataflow.value(value).slot == slot).then(|| self.bytes(value))
        });
        (freed - defined.sum::<i128>(), instruction.users.len())
    }

    /// Parameters and constants take no memory that an order could save.
    fn bytes(&self, value: ValueId) -> i128 {
        let slot = self.dataflow.value(value).slot;
        let opcode = self.program.instruction(self.slots.owner(slot)).opcode;
        let shape = self.slots.shape(slot);
        match matches!(opcode, Some(Opcode::Parameter | Opcode::Constant)) || space(shape) == HOST_SPACE {
            true => 0,
            false => plain_bytes(shape).unwrap_or(0).into(),
        }
    }

    /// The values in the operands of an instruction, each once.
    fn read_by(&mut self, id: Id) -> Vec<ValueId> {
        let program = self.program;
        self.values_of(&program.instruction(id).operands)
    }

    fn values_of(&mut self, instructions: &[Id]) -> Vec<ValueId> {
        self.round += 1;
        let slots = instructions.iter().flat_map(|&id| self.slots.of_instruction(id));
        let values = slots.filter_map(|slot| self.dataflow.at(slot));
        let seen = &mut self.seen;
        values
            .filter(|&value| std::mem::replace(&mut seen[value as usize], self.round) != self.round)
            .collect()
    }
}
