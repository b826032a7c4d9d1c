//! Edits of a module.

use std::collections::VecDeque;
use std::sync::Arc;

use ir::{Attributes, Op, Shape};
use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Opcode};

use super::{ComputationId, Instruction, InstructionId, Module, NewOp};

impl Module {
    /// An instruction, to change anything.
    pub(super) fn edit(&mut self, id: InstructionId) -> &mut Instruction {
        self.restructured(self.instructions[id.0 as usize].parent);
        &mut self.instructions[id.0 as usize]
    }

    /// The op of an instruction, to change it: no order depends on that.
    fn op_mut(&mut self, id: InstructionId) -> &mut Arc<Op> {
        &mut self.instructions[id.0 as usize].op
    }

    fn start_use(&mut self, operand: InstructionId, user: InstructionId) {
        let users = &mut self.edit(operand).users;
        if !users.contains(&user) {
            users.push(user);
        }
    }

    /// Ends the use of `operand` by `user` if none of its operands is `operand` any more.
    fn end_use(&mut self, operand: InstructionId, user: InstructionId) {
        if self[user].operands.contains(&operand) {
            return;
        }
        let users = &mut self.edit(operand).users;
        if let Some(at) = users.iter().position(|&other| other == user) {
            // XLA fills the gap with the last user, too.
            users.swap_remove(at);
        }
    }

    fn set_operand_shape(&mut self, user: InstructionId, index: usize, shape: Shape) {
        let op = self.op_mut(user);
        if op.operand_shapes[index] != shape {
            Arc::make_mut(op).operand_shapes[index] = shape;
        }
    }

    /// Makes `operand` the operand number `index` of an instruction.
    pub fn set_operand(&mut self, user: InstructionId, index: usize, operand: InstructionId) {
        let old = std::mem::replace(&mut self.edit(user).operands[index], operand);
        if old == operand {
            return;
        }
        self.end_use(old, user);
        self.start_use(operand, user);
        let shape = self[operand].shape().clone();
        self.set_operand_shape(user, index, shape);
    }

    /// Gives an instruction other operands, however many.
    pub fn set_operands(&mut self, user: InstructionId, operands: &[InstructionId]) {
        for operand in std::mem::take(&mut self.edit(user).operands) {
            self.end_use(operand, user);
        }
        for &operand in operands {
            self.start_use(operand, user);
        }
        let shapes: Vec<Shape> = operands.iter().map(|&operand| self[operand].shape().clone()).collect();
        let instruction = self.edit(user);
        instruction.operands = operands.into();
        if instruction.op.operand_shapes != shapes {
            Arc::make_mut(&mut instruction.op).operand_shapes = shapes;
        }
    }

    /// Makes `user` use `new` wherever it uses `old`.
    pub fn replace_use(&mut self, old: InstructionId, user: InstructionId, new: InstructionId) {
        for index in 0..self[user].operands.len() {
            if self[user].operands[index] == old {
                self.set_operand(user, index, new);
            }
        }
    }

    /// Makes all users of `old` use `new`, and makes `new` the root if `old` was it. `new` itself may use `old`.
    pub fn replace_all_uses(&mut self, old: InstructionId, new: InstructionId) {
        if old == new {
            return;
        }
        self.inherit_origins(new, old);
        for user in self[old].users.clone() {
            if user != new {
                self.replace_use(old, user, new);
            }
        }
        if self.is_root(old) {
            self.set_root(self[old].parent, new);
        }
    }

    /// Replaces an instruction by another of its computation, which inherits the metadata, frontend attributes and sharding that
    /// it lacks, and removes the old one with the operands that nothing uses any more. Does nothing and returns `false`
    /// where control dependencies hold the old one.
    /// Source: `HloComputation::ReplaceInstructionWithDifferentShape`.
    pub fn replace(&mut self, old: InstructionId, new: InstructionId) -> bool {
        if self[old].has_control_dependencies() {
            return false;
        }
        self.inherit(new, old);
        self.replace_all_uses(old, new);
        self.remove_with_operands(old);
        true
    }

    /// As [`Module::replace`]. Control dependencies of the old instruction become those of the new one, and operands that nothing
    /// uses any more are removed with theirs.
    pub fn replace_relaying_control(&mut self, old: InstructionId, new: InstructionId) {
        self.relay_control(old, new);
        self.inherit(new, old);
        self.replace_all_uses(old, new);
        self.remove_from(old, |module, id| module[id].opcode() != Opcode::Parameter);
    }

    /// Gives an instruction the metadata, frontend attributes and sharding of another one, where it has none.
    pub fn inherit(&mut self, id: InstructionId, from: InstructionId) {
        self.inherit_origins(id, from);
        for key in [AttributeKey::Metadata, AttributeKey::FrontendAttributes, AttributeKey::Sharding] {
            let value = self[from].attributes().get(key).cloned();
            if let Some(value) = value.filter(|_| self[id].attributes().get(key).is_none()) {
                self.attributes_mut(id).set(key, value);
            }
        }
    }

    /// Gives an instruction the metadata of another one, where it has none.
    pub fn inherit_metadata(&mut self, id: InstructionId, from: InstructionId) {
        let metadata = self[from].attributes().get(AttributeKey::Metadata).cloned();
        if let Some(value) = metadata.filter(|_| self[id].attributes().get(AttributeKey::Metadata).is_none())
        {
            self.attributes_mut(id).set(AttributeKey::Metadata, value);
        }
    }

    /// Adds an instruction in place of another; see [`Module::add`] and [`Module::replace`]. `None` where control dependencies
    /// hold the old one.
    pub fn replace_with_new(&mut self, old: InstructionId, new: NewOp) -> Option<InstructionId> {
        if self[old].has_control_dependencies() {
            return None;
        }
        let is_alike = new.opcode == self[old].opcode();
        let name = if is_alike { self[old].name.clone() } else { new.opcode.name().into() };
        let new = self.add_named(self[old].parent, new, &name);
        self.replace(old, new);
        Some(new)
    }

    /// Removes an instruction that nothing uses.
    ///
    /// # Panics
    /// If something uses it: the module would be broken.
    pub fn remove(&mut self, id: InstructionId) {
        assert!(self.is_dead(id), "%{} is in use", self[id].name);
        if self[id].is_removed {
            return;
        }
        for operand in std::mem::take(&mut self.edit(id).operands) {
            self.end_use(operand, id);
        }
        self.drop_control(id);
        self.edit(id).is_removed = true;
        let parent = self[id].parent;
        let computation = &mut self.computations[parent.0 as usize];
        computation.gaps += 1;
        if computation.gaps * 2 > computation.listed.len() {
            let instructions = &self.instructions;
            computation.listed.retain(|&id| !instructions[id.0 as usize].is_removed);
            computation.gaps = 0;
        }
    }

    /// Removes an instruction that nothing uses, and then all operands that nothing uses any more, unless they have a side
    /// effect or are held by control dependencies. Parameters stay.
    /// Source: `HloComputation::RemoveInstructionAndUnusedOperands`.
    pub fn remove_with_operands(&mut self, id: InstructionId) {
        self.remove_from(id, Module::is_removable);
    }

    fn remove_from(&mut self, id: InstructionId, is_removable: fn(&Module, InstructionId) -> bool) {
        let mut open = VecDeque::from([id]);
        while let Some(item) = open.pop_front() {
            let is_kept = self[item].is_removed
                || !self.is_dead(item)
                || !is_removable(self, item)
                || item != id && self.has_side_effect(item);
            if !is_kept {
                open.extend(self[item].operands.iter().copied());
                self.remove(item);
            }
        }
    }

    /// Whether an instruction may be removed when nothing uses it: it is no parameter, and has no control dependencies.
    pub fn is_removable(&self, id: InstructionId) -> bool {
        !self[id].has_control_dependencies() && self[id].opcode() != Opcode::Parameter
    }

    pub fn set_root(&mut self, computation: ComputationId, root: InstructionId) {
        self.computations[computation.0 as usize].root = root;
    }

    /// Puts the users of an instruction into this order, those that are missing behind. Which instructions are its users does not change.
    /// `is_guess` says whether XLA may have another order.
    pub fn order_users(&mut self, id: InstructionId, order: &[InstructionId], is_guess: bool) {
        match is_guess {
            true => self.guessed_users.insert(id),
            false => self.guessed_users.remove(&id),
        };
        if self[id].users() == order {
            return;
        }
        let place: FxHashMap<InstructionId, usize> = order.iter().copied().zip(0..).collect();
        let behind = order.len();
        self.edit(id).users.sort_by_key(|user| place.get(user).copied().unwrap_or(behind));
    }

    /// Changes the shape of an instruction in place, for its users too.
    pub fn set_shape(&mut self, id: InstructionId, shape: Shape) {
        let shape = shape.without_default_layouts();
        for user in self[id].users.clone() {
            for index in 0..self[user].operands.len() {
                if self[user].operands[index] == id {
                    self.set_operand_shape(user, index, shape.clone());
                }
            }
        }
        if *self[id].shape() != shape {
            Arc::make_mut(self.op_mut(id)).shape = shape;
        }
    }

    /// The attributes of an instruction, to change them.
    pub fn attributes_mut(&mut self, id: InstructionId) -> &mut Attributes {
        &mut Arc::make_mut(self.op_mut(id)).attributes
    }

    /// Gives a parameter another number.
    pub fn set_parameter_number(&mut self, id: InstructionId, number: u32) {
        Arc::make_mut(self.op_mut(id)).parameter = Some(number);
    }

    /// Makes an instruction call `called` by the attribute `key`.
    pub fn set_calls(&mut self, id: InstructionId, key: AttributeKey, called: &[ComputationId]) {
        let calls = &mut self.edit(id).calls;
        match calls.iter_mut().find(|(own, _)| *own == key) {
            Some((_, old)) => *old = called.into(),
            None => calls.push((key, called.into())),
        }
    }

    /// Gives an instruction another name, made unique.
    pub fn rename(&mut self, id: InstructionId, name: &str) {
        self.instructions[id.0 as usize].name = self.instruction_names.unique_owned(name.to_owned()).into();
    }

    /// Gives an instruction a name that no other instruction of the module has.
    pub fn set_name(&mut self, id: InstructionId, name: &str) {
        self.instruction_names.unique_owned(name.to_owned());
        self.instructions[id.0 as usize].name = name.into();
    }

    /// Gives a computation another name, made unique.
    pub fn rename_computation(&mut self, id: ComputationId, name: &str) {
        let name = self.computation_names.unique_owned(name.to_owned());
        self.computations[id.0 as usize].name = name.into();
    }

    /// Moves an instruction of a scheduled computation to just before another one.
    pub fn schedule_before(&mut self, id: InstructionId, anchor: InstructionId) {
        let parent = self[id].parent;
        self.restructured(parent);
        let listed = &mut self.computations[parent.0 as usize].listed;
        listed.retain(|&other| other != id);
        let at = listed.iter().position(|&other| other == anchor).unwrap_or(listed.len());
        listed.insert(at, id);
    }

    /// Gives a computation the order in which its instructions run. `order` has each once.
    pub fn set_order(&mut self, computation: ComputationId, order: Vec<InstructionId>) {
        debug_assert_eq!(order.len(), self.count(computation));
        self.restructured(computation);
        let computation = &mut self.computations[computation.0 as usize];
        computation.listed = order;
        computation.gaps = 0;
    }

    /// Makes `after` wait for `before`.
    pub fn add_control(&mut self, before: InstructionId, after: InstructionId) {
        if !self[after].control_predecessors.contains(&before) {
            self.edit(after).control_predecessors.push(before);
            self.edit(before).control_successors.push(after);
        }
    }

    /// Moves all control dependencies of an instruction to another one.
    pub fn relay_control(&mut self, from: InstructionId, to: InstructionId) {
        let (before, after) =
            (self[from].control_predecessors.clone(), self[from].control_successors.clone());
        self.drop_control(from);
        before.into_iter().filter(|&id| id != to).for_each(|id| self.add_control(id, to));
        after.into_iter().filter(|&id| id != to).for_each(|id| self.add_control(to, id));
    }

    /// Removes all control dependencies of an instruction.
    pub fn drop_control(&mut self, id: InstructionId) {
        for before in std::mem::take(&mut self.edit(id).control_predecessors) {
            self.edit(before).control_successors.retain(|other| *other != id);
        }
        for after in std::mem::take(&mut self.edit(id).control_successors) {
            self.edit(after).control_predecessors.retain(|other| *other != id);
        }
    }
}
