//! A module as its memory is planned: instructions, their operands and calls, without text or metadata.

use ir::{Alias, AttributeKey, Module, Opcode, Shape};
use rustc_hash::FxHashMap;

use crate::part::{From, Part, PartInstruction};

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
    /// Results that take the memory of a parameter.
    pub aliases: Vec<Alias>,
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
    /// In the order of the text; an element that is not written stands before its first user.
    pub instructions: Vec<Id>,
    pub root: Id,
    /// By number.
    pub parameters: Vec<Id>,
    /// The instructions that call it.
    pub callers: Vec<Id>,
}

impl Program {
    /// The first module of a file, from the parts that its pieces hold. `None` if it has no entry computation.
    pub fn build(module: &Module, parts: &[&Part]) -> Option<Program> {
        let settings = module.settings(0);
        let mut program = Program {
            is_scheduled: settings.is_some_and(|s| s.is_scheduled),
            aliases: settings.map(|s| s.aliases.clone()).unwrap_or_default(),
            ..Program::default()
        };
        let own = module.computations.iter().filter(|computation| computation.section == 0);
        let names: FxHashMap<&str, u32> =
            own.clone().enumerate().map(|(i, computation)| (&*computation.name, i as u32)).collect();
        let entry = module.entry_of(0)?;
        for (i, computation) in own.enumerate() {
            if std::ptr::eq(computation, &module.computations[entry]) {
                program.entry = i;
            }
            Builder {
                program: &mut program,
                names: &names,
                computation: Computation { name: computation.name.clone(), ..Computation::default() },
                number: i as u32,
                elements: FxHashMap::default(),
                by_name: FxHashMap::default(),
                is_cut: computation.segments.len() > 1,
            }
            .add(computation.segments.iter().map(|at| (parts[at.piece], at.computation)))?;
        }
        program.link();
        Some(program)
    }

    /// Users and callers, which follow from operands and callees.
    fn link(&mut self) {
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

struct Builder<'a> {
    program: &'a mut Program,
    names: &'a FxHashMap<&'a str, u32>,
    computation: Computation,
    number: u32,
    /// Elements without an instruction, by tuple and index.
    elements: FxHashMap<(Id, i64), Id>,
    /// Of a computation that is cut in several pieces.
    by_name: FxHashMap<&'a str, Id>,
    is_cut: bool,
}

impl<'a> Builder<'a> {
    fn add(mut self, segments: impl Iterator<Item = (&'a Part, u32)>) -> Option<()> {
        let mut root = None;
        for (part, computation) in segments {
            let instructions = part.computations.get(computation as usize)?;
            let mut here: Vec<Id> = Vec::with_capacity(instructions.len());
            // An operand that is written in place stands before its user.
            for instruction in instructions {
                cancel::tick();
                let id = self.instruction(part, instruction, &here);
                here.push(id);
                if self.is_cut {
                    self.by_name.insert(&instruction.name, id);
                }
                if instruction.is_root {
                    root = Some(id);
                }
            }
        }
        self.computation.root = root.or_else(|| self.computation.instructions.last().copied())?;
        self.place_elements();
        self.program.computations.push(self.computation);
        Some(())
    }

    /// XLA gives elements that it does not print a position, too. Those of a parameter and those that only the result uses
    /// mostly follow their tuple, all others stand before their first user.
    fn place_elements(&mut self) {
        let program = &*self.program;
        let root = self.computation.root;
        let mut uses_inside = rustc_hash::FxHashSet::default();
        for &user in self.computation.instructions.iter().filter(|&&user| user != root) {
            uses_inside.extend(program.instruction(user).operands.iter().copied());
        }
        let is_early = |id: Id| {
            let instruction = program.instruction(id);
            let tuple = instruction.operands.first().map(|&of| program.instruction(of).opcode);
            !instruction.is_written && (tuple == Some(Some(Opcode::Parameter)) || !uses_inside.contains(&id))
        };
        let mut early: FxHashMap<Id, Vec<Id>> = FxHashMap::default();
        for &id in self.computation.instructions.iter().filter(|&&id| is_early(id)) {
            early.entry(program.instruction(id).operands[0]).or_default().push(id);
        }
        let mut order = Vec::with_capacity(self.computation.instructions.len());
        for &id in self.computation.instructions.iter().filter(|&&id| !is_early(id)) {
            order.push(id);
            order.extend(early.get(&id).into_iter().flatten());
        }
        self.computation.instructions = order;
    }

    fn instruction(&mut self, part: &Part, of: &PartInstruction, here: &[Id]) -> Id {
        let mut operands = Vec::with_capacity(of.operands.len());
        for operand in &of.operands {
            let mut found = match &operand.from {
                From::Here(number) => here.get(*number as usize).copied(),
                From::Above(name) => self.by_name.get(&**name).copied(),
                From::Nowhere => None,
            };
            for &index in &operand.elements {
                found = found.and_then(|tuple| self.element(tuple, index));
            }
            operands.extend(found);
        }
        let called = of.callees.iter().filter_map(|(key, name)| Some((*key, *self.names.get(&**name)?)));
        let callees = called.collect();
        self.push(Instruction {
            name: of.name.clone(),
            opcode: of.opcode,
            shape: of.shape.map_or(Shape::Opaque, |shape| part.shapes[shape as usize].clone()),
            computation: self.number,
            operands,
            users: Vec::new(),
            callees,
            number: of.number,
            is_written: true,
            aliasing: of.aliasing.clone(),
            adds_in_place: of.adds_in_place,
            waits: of.waits,
        })
    }

    fn push(&mut self, instruction: Instruction) -> Id {
        let id = self.program.instructions.len() as Id;
        if let (Some(Opcode::Parameter), Some(number)) = (instruction.opcode, instruction.number) {
            // Numbers are dense in a module that verifies; others are not followed.
            if number as usize == self.computation.parameters.len() {
                self.computation.parameters.push(id);
            } else if (number as usize) < (1 << 20) {
                let wanted = self.computation.parameters.len().max(number as usize + 1);
                self.computation.parameters.resize(wanted, Id::MAX);
                self.computation.parameters[number as usize] = id;
            }
        }
        self.program.instructions.push(instruction);
        self.computation.instructions.push(id);
        id
    }

    /// The tuple element that an operand like `%t#1` takes.
    fn element(&mut self, tuple: Id, index: i64) -> Option<Id> {
        if let Some(&known) = self.elements.get(&(tuple, index)) {
            return Some(known);
        }
        let of = self.program.instruction(tuple);
        let shape = of.shape.element_at(&[index])?.clone();
        let id = self.push(Instruction {
            name: format!("{}#{index}", self.program.instruction(tuple).name).into(),
            opcode: Some(Opcode::GetTupleElement),
            shape,
            computation: self.number,
            operands: vec![tuple],
            users: Vec::new(),
            callees: Vec::new(),
            number: u32::try_from(index).ok(),
            is_written: false,
            aliasing: Vec::new(),
            adds_in_place: false,
            waits: false,
        });
        self.elements.insert((tuple, index), id);
        Some(id)
    }
}
