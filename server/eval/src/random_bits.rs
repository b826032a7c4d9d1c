//! `rng-bit-generator`: counters through Threefry or Philox. Every bit equals XLA's. Source:
//! `xla/hlo/builder/lib/prng.cc` and `rng_bit_generator_expander.cc`. `rng_default` is Philox, as on XLA's
//! CPU and GPU backends.

use ir::AttributeKey;

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of, leaf_shape};
use super::positions::{array, count, strides};
use super::types::Kind;
use crate::checks::{Checked, ensure};

#[derive(Clone, Copy, PartialEq)]
enum Algorithm {
    Threefry,
    Philox,
}

/// Leaf 0 is the next state, leaf 1 the bits.
pub(crate) fn generate(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let algorithm = match asked.op.attributes.text(AttributeKey::Algorithm) {
        Some("rng_three_fry") => Algorithm::Threefry,
        Some("rng_philox" | "rng_default") => Algorithm::Philox,
        other => return Err(format!("the algorithm {} is not evaluated", other.unwrap_or("")).into()),
    };
    let data = array(leaf_shape(&asked.op.shape, 1)?)?;
    let kind = kind_of(leaf_shape(&asked.op.shape, 1)?)?;
    let is_whole = !matches!(kind, Kind::Pred | Kind::Complex { .. });
    ensure(is_whole, format!("random bits of type {} are not evaluated", data.element))?;
    let state = evaluator.held(asked.frame, asked.operand(0)?, 0)?;
    ensure(state.error.is_none(), "a state of random bits that is not exact")?;
    let state: Vec<u64> = match state.kind {
        Kind::Unsigned(64) => state.ints().iter().map(|&word| word as u64).collect(),
        _ => return Err("a state of random bits that is not u64 is not evaluated".into()),
    };
    let length = if algorithm == Algorithm::Threefry { 2..=2 } else { 2..=3 };
    ensure(length.contains(&state.len()), format!("a state of {} words is not evaluated", state.len()))?;
    let wide = kind.width() > 32;
    match (asked.leaf, algorithm) {
        (0, _) => {
            let next = match algorithm {
                Algorithm::Threefry => {
                    vec![state[0], state[1].wrapping_add(Pairs::of(&data.dims, wide).count)]
                }
                Algorithm::Philox => {
                    let per_block = if wide { 2 } else { 4 };
                    next_philox(&state, (count(data) as u64).div_ceil(per_block))
                }
            };
            let words = asked.batch.positions.iter().map(|&p| next.get(p as usize).map(|&word| word as i64));
            Ok(Column::int(
                Kind::Unsigned(64),
                words.collect::<Option<_>>().ok_or("a state of another size")?,
            ))
        }
        _ => {
            let positions = &asked.batch.positions;
            let bits: Vec<u64> = match algorithm {
                Algorithm::Threefry => {
                    let pairs = Pairs::of(&data.dims, wide);
                    positions.iter().map(|&p| pairs.bits(&state, p)).collect()
                }
                Algorithm::Philox => positions.iter().map(|&p| philox_bits(&state, p as u64, wide)).collect(),
            };
            let width = kind.width();
            let low = |bits: u64| u128::from(if width >= 64 { bits } else { bits & ((1 << width) - 1) });
            Ok(Column::from_bits(kind, bits.into_iter().map(low)))
        }
    }
}

fn halves(word: u64) -> [u32; 2] {
    [word as u32, (word >> 32) as u32]
}

fn joined([low, high]: [u32; 2]) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// The counter, and the half of its output, that an element comes from. 32-bit words come in pairs adjacent
/// along one dimension: the first of even size, or else the first of the largest.
struct Pairs {
    dims: Vec<i64>,
    split: Option<usize>,
    /// The number of counters used.
    count: u64,
}

impl Pairs {
    fn of(dims: &[i64], wide: bool) -> Pairs {
        let elements = |dims: &[i64]| dims.iter().product::<i64>() as u64;
        if wide || dims.is_empty() {
            return Pairs { dims: dims.to_vec(), split: None, count: elements(dims) };
        }
        let even = dims.iter().position(|size| size % 2 == 0);
        let largest =
            dims.iter().copied().max().and_then(|size| dims.iter().position(|&other| other == size));
        let split = even.or(largest).unwrap_or(0);
        let mut halved = dims.to_vec();
        halved[split] = (halved[split] + 1) / 2;
        Pairs { dims: dims.to_vec(), split: Some(split), count: elements(&halved) }
    }

    fn bits(&self, state: &[u64], position: i64) -> u64 {
        let Some(split) = self.split else {
            let made = threefry(halves(state[1].wrapping_add(position as u64)), halves(state[0]));
            return joined(made);
        };
        let mut halved = self.dims.clone();
        halved[split] = (halved[split] + 1) / 2;
        let (own, others) = (strides(&self.dims), strides(&halved));
        let (mut rest, mut counter, mut half) = (position, 0, 0);
        for (dim, (stride, other)) in own.iter().zip(&others).enumerate() {
            let mut index = rest / stride;
            rest %= stride;
            if dim == split {
                half = (index % 2) as usize;
                index /= 2;
            }
            counter += index * other;
        }
        u64::from(threefry(halves(state[1].wrapping_add(counter as u64)), halves(state[0]))[half])
    }
}

/// Threefry-2x32 with 20 rounds (Salmon et al., SC 2011).
fn threefry(counter: [u32; 2], key: [u32; 2]) -> [u32; 2] {
    const ROTATIONS: [[u32; 4]; 2] = [[13, 15, 26, 6], [17, 29, 16, 24]];
    let keys = [key[0], key[1], 0x1BD1_1BDA ^ key[0] ^ key[1]];
    let [mut a, mut b] = [counter[0].wrapping_add(keys[0]), counter[1].wrapping_add(keys[1])];
    for group in 0..5usize {
        for rotation in ROTATIONS[group % 2] {
            a = a.wrapping_add(b);
            b = a ^ b.rotate_left(rotation);
        }
        a = a.wrapping_add(keys[(group + 1) % 3]);
        b = b.wrapping_add(keys[(group + 2) % 3]).wrapping_add(group as u32 + 1);
    }
    [a, b]
}

/// The 128-bit counter of a state. In a state of three words it follows the key; with two words, its low word
/// is the second and its high word is the key.
fn philox_counter(state: &[u64]) -> u128 {
    let (low, high) = if state.len() >= 3 { (state[1], state[2]) } else { (state[1], state[0]) };
    u128::from(low) | u128::from(high) << 64
}

fn next_philox(state: &[u64], blocks: u64) -> Vec<u64> {
    let next = philox_counter(state).wrapping_add(u128::from(blocks));
    let mut words = vec![state[0], next as u64, (next >> 64) as u64];
    words.truncate(state.len());
    words
}

/// Element `position` of the bits. A block is four words of 32 bits, or two of 64.
fn philox_bits(state: &[u64], position: u64, wide: bool) -> u64 {
    let per_block = if wide { 2 } else { 4 };
    let counter = philox_counter(state).wrapping_add(u128::from(position / per_block));
    let block = philox(counter, halves(state[0]));
    let part = (position % per_block) as usize;
    match wide {
        true => joined([block[2 * part], block[2 * part + 1]]),
        false => u64::from(block[part]),
    }
}

/// Philox-4x32 with 10 rounds.
fn philox(counter: u128, mut key: [u32; 2]) -> [u32; 4] {
    let mut x = [counter as u32, (counter >> 32) as u32, (counter >> 64) as u32, (counter >> 96) as u32];
    for _ in 0..10 {
        let [low, high] = halves(u64::from(x[0]) * 0xD251_1F53);
        let [other_low, other_high] = halves(u64::from(x[2]) * 0xCD9E_8D57);
        x = [other_high ^ x[1] ^ key[0], other_low, high ^ x[3] ^ key[1], low];
        key = [key[0].wrapping_add(0x9E37_79B9), key[1].wrapping_add(0xBB67_AE85)];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers of the Random123 distribution.
    #[test]
    fn known_answers() {
        assert_eq!(threefry([0; 2], [0; 2]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(threefry([u32::MAX; 2], [u32::MAX; 2]), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(philox(0, [0; 2]), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox(u128::MAX, [u32::MAX; 2]), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
    }
}
