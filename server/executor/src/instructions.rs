//! Decodes the operands of each instruction: the registers it reads and writes.

use std::fmt::Display;

use ptx::{Arithmetic, Instruction, Modifier, Name, Opcode, Operand, Position, Type};

use super::decode::Decoder;
use super::lanes::{Class, Doubles, Map, Words, lanes};
use super::names::Register;
use super::problem::Problem;
use super::program::*;
use super::{async_copies, comparisons, conversions, floats, halves, integers, matrices, moves, transfers};

type Decoded = Result<DecodedOp, Problem>;

/// The operation of an instruction other than a branch or a call. An instruction that needs two steps pushes
/// the first, under `guard`.
pub(crate) fn decode<'a>(
    decoder: &mut Decoder<'_, 'a>,
    instruction: &Instruction<&'a str>,
    guard: Condition,
    place: Position,
) -> Decoded {
    let opcode = &instruction.opcode;
    let operands = instruction.operands.as_slice();
    match opcode.name {
        Name::Ret => Ok(DecodedOp::Return),
        Name::Exit => Ok(DecodedOp::Exit),
        Name::Trap => Ok(DecodedOp::Trap),
        Name::Brkpt
        | Name::Nanosleep
        | Name::Membar
        | Name::Fence
        | Name::Griddepcontrol
        | Name::Prefetch
        | Name::Prefetchu
        | Name::Applypriority
        | Name::Discard
        | Name::Createpolicy => Ok(DecodedOp::Nothing),
        Name::Ldmatrix | Name::Stmatrix | Name::Mma | Name::Wgmma => {
            matrices::decode(decoder, instruction, place)
        }
        Name::Cp => async_copies::decode(decoder, opcode, operands, place),
        Name::Bar | Name::Barrier => barrier(opcode, operands, place),
        Name::Mov => moves::decode(decoder, opcode, operands, place),
        Name::Cvta => moves::address(decoder, opcode, operands, place),
        Name::Setp => compare(decoder, opcode, operands, place),
        Name::Selp => select(decoder, opcode, operands, place),
        Name::And | Name::Or | Name::Xor | Name::Not if opcode.ty() == Some(Type::Pred) => {
            logic(decoder, opcode, operands, place)
        }
        Name::Ld | Name::Ldu | Name::St => transfers::access(decoder, opcode, operands, place),
        Name::Atom | Name::Red => transfers::atomic(decoder, opcode, operands, place),
        Name::Shfl => transfers::shuffle(decoder, opcode, operands, place),
        Name::Vote | Name::Activemask => transfers::vote(decoder, opcode, operands, place),
        Name::Redux => transfers::reduce(decoder, opcode, operands, place),
        Name::Add | Name::Addc | Name::Sub | Name::Subc | Name::Mad | Name::Madc if takes_carry(opcode) => {
            carry(decoder, opcode, operands, place)
        }
        // The minimum or maximum of three: that of the first two, then of it and the third.
        Name::Min | Name::Max
            if operands.len() == 4 && matches!(opcode.ty(), Some(Type::F32 | Type::S32 | Type::U32)) =>
        {
            let Some(map) = find(opcode) else { return unsupported(opcode, place) };
            let (to, mask) = target(decoder, &operands[0], Class::Word, place)?;
            let between = decoder.temporary();
            let mut from = [0; 3];
            for (slot, operand) in from.iter_mut().zip(&operands[1..]) {
                *slot = decoder.read(operand, Class::Word, 32, place)?;
            }
            let first = DecodedOp::Map { map, to: between, from: [from[0], from[1], 0, 0], mask };
            decoder.push(Step { op: first, guard }, place)?;
            Ok(DecodedOp::Map { map, to, from: [between, from[2], 0, 0], mask })
        }
        _ => {
            let Some(map) = find(opcode) else { return unsupported(opcode, place) };
            // A conversion may take the lower half of a wide register.
            if let (Name::Cvt, &[Class::Word], [to, from]) = (opcode.name, map.operands(), operands)
                && let Operand::Name(name) = from
                && let Some(Register::Double(slot)) = decoder.names.register(name)
            {
                let between = decoder.temporary();
                let half = lanes!(WofD, |a| a as u32);
                let first = DecodedOp::Map { map: half, to: between, from: [slot, 0, 0, 0], mask: u32::MAX };
                decoder.push(Step { op: first, guard }, place)?;
                let (to, mask) = target(decoder, to, map.result(), place)?;
                return Ok(DecodedOp::Map { map, to, from: [between, 0, 0, 0], mask });
            }
            mapped(decoder, map, opcode, operands, place)
        }
    }
}

pub(crate) fn unsupported<T>(what: impl Display, place: Position) -> Result<T, Problem> {
    Err(Problem::new("ptx-unsupported", place, format!("the instruction {what} is not run")))
}

fn find(opcode: &Opcode) -> Option<Map> {
    let op = &Arithmetic::of(opcode)?;
    match op.name {
        Name::Cvt => conversions::find(op),
        _ => floats::find(op).or_else(|| halves::find(op)).or_else(|| integers::find(op)),
    }
}

/// The destination register: its slot, and the mask of its bits.
pub(crate) fn target<'a>(
    decoder: &Decoder<'_, 'a>,
    operand: &Operand<&'a str>,
    class: Class,
    place: Position,
) -> Result<(Slot, u32), Problem> {
    let Operand::Name(name) = operand else {
        return Err(Problem::new("ptx-operand", place, "the result is no register"));
    };
    if *name == "_" {
        return Ok((NOWHERE, u32::MAX));
    }
    match (class, decoder.names.register(name)) {
        (Class::Word, Some(Register::Word(slot, mask))) => Ok((slot, mask)),
        (Class::Double, Some(Register::Double(slot))) => Ok((slot, u32::MAX)),
        (Class::Predicate, Some(Register::Predicate(slot))) => Ok((slot, u32::MAX)),
        (_, Some(_)) => {
            Err(Problem::new("ptx-operand", place, format!("{name} does not have the width of the result")))
        }
        (_, None) => Err(Problem::new("ptx-name", place, format!("{name} is not declared"))),
    }
}

/// A predicate operand, or a constant.
pub(crate) fn condition<'a>(
    decoder: &Decoder<'_, 'a>,
    operand: &Operand<&'a str>,
    place: Position,
) -> Result<Condition, Problem> {
    let (name, is_negated) = match operand {
        Operand::Name(name) => (name, false),
        Operand::Not(name) => (name, true),
        Operand::Integer(value) => return Ok(Condition { slot: CONSTANT, is_negated: *value == 0 }),
        _ => return Err(Problem::new("ptx-operand", place, "expected a predicate")),
    };
    match decoder.names.register(name) {
        Some(Register::Predicate(slot)) => Ok(Condition { slot, is_negated }),
        _ => Err(Problem::new("ptx-name", place, format!("{name} is no predicate"))),
    }
}

fn count(operands: &[Operand<&str>], wanted: usize, place: Position) -> Result<(), Problem> {
    match operands.len() == wanted {
        true => Ok(()),
        false => Err(Problem::new("ptx-operand", place, format!("{wanted} operands are needed"))),
    }
}

/// An instruction that is one function of its operands.
pub(crate) fn mapped<'a>(
    decoder: &mut Decoder<'_, 'a>,
    map: Map,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Decoded {
    let classes = map.operands();
    count(operands, classes.len() + 1, place)?;
    let bits = bits_of(opcode).unwrap_or(32);
    let (to, mask) = target(decoder, &operands[0], map.result(), place)?;
    let mut from = [0; 4];
    for (i, &class) in classes.iter().enumerate() {
        // A shift amount, and the selector of `prmt`, are 32 bits for every type.
        let bits = if i > 0 && matches!(opcode.name, Name::Shl | Name::Shr) { 32 } else { bits };
        from[i] = decoder.read(&operands[i + 1], class, bits, place)?;
    }
    if map.result() == Class::Predicate {
        return Ok(DecodedOp::Compare {
            map,
            to,
            other: NOWHERE,
            from: [from[0]; 2],
            gate: Gate::First,
            with: ALWAYS,
        });
    }
    Ok(DecodedOp::Map { map, to, from, mask })
}

fn compare<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Decoded {
    let Some(map) = comparisons::find(opcode) else {
        return unsupported(opcode, place);
    };
    let gate = opcode.modifiers().find_map(gate_of).unwrap_or(Gate::First);
    count(operands, if gate == Gate::First { 3 } else { 4 }, place)?;
    let (to, other) = match operands[0] {
        Operand::Pair(a, b) => {
            let to = target(decoder, &Operand::Name(a), Class::Predicate, place)?.0;
            (to, target(decoder, &Operand::Name(b), Class::Predicate, place)?.0)
        }
        ref one => (target(decoder, one, Class::Predicate, place)?.0, NOWHERE),
    };
    let bits = bits_of(opcode).unwrap_or(32);
    let class = map.operands()[0];
    let from =
        [decoder.read(&operands[1], class, bits, place)?, decoder.read(&operands[2], class, bits, place)?];
    let with = match operands.get(3) {
        Some(operand) => condition(decoder, operand, place)?,
        None => ALWAYS,
    };
    Ok(DecodedOp::Compare { map, to, other, from, gate, with })
}

fn gate_of(modifier: Modifier) -> Option<Gate> {
    match modifier {
        Modifier::And => Some(Gate::And),
        Modifier::Or => Some(Gate::Or),
        Modifier::Xor => Some(Gate::Xor),
        _ => None,
    }
}

fn select<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Decoded {
    count(operands, 4, place)?;
    let Some(bits) = bits_of(opcode) else { return unsupported("selp", place) };
    let class = if bits == 64 { Class::Double } else { Class::Word };
    let to = target(decoder, &operands[0], class, place)?.0;
    let from =
        [decoder.read(&operands[1], class, bits, place)?, decoder.read(&operands[2], class, bits, place)?];
    let by = condition(decoder, &operands[3], place)?;
    Ok(match class {
        Class::Double => DecodedOp::SelectDouble { to, from, by },
        _ => DecodedOp::SelectWord { to, from, by },
    })
}

fn logic<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Decoded {
    let gate = match opcode.name {
        Name::And => Gate::And,
        Name::Or => Gate::Or,
        Name::Xor => Gate::Xor,
        _ => Gate::First,
    };
    count(operands, if gate == Gate::First { 2 } else { 3 }, place)?;
    let to = target(decoder, &operands[0], Class::Predicate, place)?.0;
    let mut a = condition(decoder, &operands[1], place)?;
    let b = match operands.get(2) {
        Some(operand) => condition(decoder, operand, place)?,
        None => {
            a.is_negated = !a.is_negated;
            ALWAYS
        }
    };
    Ok(DecodedOp::Logic { to, gate, a, b })
}

fn barrier(opcode: &Opcode, operands: &[Operand<&str>], place: Position) -> Decoded {
    if opcode.has(Modifier::Warp) {
        return Ok(DecodedOp::WarpBarrier);
    }
    let is_whole = operands.len() <= 1 && (opcode.has(Modifier::Sync) || opcode.words().is_empty());
    match is_whole && matches!(operands.first(), None | Some(Operand::Integer(_))) {
        true => Ok(DecodedOp::Barrier),
        false => unsupported("bar of a part of the block", place),
    }
}

fn takes_carry(opcode: &Opcode) -> bool {
    opcode.has(Modifier::Cc) || reads_carry(opcode)
}

fn reads_carry(opcode: &Opcode) -> bool {
    matches!(opcode.name, Name::Addc | Name::Subc | Name::Madc)
}

/// The bits of the last type.
pub(crate) fn bits_of(opcode: &Opcode) -> Option<u32> {
    opcode.ty()?.bits()
}

fn carry<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Decoded {
    let kind = match opcode.name {
        Name::Add | Name::Addc => CarryKind::Add,
        Name::Sub | Name::Subc => CarryKind::Subtract,
        _ if opcode.has(Modifier::Hi) => CarryKind::MultiplyHigh,
        _ => CarryKind::MultiplyLow,
    };
    let is_known = match opcode.ty() {
        Some(Type::U32) => true,
        Some(Type::S32) => kind != CarryKind::MultiplyHigh,
        _ => false,
    };
    if !is_known {
        return unsupported(opcode, place);
    }
    let is_product = matches!(kind, CarryKind::MultiplyHigh | CarryKind::MultiplyLow);
    count(operands, if is_product { 4 } else { 3 }, place)?;
    let to = target(decoder, &operands[0], Class::Word, place)?.0;
    let mut from = [decoder.word_constant(0); 3];
    for (slot, operand) in from.iter_mut().zip(&operands[1..]) {
        *slot = decoder.read(operand, Class::Word, 32, place)?;
    }
    let (takes, leaves) = (reads_carry(opcode), opcode.has(Modifier::Cc));
    Ok(DecodedOp::Carry { to, from, kind, takes, leaves })
}

/// `mov` of a word: the operand unchanged.
pub(crate) fn same_word() -> Map {
    lanes!(W1, |a| a)
}
