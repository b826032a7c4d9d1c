//! Decodes the operands of each instruction: the registers it reads and writes.

use super::decode::Decoder;
use super::lanes::{Class, Doubles, Map, Words, lanes};
use super::names::Register;
use super::opcode::Opcode;
use super::parse::{Instruction, Operand};
use super::problem::{Place, Problem};
use super::program::*;
use super::{comparisons, conversions, floats, halves, integers, moves, transfers};

type Decoded = Result<Op, Problem>;

/// The operation of an instruction other than a branch or a call. An instruction that needs two steps pushes
/// the first, under `guard`.
pub(crate) fn decode<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode<'a>,
    instruction: &Instruction<'a>,
    guard: Condition,
) -> Decoded {
    let place = instruction.place;
    let operands = instruction.operands.as_slice();
    match opcode.name {
        "ret" => Ok(Op::Return),
        "exit" => Ok(Op::Exit),
        "trap" => Ok(Op::Trap),
        "brkpt" | "nanosleep" | "membar" | "fence" | "griddepcontrol" | "prefetch" | "prefetchu"
        | "applypriority" | "discard" | "createpolicy" => Ok(Op::Nothing),
        "bar" | "barrier" => barrier(opcode, operands, place),
        "mov" => moves::decode(decoder, opcode, operands, place),
        "cvta" => moves::address(decoder, opcode, operands, place),
        "setp" => compare(decoder, opcode, operands, place),
        "selp" => select(decoder, opcode, operands, place),
        "and" | "or" | "xor" | "not" if opcode.kind == "pred" => logic(decoder, opcode, operands, place),
        "ld" | "ldu" | "st" => transfers::access(decoder, opcode, operands, place),
        "atom" | "red" => transfers::atomic(decoder, opcode, operands, place),
        "shfl" => transfers::shuffle(decoder, opcode, operands, place),
        "vote" | "activemask" => transfers::vote(decoder, opcode, operands, place),
        "redux" => transfers::reduce(decoder, opcode, operands, place),
        "add" | "addc" | "sub" | "subc" | "mad" | "madc" if takes_carry(opcode) => {
            carry(decoder, opcode, operands, place)
        }
        // The minimum or maximum of three: that of the first two, then of it and the third.
        "min" | "max" if operands.len() == 4 && matches!(opcode.kind, "f32" | "s32" | "u32") => {
            let Some(map) = find(opcode) else { return unsupported(instruction.opcode, place) };
            let (to, mask) = target(decoder, &operands[0], Class::Word, place)?;
            let between = decoder.temporary();
            let mut from = [0; 3];
            for (slot, operand) in from.iter_mut().zip(&operands[1..]) {
                *slot = decoder.read(operand, Class::Word, 32, place)?;
            }
            let first = Op::Map { map, to: between, from: [from[0], from[1], 0, 0], mask };
            decoder.push(Step { op: first, guard }, place)?;
            Ok(Op::Map { map, to, from: [between, from[2], 0, 0], mask })
        }
        _ => {
            let Some(map) = find(opcode) else { return unsupported(instruction.opcode, place) };
            // A conversion may take the lower half of a wide register.
            if let ("cvt", &[Class::Word], [to, from]) = (opcode.name, map.operands(), operands)
                && let Operand::Name(name) = from
                && let Some(Register::Double(slot)) = decoder.names.register(name)
            {
                let between = decoder.temporary();
                let half = lanes!(WofD, |a| a as u32);
                let first = Op::Map { map: half, to: between, from: [slot, 0, 0, 0], mask: u32::MAX };
                decoder.push(Step { op: first, guard }, place)?;
                let (to, mask) = target(decoder, to, map.result(), place)?;
                return Ok(Op::Map { map, to, from: [between, 0, 0, 0], mask });
            }
            mapped(decoder, map, opcode, operands, place)
        }
    }
}

pub(crate) fn unsupported<T>(opcode: &str, place: Place) -> Result<T, Problem> {
    Err(Problem::new("ptx-unsupported", place, format!("the instruction {opcode} is not run")))
}

fn find(opcode: &Opcode<'_>) -> Option<Map> {
    match opcode.name {
        "cvt" => conversions::find(opcode),
        _ => floats::find(opcode).or_else(|| halves::find(opcode)).or_else(|| integers::find(opcode)),
    }
}

/// The destination register: its slot, and the mask of its bits.
pub(crate) fn target<'a>(
    decoder: &Decoder<'_, 'a>,
    operand: &Operand<'a>,
    class: Class,
    place: Place,
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
    operand: &Operand<'a>,
    place: Place,
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

fn count(operands: &[Operand<'_>], wanted: usize, place: Place) -> Result<(), Problem> {
    match operands.len() == wanted {
        true => Ok(()),
        false => Err(Problem::new("ptx-operand", place, format!("{wanted} operands are needed"))),
    }
}

/// An instruction that is one function of its operands.
pub(crate) fn mapped<'a>(
    decoder: &mut Decoder<'_, 'a>,
    map: Map,
    opcode: &Opcode<'a>,
    operands: &[Operand<'a>],
    place: Place,
) -> Decoded {
    let classes = map.operands();
    count(operands, classes.len() + 1, place)?;
    let bits = opcode.bits().unwrap_or(32);
    let (to, mask) = target(decoder, &operands[0], map.result(), place)?;
    let mut from = [0; 4];
    for (i, &class) in classes.iter().enumerate() {
        // A shift amount, and the selector of `prmt`, are 32 bits for every type.
        let bits = if i > 0 && matches!(opcode.name, "shl" | "shr") { 32 } else { bits };
        from[i] = decoder.read(&operands[i + 1], class, bits, place)?;
    }
    if map.result() == Class::Predicate {
        return Ok(Op::Compare {
            map,
            to,
            other: NOWHERE,
            from: [from[0]; 2],
            gate: Gate::First,
            with: ALWAYS,
        });
    }
    Ok(Op::Map { map, to, from, mask })
}

fn compare<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode<'a>,
    operands: &[Operand<'a>],
    place: Place,
) -> Decoded {
    let Some(map) = comparisons::find(opcode) else {
        return unsupported(&format!("setp.{}", opcode.words().collect::<Vec<_>>().join(".")), place);
    };
    let gate = opcode.words().find_map(gate_of).unwrap_or(Gate::First);
    count(operands, if gate == Gate::First { 3 } else { 4 }, place)?;
    let (to, other) = match operands[0] {
        Operand::Pair(a, b) => {
            let to = target(decoder, &Operand::Name(a), Class::Predicate, place)?.0;
            (to, target(decoder, &Operand::Name(b), Class::Predicate, place)?.0)
        }
        ref one => (target(decoder, one, Class::Predicate, place)?.0, NOWHERE),
    };
    let bits = opcode.bits().unwrap_or(32);
    let class = map.operands()[0];
    let from =
        [decoder.read(&operands[1], class, bits, place)?, decoder.read(&operands[2], class, bits, place)?];
    let with = match operands.get(3) {
        Some(operand) => condition(decoder, operand, place)?,
        None => ALWAYS,
    };
    Ok(Op::Compare { map, to, other, from, gate, with })
}

fn gate_of(word: &str) -> Option<Gate> {
    match word {
        "and" => Some(Gate::And),
        "or" => Some(Gate::Or),
        "xor" => Some(Gate::Xor),
        _ => None,
    }
}

fn select<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode<'a>,
    operands: &[Operand<'a>],
    place: Place,
) -> Decoded {
    count(operands, 4, place)?;
    let Some(bits) = opcode.bits() else { return unsupported("selp", place) };
    let class = if bits == 64 { Class::Double } else { Class::Word };
    let to = target(decoder, &operands[0], class, place)?.0;
    let from =
        [decoder.read(&operands[1], class, bits, place)?, decoder.read(&operands[2], class, bits, place)?];
    let by = condition(decoder, &operands[3], place)?;
    Ok(match class {
        Class::Double => Op::SelectDouble { to, from, by },
        _ => Op::SelectWord { to, from, by },
    })
}

fn logic<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode<'a>,
    operands: &[Operand<'a>],
    place: Place,
) -> Decoded {
    let gate = gate_of(opcode.name).unwrap_or(Gate::First);
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
    Ok(Op::Logic { to, gate, a, b })
}

fn barrier(opcode: &Opcode<'_>, operands: &[Operand<'_>], place: Place) -> Decoded {
    if opcode.has("warp") {
        return Ok(Op::WarpBarrier);
    }
    let is_whole = operands.len() <= 1 && (opcode.has("sync") || opcode.words().next().is_none());
    match is_whole && matches!(operands.first(), None | Some(Operand::Integer(_))) {
        true => Ok(Op::Barrier),
        false => unsupported("bar of a part of the block", place),
    }
}

fn takes_carry(opcode: &Opcode<'_>) -> bool {
    opcode.has("cc") || opcode.name.ends_with('c')
}

fn carry<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode<'a>,
    operands: &[Operand<'a>],
    place: Place,
) -> Decoded {
    let kind = match opcode.name {
        "add" | "addc" => CarryKind::Add,
        "sub" | "subc" => CarryKind::Subtract,
        _ if opcode.has("hi") => CarryKind::MultiplyHigh,
        _ => CarryKind::MultiplyLow,
    };
    if !matches!(opcode.kind, "u32" | "s32") || opcode.kind == "s32" && kind == CarryKind::MultiplyHigh {
        return unsupported(&format!("{} with carry on {}", opcode.name, opcode.kind), place);
    }
    let is_product = matches!(kind, CarryKind::MultiplyHigh | CarryKind::MultiplyLow);
    count(operands, if is_product { 4 } else { 3 }, place)?;
    let to = target(decoder, &operands[0], Class::Word, place)?.0;
    let mut from = [decoder.word_constant(0); 3];
    for (slot, operand) in from.iter_mut().zip(&operands[1..]) {
        *slot = decoder.read(operand, Class::Word, 32, place)?;
    }
    let (takes, leaves) = (opcode.name.ends_with('c'), opcode.has("cc"));
    Ok(Op::Carry { to, from, kind, takes, leaves })
}

/// `mov` of a word: the operand unchanged.
pub(crate) fn same_word() -> Map {
    lanes!(W1, |a| a)
}
