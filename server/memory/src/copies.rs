//! Copies that a module needs because values that share a buffer are alive at the same time.
//!
//! XLA first adds copies wherever an instruction may overwrite what it reads, then removes those without which no value is
//! overwritten too early, and last adds those for values that nothing may write.
//!
//! Source: `service/copy_insertion.cc`, `service/copy_removal.cc`, without the analysis by regions, which is off for GPUs.

mod before;
mod loops;
mod necessary;
mod read_only;

use ir::{AttributeKey, Opcode};

use crate::aliases::Aliases;
use crate::dataflow::{Dataflow, ValueId};
use crate::in_place::in_place;
use crate::overwriting::{OrderOf, Overwriting};
use crate::program::{Id, Program};
use crate::schedule::Schedule;
use crate::slots::{Slot, Slots};

/// Where a path leads in the result of an instruction: indices of tuples.
pub type Path = Vec<i64>;

/// Which values a program without an order holds where, and which share a buffer.
pub struct Copies<'a> {
    program: &'a Program,
    slots: Slots,
    dataflow: Dataflow,
    aliases: Aliases,
    order_of: &'a OrderOf<'a>,
}

/// A place where copies may be necessary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conflict {
    /// A loop changes these elements of its state, or exchanges them.
    Loop { id: Id, elements: Vec<Path> },
    /// The branches of a conditional return different values for these elements.
    Branches { id: Id, elements: Vec<Path> },
    /// An instruction overwrites an operand.
    Overwritten { id: Id, operand: usize },
}

/// Why a copy is necessary: `writer` overwrites what was copied before `reader` has read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason {
    pub writer: Id,
    /// `None` where the value is part of the result of the writer's computation, or nothing orders the two.
    pub reader: Option<Id>,
}

/// A value that needs a copy because nothing may write it, or because the result needs a buffer of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Special {
    pub id: Id,
    pub path: Path,
    pub why: &'static str,
}

impl<'a> Copies<'a> {
    pub fn new(program: &'a Program, order_of: &'a OrderOf<'a>) -> Copies<'a> {
        let slots = Slots::of(program);
        let schedule = Schedule::of(program);
        let dataflow = Dataflow::of(program, &slots, &schedule);
        let aliases = Aliases::of(program, &slots, &schedule, &dataflow);
        Copies { program, slots, dataflow, aliases, order_of }
    }

    fn overwriting(&self) -> Overwriting<'_> {
        Overwriting::new(self.program, &self.slots, &self.dataflow, self.order_of)
    }

    /// The instruction that defines a value.
    fn definition(&self, value: ValueId) -> Id {
        self.slots.owner(self.dataflow.value(value).slot)
    }

    /// Where an instruction may overwrite a value that something else still reads.
    pub fn conflicts(&self, id: Id) -> Option<Conflict> {
        let instruction = self.program.instruction(id);
        match instruction.opcode {
            Some(Opcode::While) => {
                let init = self.slots.top(*instruction.operands.first()?);
                let top = self.slots.top(id);
                let elements =
                    self.arrays(id, |slot| self.dataflow.at(slot) != self.dataflow.at(init + (slot - top)));
                (!elements.is_empty()).then_some(Conflict::Loop { id, elements })
            }
            Some(Opcode::Conditional) => {
                let elements = self.arrays(id, |slot| self.is_joined_at(slot));
                (!elements.is_empty()).then_some(Conflict::Branches { id, elements })
            }
            _ => None,
        }
    }

    /// The operands that an instruction overwrites, each once.
    pub fn overwritten(&self, id: Id) -> Vec<Conflict> {
        let mut operands: Vec<usize> = Vec::new();
        for pair in in_place(self.program, &self.slots, id) {
            if !operands.contains(&pair.operand) {
                operands.push(pair.operand);
            }
        }
        operands.into_iter().map(|operand| Conflict::Overwritten { id, operand }).collect()
    }

    /// Whether an instruction itself joins the values that control flow may put into a slot of its result.
    fn is_joined_at(&self, slot: Slot) -> bool {
        self.dataflow
            .at(slot)
            .is_some_and(|value| self.dataflow.is_joined(value) && self.dataflow.value(value).slot == slot)
    }

    /// The paths of the arrays in a result for which something holds.
    fn arrays(&self, id: Id, holds: impl Fn(Slot) -> bool) -> Vec<Path> {
        let slots = self.slots.of_instruction(id).filter(|&slot| self.slots.shape(slot).as_array().is_some());
        slots.filter(|&slot| holds(slot)).map(|slot| self.slots.path(slot)).collect()
    }

    /// The branches of a conditional, or body and condition of a loop.
    fn called(&self, id: Id, keys: &[AttributeKey]) -> Vec<u32> {
        let callees = self.program.instruction(id).callees.iter();
        callees.filter(|(key, _)| keys.contains(key)).map(|&(_, callee)| callee).collect()
    }

    fn branches(&self, id: Id) -> Vec<u32> {
        use AttributeKey::{BranchComputations, FalseComputation, TrueComputation};
        self.called(id, &[BranchComputations, TrueComputation, FalseComputation])
    }
}
