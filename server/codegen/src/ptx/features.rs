//! What the instruction set of a device has.

use super::Target;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Features {
    /// Whether a kernel can be launched before the one on which it depends ends.
    pub has_dependent_launches: bool,
    /// Whether it has conversions for two formats of eight bits.
    pub has_f8: bool,
    pub bf16: Bf16,
    /// The number of bytes of the widest load or store.
    pub widest_access: i64,
    /// Whether it adds several numbers in one instruction.
    pub has_vector_atomics: bool,
    /// Whether it has registers for two 32-bit numbers.
    pub has_wide_pairs: bool,
}

/// The `bf16` arithmetic of a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bf16 {
    None,
    /// Fused multiply-add, which also implements sums and products.
    Fused,
    Full,
}

impl Features {
    pub fn of(Target { major, minor, .. }: Target) -> Features {
        Features {
            has_dependent_launches: major >= 9,
            has_f8: (major, minor) >= (8, 9),
            bf16: match major {
                0..=7 => Bf16::None,
                8 => Bf16::Fused,
                _ => Bf16::Full,
            },
            // Blackwell has 32-byte loads and stores.
            widest_access: if major >= 10 { 32 } else { 16 },
            has_vector_atomics: major >= 9,
            has_wide_pairs: major >= 10,
        }
    }
}
