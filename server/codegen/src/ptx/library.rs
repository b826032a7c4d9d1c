//! Tables for functions that have no instruction. They are those of NVIDIA's libdevice, which XLA links: the
//! bits of 2/π in words, and the coefficients of sine and cosine.

use super::scalar::{COS_F64, SIN_F64};

/// The first 1152 bits of 2/π after the binary point.
const TWO_OVER_PI: [u64; 18] = [
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
];

/// The number of 32-bit words that the reduction of an `f32` reads, and of 64-bit words for an `f64`.
pub(super) const WORDS_F32: i64 = 6;
pub(super) const WORDS_F64: i64 = TWO_OVER_PI.len() as i64;
/// The distance in bytes between the coefficients of sine and those of cosine.
pub(super) const COEFFICIENTS_STEP: i64 = 64;

/// The words of 2/π, lowest first.
pub(super) const TWO_OVER_PI_F32: &str = "__cudart_i2opi_f";
pub(super) const TWO_OVER_PI_F64: &str = "__cudart_i2opi_d";
/// All coefficients but the highest, in the order of use.
pub(super) const SIN_COS_F64: &str = "__cudart_sin_cos_coeffs";

/// A constant array of the module.
pub(super) struct Table {
    pub name: &'static str,
    pub align: u32,
    pub bytes: Vec<u8>,
}

pub(super) fn tables() -> [Table; 3] {
    let words =
        |count: usize| TWO_OVER_PI[..count].iter().rev().flat_map(|word| word.to_le_bytes()).collect();
    let coefficients = |of: &[f64]| -> Vec<u8> {
        let below = of.split_last().map_or(&[][..], |(_, below)| below);
        let mut bytes: Vec<u8> = below.iter().rev().flat_map(|c| c.to_bits().to_le_bytes()).collect();
        bytes.resize(COEFFICIENTS_STEP as usize, 0);
        bytes
    };
    let both = [coefficients(&SIN_F64), coefficients(&COS_F64)].concat();
    [
        Table { name: TWO_OVER_PI_F32, align: 4, bytes: words(WORDS_F32 as usize / 2) },
        Table { name: TWO_OVER_PI_F64, align: 8, bytes: words(TWO_OVER_PI.len()) },
        Table { name: SIN_COS_F64, align: 16, bytes: both },
    ]
}
