//! Runs a scheduled module with one number per buffer in place of its elements: who reads a value finds the number that was
//! written as the value, or something overwrote it.

use std::sync::Arc;

use memory::{Memory, Part, Program};
use passes::{ComputationId, InstructionId, Module};
use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Opcode};

/// How often loops run.
const ROUNDS: usize = 3;

/// A value: an array in a buffer, or a tuple.
#[derive(Debug, Clone)]
enum Value {
    Array { buffer: u32, number: u64 },
    Tuple(Vec<Value>),
}

struct Machine<'m> {
    module: &'m Module,
    /// Of each array that an instruction defines, by the name of crate `memory`.
    buffer_of: FxHashMap<String, u32>,
    /// What is in each buffer.
    stored: FxHashMap<u32, u64>,
    last: u64,
}

/// Fails with what is overwritten too early.
pub fn run(text: &str) -> Result<(), String> {
    let module = crate::module(text);
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
    let block = ir::lower(text, parse);
    let index = ir::Module::of_block(&block);
    let program = Program::build(&index, &[&Part::of(&block)]).expect("an entry");
    let memory = Memory::of(&program, &|_| memory::FusionOrder::default());
    let buffer_of = memory.values.iter().map(|value| (value.name.clone(), value.buffer)).collect();
    let mut machine = Machine { module: &module, buffer_of, stored: FxHashMap::default(), last: 0 };
    for both in 0..2 {
        let entry = module.entry();
        let mut parameters = Vec::new();
        for id in module.parameters(entry) {
            parameters.push(machine.define(id, &mut Vec::new(), module[id].shape()));
        }
        let read_only = machine.stored.clone();
        let result = machine.computation(entry, &parameters, both)?;
        machine.read(&result, "the caller")?;
        for parameter in &parameters {
            let Value::Array { buffer, .. } = parameter else { continue };
            if machine.stored[buffer] != read_only[buffer] {
                return Err("a parameter is overwritten".to_owned());
            }
        }
    }
    Ok(())
}

impl Machine<'_> {
    /// Writes new numbers to what an instruction defines.
    fn define(&mut self, id: InstructionId, path: &mut Vec<i64>, shape: &ir::Shape) -> Value {
        if let Some(elements) = shape.tuple_elements() {
            let mut values = Vec::new();
            for (index, element) in (0..).zip(elements) {
                path.push(index);
                values.push(self.define(id, path, element));
                path.pop();
            }
            return Value::Tuple(values);
        }
        self.last += 1;
        let indices: Vec<String> = path.iter().map(i64::to_string).collect();
        let name = format!("{}{{{}}}", self.module[id].name(), indices.join(","));
        let buffer = self.buffer_of[&name];
        self.stored.insert(buffer, self.last);
        Value::Array { buffer, number: self.last }
    }

    fn read(&self, value: &Value, reader: &str) -> Result<(), String> {
        match value {
            Value::Tuple(elements) => elements.iter().try_for_each(|element| self.read(element, reader)),
            Value::Array { buffer, number } if self.stored.get(buffer) == Some(number) => Ok(()),
            Value::Array { .. } => Err(format!("{reader} reads a value that is overwritten")),
        }
    }

    /// Runs a computation. Conditionals take branch `branch`.
    fn computation(
        &mut self,
        id: ComputationId,
        arguments: &[Value],
        branch: usize,
    ) -> Result<Value, String> {
        let module = self.module;
        let mut values: FxHashMap<InstructionId, Value> = FxHashMap::default();
        for id in module.instructions(id) {
            let instruction = &module[id];
            let operands: Vec<Value> = instruction.operands().iter().map(|of| values[of].clone()).collect();
            let callee = |key| instruction.callee(key).expect("it is called");
            let value = match instruction.opcode() {
                Opcode::Parameter => arguments[instruction.parameter_number().unwrap_or(0) as usize].clone(),
                Opcode::Tuple => Value::Tuple(operands),
                Opcode::GetTupleElement => {
                    let index = instruction.attributes().int(AttributeKey::Index).unwrap_or(0);
                    let Value::Tuple(elements) = &operands[0] else { panic!("no tuple") };
                    elements[index as usize].clone()
                }
                Opcode::While => {
                    let mut state = operands[0].clone();
                    for _ in 0..ROUNDS {
                        self.computation(callee(AttributeKey::Condition), &[state.clone()], branch)?;
                        let next = self.computation(callee(AttributeKey::Body), &[state.clone()], branch)?;
                        self.read(&next, "the next round")?;
                        same_places(&state, &next)?;
                        state = next;
                    }
                    state
                }
                Opcode::Conditional => {
                    let taken = instruction.called().nth(branch).expect("two branches");
                    let result = self.computation(taken, &operands[branch + 1..branch + 2], branch)?;
                    self.read(&result, instruction.name())?;
                    self.in_place(id, &mut Vec::new(), &result)?;
                    result
                }
                _ => {
                    operands.iter().try_for_each(|operand| self.read(operand, instruction.name()))?;
                    self.define(id, &mut Vec::new(), instruction.shape())
                }
            };
            values.insert(id, value);
        }
        let result = values.remove(&module.root(id)).expect("the root ran");
        self.read(&result, "the caller")?;
        Ok(result)
    }

    /// What a branch returns is where the conditional has its result.
    fn in_place(&self, id: InstructionId, path: &mut Vec<i64>, value: &Value) -> Result<(), String> {
        match value {
            Value::Tuple(elements) => {
                for (index, element) in (0..).zip(elements) {
                    path.push(index);
                    self.in_place(id, path, element)?;
                    path.pop();
                }
                Ok(())
            }
            Value::Array { buffer, .. } => {
                let indices: Vec<String> = path.iter().map(i64::to_string).collect();
                let own = self.buffer_of.get(&format!("{}{{{}}}", self.module[id].name(), indices.join(",")));
                // Where both branches return the same value, the conditional defines none.
                match own.is_none_or(|own| own == buffer) {
                    true => Ok(()),
                    false => Err(format!("%{} is not where its branch has it", self.module[id].name())),
                }
            }
        }
    }
}

/// The state of a loop stays where it is.
fn same_places(old: &Value, new: &Value) -> Result<(), String> {
    match (old, new) {
        (Value::Tuple(old), Value::Tuple(new)) => {
            old.iter().zip(new).try_for_each(|(o, n)| same_places(o, n))
        }
        (Value::Array { buffer: old, .. }, Value::Array { buffer: new, .. }) if old == new => Ok(()),
        _ => Err("the state of a loop moves".to_owned()),
    }
}
