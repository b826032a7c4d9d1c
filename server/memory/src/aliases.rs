//! Values that must be in the same memory.

use ir::{AttributeKey, Opcode};

use crate::dataflow::{Dataflow, ValueId};
use crate::in_place::in_place;
use crate::program::{Id, Program};
use crate::schedule::Schedule;
use crate::slots::{Slot, Slots};

/// Index of a buffer: of values that are in the same memory.
pub type BufferId = u32;

/// Source: `hlo/analysis/hlo_alias_analysis.cc`.
#[derive(Debug, Default)]
pub(crate) struct Aliases {
    /// Per buffer its values, in order.
    pub(crate) buffers: Vec<Vec<ValueId>>,
    /// Per value.
    pub(crate) buffer_of: Vec<BufferId>,
    /// Per buffer, whether the result of the module holds one of its values.
    pub(crate) is_result: Vec<bool>,
}

impl Aliases {
    pub(crate) fn of(program: &Program, slots: &Slots, schedule: &Schedule, dataflow: &Dataflow) -> Aliases {
        let mut sets = Sets { parent: (0..dataflow.values.len() as ValueId).collect() };
        for (a, b) in same_memory(program, slots, schedule) {
            if let (Some(a), Some(b)) = (dataflow.at(a), dataflow.at(b)) {
                sets.join(a, b);
            }
        }
        let mut aliases = Aliases::default();
        let mut buffer_of_root = vec![BufferId::MAX; dataflow.values.len()];
        for value in 0..dataflow.values.len() as ValueId {
            let root = sets.find(value) as usize;
            if buffer_of_root[root] == BufferId::MAX {
                buffer_of_root[root] = aliases.buffers.len() as BufferId;
                aliases.buffers.push(Vec::new());
            }
            aliases.buffers[buffer_of_root[root] as usize].push(value);
            aliases.buffer_of.push(buffer_of_root[root]);
        }
        aliases.is_result = vec![false; aliases.buffers.len()];
        for slot in slots.of_instruction(program.computations[program.entry].root) {
            if let Some(value) = dataflow.at(slot) {
                aliases.is_result[aliases.buffer_of[value as usize] as usize] = true;
            }
        }
        aliases
    }
}

/// Pairs of slots whose values are in the same memory.
fn same_memory(program: &Program, slots: &Slots, schedule: &Schedule) -> Vec<(Slot, Slot)> {
    let mut pairs = Vec::new();
    let root = program.computations[program.entry].root;
    for alias in &program.aliases {
        let parameters = &program.computations[program.entry].parameters;
        let parameter = usize::try_from(alias.parameter).ok().and_then(|number| parameters.get(number));
        let Some(&parameter) = parameter.filter(|&&id| id != Id::MAX) else { continue };
        let output = slots.at(slots.top(root), &alias.output);
        pairs.extend(output.zip(slots.at(slots.top(parameter), &alias.index)));
    }
    let mut whole = |a: Slot, b: Slot| {
        let count = slots.extent(a).min(slots.extent(b));
        pairs.extend((0..count).map(|n| (a + n, b + n)));
    };
    let mut updates = Vec::new();
    for &id in &schedule.order {
        cancel::tick();
        let instruction = program.instruction(id);
        let top = slots.top(id);
        let called =
            || instruction.callees.iter().map(|&(key, callee)| (key, &program.computations[callee as usize]));
        match instruction.opcode {
            Some(Opcode::While) => {
                instruction.operands.iter().take(1).for_each(|&init| whole(top, slots.top(init)));
                for (key, computation) in called() {
                    computation.parameters.iter().take(1).for_each(|&own| whole(top, slots.top(own)));
                    if key == AttributeKey::Body {
                        whole(top, slots.top(computation.root));
                    }
                }
            }
            Some(Opcode::Conditional) => {
                called().for_each(|(_, branch)| whole(top, slots.top(branch.root)));
            }
            _ => updates.extend(in_place(program, slots, id).iter().map(|pair| (pair.from, pair.to))),
        }
    }
    pairs.extend(updates);
    pairs
}

struct Sets {
    parent: Vec<ValueId>,
}

impl Sets {
    fn find(&mut self, mut value: ValueId) -> ValueId {
        while self.parent[value as usize] != value {
            let grandparent = self.parent[self.parent[value as usize] as usize];
            self.parent[value as usize] = grandparent;
            value = grandparent;
        }
        value
    }

    fn join(&mut self, a: ValueId, b: ValueId) {
        let (a, b) = (self.find(a), self.find(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }
}
