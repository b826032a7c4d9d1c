//! The numbers of matrices.

use std::sync::LazyLock;

use ptx::Type;
use syntax::hlo::float_format::{FloatFormat, bf16_to_f32, f16_to_f32, f32_to_f16};

/// The type of the elements of a factor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Element {
    F16,
    Bf16,
    Tf32,
    F64,
    E4m3,
    E5m2,
    S8,
    U8,
}

/// The type of the elements of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Total {
    F16,
    F32,
    F64,
    S32 { saturates: bool },
}

static E4M3: LazyLock<[f64; 256]> = LazyLock::new(|| of_bytes(FloatFormat::F8E4M3FN));
static E5M2: LazyLock<[f64; 256]> = LazyLock::new(|| of_bytes(FloatFormat::F8E5M2));

fn of_bytes(format: FloatFormat) -> [f64; 256] {
    std::array::from_fn(|bits| format.decode(bits as u64))
}

impl Element {
    pub(crate) fn of(ty: Type) -> Option<Element> {
        Some(match ty {
            Type::F16 => Element::F16,
            Type::Bf16 => Element::Bf16,
            Type::Tf32 => Element::Tf32,
            Type::F64 => Element::F64,
            Type::E4m3 => Element::E4m3,
            Type::E5m2 => Element::E5m2,
            Type::S8 => Element::S8,
            Type::U8 => Element::U8,
            _ => return None,
        })
    }

    pub(crate) fn bits(self) -> usize {
        match self {
            Element::F16 | Element::Bf16 => 16,
            Element::Tf32 => 32,
            Element::F64 => 64,
            Element::E4m3 | Element::E5m2 | Element::S8 | Element::U8 => 8,
        }
    }

    /// The number with these lowest bits; the others may be set.
    #[inline]
    pub(crate) fn decode(self, bits: u64) -> f64 {
        match self {
            Element::F16 => f64::from(f16_to_f32(bits as u32 & 0xFFFF)),
            Element::Bf16 => f64::from(bf16_to_f32(bits as u32 & 0xFFFF)),
            // What the lowest 13 bits do is not specified; H100 ignores them.
            Element::Tf32 => f64::from(f32::from_bits(bits as u32 & !0x1FFF)),
            Element::F64 => f64::from_bits(bits),
            Element::E4m3 => E4M3[bits as usize & 0xFF],
            Element::E5m2 => E5M2[bits as usize & 0xFF],
            Element::S8 => f64::from(bits as u8 as i8),
            Element::U8 => f64::from(bits as u8),
        }
    }

    /// Whether sums of products are whole numbers.
    pub(crate) fn is_whole(self) -> bool {
        matches!(self, Element::S8 | Element::U8)
    }
}

impl Total {
    pub(crate) fn of(ty: Type, saturates: bool) -> Option<Total> {
        Some(match ty {
            Type::F16 => Total::F16,
            Type::F32 => Total::F32,
            Type::F64 => Total::F64,
            Type::S32 => Total::S32 { saturates },
            _ => return None,
        })
    }

    pub(crate) fn bits(self) -> usize {
        match self {
            Total::F16 => 16,
            Total::F32 | Total::S32 { .. } => 32,
            Total::F64 => 64,
        }
    }

    #[inline]
    pub(crate) fn decode(self, bits: u64) -> f64 {
        match self {
            Total::F16 => f64::from(f16_to_f32(bits as u32 & 0xFFFF)),
            Total::F32 => f64::from(f32::from_bits(bits as u32)),
            Total::F64 => f64::from_bits(bits),
            Total::S32 { .. } => f64::from(bits as u32 as i32),
        }
    }

    /// A sum, rounded once, to nearest. Whole sums wrap, or are clamped.
    #[inline]
    pub(crate) fn encode(self, sum: f64) -> u64 {
        let nan = |bits: u64, canonical: u64| if sum.is_nan() { canonical } else { bits };
        match self {
            Total::F16 => nan(u64::from(f32_to_f16(sum as f32)), 0x7FFF),
            Total::F32 => nan(u64::from((sum as f32).to_bits()), 0x7FFF_FFFF),
            Total::F64 => sum.to_bits(),
            Total::S32 { saturates: true } => u64::from(sum as i32 as u32),
            Total::S32 { saturates: false } => u64::from(sum as i64 as u32),
        }
    }
}
