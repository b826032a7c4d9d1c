//! `cp.async`: copies from global to shared memory. A copy is complete when it is issued, which a program cannot notice
//! if it waits for its copies before it reads them.

use ptx::{Modifier, Opcode, Operand, Position, Space as PtxSpace, Word};

use super::accesses::lanes_of;
use super::block::Machine;
use super::decode::Decoder;
use super::instructions::{condition, unsupported};
use super::lanes::Class;
use super::names::Register;
use super::problem::Problem;
use super::program::*;
use super::transfers::base;
use super::warp::Warp;

/// The most bytes that a thread copies.
const WIDEST: usize = 16;

/// How many of the bytes are read; the others are zero.
#[derive(Debug, Clone, Copy)]
enum Part {
    /// All, or none if the condition holds.
    Unless(Condition),
    /// A number in a register.
    Bytes(Slot),
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct AsyncCopy {
    /// Without cells.
    from: Access,
    to: Access,
    part: Part,
}

/// `cp.async.{ca,cg}.shared.global [to], [from], bytes[, source bytes | ignored]`, and the instructions that group
/// copies and wait for them.
pub(crate) fn decode<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<DecodedOp, Problem> {
    if opcode.has(Modifier::Bulk) || !opcode.has(Modifier::Async) {
        return unsupported(opcode, place);
    }
    if opcode.has(Modifier::CommitGroup) || opcode.has(Modifier::WaitGroup) || opcode.has(Modifier::WaitAll) {
        return Ok(DecodedOp::Nothing);
    }
    let is_to_shared = opcode.words().contains(&Word::Space(PtxSpace::Global))
        && opcode.space().is_some_and(|space| Space::of(space) == Space::Shared);
    let (true, [to, from, Operand::Integer(bytes @ (4 | 8 | 16)), rest @ ..]) = (is_to_shared, operands)
    else {
        return unsupported(opcode, place);
    };
    let part = match rest {
        [] => Part::Unless(Condition { slot: CONSTANT, is_negated: true }),
        // A cache policy stands last.
        [Operand::Name(name), ..] if matches!(decoder.names.register(name), Some(Register::Double(_))) => {
            Part::Unless(Condition { slot: CONSTANT, is_negated: true })
        }
        [operand @ Operand::Name(name), ..]
            if matches!(decoder.names.register(name), Some(Register::Predicate(_))) =>
        {
            Part::Unless(condition(decoder, operand, place)?)
        }
        [operand, ..] => Part::Bytes(decoder.read(operand, Class::Word, 32, place)?),
    };
    let mut access = |operand: &Operand<&'a str>, space: Space| -> Result<Access, Problem> {
        let (base, offset, space) = base(decoder, operand, space, place)?;
        Ok(Access { space, width: *bytes as u8, is_signed: false, base, offset, cells: (0, 0) })
    };
    let copy = AsyncCopy { to: access(to, Space::Shared)?, from: access(from, Space::Global)?, part };
    let number = decoder.program.async_copies.len() as u32;
    decoder.program.async_copies.push(copy);
    Ok(DecodedOp::AsyncCopy(number))
}

impl Machine<'_, '_> {
    pub(crate) fn copy_async(
        &mut self,
        warp: &mut Warp,
        copy: &AsyncCopy,
        step: u32,
        active: u32,
    ) -> Result<(), Problem> {
        let bytes = u64::from(copy.to.width);
        let to = self.addresses(warp, &copy.to, step, active);
        let from = self.addresses(warp, &copy.from, step, active);
        let read: [u64; 32] = match copy.part {
            Part::Unless(ignored) => {
                let ignored = self.holds(warp, ignored, step, active);
                std::array::from_fn(|lane| if ignored >> lane & 1 == 1 { 0 } else { bytes })
            }
            Part::Bytes(slot) => {
                self.unknown_register(Warp::unknown(&warp.known_words, slot, active), step, warp);
                warp.word(slot).map(|count| u64::from(count).min(bytes))
            }
        };
        let reading =
            lanes_of(active).filter(|&lane| read[lane as usize] > 0).fold(0, |all, lane| all | 1 << lane);
        self.trace(&from, &copy.from, bytes, step, reading, (false, false));
        let mut buffer = [0u8; WIDEST];
        for lane in lanes_of(active) {
            let count = read[lane as usize] as usize;
            let held = &mut buffer[..bytes as usize];
            held.fill(0);
            if count > 0 {
                let address = from[lane as usize];
                self.aligned(step, warp, lane, address, bytes)?;
                match self.memory.page(address, count as u64) {
                    Ok((page, at)) => {
                        held[..count].copy_from_slice(&page.bytes[at..at + count]);
                        if !page.knows(at, count) {
                            self.finding("uninitialised-global", step, warp, 1 << lane, || {
                                "reads uninitialised global memory".to_owned()
                            });
                        }
                    }
                    Err(why) => return Err(self.outside(step, warp, lane, bytes, why)),
                }
            }
            let (_, address) = self.resolve(Space::Shared, to[lane as usize]);
            self.aligned(step, warp, lane, address, bytes)?;
            let at = self.shared_range(step, warp, lane, address, bytes)?;
            self.shared.bytes[at..at + bytes as usize].copy_from_slice(&buffer[..bytes as usize]);
            let amiss = self.shared.note_write(address, bytes, warp.first + lane, false);
            self.amiss(amiss, step, warp, lane);
        }
        Ok(())
    }
}
