//! Decodes parsed PTX to a [`Program`]: resolves names, looks up opcodes.

use std::collections::HashMap;

use ptx::{Function, Guard, Instruction, Module, Name, Operand, Position, Statement};

use super::instructions;
use super::lanes::Class;
use super::names::{Names, Placed, Register};
use super::problem::Problem;
use super::program::*;

/// The largest number of instructions of one text, over all functions.
const MAX_STEPS: usize = 1 << 21;

impl Program {
    /// Reads PTX text and prepares the kernel with a name, or the first one.
    ///
    /// Stops at the first problem: invalid PTX, an undeclared name, or an unsupported instruction
    /// (`ptx-unsupported`, with its name).
    pub fn new(text: &str, kernel: Option<&str>) -> Result<Program, Problem> {
        let module = ptx::parse(text)?;
        let wanted = |f: &&Function<&str>| f.is_entry && kernel.is_none_or(|name| name == f.name);
        let Some(entry) = module.functions.iter().find(wanted) else {
            return Err(Problem::new("ptx-name", Position::default(), "there is no such kernel"));
        };
        let mut decoder = Decoder::new(&module)?;
        decoder.function(entry)?;
        while let Some(name) = decoder.wanted.pop() {
            if !decoder.entries.contains_key(name) {
                let function = module.functions.iter().find(|f| f.name == name && f.body.is_some());
                let function = function.ok_or_else(|| {
                    Problem::new("ptx-name", entry.at, format!("there is no function {name}"))
                })?;
                decoder.function(function)?;
            }
        }
        decoder.finish(entry)
    }
}

pub(crate) struct Decoder<'m, 'a> {
    pub(crate) module: &'m Module<&'a str>,
    pub(crate) names: Names<'a>,
    pub(crate) program: Program,
    labels: HashMap<(u32, &'a str), u32>,
    /// Branches to patch: step, function, label.
    jumps: Vec<(usize, u32, &'a str, Position)>,
    pub(crate) calls: Vec<(usize, &'a str)>,
    pub(crate) called_by: Vec<(u32, &'a str)>,
    entries: HashMap<&'a str, u32>,
    pub(crate) numbers: HashMap<&'a str, u32>,
    pub(crate) wanted: Vec<&'a str>,
    /// The formal parameters and results of each function, in thread-local memory.
    pub(crate) formals: HashMap<&'a str, (Vec<Placed>, Vec<Placed>)>,
    pub(crate) function: u32,
    word_constants: HashMap<u32, Slot>,
    double_constants: HashMap<u64, Slot>,
}

impl<'m, 'a> Decoder<'m, 'a> {
    fn new(module: &'m Module<&'a str>) -> Result<Self, Problem> {
        let mut names = Names::new();
        names.module(module)?;
        let program = Program {
            steps: Vec::new(),
            places: Vec::new(),
            cells: Vec::new(),
            copies: Vec::new(),
            matrix_steps: Vec::new(),
            async_copies: Vec::new(),
            words: 0,
            doubles: 0,
            predicates: 0,
            word_constants: Vec::new(),
            double_constants: Vec::new(),
            entry: 0,
            shared_bytes: 0,
            local_bytes: 0,
            shared_grain: 4,
            constants: Vec::new(),
            name: String::new(),
            parameters: Vec::new(),
            threads: None,
        };
        let mut decoder = Decoder {
            module,
            names,
            program,
            labels: HashMap::new(),
            jumps: Vec::new(),
            calls: Vec::new(),
            called_by: Vec::new(),
            entries: HashMap::new(),
            numbers: HashMap::new(),
            wanted: Vec::new(),
            formals: HashMap::new(),
            function: 0,
            word_constants: HashMap::new(),
            double_constants: HashMap::new(),
        };
        for (number, function) in module.functions.iter().enumerate() {
            decoder.numbers.insert(function.name, number as u32);
        }
        Ok(decoder)
    }

    fn function(&mut self, function: &'m Function<&'a str>) -> Result<(), Problem> {
        self.function = self.numbers.get(function.name).copied().unwrap_or(0);
        self.entries.insert(function.name, self.program.steps.len() as u32);
        self.names.open();
        if function.is_entry {
            let mut at = 0u64;
            for variable in &function.parameters {
                at = at.next_multiple_of(variable.element().clamp(1, 8));
                let placed = Placed { space: Space::Parameter, address: at, size: variable.size() };
                self.names.insert(variable.name, placed);
                self.program.parameters.push((at, variable.size()));
                at = at.saturating_add(variable.size());
            }
        } else {
            let (parameters, results) = self.formals(function.name)?.clone();
            for (variable, placed) in function.parameters.iter().zip(parameters) {
                self.names.insert(variable.name, placed);
            }
            for (variable, placed) in function.results.iter().zip(results) {
                self.names.insert(variable.name, placed);
            }
        }
        for (statement, &place) in function.body.iter().flatten().zip(&function.positions) {
            match statement {
                Statement::Label(name) => {
                    let here = self.program.steps.len() as u32;
                    if self.labels.insert((self.function, name), here).is_some() {
                        return Err(Problem::new(
                            "ptx-name",
                            place,
                            format!("the label {name} is there twice"),
                        ));
                    }
                }
                Statement::Registers { ty, name, count } => {
                    self.names.registers(*ty, name, *count, place)?;
                }
                Statement::Variable(variable) => _ = self.names.declare(variable)?,
                Statement::Open => self.names.open(),
                Statement::Close => self.names.close(),
                Statement::Instruction(instruction) => self.instruction(instruction, place)?,
            }
        }
        self.names.close();
        // Control that falls off the end returns.
        self.push(Step { op: DecodedOp::Return, guard: ALWAYS }, function.at)
    }

    pub(crate) fn push(&mut self, step: Step, place: Position) -> Result<(), Problem> {
        if self.program.steps.len() >= MAX_STEPS {
            return Err(Problem::new("ptx-unsupported", place, "too many instructions"));
        }
        self.program.steps.push(step);
        self.program.places.push(place);
        Ok(())
    }

    fn instruction(&mut self, instruction: &Instruction<&'a str>, place: Position) -> Result<(), Problem> {
        let guard = match instruction.guard {
            None => ALWAYS,
            Some(Guard { name, is_negated }) => match self.names.register(name) {
                Some(Register::Predicate(slot)) => Condition { slot, is_negated },
                _ => return Err(Problem::new("ptx-name", place, format!("{name} is no predicate"))),
            },
        };
        let op = match (instruction.opcode.name, instruction.operands.as_slice()) {
            (Name::Bra, [Operand::Name(label)]) => {
                self.jumps.push((self.program.steps.len(), self.function, label, place));
                DecodedOp::Branch { to: 0 }
            }
            (Name::Call, operands) => self.call(operands, place)?,
            _ => instructions::decode(self, instruction, guard, place)?,
        };
        self.push(Step { op, guard }, place)
    }

    fn finish(mut self, entry: &Function<&'a str>) -> Result<Program, Problem> {
        for (step, function, label, place) in std::mem::take(&mut self.jumps) {
            let Some(&to) = self.labels.get(&(function, label)) else {
                return Err(Problem::new("ptx-name", place, format!("there is no label {label}")));
            };
            self.program.steps[step].op = DecodedOp::Branch { to };
        }
        for (step, name) in std::mem::take(&mut self.calls) {
            if let (DecodedOp::Call { to, .. }, Some(&entry)) =
                (&mut self.program.steps[step].op, self.entries.get(name))
            {
                *to = entry;
            }
        }
        self.refuse_recursion(entry)?;
        let counts = self.names.counts;
        let program = &mut self.program;
        program.words = counts.words;
        program.doubles = counts.doubles;
        program.predicates = counts.predicates;
        program.shared_bytes = counts.shared;
        program.local_bytes = counts.local;
        program.constants = counts.constants;
        program.name = entry.name.to_owned();
        program.threads = entry.threads();
        Ok(self.program)
    }

    /// A register without a name.
    pub(crate) fn temporary(&mut self) -> Slot {
        self.names.counts.words += 1;
        self.names.counts.words - 1
    }

    pub(crate) fn word_constant(&mut self, value: u32) -> Slot {
        let constants = &mut self.program.word_constants;
        *self.word_constants.entry(value).or_insert_with(|| {
            constants.push(value);
            CONSTANT + constants.len() as u32 - 1
        })
    }

    pub(crate) fn double_constant(&mut self, value: u64) -> Slot {
        let constants = &mut self.program.double_constants;
        *self.double_constants.entry(value).or_insert_with(|| {
            constants.push(value);
            CONSTANT + constants.len() as u32 - 1
        })
    }

    /// A register, constant or address read as `class`. `bits` is the width of the instruction's type, to
    /// which integers are truncated.
    pub(crate) fn read(
        &mut self,
        operand: &Operand<&'a str>,
        class: Class,
        bits: u32,
        place: Position,
    ) -> Result<Slot, Problem> {
        let wrong = |words: String| Err(Problem::new("ptx-operand", place, words));
        match (class, operand) {
            (Class::Word, Operand::Integer(value)) => {
                let mask = if bits >= 32 { u32::MAX } else { (1 << bits) - 1 };
                Ok(self.word_constant(*value as u32 & mask))
            }
            (Class::Word, Operand::Single(bits)) => Ok(self.word_constant(*bits)),
            (Class::Word, Operand::Double(bits)) => {
                Ok(self.word_constant((f64::from_bits(*bits) as f32).to_bits()))
            }
            (Class::Double, Operand::Integer(value)) => Ok(self.double_constant(*value as u64)),
            (Class::Double, Operand::Double(bits)) => Ok(self.double_constant(*bits)),
            (_, Operand::Name(name)) => match (class, self.names.register(name)) {
                (Class::Word, Some(Register::Word(slot, _))) => Ok(slot),
                (Class::Double, Some(Register::Double(slot))) => Ok(slot),
                (Class::Predicate, Some(Register::Predicate(slot))) => Ok(slot),
                (_, Some(_)) => wrong(format!("{name} does not have the width of the instruction")),
                (_, None) => match (class, self.names.variable(name)) {
                    (Class::Double, Some(placed)) => Ok(self.double_constant(placed.address)),
                    (Class::Word, Some(placed)) => Ok(self.word_constant(placed.address as u32)),
                    _ => Err(Problem::new("ptx-name", place, format!("{name} is not declared"))),
                },
            },
            _ => wrong("an operand that this instruction does not take".to_owned()),
        }
    }
}
