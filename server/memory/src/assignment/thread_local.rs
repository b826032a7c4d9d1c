//! Memory of the computations that run inside an instruction, for each of its elements.

use ir::{AttributeKey, Opcode};

use super::open::Open;
use super::{Allocation, AllocationKind, Assigner};
use crate::program::{Id, Program};
use crate::schedule::Schedule;
use crate::sizes;

impl Assigner<'_> {
    /// Scalars of the computations that run inside an instruction, fusions excluded.
    pub(super) fn thread_local(&self, open: &mut Open) {
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
