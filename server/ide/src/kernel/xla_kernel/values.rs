//! What each line of a PTX kernel computes from data, as numbers that are equal for equal code: two texts of one kernel have
//! different registers, but compute the same values from the same arguments.
//!
//! A number hashes the opcode and the numbers of its operands; what is loaded from an argument has the number of the argument,
//! whatever the address. Registers are read as the lines above assign them, so the values of a loop are those of its first iteration.

use std::hash::{Hash, Hasher};

use ptx::{Function, Instruction, Name, Opcode, Operand, Space, Statement};
use rustc_hash::{FxHashMap, FxHasher};

/// A line that reads or writes an argument, or computes with what was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PtxLine {
    /// From 0.
    pub(crate) line: usize,
    /// The argument that it reads or writes.
    pub(crate) access: Option<Access>,
    /// Of its result, or of what it stores.
    pub(crate) value: u64,
    /// Equal for equal opcodes on data of the same arguments.
    pub(crate) likeness: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) argument: usize,
    pub(crate) is_store: bool,
}

/// What a register holds.
#[derive(Debug, Clone, Copy, Default)]
struct Value {
    number: u64,
    /// Whether it was computed from data.
    is_data: bool,
    /// The arguments that the data are from, as bits; those from 63 on share one.
    sources: u64,
    /// The argument to whose array it points.
    pointer: Option<usize>,
}

/// The lines of a kernel, in order.
pub(crate) fn ptx_lines(kernel: &Function<&str>) -> Vec<PtxLine> {
    let parameters = kernel.parameters.iter().enumerate();
    let mut reader = Reader {
        arguments: parameters.map(|(n, parameter)| (parameter.name, n)).collect(),
        registers: FxHashMap::default(),
    };
    let mut lines = Vec::new();
    for (statement, at) in kernel.body.iter().flatten().zip(&kernel.positions) {
        cancel::tick();
        let Statement::Instruction(instruction) = statement else { continue };
        let line = (at.line as usize).saturating_sub(1);
        lines.extend(reader.read(instruction).map(|found| PtxLine { line, ..found }));
    }
    lines
}

struct Reader<'a> {
    /// By name.
    arguments: FxHashMap<&'a str, usize>,
    registers: FxHashMap<&'a str, Value>,
}

impl<'a> Reader<'a> {
    fn read(&mut self, instruction: &Instruction<&'a str>) -> Option<PtxLine> {
        let Instruction { opcode, operands, .. } = instruction;
        if let Name::Bra | Name::Ret | Name::Bar | Name::Exit = opcode.name {
            return None;
        }
        let (results, inputs) = match (opcode.name, operands.as_slice()) {
            (Name::St | Name::Red, inputs) => (None, inputs),
            (_, [results, inputs @ ..]) => (Some(results), inputs),
            (_, []) => return None,
        };
        let address = operands.iter().find_map(|operand| match operand {
            Operand::Address { base, .. } => Some(*base),
            _ => None,
        });
        let value = match address {
            Some(base) if matches!(opcode.name, Name::Ld | Name::Ldu) => self.loaded(opcode, base),
            _ => self.computed(opcode, inputs),
        };
        let pointer = address.flatten().and_then(|base| self.registers.get(base)?.pointer);
        self.assign(results, value);
        let is_memory = matches!(opcode.name, Name::Ld | Name::Ldu | Name::St | Name::Atom | Name::Red);
        let access = pointer
            .filter(|_| is_memory)
            .map(|argument| Access { argument, is_store: !matches!(opcode.name, Name::Ld | Name::Ldu) });
        let likeness = hash(|hasher| (opcode.name, opcode.ty(), value.sources).hash(hasher));
        let value = (access.is_some() || value.is_data).then_some(value.number)?;
        Some(PtxLine { line: 0, access, value, likeness })
    }

    fn loaded(&self, opcode: &Opcode, base: Option<&'a str>) -> Value {
        if let Some(&argument) = base.and_then(|base| self.arguments.get(base)) {
            let number = hash(|hasher| ("argument", argument).hash(hasher));
            return Value { number, pointer: Some(argument), ..Value::default() };
        }
        let pointer = base.and_then(|base| self.registers.get(base)?.pointer);
        match (pointer, opcode.space()) {
            (Some(argument), _) => Value {
                number: hash(|hasher| ("element", argument).hash(hasher)),
                is_data: true,
                sources: 1 << argument.min(63),
                pointer: None,
            },
            // The numbers of parameters of functions are not data.
            (None, Some(Space::Param | Space::ParamEntry | Space::ParamFunc)) => Value::default(),
            (None, space) => Value {
                number: hash(|hasher| ("memory", space).hash(hasher)),
                is_data: true,
                ..Value::default()
            },
        }
    }

    fn computed(&self, opcode: &Opcode, inputs: &[Operand<&'a str>]) -> Value {
        let mut values = Vec::with_capacity(inputs.len());
        inputs.iter().for_each(|operand| self.operand(operand, &mut values));
        let pointers = values.iter().filter_map(|value| value.pointer);
        let pointer = pointers.reduce(|_, _| usize::MAX).filter(|&only| only != usize::MAX);
        let is_data = values.iter().any(|value| value.is_data);
        let sources = values.iter().fold(0, |all, value| all | value.sources);
        if let (Name::Mov | Name::Cvta, [only]) = (opcode.name, values.as_slice()) {
            return *only;
        }
        let mut numbers: Vec<u64> = values.iter().map(|value| value.number).collect();
        let commuting = match opcode.name {
            Name::Add | Name::Mul | Name::Min | Name::Max | Name::And | Name::Or | Name::Xor => numbers.len(),
            Name::Fma | Name::Mad => 2,
            _ => 0,
        };
        numbers.get_mut(..commuting).unwrap_or_default().sort_unstable();
        Value { number: hash(|hasher| (opcode, numbers).hash(hasher)), is_data, sources, pointer }
    }

    fn operand(&self, operand: &Operand<&'a str>, values: &mut Vec<Value>) {
        let constant =
            |bits: u64| Value { number: hash(|hasher| ("bits", bits).hash(hasher)), ..Value::default() };
        match operand {
            Operand::Name(name) | Operand::Not(name) => values.push(self.register(name)),
            Operand::Integer(value) => values.push(constant(*value as u64)),
            Operand::Single(bits) => values.push(constant(u64::from(*bits))),
            Operand::Double(bits) => values.push(constant(*bits)),
            // Which element is accessed does not matter.
            Operand::Address { .. } | Operand::Tensor { .. } => {}
            // The parser bounds the depth.
            Operand::Vector(all) | Operand::Arguments(all) => {
                all.iter().for_each(|operand| self.operand(operand, values));
            }
            Operand::Pair(one, other) => values.extend([self.register(one), self.register(other)]),
        }
    }

    /// A name that nothing was assigned to is a special register, a variable or a label.
    fn register(&self, name: &'a str) -> Value {
        let named = || Value { number: hash(|hasher| ("name", name).hash(hasher)), ..Value::default() };
        self.registers.get(name).copied().unwrap_or_else(named)
    }

    fn assign(&mut self, results: Option<&Operand<&'a str>>, value: Value) {
        match results {
            Some(Operand::Name(name)) => _ = self.registers.insert(name, value),
            Some(Operand::Pair(one, other)) => {
                self.registers.insert(one, value);
                self.registers.insert(other, value);
            }
            Some(Operand::Vector(all)) => all.iter().for_each(|result| self.assign(Some(result), value)),
            _ => {}
        }
    }
}

fn hash(write: impl FnOnce(&mut FxHasher)) -> u64 {
    let mut hasher = FxHasher::default();
    write(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(body: &str) -> Vec<PtxLine> {
        let text = format!(
            ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 k_param_0, .param .u64 k_param_1)\n{{\n{body}}}\n"
        );
        let module = ptx::parse(&text).expect("it is PTX");
        ptx_lines(&module.functions[0])
    }

    const OWN: &str = "ld.param.b64 %rd1, [k_param_0];
cvta.to.global.u64 %rd2, %rd1;
ld.param.b64 %rd3, [k_param_1];
mov.u32 %r1, %tid.x;
mul.wide.u32 %rd4, %r1, 4;
add.s64 %rd5, %rd2, %rd4;
ld.global.nc.b32 %r2, [%rd5];
mul.rn.f32 %r3, %r2, 0f40000000;
add.s64 %rd6, %rd3, %rd4;
st.global.b32 [%rd6], %r3;
";

    #[test]
    fn data_are_told_from_addresses() {
        let found = lines(OWN);
        let shown: Vec<_> =
            found.iter().map(|l| (l.line, l.access.map(|a| (a.argument, a.is_store)))).collect();
        assert_eq!(shown, [(11, Some((0, false))), (12, None), (14, Some((1, true)))]);
    }

    #[test]
    fn other_registers_and_addresses_give_the_same_values() {
        let other = "ld.param.b64 %a, [k_param_1];
ld.param.b64 %b, [k_param_0];
cvta.to.global.u64 %c, %b;
ld.global.v2.b32 {%x, %y}, [%c+64];
mul.rn.f32 %z, 0f40000000, %y;
st.global.b32 [%a], %z;
";
        let values = |body| lines(body).iter().map(|line| line.value).collect::<Vec<_>>();
        assert_eq!(values(OWN), values(other));
        let different = other.replace("0f40000000", "0f40400000");
        assert_eq!(values(&different)[0], values(OWN)[0]);
        assert_ne!(values(&different)[1..], values(OWN)[1..]);
        assert_eq!(lines(&different)[1].likeness, lines(OWN)[1].likeness);
    }
}
