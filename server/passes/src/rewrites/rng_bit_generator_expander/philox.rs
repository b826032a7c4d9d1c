//! Bits by Philox4x32 with 10 rounds.
//!
//! Source: XLA `hlo/builder/lib/prng.cc`, `PhiloxBitGenerator`.

use ir::ElementType;
use syntax::hlo::Opcode;

use super::Bits;
use super::arithmetic::Arithmetic;
use crate::module::InstructionId;

const ROUNDS: usize = 10;
const KEY_STEPS: [u64; 2] = [0x9E37_79B9, 0xBB67_AE85];
const FACTORS: [u64; 2] = [0xD251_1F53, 0xCD9E_8D57];

type Words<const N: usize> = [InstructionId; N];

/// The bits, in 32 bits for narrower types. `state` has the key in front.
pub(super) fn bits(
    at: &mut Arithmetic<'_>,
    key: InstructionId,
    state: InstructionId,
    dims: &[i64],
    element: ElementType,
) -> Option<Bits> {
    let is_long = at.module[state].dims() != [2];
    let counter = if is_long { at.slice(state, 1, 3) } else { at.reverse(state) };
    let elements: i64 = dims.iter().product();
    let is_wide = element == ElementType::U64;
    let words = if is_wide { elements.checked_mul(2)? } else { elements };
    let key = at.halves(key);
    let (made, next) = generate(at, words, counter, key)?;
    let lists = match is_wide {
        true => {
            let [a, b, c, d] = made;
            vec![at.whole([a, b]), at.whole([c, d])]
        }
        false => made.to_vec(),
    };
    let values = interleaved(at, &lists, elements)?;
    let values = at.reshape(values, dims);
    let state = if is_long { next } else { at.slice(next, 0, 1) };
    Some(Bits { values, state })
}

/// Four lists that have at least `words` numbers together, and the next counter. Source: `GeneratePhiloxBits`.
fn generate(
    at: &mut Arithmetic<'_>,
    words: i64,
    counter: InstructionId,
    key: Words<2>,
) -> Option<(Words<4>, InstructionId)> {
    let element = |at: &mut Arithmetic<'_>, index: i64| {
        let one = at.slice(counter, index, index + 1);
        at.reshape(one, &[])
    };
    let (low, high) = (element(at, 0), element(at, 1));
    let ([a, b], [c, d]) = (at.halves(low), at.halves(high));
    let vectors = words / 4 + i64::from(words % 4 != 0);
    let iota = at.iota(ElementType::U64, &[vectors], 0);
    let counter = [at.whole([a, b]), at.whole([c, d])];
    let [low, high] = sum(at, counter, iota, &[vectors]);
    let ([a, b], [c, d]) = (at.halves(low), at.halves(high));
    let count = at.constant(ElementType::U64, u64::try_from(vectors).ok()?);
    let next = sum(at, counter, count, &[]);
    let next = [at.reshape(next[0], &[1]), at.reshape(next[1], &[1])];
    let next = at.concatenate(&next, 0)?;
    Some((rounds(at, [a, b, c, d], key), next))
}

/// A number of 128 bits plus one of 64. Source: `Uint128AddUint64`.
fn sum(at: &mut Arithmetic<'_>, [low, high]: Words<2>, other: InstructionId, dims: &[i64]) -> Words<2> {
    let new = at.binary(Opcode::Add, low, other);
    let one = at.constant(ElementType::U64, 1);
    let is_carried = at.is_less(new, low);
    let carried = at.binary(Opcode::Add, high, one);
    let (carried, high) = (at.broadcast(carried, dims), at.broadcast(high, dims));
    [new, at.select(is_carried, carried, high)]
}

/// Source: `Philox4x32`.
fn rounds(at: &mut Arithmetic<'_>, mut state: Words<4>, mut key: Words<2>) -> Words<4> {
    for _ in 0..ROUNDS {
        let [a, b, c, d] = state;
        let ([high_0, low_0], [high_1, low_1]) = (product(at, a, FACTORS[0]), product(at, c, FACTORS[1]));
        let first = at.binary(Opcode::Xor, high_1, b);
        let second = at.binary(Opcode::Xor, high_0, d);
        state = [at.binary(Opcode::Xor, first, key[0]), low_1, at.binary(Opcode::Xor, second, key[1]), low_0];
        key = [at.with(Opcode::Add, key[0], KEY_STEPS[0]), at.with(Opcode::Add, key[1], KEY_STEPS[1])];
    }
    state
}

/// The high and the low half of a product.
fn product(at: &mut Arithmetic<'_>, value: InstructionId, factor: u64) -> Words<2> {
    let value = at.convert(value, ElementType::U64);
    let product = at.with(Opcode::Multiply, value, factor);
    let low = at.convert(product, ElementType::U32);
    let high = at.with(Opcode::ShiftRightLogical, product, 32);
    [at.convert(high, ElementType::U32), low]
}

/// The first elements of all lists, then the second ones, and so on. Source: `InterleavePhiloxResults`.
fn interleaved(at: &mut Arithmetic<'_>, lists: &[InstructionId], elements: i64) -> Option<InstructionId> {
    let count = lists.len() as i64;
    let each = elements / count + i64::from(elements % count != 0);
    let columns: Vec<InstructionId> = lists.iter().map(|&list| at.reshape(list, &[each, 1])).collect();
    let table = at.concatenate(&columns, 1)?;
    let list = at.reshape(table, &[each.checked_mul(count)?]);
    Some(at.slice(list, 0, elements))
}
