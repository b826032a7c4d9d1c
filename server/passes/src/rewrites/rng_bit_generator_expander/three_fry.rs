//! Bits by ThreeFry2x32 with 20 rounds.
//!
//! Source: XLA `hlo/builder/lib/prng.cc`, `ThreeFryBitGenerator`.

use ir::ElementType;
use syntax::hlo::Opcode;

use super::Bits;
use super::arithmetic::Arithmetic;
use crate::module::InstructionId;

const PARITY: u64 = 0x1BD1_1BDA;
const ROTATIONS: [[u64; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
const GROUPS: usize = 5;

type Pair = [InstructionId; 2];

/// The bits, in 32 bits for narrower types. `state` has the key in front.
pub(super) fn bits(
    at: &mut Arithmetic<'_>,
    key: InstructionId,
    state: InstructionId,
    dims: &[i64],
    element: ElementType,
) -> Option<Bits> {
    let counter = at.slice(state, 1, 2);
    if element == ElementType::U64 {
        let (inputs, state) = inputs(at, counter, dims)?;
        let key = at.halves(key);
        let made = rounds(at, inputs, key);
        return Some(Bits { values: at.whole(made), state });
    }
    let halves = Halves::of(dims);
    let (inputs, state) = inputs(at, counter, &halves.dims)?;
    let key = at.halves(key);
    let made = rounds(at, inputs, key);
    Some(Bits { values: halves.joined(at, made, dims)?, state })
}

/// The numbers of the elements from the counter on, and the next counter. Source: `GetThreeFryInputsAndUpdatedState`.
fn inputs(at: &mut Arithmetic<'_>, counter: InstructionId, dims: &[i64]) -> Option<(Pair, InstructionId)> {
    let scalar = at.reshape(counter, &[]);
    let mut numbers = at.broadcast(scalar, dims);
    let mut stride = 1i64;
    for (dim, &size) in dims.iter().enumerate().rev().filter(|(_, size)| **size >= 2) {
        let iota = at.iota(ElementType::U64, dims, dim as i64);
        let places = at.with(Opcode::Multiply, iota, u64::try_from(stride).ok()?);
        numbers = at.binary(Opcode::Add, numbers, places);
        stride = stride.checked_mul(size)?;
    }
    let elements = dims.iter().try_fold(1i64, |product, &size| product.checked_mul(size))?;
    let next = at.with(Opcode::Add, counter, u64::try_from(elements).ok()?);
    Some((at.halves(numbers), next))
}

/// Source: `ThreeFry2x32`.
fn rounds(at: &mut Arithmetic<'_>, input: Pair, key: Pair) -> Pair {
    let key = key.map(|word| at.same_bits(word));
    let mut last = at.constant(ElementType::U32, PARITY);
    for word in key {
        last = at.binary(Opcode::Xor, last, word);
    }
    let keys = [key[0], key[1], last];
    let mut x = [at.binary(Opcode::Add, input[0], keys[0]), at.binary(Opcode::Add, input[1], keys[1])];
    for group in 0..GROUPS {
        for rotation in ROTATIONS[group % 2] {
            let sum = at.binary(Opcode::Add, x[0], x[1]);
            let left = at.with(Opcode::ShiftLeft, x[1], rotation);
            let right = at.with(Opcode::ShiftRightLogical, x[1], 32 - rotation);
            let rotated = at.binary(Opcode::Or, left, right);
            x = [sum, at.binary(Opcode::Xor, sum, rotated)];
        }
        let first = at.binary(Opcode::Add, x[0], keys[(group + 1) % 3]);
        let second = at.binary(Opcode::Add, x[1], keys[(group + 2) % 3]);
        x = [first, at.with(Opcode::Add, second, group as u64 + 1)];
    }
    x
}

/// An array as two halves along a new dimension behind one of its own.
struct Halves {
    /// Of each half.
    dims: Vec<i64>,
    split: usize,
}

impl Halves {
    /// Source: `SplitShapeIntoHalves`.
    fn of(dims: &[i64]) -> Halves {
        let largest = || (0..dims.len()).rev().max_by_key(|&dim| dims[dim]);
        let Some(split) = dims.iter().position(|size| size % 2 == 0).or_else(largest) else {
            return Halves { dims: vec![1], split: 0 };
        };
        let mut halves = dims.to_vec();
        halves[split] = dims[split] / 2 + dims[split] % 2;
        halves.insert(split + 1, 1);
        Halves { dims: halves, split }
    }

    /// Source: `CombineShapePair`.
    fn joined(&self, at: &mut Arithmetic<'_>, pair: Pair, dims: &[i64]) -> Option<InstructionId> {
        let Some(&size) = dims.get(self.split) else { return Some(at.reshape(pair[0], &[])) };
        let both = at.concatenate(&pair, self.split + 1)?;
        let mut even = dims.to_vec();
        even[self.split] = size.checked_add(size % 2)?;
        let whole = at.reshape(both, &even);
        Some(if even == dims { whole } else { at.front_of(whole, dims) })
    }
}
