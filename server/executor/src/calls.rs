//! Calls of functions in the same text. Arguments and results are copied in thread-local memory.

use ptx::{Function, Operand, Position};

use super::decode::Decoder;
use super::names::{Names, Placed};
use super::problem::Problem;
use super::program::{Copy, DecodedOp, Space};

impl<'a> Decoder<'_, 'a> {
    /// The places of a function's parameters and results, shared by its declaration and its body.
    pub(crate) fn formals(&mut self, name: &'a str) -> Result<&(Vec<Placed>, Vec<Placed>), Problem> {
        if !self.formals.contains_key(name) {
            let module = self.module;
            let function = module.functions.iter().find(|f| f.name == name && f.body.is_some());
            let function = function.ok_or_else(|| {
                Problem::new("ptx-unsupported", Position::default(), format!("calls of {name}"))
            })?;
            self.names.open();
            let parameters =
                function.parameters.iter().map(|v| self.names.declare(v)).collect::<Result<_, _>>();
            let results = function.results.iter().map(|v| self.names.declare(v)).collect::<Result<_, _>>();
            self.names.close();
            self.formals.insert(name, (parameters?, results?));
        }
        Ok(&self.formals[name])
    }

    /// `call (results), name, (arguments)`.
    pub(crate) fn call(
        &mut self,
        operands: &[Operand<&'a str>],
        place: Position,
    ) -> Result<DecodedOp, Problem> {
        let unsupported = || Problem::new("ptx-unsupported", place, "a call of this form");
        let none = Vec::new();
        let (results, name, arguments) = match operands {
            [Operand::Name(name)] => (&none, *name, &none),
            [Operand::Name(name), Operand::Arguments(arguments)] => (&none, *name, arguments),
            [Operand::Arguments(results), Operand::Name(name)] => (results, *name, &none),
            [Operand::Arguments(results), Operand::Name(name), Operand::Arguments(arguments)] => {
                (results, *name, arguments)
            }
            _ => return Err(unsupported()),
        };
        let (formal_parameters, formal_results) = self.formals(name)?.clone();
        if formal_parameters.len() != arguments.len() || formal_results.len() != results.len() {
            return Err(Problem::new(
                "ptx-operand",
                place,
                "not as many arguments or results as the function has",
            ));
        }
        let actual = |operand: &Operand<&'a str>, names: &Names<'a>| match operand {
            Operand::Name(name) => {
                names.variable(name).filter(|v| v.space == Space::Local).ok_or_else(unsupported)
            }
            _ => Err(unsupported()),
        };
        let mut copies = Vec::new();
        for (operand, formal) in arguments.iter().zip(&formal_parameters) {
            let own = actual(operand, &self.names)?;
            copies.push(Copy { from: own.address, to: formal.address, bytes: own.size.min(formal.size) });
        }
        let middle = copies.len();
        for (operand, formal) in results.iter().zip(&formal_results) {
            let own = actual(operand, &self.names)?;
            copies.push(Copy { from: formal.address, to: own.address, bytes: own.size.min(formal.size) });
        }
        let start = self.program.copies.len() as u32;
        let (middle, end) = (start + middle as u32, start + copies.len() as u32);
        self.program.copies.extend(copies);
        self.calls.push((self.program.steps.len(), name));
        self.called_by.push((self.function, name));
        self.wanted.push(name);
        Ok(DecodedOp::Call { to: 0, arguments: (start, middle), results: (middle, end) })
    }

    /// Rejects recursion, since the registers and parameters of a function exist only once.
    pub(crate) fn refuse_recursion(&self, entry: &Function<&'a str>) -> Result<(), Problem> {
        let mut left: Vec<(u32, &str)> = self.called_by.clone();
        loop {
            // Removes the functions that call none of the remaining ones.
            let before = left.len();
            let callers: Vec<u32> = left.iter().map(|&(caller, _)| caller).collect();
            left.retain(|(_, name)| self.numbers.get(name).is_some_and(|number| callers.contains(number)));
            if left.is_empty() {
                return Ok(());
            }
            if left.len() == before {
                return Err(Problem::new("ptx-unsupported", entry.at, "functions that call themselves"));
            }
        }
    }
}
