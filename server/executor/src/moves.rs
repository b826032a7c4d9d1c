//! `mov` in all forms, and address conversion between state spaces.

use ptx::{Modifier, Opcode, Operand, Position};

use super::decode::Decoder;
use super::instructions::{bits_of, condition, same_word, target, unsupported};
use super::lanes::{Class, Doubles, Map, Words, lanes};
use super::names::{LOCAL, Register, SHARED};
use super::problem::Problem;
use super::program::*;

/// `mov`, including packing and unpacking.
pub(crate) fn decode<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<DecodedOp, Problem> {
    let wrong = || Problem::new("ptx-operand", place, "a mov of this form");
    let [to, from] = operands else { return Err(wrong()) };
    let bits = bits_of(opcode).ok_or_else(wrong)?;
    match (to, from) {
        (Operand::Vector(parts), _) => split(decoder, bits, parts, from, place),
        (_, Operand::Vector(parts)) => join(decoder, bits, to, parts, place),
        _ if bits == 1 => {
            let to = target(decoder, to, Class::Predicate, place)?.0;
            Ok(DecodedOp::Logic { to, gate: Gate::First, a: condition(decoder, from, place)?, b: ALWAYS })
        }
        (_, Operand::Name(name)) if special(name).is_some() => {
            let which = special(name).ok_or_else(wrong)?;
            let is_wide = matches!(register(decoder, to), Some(Register::Double(_)));
            let class = if is_wide { Class::Double } else { Class::Word };
            Ok(DecodedOp::Special { to: target(decoder, to, class, place)?.0, which, is_wide })
        }
        _ if bits == 64 => {
            let to = target(decoder, to, Class::Double, place)?.0;
            let from = [decoder.read(from, Class::Double, 64, place)?, 0, 0, 0];
            Ok(DecodedOp::Map { map: lanes!(D1, |a| a), to, from, mask: u32::MAX })
        }
        _ => {
            let (to, mask) = target(decoder, to, Class::Word, place)?;
            let from = [decoder.read(from, Class::Word, bits, place)?, 0, 0, 0];
            Ok(DecodedOp::Map { map: same_word(), to, from, mask })
        }
    }
}

fn register(decoder: &Decoder<'_, '_>, operand: &Operand<&str>) -> Option<Register> {
    match operand {
        Operand::Name(name) => decoder.names.register(name),
        _ => None,
    }
}

fn split<'a>(
    decoder: &mut Decoder<'_, 'a>,
    bits: u32,
    parts: &[Operand<&'a str>],
    from: &Operand<&'a str>,
    place: Position,
) -> Result<DecodedOp, Problem> {
    let mut to = [NOWHERE; 4];
    if parts.len() > 4 {
        return unsupported("mov of more than four parts", place);
    }
    for (slot, part) in to.iter_mut().zip(parts) {
        *slot = target(decoder, part, Class::Word, place)?.0;
    }
    match (bits, parts.len()) {
        (32, 2) => {
            Ok(DecodedOp::SplitWord { to: [to[0], to[1]], from: decoder.read(from, Class::Word, 32, place)? })
        }
        (64, 2) => Ok(DecodedOp::SplitDouble {
            to: [to[0], to[1]],
            from: decoder.read(from, Class::Double, 64, place)?,
        }),
        (64, 4) => Ok(DecodedOp::SplitQuarters { to, from: decoder.read(from, Class::Double, 64, place)? }),
        _ => unsupported("mov of these parts", place),
    }
}

fn join<'a>(
    decoder: &mut Decoder<'_, 'a>,
    bits: u32,
    to: &Operand<&'a str>,
    parts: &[Operand<&'a str>],
    place: Position,
) -> Result<DecodedOp, Problem> {
    if parts.len() > 4 {
        return unsupported("mov of more than four parts", place);
    }
    let part_bits = bits / parts.len().max(1) as u32;
    let mut from = [0; 4];
    for (slot, part) in from.iter_mut().zip(parts) {
        *slot = decoder.read(part, Class::Word, part_bits, place)?;
    }
    match (bits, parts.len()) {
        (16, 2) => {
            let (to, mask) = target(decoder, to, Class::Word, place)?;
            Ok(DecodedOp::Map { map: lanes!(W2, |a, b| (a & 0xFF) | b << 8), to, from, mask })
        }
        (32, 2) => {
            let (to, mask) = target(decoder, to, Class::Word, place)?;
            Ok(DecodedOp::Map { map: lanes!(W2, |a, b| (a & 0xFFFF) | b << 16), to, from, mask })
        }
        (32, 4) => {
            let (to, mask) = target(decoder, to, Class::Word, place)?;
            let map = lanes!(W4, |a, b, c, d| (a & 0xFF) | (b & 0xFF) << 8 | (c & 0xFF) << 16 | d << 24);
            Ok(DecodedOp::Map { map, to, from, mask })
        }
        (64, 2) => {
            let to = target(decoder, to, Class::Double, place)?.0;
            let map = lanes!(DofWW, |a, b| u64::from(a) | u64::from(b) << 32);
            Ok(DecodedOp::Map { map, to, from, mask: u32::MAX })
        }
        (64, 4) => Ok(DecodedOp::JoinQuarters { to: target(decoder, to, Class::Double, place)?.0, from }),
        _ => unsupported("mov of these parts", place),
    }
}

fn special(name: &str) -> Option<Special> {
    let of = |axis: &str| ["x", "y", "z"].iter().position(|a| *a == axis).map(|i| i as u8);
    let (stem, axis) = name.split_once('.').map_or((name, None), |(stem, axis)| (stem, Some(axis)));
    Some(match (stem, axis) {
        ("%tid", Some(axis)) => Special::Thread(of(axis)?),
        ("%ntid", Some(axis)) => Special::Threads(of(axis)?),
        ("%ctaid", Some(axis)) => Special::Block(of(axis)?),
        ("%nctaid", Some(axis)) => Special::Blocks(of(axis)?),
        ("%laneid", None) => Special::Lane,
        ("%warpid", None) => Special::Warp,
        ("WARP_SZ", None) => Special::WarpSize,
        ("%lanemask_lt", None) => Special::LanesBelow,
        ("%lanemask_le", None) => Special::LanesUpTo,
        ("%lanemask_gt", None) => Special::LanesAbove,
        ("%lanemask_ge", None) => Special::LanesFrom,
        ("%lanemask_eq", None) => Special::LaneItself,
        ("%dynamic_smem_size", None) => Special::DynamicShared,
        // There is no clock: runs are deterministic.
        ("%clock" | "%clock64" | "%globaltimer" | "%smid" | "%gridid" | "%cluster_ctarank", None) => {
            Special::Zero
        }
        _ => return None,
    })
}

/// `cvta`: from a state space's addresses to generic ones, and back.
pub(crate) fn address<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<DecodedOp, Problem> {
    let [to, from] = operands else {
        return Err(Problem::new("ptx-operand", place, "two operands are needed"));
    };
    let space = opcode.space().map(Space::of);
    let map = match (space, opcode.has(Modifier::To)) {
        (Some(Space::Global), _) => lanes!(D1, |a| a),
        (Some(Space::Shared), false) => lanes!(D1, |a| a.wrapping_add(SHARED)),
        (Some(Space::Shared), true) => lanes!(D1, |a| a.wrapping_sub(SHARED)),
        (Some(Space::Local), false) => lanes!(D1, |a| a.wrapping_add(LOCAL)),
        (Some(Space::Local), true) => lanes!(D1, |a| a.wrapping_sub(LOCAL)),
        _ => return unsupported("cvta of this space", place),
    };
    let to = target(decoder, to, Class::Double, place)?.0;
    let from = [decoder.read(from, Class::Double, 64, place)?, 0, 0, 0];
    Ok(DecodedOp::Map { map, to, from, mask: u32::MAX })
}
