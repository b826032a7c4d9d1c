//! A program that is changed: copies of instructions, other operands, other shapes.

use ir::Opcode;
use rustc_hash::FxHashSet;

use crate::program::{Id, Instruction, Program};

/// A changed copy of a program. Instructions keep their numbers, copies of some are behind all others.
pub(super) struct Changed<'a> {
    original: &'a Program,
    pub(super) program: Program,
    /// Per copy, the instruction that it is one of.
    copied: Vec<Id>,
    /// Instructions whose users may be others.
    touched: FxHashSet<Id>,
}

impl<'a> Changed<'a> {
    pub(super) fn new(original: &'a Program) -> Changed<'a> {
        Changed { original, program: original.clone(), copied: Vec::new(), touched: FxHashSet::default() }
    }

    /// The instruction of the original program that stands for one of the changed one.
    pub(super) fn original_of(&self, id: Id) -> Id {
        let first = self.original.instructions.len();
        (id as usize).checked_sub(first).map_or(id, |copy| self.copied[copy])
    }

    /// Computes instructions of one computation again in front of that at index `to`. From there on all read the copies.
    pub(super) fn compute_again(&mut self, ids: &[Id], to: usize) {
        let first = self.program.instructions.len() as Id;
        let copy_of = |id: Id| ids.iter().position(|&own| own == id).map_or(id, |at| first + at as Id);
        for (at, &id) in ids.iter().enumerate() {
            let mut copy = self.original.instruction(id).clone();
            self.touched.extend(copy.operands.iter().copied());
            self.touched.extend([id, first + at as Id]);
            copy.operands.iter_mut().for_each(|operand| *operand = copy_of(*operand));
            self.touched.extend(copy.operands.iter().copied());
            for (_, callee) in &copy.callees {
                self.program.computations[*callee as usize].callers.push(first + at as Id);
            }
            self.program.instructions.push(copy);
            self.copied.push(id);
        }
        let Some(&one) = ids.first() else { return };
        let number = self.original.instruction(one).computation as usize;
        for &user in &self.original.computations[number].instructions[to..] {
            let operands = &mut self.program.instructions[user as usize].operands;
            operands.iter_mut().for_each(|operand| *operand = copy_of(*operand));
        }
        self.program.computations[number].instructions.splice(to..to, first..first + ids.len() as Id);
        self.find_users(number);
    }

    /// Lets one reader of a parameter read a copy of it, which all devices gather in front of the reader.
    pub(super) fn gather(&mut self, parameter: Id, reader: Id) {
        let gathered = self.program.instructions.len() as Id;
        let original = self.original.instruction(parameter);
        self.program.instructions.push(Instruction {
            name: format!("{}.gathered", original.name).into(),
            opcode: Some(Opcode::AllGather),
            operands: vec![parameter],
            number: None,
            ..original.clone()
        });
        self.copied.push(parameter);
        let operands = &mut self.program.instructions[reader as usize].operands;
        operands.iter_mut().filter(|own| **own == parameter).for_each(|own| *own = gathered);
        let computation = original.computation as usize;
        let order = &mut self.program.computations[computation].instructions;
        if let Some(at) = order.iter().position(|&id| id == reader) {
            order.insert(at, gathered);
        }
        self.touched.extend([parameter, gathered]);
        self.find_users(computation);
    }

    /// Lets all users of `of` in its computation read `by`.
    pub(super) fn replace(&mut self, of: Id, by: Id) {
        self.touched.extend([of, by]);
        for &user in &self.original.instruction(of).users {
            let operands = &mut self.program.instructions[user as usize].operands;
            operands.iter_mut().filter(|operand| **operand == of).for_each(|operand| *operand = by);
        }
        self.find_users(self.original.instruction(of).computation as usize);
    }

    /// Removes instructions of one computation that nothing else reads any more.
    pub(super) fn remove(&mut self, ids: &[Id]) {
        let Some(&one) = ids.first() else { return };
        let number = self.original.instruction(one).computation as usize;
        for &id in ids {
            self.touched.extend(self.original.instruction(id).operands.iter().copied());
            for (_, callee) in &self.original.instruction(id).callees {
                self.program.computations[*callee as usize].callers.retain(|caller| *caller != id);
            }
        }
        self.program.computations[number].instructions.retain(|id| !ids.contains(id));
        self.find_users(number);
    }

    /// Users in the order of the text, as the program has them that is built from it.
    fn find_users(&mut self, computation: usize) {
        for &id in &self.touched {
            self.program.instructions[id as usize].users.clear();
        }
        for at in 0..self.program.computations[computation].instructions.len() {
            cancel::tick();
            let user = self.program.computations[computation].instructions[at];
            for number in 0..self.program.instructions[user as usize].operands.len() {
                let operand = self.program.instructions[user as usize].operands[number];
                let users = &mut self.program.instructions[operand as usize].users;
                if self.touched.contains(&operand) && users.last() != Some(&user) {
                    users.push(user);
                }
            }
        }
        self.touched.clear();
    }
}
