//! Matrix instructions: a warp holds matrices in the registers of all its lanes.
//!
//! * `ldmatrix`, `stmatrix`: 8×8 matrices between shared memory and registers ([`moves`]).
//! * `mma`: a product of matrices in registers. `wgmma`: the same with matrices in shared memory, by four warps;
//!   each computes 16 rows, on its own. Both are in [`products`], their layouts in [`fragments`] and
//!   [`descriptors`].
//!
//! `wgmma` is asynchronous on a GPU. Here it is complete when it is issued, which a program cannot notice if it waits
//! as it must.

mod descriptors;
mod elements;
mod fragments;
mod moves;
mod products;

use ptx::{Instruction, Name, Position};

use crate::decode::Decoder;
use crate::instructions::unsupported;
use crate::problem::Problem;
use crate::program::DecodedOp;

pub(crate) use moves::MatrixMove;
pub(crate) use products::{Product, Scratch};

/// A decoded matrix instruction.
#[derive(Debug, Clone, Copy)]
pub(crate) enum MatrixStep {
    Move(MatrixMove),
    Product(Product),
}

/// `ldmatrix`, `stmatrix`, `mma` and `wgmma`.
pub(crate) fn decode<'a>(
    decoder: &mut Decoder<'_, 'a>,
    instruction: &Instruction<&'a str>,
    place: Position,
) -> Result<DecodedOp, Problem> {
    let (opcode, operands) = (&instruction.opcode, instruction.operands.as_slice());
    let step = match opcode.name {
        Name::Ldmatrix | Name::Stmatrix => MatrixStep::Move(moves::decode(decoder, opcode, operands, place)?),
        Name::Mma => MatrixStep::Product(products::decode(decoder, opcode, operands, place)?),
        Name::Wgmma if opcode.has(ptx::Modifier::MmaAsync) => {
            MatrixStep::Product(products::decode_of_group(decoder, opcode, operands, place)?)
        }
        // `fence`, `commit_group` and `wait_group`: products are complete when they are issued.
        Name::Wgmma => return Ok(DecodedOp::Nothing),
        _ => return unsupported(opcode, place),
    };
    let number = decoder.program.matrix_steps.len() as u32;
    decoder.program.matrix_steps.push(step);
    Ok(DecodedOp::Matrix(number))
}
