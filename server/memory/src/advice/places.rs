//! Which instructions may run at another place of the schedule, and between which places.

use ir::{Opcode, op_info};

use super::Advisor;
use crate::dataflow::ValueId;
use crate::program::{Id, Program};
use crate::schedule::Time;

pub(super) struct Places<'a> {
    advisor: &'a Advisor<'a>,
    /// Per instruction, its index in its computation.
    pub(super) index: Vec<usize>,
    /// The peak, by position of the schedule with elements that are not written.
    pub(super) peak: Time,
}

impl<'a> Places<'a> {
    pub(super) fn new(advisor: &'a Advisor<'a>) -> Places<'a> {
        let Advisor { program, memory, flow, .. } = advisor;
        let mut index = vec![0; program.instructions.len()];
        for computation in &program.computations {
            for (at, &id) in computation.instructions.iter().enumerate() {
                index[id as usize] = at;
            }
        }
        let behind = flow.schedule.written.partition_point(|&written| written <= memory.usage.peak);
        Places { advisor, index, peak: behind.saturating_sub(1) as Time }
    }

    pub(super) fn time(&self, id: Id) -> Option<Time> {
        self.advisor.flow.schedule.at(id)
    }

    /// The instruction that defines a value, if that is all it does, and its memory is that of no other value.
    pub(super) fn defined_by(&self, value: ValueId) -> Option<Id> {
        let Advisor { program, flow, .. } = self.advisor;
        let slot = flow.dataflow.value(value).slot;
        let id = flow.slots.owner(slot);
        let instruction = program.instruction(id);
        let is_step = flow.schedule.started_by[instruction.computation as usize].is_none();
        let buffer = flow.aliases.buffer_of[value as usize] as usize;
        let is_alone = flow.aliases.buffers[buffer].len() == 1;
        let is_plain = is_pure(program, id) && !instruction.waits && instruction.shape.as_array().is_some();
        let is_read_as_written = instruction.operands.iter().all(|&own| program.instruction(own).is_written);
        (is_step && is_alone && is_plain && is_read_as_written).then_some(id)
    }

    /// Whether something is written over an operand of an instruction in a part of the schedule.
    pub(super) fn is_overwritten(&self, id: Id, from: Time, to: Time) -> bool {
        let Advisor { program, flow, .. } = self.advisor;
        let operands = program.instruction(id).operands.iter();
        let mut read = operands
            .flat_map(|&own| flow.slots.of_instruction(own))
            .filter_map(|slot| flow.dataflow.at(slot));
        read.any(|value| {
            let buffer = &flow.aliases.buffers[flow.aliases.buffer_of[value as usize] as usize];
            let mut others = buffer.iter().filter(|&&other| other != value);
            others.any(|&other| (from..=to).contains(&flow.ranges[other as usize].start))
        })
    }
}

/// Whether an instruction does no more than compute its result. Custom calls are not looked into.
fn is_pure(program: &Program, id: Id) -> bool {
    use Opcode::{Bitcast, Constant, CustomCall, GetTupleElement, Parameter, Tuple};
    program.instruction(id).opcode.is_some_and(|opcode| {
        let info = op_info(opcode);
        !info.has_side_effect
            && info.steps.is_empty()
            && !matches!(opcode, Bitcast | Constant | CustomCall | GetTupleElement | Parameter | Tuple)
    })
}
