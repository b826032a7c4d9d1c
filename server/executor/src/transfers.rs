//! Decodes loads, stores, atomic updates, and exchanges between the lanes of a warp.

use ptx::{Modifier, Name, Opcode, Operand, Position, Type};

use super::decode::Decoder;
use super::instructions::{bits_of, condition, target, unsupported};
use super::lanes::Class;
use super::names::Register;
use super::problem::Problem;
use super::program::*;

pub(crate) fn space_of(opcode: &Opcode) -> Space {
    // Parameters of functions are in thread-local memory; there the name decides.
    opcode.space().map_or(Space::Generic, Space::of)
}

/// The address, and the state space if it names a variable.
pub(crate) fn base<'a>(
    decoder: &mut Decoder<'_, 'a>,
    operand: &Operand<&'a str>,
    space: Space,
    place: Position,
) -> Result<(Base, i64, Space), Problem> {
    let Operand::Address { base: name, offset } = operand else {
        return Err(Problem::new("ptx-operand", place, "expected an address in brackets"));
    };
    let Some(name) = name else {
        return Ok((Base::Double(decoder.double_constant(0)), *offset, space));
    };
    match decoder.names.register(name) {
        Some(Register::Word(slot, u32::MAX)) => Ok((Base::Word(slot), *offset, space)),
        Some(Register::Double(slot)) => Ok((Base::Double(slot), *offset, space)),
        Some(_) => Err(Problem::new("ptx-operand", place, format!("{name} holds no address"))),
        None => match decoder.names.variable(name) {
            Some(placed) => {
                Ok((Base::Double(decoder.double_constant(placed.address)), *offset, placed.space))
            }
            None => Err(Problem::new("ptx-name", place, format!("{name} is not declared"))),
        },
    }
}

/// The registers of an operand, as a range of the program's cells. `is_store` says that they are read; constants may be among
/// them then.
pub(crate) fn cells<'a>(
    decoder: &mut Decoder<'_, 'a>,
    operand: &Operand<&'a str>,
    is_store: bool,
    bits: u32,
    place: Position,
) -> Result<(u32, u32), Problem> {
    let list = match operand {
        Operand::Vector(list) => list.as_slice(),
        one => std::slice::from_ref(one),
    };
    let start = decoder.program.cells.len() as u32;
    for part in list {
        let cell = match part {
            Operand::Name("_") => Cell::Nowhere,
            Operand::Name(name) => match decoder.names.register(name) {
                Some(Register::Word(slot, mask)) => Cell::Word(slot, mask),
                Some(Register::Double(slot)) => Cell::Double(slot),
                Some(_) => return Err(Problem::new("ptx-operand", place, format!("{name} is a predicate"))),
                None if is_store && bits == 64 => {
                    Cell::Double(decoder.read(part, Class::Double, 64, place)?)
                }
                None => return Err(Problem::new("ptx-name", place, format!("{name} is not declared"))),
            },
            _ if is_store && bits == 64 => Cell::Double(decoder.read(part, Class::Double, 64, place)?),
            _ if is_store => Cell::Word(decoder.read(part, Class::Word, bits, place)?, u32::MAX),
            _ => return Err(Problem::new("ptx-operand", place, "expected a register")),
        };
        if bits == 64 && matches!(cell, Cell::Word(..)) {
            return Err(Problem::new("ptx-operand", place, "a register of 64 bits is needed"));
        }
        decoder.program.cells.push(cell);
    }
    Ok((start, decoder.program.cells.len() as u32))
}

/// `ld` and `st`.
pub(crate) fn access<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<DecodedOp, Problem> {
    let is_store = opcode.name == Name::St;
    let (Some(bits @ (8 | 16 | 32 | 64)), [first, second, ..]) = (bits_of(opcode), operands) else {
        return unsupported(opcode, place);
    };
    if opcode.has(Modifier::Async) || opcode.has(Modifier::Bulk) {
        return unsupported("an asynchronous store", place);
    }
    let (address, values) = if is_store { (first, second) } else { (second, first) };
    let (base, offset, space) = base(decoder, address, space_of(opcode), place)?;
    let cells = cells(decoder, values, is_store, bits, place)?;
    let count = cells.1 - cells.0;
    let stated = opcode.modifiers().find_map(|word| match word {
        Modifier::V2 => Some(2),
        Modifier::V4 => Some(4),
        Modifier::V8 => Some(8),
        _ => None,
    });
    if count != stated.unwrap_or(1) {
        return Err(Problem::new("ptx-operand", place, "not as many registers as the vector has elements"));
    }
    if space == Space::Parameter && is_store {
        return unsupported("st.param to the kernel's arguments", place);
    }
    if matches!(space, Space::Shared | Space::Generic) {
        decoder.program.shared_grain = decoder.program.shared_grain.min(u64::from(bits / 8));
    }
    let is_signed = opcode.ty().is_some_and(Type::is_signed);
    let access = Access { space, width: (bits / 8) as u8, is_signed, base, offset, cells };
    Ok(if is_store { DecodedOp::Store(access) } else { DecodedOp::Load(access) })
}

fn update_of(opcode: &Opcode) -> Option<Update> {
    opcode.modifiers().find_map(|word| {
        Some(match word {
            Modifier::Add => Update::Add,
            Modifier::Min => Update::Min,
            Modifier::Max => Update::Max,
            Modifier::And => Update::And,
            Modifier::Or => Update::Or,
            Modifier::Xor => Update::Xor,
            Modifier::Exch => Update::Exchange,
            Modifier::Cas => Update::CompareAndSwap,
            Modifier::Inc => Update::Increment,
            Modifier::Dec => Update::Decrement,
            _ => return None,
        })
    })
}

/// The type is not always last: `atom.global.v4.f32.add`.
fn kind_of(opcode: &Opcode) -> Option<(Kind, u32)> {
    opcode.types().find_map(|ty| {
        Some(match ty {
            Type::S32 => (Kind::Signed, 32),
            Type::U32 | Type::B32 => (Kind::Unsigned, 32),
            Type::S64 => (Kind::Signed, 64),
            Type::U64 | Type::B64 => (Kind::Unsigned, 64),
            Type::B16 => (Kind::Unsigned, 16),
            Type::F32 => (Kind::F32, 32),
            Type::F64 => (Kind::F64, 64),
            Type::F16 => (Kind::F16, 16),
            Type::Bf16 => (Kind::Bf16, 16),
            Type::F16x2 => (Kind::F16x2, 32),
            Type::Bf16x2 => (Kind::Bf16x2, 32),
            _ => return None,
        })
    })
}

/// `atom` and `red`.
pub(crate) fn atomic<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<DecodedOp, Problem> {
    let (Some(update), Some((kind, bits))) = (update_of(opcode), kind_of(opcode)) else {
        return unsupported(opcode, place);
    };
    let is_float = !matches!(kind, Kind::Signed | Kind::Unsigned);
    if is_float && !matches!(update, Update::Add | Update::Min | Update::Max | Update::Exchange) {
        return unsupported("this atomic update of floating-point numbers", place);
    }
    let (results, rest) = match opcode.name {
        Name::Atom => operands.split_first().map(|(first, rest)| (Some(first), rest)),
        _ => Some((None, operands)),
    }
    .ok_or_else(|| Problem::new("ptx-operand", place, "operands are missing"))?;
    let [address, value, ..] = rest else {
        return Err(Problem::new("ptx-operand", place, "operands are missing"));
    };
    let (base, offset, space) = base(decoder, address, space_of(opcode), place)?;
    let from = cells(decoder, value, true, bits, place)?;
    let to = match results {
        Some(operand) => cells(decoder, operand, false, bits, place)?,
        None => (0, 0),
    };
    if results.is_some() && to.1 - to.0 != from.1 - from.0 {
        return Err(Problem::new("ptx-operand", place, "not as many results as values"));
    }
    let class = if bits == 64 { Class::Double } else { Class::Word };
    let swap = match (update, rest.get(2)) {
        (Update::CompareAndSwap, Some(operand)) => decoder.read(operand, class, bits, place)?,
        (Update::CompareAndSwap, None) => {
            return Err(Problem::new("ptx-operand", place, "the new value is missing"));
        }
        _ => NOWHERE,
    };
    decoder.program.shared_grain = decoder.program.shared_grain.min(u64::from(bits / 8));
    let access = Access { space, width: (bits / 8) as u8, is_signed: false, base, offset, cells: from };
    Ok(DecodedOp::Atomic { access, update, kind, to, swap })
}

/// `shfl.sync.<mode>.b32 d[|p], a, b, c, lanes`.
pub(crate) fn shuffle<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<DecodedOp, Problem> {
    let mode = opcode.modifiers().find_map(|word| match word {
        Modifier::Up => Some(Shuffle::Up),
        Modifier::Down => Some(Shuffle::Down),
        Modifier::Bfly => Some(Shuffle::Butterfly),
        Modifier::Idx => Some(Shuffle::Index),
        _ => None,
    });
    let (Some(mode), true, [to, a, b, c, lanes]) = (mode, opcode.has(Modifier::Sync), operands) else {
        return unsupported("shfl without sync", place);
    };
    let (to, found) = match to {
        Operand::Pair(to, found) => {
            let to = target(decoder, &Operand::Name(to), Class::Word, place)?.0;
            (to, target(decoder, &Operand::Name(found), Class::Predicate, place)?.0)
        }
        one => (target(decoder, one, Class::Word, place)?.0, NOWHERE),
    };
    let mut from = [0; 3];
    for (slot, operand) in from.iter_mut().zip([a, b, c]) {
        *slot = decoder.read(operand, Class::Word, 32, place)?;
    }
    let lanes = decoder.read(lanes, Class::Word, 32, place)?;
    Ok(DecodedOp::Shuffle { mode, to, found, from, lanes })
}

/// `vote.sync.<mode>` and `activemask`.
pub(crate) fn vote<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<DecodedOp, Problem> {
    if let (Name::Activemask, [to]) = (opcode.name, operands) {
        return Ok(DecodedOp::ActiveLanes { to: target(decoder, to, Class::Word, place)?.0 });
    }
    let mode = opcode.modifiers().find_map(|word| match word {
        Modifier::All => Some(Vote::All),
        Modifier::Any => Some(Vote::Any),
        Modifier::Uni => Some(Vote::Uniform),
        Modifier::Ballot => Some(Vote::Ballot),
        _ => None,
    });
    let (Some(mode), true, [to, of, lanes]) = (mode, opcode.has(Modifier::Sync), operands) else {
        return unsupported("vote without sync", place);
    };
    let class = if mode == Vote::Ballot { Class::Word } else { Class::Predicate };
    let to = target(decoder, to, class, place)?.0;
    let of = condition(decoder, of, place)?;
    Ok(DecodedOp::Vote { mode, to, of, lanes: decoder.read(lanes, Class::Word, 32, place)? })
}

/// `redux.sync.<update>.<kind>`.
pub(crate) fn reduce<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<DecodedOp, Problem> {
    let (Some(update), Some((kind, 32)), [to, from, lanes]) = (update_of(opcode), kind_of(opcode), operands)
    else {
        return unsupported("redux of this kind", place);
    };
    if !matches!(kind, Kind::Signed | Kind::Unsigned) {
        return unsupported("redux of floating-point numbers", place);
    }
    let to = target(decoder, to, Class::Word, place)?.0;
    let from = decoder.read(from, Class::Word, 32, place)?;
    let lanes = decoder.read(lanes, Class::Word, 32, place)?;
    Ok(DecodedOp::Reduce { update, kind, to, from, lanes })
}
