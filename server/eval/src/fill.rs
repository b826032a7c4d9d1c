//! Default values of parameters: zeros, random numbers, or positions.

use random::Rng;

use super::column::Column;
use super::types::Kind;

/// The elements of a parameter. Each follows from its position alone, so an array needs no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fill {
    /// For `f8e8m0fnu`, which has only powers of two, the smallest one.
    Zeros,
    /// The same for the same seed, parameter and position. Floats have three decimal digits and lie in
    /// [-1, 1], integers have one digit, `pred` is true for half of the elements on average. `f8e8m0fnu`:
    /// 2^-3 to 2^3.
    Random { seed: u64 },
    /// The row-major position. Restarts at 0 when the type cannot hold the next integer exactly. `f8e8m0fnu`:
    /// 2^0 to 2^7.
    Iota,
}

/// The number of powers of two, from 1, in [`Fill::Iota`] for a type that holds nothing else.
const SCALES: i64 = 8;

/// The largest integer of [`Fill::Random`].
const LARGEST: i64 = 9;

impl Fill {
    /// The names in requests and options.
    pub const NAMES: [&str; 3] = ["zeros", "random", "iota"];

    /// `None` if `name` is not one of [`Fill::NAMES`]. Only random numbers use the seed.
    pub fn from_name(name: &str, seed: u64) -> Option<Fill> {
        match name {
            "zeros" => Some(Fill::Zeros),
            "random" => Some(Fill::Random { seed }),
            "iota" => Some(Fill::Iota),
            _ => None,
        }
    }

    /// The elements at `positions` of array `leaf` (nested tuples flattened) of a parameter.
    pub fn column(self, kind: Kind, parameter: u32, leaf: usize, positions: &[i64]) -> Column {
        let stream = match self {
            Fill::Random { seed } => {
                let array = Rng::new(u64::from(parameter) << 32 ^ leaf as u64).next_u64();
                Rng::new(seed ^ array).next_u64()
            }
            Fill::Zeros | Fill::Iota => 0,
        };
        // Treats the position as a number in a sequence.
        let random =
            |position: i64, part: u64| Rng::new(stream.wrapping_add(hash(position, part))).next_u64();
        let whole = |position: i64| match self {
            Fill::Zeros => 0,
            Fill::Iota => position % counted(kind),
            Fill::Random { .. } => small(kind, random(position, 0)),
        };
        let real = |position: i64, part: u64| match self {
            _ if kind.is_scale() => match self {
                Fill::Zeros => kind.smallest_normal(),
                Fill::Random { .. } => 2f64.powi((random(position, part) % 7) as i32 - 3),
                Fill::Iota => 2f64.powi((position % SCALES) as i32),
            },
            Fill::Random { .. } => kind.round((random(position, part) % 2001) as f64 / 1000.0 - 1.0),
            Fill::Iota if part > 0 => 0.0,
            _ => whole(position) as f64,
        };
        let polled = |position: &i64| {
            cancel::tick();
            *position
        };
        let positions = positions.iter().map(polled);
        match kind {
            _ if kind.is_integral() => Column::int(kind, positions.map(whole).collect()),
            Kind::Complex { .. } => {
                Column::complex(kind, positions.map(|p| [real(p, 0), real(p, 1)]).collect())
            }
            _ => Column::real(kind, positions.map(|p| real(p, 0)).collect()),
        }
    }
}

fn hash(position: i64, part: u64) -> u64 {
    Rng::new((position as u64).wrapping_mul(2).wrapping_add(part)).next_u64()
}

/// The number of integers from 0 that the type holds without a gap.
fn counted(kind: Kind) -> i64 {
    match kind {
        Kind::Pred => 2,
        Kind::Signed(bits) => 1 << (bits - 1).min(62),
        Kind::Unsigned(bits) => 1 << bits.min(62),
        Kind::Float(short) => {
            let exact = 2i64 << short.0.mantissa;
            exact.min(short.0.largest().min(1e15) as i64 + 1)
        }
        Kind::Complex { is_double: false } => 1 << 24,
        Kind::F64 | Kind::Complex { is_double: true } => 1 << 53,
    }
}

/// An integer of one digit that the type holds.
fn small(kind: Kind, random: u64) -> i64 {
    let (low, high) = match kind {
        Kind::Pred => (0, 1),
        Kind::Signed(bits) => {
            let limit = 1i64 << (bits - 1).min(62);
            ((-limit).max(-LARGEST), (limit - 1).min(LARGEST))
        }
        Kind::Unsigned(bits) => (0, ((1i64 << bits.min(62)) - 1).min(LARGEST)),
        _ => (-LARGEST, LARGEST),
    };
    low + (random % (high - low + 1) as u64) as i64
}

#[cfg(test)]
mod tests {
    use ir::ElementType;

    use super::*;
    use crate::Values;

    fn numbers(column: &Column) -> Vec<f64> {
        match &column.values {
            Values::Int(v) => v.iter().map(|&x| x as f64).collect(),
            Values::Real(v) => v.clone(),
            Values::Complex(v) => v.concat(),
        }
    }

    fn kinds() -> impl Iterator<Item = Kind> {
        ElementType::ALL.iter().filter_map(|&element| Kind::of(element))
    }

    #[test]
    fn every_number_is_one_of_its_type_and_modest() {
        let positions: Vec<i64> = (0..3000).chain([1 << 40, i64::MAX]).collect();
        for kind in kinds() {
            for fill in [Fill::Zeros, Fill::Random { seed: 3 }, Fill::Iota] {
                let column = fill.column(kind, 1, 0, &positions);
                let bits = (0..column.len()).map(|i| column.bits(i));
                assert_eq!(Column::from_bits(kind, bits).values, column.values, "{kind:?} {fill:?}");
                let limit = match fill {
                    Fill::Zeros if kind.is_scale() => 1e-38,
                    Fill::Zeros => 0.0,
                    Fill::Random { .. } if kind.is_integral() => 9.0,
                    Fill::Random { .. } if kind.is_scale() => 8.0,
                    Fill::Random { .. } => 1.0,
                    Fill::Iota => f64::MAX,
                };
                assert!(numbers(&column).iter().all(|x| x.abs() <= limit), "{kind:?} {fill:?}");
            }
        }
    }

    #[test]
    fn random_numbers_differ_by_seed_parameter_leaf_and_position_alone() {
        let positions: Vec<i64> = (0..64).collect();
        for kind in kinds().filter(|kind| kind.width() > 1) {
            let of = |seed, parameter, leaf| {
                numbers(&Fill::Random { seed }.column(kind, parameter, leaf, &positions))
            };
            let first = of(0, 0, 0);
            assert_eq!(first, of(0, 0, 0));
            for other in [of(1, 0, 0), of(0, 1, 0), of(0, 0, 1)] {
                assert_ne!(first, other, "{kind:?}");
            }
            let backwards: Vec<i64> = positions.iter().rev().copied().collect();
            let column = Fill::Random { seed: 0 }.column(kind, 0, 0, &backwards);
            let parts = if matches!(kind, Kind::Complex { .. }) { 2 } else { 1 };
            let again: Vec<f64> = numbers(&column).chunks(parts).rev().flatten().copied().collect();
            assert_eq!(first, again, "{kind:?}");
        }
        let flags = numbers(&Fill::Random { seed: 0 }.column(Kind::Pred, 0, 0, &positions));
        assert!(flags.contains(&0.0) && flags.contains(&1.0), "{flags:?}");
    }

    #[test]
    fn counting_stays_exact() {
        let shown = |kind, positions: &[i64]| numbers(&Fill::Iota.column(kind, 0, 0, positions));
        assert_eq!(shown(Kind::Pred, &[0, 1, 2, 3]), [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(shown(Kind::Signed(8), &[126, 127, 128]), [126.0, 127.0, 0.0]);
        let bf16 = Kind::of(ElementType::Bf16).expect("it is computed with");
        assert_eq!(shown(bf16, &[255, 256, 257]), [255.0, 0.0, 1.0]);
        let f4 = Kind::of(ElementType::F4e2m1fn).expect("it is computed with");
        assert_eq!(shown(f4, &[0, 1, 2, 3, 4]), [0.0, 1.0, 2.0, 3.0, 0.0]);
        assert_eq!(shown(Kind::Complex { is_double: true }, &[5]), [5.0, 0.0]);
    }
}
