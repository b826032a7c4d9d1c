//! What fusions and calls pass on. To ask what computes a value, they are transparent: a parameter is the operand of the caller, and
//! a result is what the root computes.

use syntax::hlo::Opcode;

use crate::program::{Operand, Program};

/// An instruction, or an element of its tuple.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    pub instruction: u32,
    pub path: Vec<u32>,
}

/// The fusions and calls of a program that call a computation which nothing else calls.
#[derive(Debug)]
pub struct Boundaries {
    /// Per computation: the fusion or call that alone calls it.
    holders: Vec<Option<u32>>,
}

/// More fusions, calls and tuples in a row are not looked through.
const MAX_STEPS: usize = 256;

impl Boundaries {
    pub fn of(program: &Program<'_>) -> Boundaries {
        let mut holders = vec![None; program.computations.len()];
        for id in 0..program.instructions.len() as u32 {
            if matches!(program.instruction(id).opcode, Some(Opcode::Fusion | Opcode::Call))
                && let &[callee] = program.callees(id)
                && program.computation(callee).callers == 1
            {
                holders[callee as usize] = Some(id);
            }
        }
        Boundaries { holders }
    }

    /// The fusion or call that alone calls a computation.
    pub fn holder(&self, computation: u32) -> Option<u32> {
        self.holders[computation as usize]
    }

    /// The computation of a fusion or call that nothing else calls.
    pub fn body(&self, program: &Program<'_>, instruction: u32) -> Option<u32> {
        let callee = program.callees(instruction).first().copied()?;
        (self.holder(callee) == Some(instruction)).then_some(callee)
    }

    /// Whether an instruction only passes values into a fusion or out of it.
    pub fn is_plumbing(&self, program: &Program<'_>, id: u32) -> bool {
        let instruction = program.instruction(id);
        let is_held = || self.holder(instruction.computation).is_some();
        match instruction.opcode {
            Some(Opcode::Parameter) => is_held(),
            Some(Opcode::Tuple) => instruction.is_root && is_held(),
            Some(Opcode::GetTupleElement) => {
                let tuple = program.operands(id).first();
                tuple.is_some_and(|tuple| self.body(program, tuple.instruction).is_some())
            }
            _ => false,
        }
    }

    /// The instruction that computes an operand, through fusions, calls and tuples.
    pub fn source(&self, program: &Program<'_>, operand: &Operand) -> Value {
        let mut value = Value { instruction: operand.instruction, path: program.path(operand).to_vec() };
        for _ in 0..MAX_STEPS {
            cancel::tick();
            match self.step(program, &value) {
                Some(next) => value = next,
                None => break,
            }
        }
        value
    }

    fn step(&self, program: &Program<'_>, value: &Value) -> Option<Value> {
        let id = value.instruction;
        let instruction = program.instruction(id);
        let behind = |operand: &Operand, path: &[u32]| {
            let path = [program.path(operand), path].concat();
            Value { instruction: operand.instruction, path }
        };
        let operands = program.operands(id);
        match instruction.opcode {
            Some(Opcode::Parameter) => {
                let holder = self.holder(instruction.computation)?;
                let operand = program.operands(holder).get(instruction.number? as usize)?;
                Some(behind(operand, &value.path))
            }
            Some(Opcode::GetTupleElement) => {
                let path = [&[instruction.number?], value.path.as_slice()].concat();
                let next = behind(operands.first()?, &path);
                // The element of a loop's state, say, is a value of its own.
                self.is_seen_through(program, next.instruction).then_some(next)
            }
            Some(Opcode::Tuple) => {
                let (&first, rest) = value.path.split_first()?;
                Some(behind(operands.get(first as usize)?, rest))
            }
            _ => {
                let body = program.computation(self.body(program, id)?);
                Some(Value { instruction: body.root, path: value.path.clone() })
            }
        }
    }

    fn is_seen_through(&self, program: &Program<'_>, id: u32) -> bool {
        use Opcode::{GetTupleElement, Parameter, Tuple};
        match program.instruction(id).opcode {
            Some(Tuple | GetTupleElement) => true,
            Some(Parameter) => self.holder(program.instruction(id).computation).is_some(),
            _ => self.body(program, id).is_some(),
        }
    }
}
