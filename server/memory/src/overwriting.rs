//! Whether a value may take the memory of an operand of the instruction that defines it.

use std::cell::RefCell;

use ir::{AttributeKey, Opcode};
use rustc_hash::FxHashMap;

use crate::dataflow::{Dataflow, ValueId};
use crate::in_place::in_place;
use crate::program::{Id, Program};
use crate::sharing::{FusionOrder, fusion_may_overwrite, is_elementwise_on};
use crate::slots::{Slot, Slots};

/// The call that adds a matrix to a product, in place.
const MATMUL_WITH_BIAS: &str = "__cublas$lt$matmul";

/// How the kernel of a fusion reads and writes.
pub type OrderOf<'a> = dyn Fn(Id) -> FusionOrder + 'a;

pub(crate) struct Overwriting<'a> {
    pub(crate) program: &'a Program,
    pub(crate) slots: &'a Slots,
    pub(crate) dataflow: &'a Dataflow,
    pub(crate) order_of: &'a OrderOf<'a>,
    /// By fusion: its analysis is slow and asked for again.
    orders: RefCell<FxHashMap<Id, FusionOrder>>,
}

impl<'a> Overwriting<'a> {
    pub(crate) fn new(
        program: &'a Program,
        slots: &'a Slots,
        dataflow: &'a Dataflow,
        order_of: &'a OrderOf<'a>,
    ) -> Overwriting<'a> {
        Overwriting { program, slots, dataflow, order_of, orders: RefCell::default() }
    }

    /// Whether the instruction that defines `user` may write it over its operand `operand`.
    pub(crate) fn takes_over(&self, user: ValueId, operand: ValueId) -> bool {
        let slot = self.dataflow.value(user).slot;
        let id = self.slots.owner(slot);
        let instruction = self.program.instruction(id);
        instruction.opcode != Some(Opcode::Copy)
            && self.dataflow.positions(operand).any(|from| {
                let owner = self.slots.owner(from);
                instruction.operands.contains(&owner) && self.may_overwrite(owner, from, id, slot)
            })
    }

    /// Whether `to`, a slot of the result of `user`, may overwrite slot `from` of `operand`, which `user` is the last to
    /// read. Source: `HloDataflowAnalysis::CanShareOperandBufferWithUser` with `NVPTXAliasInfo`.
    pub(crate) fn may_overwrite(&self, operand: Id, from: Slot, user: Id, to: Slot) -> bool {
        let program = self.program;
        if program.instruction(operand).opcode == Some(Opcode::Constant) {
            return false;
        }
        let is_same_shape = self.slots.shape(from) == self.slots.shape(to);
        if is_same_shape && self.is_updated(from, user, to) {
            return true;
        }
        if let Some(answer) = self.hint(operand, user, to) {
            return answer;
        }
        let reader = program.instruction(user);
        let is_only = |wanted: usize| {
            let mut at = reader.operands.iter().enumerate().filter(|(_, own)| **own == operand);
            at.next().map(|(number, _)| number) == Some(wanted) && at.next().is_none()
        };
        let Some(number) = program.operand_number(user, operand).filter(|_| is_same_shape) else {
            return false;
        };
        match reader.opcode {
            Some(Opcode::While | Opcode::Conditional) => true,
            Some(Opcode::DynamicUpdateSlice | Opcode::Scatter | Opcode::SetDimensionSize) => is_only(0),
            Some(Opcode::TriangularSolve) => is_only(1),
            Some(Opcode::Sort) => {
                program.instruction(operand).users.len() == 1
                    && (reader.operands.len() == 1
                        || self.slots.path(to).first().is_some_and(|&index| is_only(index as usize)))
            }
            Some(Opcode::Call) => self.is_call_elementwise(from, user),
            _ => is_elementwise_on(program, user, number),
        }
    }

    /// Whether `user` updates the value in place.
    fn is_updated(&self, from: Slot, user: Id, to: Slot) -> bool {
        let value = self.dataflow.at(from);
        in_place(self.program, self.slots, user)
            .iter()
            .any(|pair| pair.to == to && value.is_some() && self.dataflow.at(pair.from) == value)
    }

    fn hint(&self, operand: Id, user: Id, to: Slot) -> Option<bool> {
        let program = self.program;
        let instruction = program.instruction(user);
        match instruction.opcode {
            Some(Opcode::AllReduce | Opcode::CollectiveBroadcast) => {
                let path = self.slots.path(to);
                let own = path.first().and_then(|&index| instruction.operands.get(index as usize));
                Some(instruction.operands.len() == 1 || (path.len() == 1 && own == Some(&operand)))
            }
            Some(Opcode::CustomCall) => Some(
                instruction.adds_in_place
                    && instruction.operands.get(2) == Some(&operand)
                    && instruction.operands.iter().filter(|&&own| own == operand).count() == 1
                    && self.slots.path(to) == [0],
            ),
            Some(Opcode::Fusion) => {
                let mut orders = self.orders.borrow_mut();
                let order = orders.entry(user).or_insert_with(|| match is_order_needed(program, user) {
                    true => (self.order_of)(user),
                    false => FusionOrder::default(),
                });
                Some(fusion_may_overwrite(program, user, operand, &self.slots.path(to), order))
            }
            _ => None,
        }
    }

    /// Whether the result of the called computation reads the value at the indices at which it writes, and nothing else does.
    fn is_call_elementwise(&self, from: Slot, call: Id) -> bool {
        let Some(value) = self.dataflow.at(from) else { return false };
        let uses = self.dataflow.uses(self.program, self.slots, value);
        let Some(callee) = self.program.callee(call, AttributeKey::ToApply) else { return false };
        let is_result = |one: &crate::dataflow::Use| {
            one.user == callee.root && is_elementwise_on(self.program, one.user, one.operand as usize)
        };
        uses.len() == 2 && uses.iter().any(|one| one.user == call) && uses.iter().any(is_result)
    }
}

/// Whether what a fusion may overwrite depends on its kernel, whose analysis is slow: it has several results, or a reduction.
fn is_order_needed(program: &Program, fusion: Id) -> bool {
    let Some(body) = program.callee(fusion, AttributeKey::Calls) else { return false };
    let has = |opcode| body.instructions.iter().any(|&id| program.instruction(id).opcode == Some(opcode));
    program.instruction(body.root).opcode == Some(Opcode::Tuple) || has(Opcode::Reduce) || has(Opcode::Fusion)
}

/// Whether a custom call adds its third operand to its result in place, by its target and configuration.
pub fn adds_in_place(target: &str, backend_config: &str) -> bool {
    // `beta` is the factor of the third operand; it is left out where it is 0.
    target == MATMUL_WITH_BIAS
        && backend_config.split("\"beta\":").nth(1).is_some_and(|rest| {
            let number = rest.trim_start().split([',', '}', ' ']).next().unwrap_or("");
            number.parse::<f64>().is_ok_and(|beta| beta != 0.0)
        })
}
