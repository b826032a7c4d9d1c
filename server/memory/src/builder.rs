//! A program from the parts of a module's pieces.

use ir::{Module, Opcode, Shape};
use rustc_hash::FxHashMap;

use crate::part::{From, Part, PartInstruction};
use crate::program::{Computation, Id, Instruction, Program};
use crate::recursive_calls;

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
                computation: Computation { name: (*computation.name).into(), ..Computation::default() },
                number: i as u32,
                elements: FxHashMap::default(),
                by_name: FxHashMap::default(),
                has_names: false,
            }
            .add(computation.segments.iter().map(|at| (parts[at.piece], at.computation)))?;
        }
        program.link();
        recursive_calls::report(&mut program);
        program.schedule();
        Some(program)
    }
}

struct Builder<'a> {
    program: &'a mut Program,
    names: &'a FxHashMap<&'a str, u32>,
    computation: Computation,
    number: u32,
    /// Elements without an instruction, by tuple and index.
    elements: FxHashMap<(Id, i64), Id>,
    /// Of a computation that is cut in several pieces, or has control predecessors.
    by_name: FxHashMap<&'a str, Id>,
    has_names: bool,
}

impl<'a> Builder<'a> {
    fn add(mut self, segments: impl Iterator<Item = (&'a Part, u32)>) -> Option<()> {
        let mut root = None;
        let segments: Vec<(&Part, u32)> = segments.collect();
        self.has_names = segments.len() > 1 || segments.iter().any(|(part, at)| part.has_control(*at));
        for (part, computation) in segments {
            let instructions = part.computations.get(computation as usize)?;
            let mut here: Vec<Id> = Vec::with_capacity(instructions.len());
            // An operand that is written in place stands before its user.
            for instruction in instructions {
                cancel::tick();
                let id = self.instruction(part, instruction, &here);
                here.push(id);
                if self.has_names {
                    self.by_name.insert(&instruction.name, id);
                }
                if instruction.is_root {
                    root = Some(id);
                }
            }
        }
        self.computation.root = root.or_else(|| self.computation.instructions.last().copied())?;
        self.program.computations.push(self.computation);
        Some(())
    }

    fn instruction(&mut self, part: &Part, of: &PartInstruction, here: &[Id]) -> Id {
        let mut operands = Vec::with_capacity(of.operands.len());
        for operand in &of.operands {
            let mut found = match &operand.from {
                From::Here(number) => here.get(*number as usize).copied(),
                From::Above(name) => self.by_name.get(&**name).copied(),
                From::Nowhere(_) => None,
            };
            if let (None, From::Above(name) | From::Nowhere(name)) = (found, &operand.from) {
                self.program.problems.add(|| {
                    format!("%{}: operand %{name} is not defined above it; planned without it", of.name)
                });
            }
            for &index in &operand.elements {
                let Some(tuple) = found else { break };
                found = self.element(tuple, index);
                if found.is_none() {
                    let tuple = self.program.instruction(tuple).name.clone();
                    self.program.problems.add(|| {
                        format!("%{}: operand %{tuple} has no element {index}; planned without it", of.name)
                    });
                }
            }
            operands.extend(found);
        }
        let mut callees = Vec::with_capacity(of.callees.len());
        for (key, name) in &of.callees {
            match self.names.get(&**name) {
                Some(&callee) => callees.push((*key, callee)),
                None => self.program.problems.add(|| {
                    format!("%{}: the module has no computation %{name}; planned without it", of.name)
                }),
            }
        }
        let first = self.program.instructions.len() as Id;
        let before = of.after.iter().filter_map(|name| self.by_name.get(&**name));
        self.program.control.extend(before.map(|&before| (before, first)));
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
            waits: !of.after.is_empty(),
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
