//! Instructions as statements of PTX, over the symbols of a kernel.

use std::fmt;

use ptx::{Comparison, setp};
use ptx::{Guard, Instruction, Modifier, Name, Opcode, Operand as Part, Space as PtxSpace, Statement, Type};

use super::machine::{Address, Class, Inst, Kind, Label, Operand, Reg, Space};

/// A name in the text of a kernel.
#[derive(Debug, Clone, Copy)]
pub(super) enum Symbol<'k> {
    Reg(Reg),
    /// All registers of a class, as they are declared.
    Registers(Class),
    Label(Label),
    /// The argument of this number of a kernel.
    Argument(&'k str, usize),
    /// An array in shared memory.
    Shared(u32),
    /// A constant array of the module.
    Table(u32),
    Text(&'k str),
}

impl fmt::Display for Symbol<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Symbol::Reg(reg) => {
                f.write_str(reg.class.prefix())?;
                reg.number.fmt(f)
            }
            Symbol::Registers(class) => f.write_str(class.prefix()),
            Symbol::Label(label) => write!(f, "$L__BB0_{label}"),
            Symbol::Argument(kernel, number) => write!(f, "{kernel}_param_{number}"),
            Symbol::Shared(number) => write!(f, "shared_{number}"),
            Symbol::Table(number) => write!(f, "global_cst_{number}"),
            Symbol::Text(text) => f.write_str(text),
        }
    }
}

/// The statement of an instruction of a kernel. `None` for a note.
pub(super) fn statement<'k>(inst: &Inst, kernel: &'k str) -> Option<Statement<Symbol<'k>>> {
    let results = || inst.to.iter().map(|&reg| part(reg.into()));
    let (opcode, operands) = match &inst.kind {
        Kind::Pure { opcode, from } | Kind::Effect { opcode, from } => {
            (*opcode, results().chain(from.iter().map(|&operand| part(operand))).collect())
        }
        Kind::Argument(number) => {
            let base = Some(Symbol::Argument(kernel, *number));
            let opcode = Opcode::new(Name::Ld).with(PtxSpace::Param).with(Type::B64);
            (opcode, results().chain([Part::Address { base, offset: 0 }]).collect())
        }
        Kind::Load { address, bits, is_invariant } => {
            let mut opcode = Opcode::new(Name::Ld).with(space(address.space));
            if *is_invariant {
                opcode = opcode.with(Modifier::Nc);
            }
            let opcode = vector(opcode, inst.to.len()).with(Type::b(*bits));
            (opcode, vec![together(results().collect()), place(address)])
        }
        Kind::Store { address, bits, from } => {
            let opcode = vector(Opcode::new(Name::St).with(space(address.space)), from.len());
            let values = from.iter().map(|&value| stored(value, *bits)).collect();
            (opcode.with(Type::b(*bits)), vec![place(address), together(values)])
        }
        Kind::Exchange { address, bits, expected, new } => {
            let opcode = relaxed(Name::Atom, address).with(Modifier::Cas).with(Type::b(*bits));
            (opcode, results().chain([place(address), part(*expected), part(*new)]).collect())
        }
        Kind::Atomic { update, ty, address, from } => {
            let values = together(from.iter().map(|&value| part(value)).collect());
            match update {
                None => (relaxed(Name::St, address).with(*ty), vec![place(address), values]),
                Some(update) => {
                    let opcode = combining(*update, *ty, address, from.len());
                    (opcode, vec![together(results().collect()), place(address), values])
                }
            }
        }
        Kind::Branch { target, guard } => {
            let operands = vec![Part::Name(Symbol::Label(*target))];
            let (guard, opcode) = match guard {
                None => (None, Opcode::new(Name::Bra).with(Modifier::Uni)),
                Some((reg, is_true)) => {
                    let guard = Guard { name: Symbol::Reg(*reg), is_negated: !is_true };
                    (Some(guard), Opcode::new(Name::Bra))
                }
            };
            return Some(Statement::Instruction(Instruction { guard, opcode, operands }));
        }
        Kind::Label(label) => return Some(Statement::Label(Symbol::Label(*label))),
        Kind::Move { from } => match (class_of(&inst.to), from) {
            (Class::Pred, Operand::Int(_)) => {
                let values = [part(*from), Part::Integer(0)];
                (setp(Comparison::Ne, Type::S32), results().chain(values).collect())
            }
            (class, _) => (Name::Mov.of(class.ty()), results().chain([part(*from)]).collect()),
        },
        Kind::Unpack { from } => {
            let parts = Part::Vector(results().collect());
            (Name::Mov.of(from.class.ty()), vec![parts, part((*from).into())])
        }
        Kind::Pack { from } => {
            let parts = Part::Vector(from.iter().map(|&value| part(value)).collect());
            (Name::Mov.of(class_of(&inst.to).ty()), results().chain([parts]).collect())
        }
        Kind::Return => (Opcode::new(Name::Ret), Vec::new()),
        Kind::Note(_) => return None,
    };
    Some(Statement::Instruction(Instruction { guard: None, opcode, operands }))
}

fn class_of(to: &[Reg]) -> Class {
    to.first().map_or(Class::B32, |reg| reg.class)
}

/// `atom` or `st` that other threads of the system see at once.
fn relaxed(name: Name, address: &Address) -> Opcode {
    Opcode::new(name).with(Modifier::Relaxed).with(Modifier::Sys).with(space(address.space))
}

/// Vector instructions have the type before the update.
fn combining(update: Modifier, ty: Type, address: &Address, count: usize) -> Opcode {
    if count > 1 {
        return vector(Opcode::new(Name::Atom).with(space(address.space)), count).with(ty).with(update);
    }
    let opcode = relaxed(Name::Atom, address).with(update);
    let opcode = match ty {
        Type::F16 | Type::Bf16 => opcode.with(Modifier::Noftz),
        _ => opcode,
    };
    opcode.with(ty)
}

fn vector(opcode: Opcode, count: usize) -> Opcode {
    match count {
        2 => opcode.with(Modifier::V2),
        4 => opcode.with(Modifier::V4),
        8 => opcode.with(Modifier::V8),
        _ => opcode,
    }
}

fn space(space: Space) -> PtxSpace {
    match space {
        Space::Global(_) | Space::Table(_) | Space::Library => PtxSpace::Global,
        Space::Shared(_) => PtxSpace::Shared,
    }
}

/// One operand, or a vector.
fn together<'k>(mut parts: Vec<Part<Symbol<'k>>>) -> Part<Symbol<'k>> {
    match parts.pop() {
        Some(one) if parts.is_empty() => one,
        last => {
            parts.extend(last);
            Part::Vector(parts)
        }
    }
}

fn place<'k>(&Address { base, offset, .. }: &Address) -> Part<Symbol<'k>> {
    match part(base) {
        Part::Name(base) => Part::Address { base: Some(base), offset },
        Part::Integer(base) => Part::Address { base: None, offset: base.wrapping_add(offset) },
        other => other,
    }
}

fn part<'k>(operand: Operand) -> Part<Symbol<'k>> {
    match operand {
        Operand::Reg(reg) => Part::Name(Symbol::Reg(reg)),
        Operand::Int(value) => Part::Integer(value),
        Operand::F32(bits) => Part::Single(bits),
        Operand::F64(bits) => Part::Double(bits),
        Operand::Symbol(name) => Part::Name(Symbol::Text(name)),
        Operand::Shared(number) => Part::Name(Symbol::Shared(number)),
        Operand::Table(number) => Part::Name(Symbol::Table(number)),
    }
}

/// A stored value; constants are written as bits.
fn stored<'k>(value: Operand, bits: u32) -> Part<Symbol<'k>> {
    match value {
        Operand::F32(pattern) => Part::Integer(i64::from(pattern as i32)),
        Operand::F64(pattern) => Part::Integer(pattern as i64),
        Operand::Int(value) if bits < 32 => Part::Integer(value & ((1 << bits) - 1)),
        other => part(other),
    }
}
