//! How a constraint spreads: to what defines the array, to what reads it, and across instructions that keep layouts.
//!
//! Source: XLA `layout_assignment.cc`.

use std::collections::VecDeque;

use syntax::hlo::{AttributeKey, Opcode};

use super::buffers::BufferId;
use super::constraints::{Changed, Weight};
use super::layouts::{Layouts, filtered, first_leaf};
use super::prepare::aliases;
use super::solver::Solver;
use crate::dimensions::UnitChanges;
use crate::driver::Stop;
use crate::module::{ComputationId, InstructionId};

impl Solver<'_> {
    /// Propagates what was added, and all that follows from it.
    pub(super) fn propagate(&mut self, computation: ComputationId) -> Result<(), Stop> {
        let mut open = VecDeque::new();
        self.take_added(&mut open);
        while let Some(changed) = open.pop_front() {
            cancel::tick();
            let Some(left) = self.steps_left.checked_sub(1) else {
                let name = self.module[computation].name();
                return Err(Stop::Unsupported(format!("layout assignment: no layouts suit all of %{name}")));
            };
            self.steps_left = left;
            match changed {
                Changed::Buffer(id) => self.propagate_buffer(id),
                Changed::Operand(user, index) => self.propagate_operand(user, index),
                Changed::Result(computation) => {
                    if let Some(layouts) = self.result_of(computation).cloned() {
                        self.propagate_to_definitions(self.module.root(computation), &layouts, self.round);
                    }
                }
            }
            self.take_added(&mut open);
        }
        Ok(())
    }

    fn take_added(&mut self, open: &mut VecDeque<Changed>) {
        for changed in std::mem::take(&mut self.added) {
            match self.weight(changed).is_depth_first {
                true => open.push_front(changed),
                false => open.push_back(changed),
            }
        }
    }

    /// Source: `PropagateUseConstraintToDefs`.
    fn propagate_to_definitions(&mut self, id: InstructionId, layouts: &Layouts, priority: i64) {
        for (leaf, layout) in layouts.iter().enumerate() {
            let (Some(layout), Some(&buffer)) = (layout, self.buffers.of(id).get(leaf)) else { continue };
            let definition = &self.module[self.buffers[buffer].instruction];
            let has_several = definition.shape().tuple_elements().is_some();
            if definition.opcode() != Opcode::Reduce || !has_several {
                self.set_buffer(buffer, layout, Weight::may(priority));
            }
        }
    }

    /// Source: `PropagateOperandConstraint`.
    fn propagate_operand(&mut self, user: InstructionId, index: usize) {
        let Some(constraint) = self.of_operands.get(&(user, index)) else { return };
        let (layouts, priority) = (constraint.layouts.clone(), constraint.weight.priority);
        let operand = self.module.operand(user, index);
        if super::layouts::leaves(self.module[operand].shape()).iter().all(|array| array.rank() < 2) {
            return;
        }
        self.propagate_to_definitions(operand, &layouts, priority);
        let ([Some(layout)], Some(_)) = (&layouts[..], self.module[operand].shape().as_array()) else {
            return;
        };
        let opcode = self.module[user].opcode();
        if opcode == Opcode::CustomCall {
            self.propagate_to_shared_result(user, index, layout, priority);
        }
        if self.is_constrained_collective(user) {
            return;
        }
        if opcode == Opcode::AllReduce {
            let leaf = if self.module[user].operands().len() == 1 { 0 } else { index };
            if let Some(buffer) = self.buffers.defined(user, leaf) {
                self.set_buffer(buffer, layout, self.must());
            }
        }
        let is_array = self.module[user].shape().as_array().is_some();
        let may_change = self.can_change_layout(user);
        if may_change && !is_array && opcode != Opcode::Reduce || self.buffers.is_forwarded(operand, user) {
            return;
        }
        if !may_change || opcode == Opcode::Reduce {
            return self.propagate_to_siblings(user, operand, layout, priority);
        }
        if let Some(buffer) = self.buffers.defined(user, 0)
            && self.module[user].dims().len() > 1
            && let Some(layout) = self.result_layout(layout, user)
        {
            let is_mandatory = opcode == Opcode::Transpose;
            let is_depth_first = self.is_depth_first(user);
            self.set_buffer(buffer, &layout, Weight { is_mandatory, is_depth_first, priority });
        }
    }

    /// Gives the result of a custom call that overwrites an operand the operand's layout.
    fn propagate_to_shared_result(
        &mut self,
        user: InstructionId,
        index: usize,
        layout: &std::sync::Arc<ir::Layout>,
        priority: i64,
    ) {
        let first = aliases(self.module, user).into_iter().find(|alias| alias.operand == index);
        let leaf = first.and_then(|alias| self.leaf_at(user, &alias.output));
        if let Some(buffer) = leaf.and_then(|leaf| self.buffers.defined(user, leaf)) {
            let is_mandatory = !self.can_change_layout(user);
            self.set_buffer(buffer, layout, Weight { is_mandatory, is_depth_first: false, priority });
        }
    }

    /// To the other operands and the result of an instruction in which all arrays of one rank have one layout.
    fn propagate_to_siblings(
        &mut self,
        user: InstructionId,
        operand: InstructionId,
        layout: &std::sync::Arc<ir::Layout>,
        priority: i64,
    ) {
        let operands = self.module[user].operands().to_vec();
        let rank = self.module[operand].dims().len();
        if self.module[user].opcode() == Opcode::Concatenate
            && let Some(&dim) = self.module[user].dimensions().first()
        {
            // The largest operand decides.
            let size = |id: InstructionId| self.module[id].dims().get(dim as usize).copied();
            if operands.iter().any(|&other| size(other) > size(operand)) {
                return;
            }
        }
        for (index, &other) in operands.iter().enumerate() {
            let is_array = self.module[other].shape().as_array().is_some();
            if other != operand && is_array && self.module[other].dims().len() == rank {
                self.set_array_operand(user, index, layout, Weight::must(priority));
            }
        }
        for leaf in 0..self.buffers.of(user).len() {
            if let Some(buffer) = self.buffers.defined(user, leaf)
                && self.buffers[buffer].array.rank() == rank
            {
                self.set_buffer(buffer, layout, Weight::must(priority));
            }
        }
    }

    fn propagate_buffer(&mut self, id: BufferId) {
        self.propagate_to_operands(id);
        self.propagate_to_uses(id);
        self.propagate_to_next_iteration(id);
    }

    /// Source: `PropagateBufferConstraintToOperands`.
    fn propagate_to_operands(&mut self, id: BufferId) {
        let Some(constraint) = &self.of_buffers[id.index()] else { return };
        let (layout, weight) = (constraint.layout.clone(), constraint.weight);
        let (user, leaf) = (self.buffers[id].instruction, self.buffers[id].leaf);
        let instruction = &self.module[user];
        let opcode = instruction.opcode();
        let is_array = instruction.shape().as_array().is_some();
        if super::layouts::leaves(instruction.shape()).iter().all(|array| array.rank() < 2) {
            return;
        }
        if opcode == Opcode::AllReduce {
            let index = if instruction.operands().len() == 1 { 0 } else { leaf };
            return self.set_array_operand(user, index, &layout, Weight::must(weight.priority));
        }
        for (index, operand) in instruction.operands().iter().copied().enumerate() {
            let rank = self.module[operand].dims().len();
            if rank < 2 {
                continue;
            }
            if !self.can_change_layout(user) {
                let layout = match opcode {
                    _ if rank == layout.minor_to_major.len() => layout.clone(),
                    Opcode::BitcastConvert => match self.layout_of_bitcast_operand(user, operand) {
                        Some(layout) => layout,
                        None => continue,
                    },
                    _ => continue,
                };
                self.set_array_operand(user, index, &layout, self.must());
            } else if opcode == Opcode::Broadcast {
                let dims = self.module[user].dimensions();
                let layout = filtered(&layout, |dim| dims.contains(&dim));
                let weight = Weight { is_depth_first: false, ..self.must() };
                self.set_array_operand(user, index, &layout, weight);
            } else if is_array && let Some(layout) = self.operand_layout(&layout, user) {
                let is_depth_first = self.is_depth_first(user);
                let weight = Weight { is_mandatory: false, is_depth_first, priority: self.round };
                self.set_array_operand(user, index, &layout, weight);
            }
        }
    }

    /// Source: `PropagateBufferConstraintToUses`.
    fn propagate_to_uses(&mut self, id: BufferId) {
        let Some(constraint) = &self.of_buffers[id.index()] else { return };
        let (layout, priority) = (constraint.layout.clone(), constraint.weight.priority);
        for holder in self.buffers[id].holders.clone() {
            for &user in self.module[holder].users() {
                if self.buffers.of(user).contains(&id) {
                    continue;
                }
                for (index, &operand) in self.module[user].operands().iter().enumerate() {
                    if operand == holder {
                        self.set_array_operand(user, index, &layout, Weight::may(priority));
                    }
                }
            }
        }
    }

    /// From what an iteration of a loop returns to the parameter of the next one.
    fn propagate_to_next_iteration(&mut self, id: BufferId) {
        let Some(constraint) = &self.of_buffers[id.index()] else { return };
        let layout = constraint.layout.clone();
        let (instruction, leaf) = (self.buffers[id].instruction, self.buffers[id].leaf);
        let computation = self.module[instruction].parent();
        let root = self.module.root(computation);
        if !self.bodies.contains(&computation) || self.module[root].opcode() != Opcode::Tuple {
            return;
        }
        let Some(index) = self.module[root].operands().iter().position(|&operand| operand == instruction)
        else {
            return;
        };
        let leaf = first_leaf(self.module[root].shape(), index) + leaf;
        let parameters = self.module.parameters(computation);
        if let [parameter] = parameters[..]
            && let Some(buffer) = self.buffers.defined(parameter, leaf)
        {
            self.set_buffer(buffer, &layout, Weight::may(self.round));
        }
    }

    /// Whether layouts that the instruction passes on mean something there.
    /// Source: `InstructionShouldPropagateDepthFirst`.
    fn is_depth_first(&self, id: InstructionId) -> bool {
        let instruction = &self.module[id];
        match instruction.opcode() {
            Opcode::Gather | Opcode::Scatter | Opcode::Transpose => true,
            Opcode::Reshape => instruction.operands().first().is_some_and(|&operand| {
                let from = self.module[operand].dims();
                from.len() == 1 || UnitChanges::of(from, instruction.dims()).is_some()
            }),
            _ => false,
        }
    }

    pub(super) fn is_constrained_collective(&self, id: InstructionId) -> bool {
        self.module[id].attributes().bool(AttributeKey::ConstrainLayout) == Some(true)
    }
}
