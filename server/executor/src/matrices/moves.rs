//! `ldmatrix` and `stmatrix`: one, two or four 8×8 matrices of 16 bits between shared memory and registers.
//!
//! Lane `8j + i` gives the address of row `i` of matrix `j`, of 16 bytes. Lane `4g + t` holds the elements `2t` and
//! `2t + 1` of row `g`; of column `g` if the matrices are transposed.

use ptx::{Modifier, Name, Opcode, Operand, Position, Shape, Type};

use crate::block::Machine;
use crate::decode::Decoder;
use crate::instructions::unsupported;
use crate::problem::Problem;
use crate::program::{Access, Cell};
use crate::transfers::{base, cells, space_of};
use crate::warp::Warp;

/// The bytes of a row.
const ROW: u64 = 16;

#[derive(Debug, Clone, Copy)]
pub(crate) struct MatrixMove {
    /// Of a row.
    access: Access,
    is_transposed: bool,
    is_store: bool,
}

pub(crate) fn decode<'a>(
    decoder: &mut Decoder<'_, 'a>,
    opcode: &Opcode,
    operands: &[Operand<&'a str>],
    place: Position,
) -> Result<MatrixMove, Problem> {
    let is_store = opcode.name == Name::Stmatrix;
    let is_known = opcode.shape() == Some(Shape { m: 8, n: 8, k: None }) && opcode.ty() == Some(Type::B16);
    let (true, [first, second]) = (is_known, operands) else { return unsupported(opcode, place) };
    let (address, registers) = if is_store { (first, second) } else { (second, first) };
    let (base, offset, space) = base(decoder, address, space_of(opcode), place)?;
    let cells = cells(decoder, registers, is_store, 32, place)?;
    let stated = opcode.modifiers().find_map(|word| match word {
        Modifier::X1 => Some(1),
        Modifier::X2 => Some(2),
        Modifier::X4 => Some(4),
        _ => None,
    });
    if Some(cells.1 - cells.0) != stated {
        return Err(Problem::new("ptx-operand", place, "not as many registers as matrices"));
    }
    let access = Access { space, width: ROW as u8, is_signed: false, base, offset, cells };
    Ok(MatrixMove { access, is_transposed: opcode.has(Modifier::Trans), is_store })
}

impl Machine<'_, '_> {
    /// Moves matrices; all lanes of the warp take part.
    pub(crate) fn move_matrices(
        &mut self,
        warp: &mut Warp,
        step: u32,
        matrices: &MatrixMove,
        active: u32,
    ) -> Result<(), Problem> {
        let MatrixMove { access, is_transposed, is_store } = *matrices;
        let cells = &self.program.cells[access.cells.0 as usize..access.cells.1 as usize];
        let rows = cells.len() * 8;
        let used = if rows >= 32 { u32::MAX } else { (1 << rows) - 1 };
        let addresses = self.addresses(warp, &access, step, active & used);
        for (number, &cell) in cells.iter().enumerate() {
            let mut starts = [0; 8];
            for (row, start) in starts.iter_mut().enumerate() {
                let lane = (8 * number + row) as u32;
                let (_, address) = self.resolve(access.space, addresses[lane as usize]);
                self.aligned(step, warp, lane, address, ROW)?;
                *start = self.shared_range(step, warp, lane, address, ROW)?;
                let thread = warp.first + lane;
                let amiss = match is_store {
                    true => self.shared.note_write(address, ROW, thread, false),
                    false => self.shared.note_read(address, ROW, thread),
                };
                self.amiss(amiss, step, warp, lane);
            }
            // The places of the two elements that a lane holds.
            let places = |lane: usize| {
                let (group, thread) = (lane / 4, lane % 4);
                [0, 1].map(|i| match is_transposed {
                    true => starts[2 * thread + i] + 2 * group,
                    false => starts[group] + 2 * (2 * thread + i),
                })
            };
            match (cell, is_store) {
                (Cell::Word(slot, _), true) => {
                    self.unknown_register(Warp::unknown(&warp.known_words, slot, active), step, warp);
                    for (lane, value) in warp.word(slot).iter().enumerate() {
                        let [low, high] = places(lane);
                        let [a, b, c, d] = value.to_le_bytes();
                        self.shared.bytes[low..low + 2].copy_from_slice(&[a, b]);
                        self.shared.bytes[high..high + 2].copy_from_slice(&[c, d]);
                    }
                }
                (Cell::Word(slot, mask), false) => {
                    let values = std::array::from_fn(|lane| {
                        let [low, high] = places(lane).map(|at| &self.shared.bytes[at..at + 2]);
                        u32::from_le_bytes([low[0], low[1], high[0], high[1]])
                    });
                    warp.put_words(slot, &values, mask, active);
                }
                _ => (),
            }
        }
        Ok(())
    }
}
