//! Input values, as a function of the seed, the parameter and the element's place in memory.

use eval::{Column, Kind};
use ir::ElementType;
use random::Rng;

/// The kind of floating-point inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// Numbers of ordinary magnitude.
    Plain,
    /// Includes denormals, zeros, infinities, NaN and numbers of every magnitude.
    Special,
}

fn mixed(seed: u64, a: u64, b: u64) -> u64 {
    let state = seed ^ a.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ b.wrapping_mul(0xD134_2543_DE82_EF95);
    Rng::new(state).next_u64()
}

fn float(random: u64, flavour: Flavour) -> f64 {
    let unit = (random >> 11) as f64 / (1u64 << 53) as f64;
    let plain = unit * 8.0 - 4.0;
    if flavour == Flavour::Plain {
        return match random % 64 {
            0 => 0.0,
            1 => 1.0,
            2 => -1.0,
            _ => plain,
        };
    }
    match random % 40 {
        0 => f64::NAN,
        1 => f64::INFINITY,
        2 => f64::NEG_INFINITY,
        3 => 0.0,
        4 => -0.0,
        5 => 1e-40 * plain,
        6 => 1e-45,
        7 => 3e38 * unit,
        8 => -3e38 * unit,
        9 => 100.0 * plain,
        10 => 1e-20 * plain,
        11 => plain.round(),
        12 => 1e10 * plain,
        13 => 6e-8 * plain,
        _ => plain,
    }
}

/// The bits of one element.
pub fn bits(element: ElementType, seed: u64, parameter: u32, place: u64, flavour: Flavour) -> u128 {
    let random = mixed(seed, u64::from(parameter), place);
    let Some(kind) = Kind::of(element) else { return 0 };
    match kind {
        Kind::Pred => u128::from(random >> 20 & 1),
        Kind::Signed(_) | Kind::Unsigned(_) => {
            let whole = (random >> 16) as i64;
            // Indices of gathers and slices are often in bounds.
            let value = match random % 16 {
                0 => whole,
                1 => whole % 4096 - 100,
                2 | 3 => whole % 3,
                4..=8 => whole % 32,
                _ => whole % 1000,
            };
            let unused = 64 - kind.width();
            u128::from((value as u64) << unused >> unused)
        }
        Kind::Complex { .. } => {
            let (re, im) = (float(random, flavour), float(mixed(random, 1, 2), flavour));
            Column::complex(kind, vec![[kind.round(re), kind.round(im)]]).bits(0)
        }
        _ => u128::from(kind.real_to_bits(float(random, flavour))),
    }
}
