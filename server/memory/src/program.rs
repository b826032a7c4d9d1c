//! A module as its memory is planned: instructions, their operands and calls, without text or metadata.

use ir::{Alias, AttributeKey, Opcode, Shape};

use crate::contradictions;
use crate::order::{self, Order};
use crate::problems::Problems;

/// Index into [`Program::instructions`].
pub type Id = u32;

/// Size: about 200 bytes per instruction, and its name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Program {
    pub instructions: Vec<Instruction>,
    pub computations: Vec<Computation>,
    /// Index of the entry computation.
    pub entry: usize,
    pub is_scheduled: bool,
    pub order: Order,
    /// Results that take the memory of a parameter.
    pub aliases: Vec<Alias>,
    /// Instructions, and others that must run after them without reading them.
    pub control: Vec<(Id, Id)>,
    /// What the text has that is left out.
    pub(crate) problems: Problems,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instruction {
    pub name: Box<str>,
    /// `None` for an opcode that this vocabulary lacks. [`Opcode::Add`] stands for all arithmetic element by element.
    pub opcode: Option<Opcode>,
    pub shape: Shape,
    pub computation: u32,
    pub operands: Vec<Id>,
    /// Each once, in the order of the text.
    pub users: Vec<Id>,
    /// The computations that it calls, with the attribute that names each.
    pub callees: Vec<(AttributeKey, u32)>,
    /// The number of a parameter, or the index of a tuple element.
    pub number: Option<u32>,
    /// Whether the text has an instruction for it: `%t#1` as an operand is a tuple element without one.
    pub is_written: bool,
    /// `output_to_operand_aliasing`; `parameter` is the number of the operand.
    pub aliasing: Vec<Alias>,
    /// Whether it is a library's product that may write its result over the matrix that it adds.
    pub adds_in_place: bool,
    /// Whether it must run after instructions that it does not read.
    pub waits: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Computation {
    pub name: Box<str>,
    /// In the order in which they run.
    pub instructions: Vec<Id>,
    pub root: Id,
    /// By number.
    pub parameters: Vec<Id>,
    /// The instructions that call it.
    pub callers: Vec<Id>,
}

impl Program {
    /// Users and callers, which follow from operands and callees.
    pub(crate) fn link(&mut self) {
        for id in 0..self.instructions.len() {
            for k in 0..self.instructions[id].operands.len() {
                let operand = self.instructions[id].operands[k] as usize;
                let users = &mut self.instructions[operand].users;
                if users.last() != Some(&(id as Id)) {
                    users.push(id as Id);
                }
            }
            for k in 0..self.instructions[id].callees.len() {
                let callee = self.instructions[id].callees[k].1;
                self.computations[callee as usize].callers.push(id as Id);
            }
        }
    }

    /// Puts the instructions of a program without a schedule in the order in which XLA runs them.
    pub fn schedule(&mut self) {
        contradictions::leave_out(self);
        order::arrange(self);
    }

    pub fn instruction(&self, id: Id) -> &Instruction {
        &self.instructions[id as usize]
    }

    pub fn computation_of(&self, id: Id) -> &Computation {
        &self.computations[self.instruction(id).computation as usize]
    }

    pub fn is_root(&self, id: Id) -> bool {
        self.computation_of(id).root == id
    }

    /// The computation that attribute `key` of an instruction names.
    pub fn callee(&self, id: Id, key: AttributeKey) -> Option<&Computation> {
        let (_, callee) = self.instruction(id).callees.iter().find(|(own, _)| *own == key)?;
        Some(&self.computations[*callee as usize])
    }

    /// Whether a result takes the memory of the entry's parameter `number` at `path`.
    pub(crate) fn is_donated(&self, number: u32, path: &[i64]) -> bool {
        self.aliases.iter().any(|alias| alias.parameter == i64::from(number) && alias.index == path)
    }

    /// The position of the first of the operands that is `operand`.
    pub fn operand_number(&self, user: Id, operand: Id) -> Option<usize> {
        self.instruction(user).operands.iter().position(|&own| own == operand)
    }
}
