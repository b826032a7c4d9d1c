//! Element types of the reference interpreter: kinds, rounding, and bits.

use ir::ElementType;

use syntax::hlo::float_format::{FloatFormat, power_of_two};

/// The kind of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Pred,
    Signed(u32),
    Unsigned(u32),
    /// All floating-point types of at most 32 bits.
    Float(Short),
    F64,
    /// Two `f32`, or two `f64`.
    Complex {
        is_double: bool,
    },
}

/// A format of at most 32 bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Short(pub(crate) FloatFormat);

impl Kind {
    /// `None` for tokens, opaque values and types without arithmetic.
    pub fn of(element: ElementType) -> Option<Kind> {
        use ElementType::*;
        match element {
            Pred => Some(Kind::Pred),
            S1 => Some(Kind::Signed(1)),
            S2 => Some(Kind::Signed(2)),
            S4 => Some(Kind::Signed(4)),
            S8 => Some(Kind::Signed(8)),
            S16 => Some(Kind::Signed(16)),
            S32 => Some(Kind::Signed(32)),
            S64 => Some(Kind::Signed(64)),
            U1 => Some(Kind::Unsigned(1)),
            U2 => Some(Kind::Unsigned(2)),
            U4 => Some(Kind::Unsigned(4)),
            U8 => Some(Kind::Unsigned(8)),
            U16 => Some(Kind::Unsigned(16)),
            U32 => Some(Kind::Unsigned(32)),
            U64 => Some(Kind::Unsigned(64)),
            F64 => Some(Kind::F64),
            C64 => Some(Kind::Complex { is_double: false }),
            C128 => Some(Kind::Complex { is_double: true }),
            Token | Opaque => None,
            F4e2m1fn | F6e2m3fn | F6e3m2fn | F8e3m4 | F8e4m3 | F8e4m3b11fnuz | F8e4m3fn | F8e4m3fnuz
            | F8e5m2 | F8e5m2fnuz | F8e8m0fnu | F16 | Bf16 | F32 => {
                FloatFormat::of(element).map(|format| Kind::Float(Short(format)))
            }
        }
    }

    /// Whether the type holds only powers of two, without zero.
    pub(crate) fn is_scale(self) -> bool {
        self == Kind::Float(Short(FloatFormat::F8E8M0FNU))
    }

    pub fn is_integral(self) -> bool {
        matches!(self, Kind::Pred | Kind::Signed(_) | Kind::Unsigned(_))
    }

    pub fn is_float(self) -> bool {
        matches!(self, Kind::Float(_) | Kind::F64)
    }

    /// The bits of an integer's value; `pred` has one.
    pub fn width(self) -> u32 {
        match self {
            Kind::Pred => 1,
            Kind::Signed(bits) | Kind::Unsigned(bits) => bits,
            Kind::Float(short) => short.0.bits(),
            Kind::F64 => 64,
            Kind::Complex { is_double } => {
                if is_double {
                    128
                } else {
                    64
                }
            }
        }
    }

    /// The low bits of an integer as a number of this type. Unsigned 64-bit numbers keep their bits.
    pub fn wrap(self, value: i64) -> i64 {
        match self {
            Kind::Pred => value & 1,
            Kind::Signed(bits @ 1..=63) => value << (64 - bits) >> (64 - bits),
            Kind::Unsigned(bits @ 1..=63) => value & ((1 << bits) - 1),
            _ => value,
        }
    }

    /// Whether two numbers of this type are the same but for what rewriting sums and products may change, relative to the first and
    /// to 1 below that, beside an error that is known. All NaNs are.
    pub fn is_near(self, a: f64, b: f64, error: f64) -> bool {
        // Of types with few bits, much.
        let tolerance = if self.width() < 32 { 0.1 } else { 1e-3 };
        let distance = (a - b).abs();
        // Relative to an infinite number, all numbers would be near.
        a == b
            || a.is_nan() && b.is_nan()
            || distance <= error
            || a.is_finite() && distance <= error + tolerance * a.abs().max(1.0)
    }

    /// The nearest number of this type (of its parts, for a complex type).
    pub fn round(self, value: f64) -> f64 {
        match self {
            Kind::Float(short) => short.0.round(value),
            Kind::Complex { is_double: false } => f64::from(value as f32),
            _ => value,
        }
    }

    /// The distance between neighbours around `value`, in the type of the arithmetic: 32 bits for all shorter
    /// types.
    pub(crate) fn working_ulp(self, value: f64) -> f64 {
        match self {
            Kind::F64 | Kind::Complex { is_double: true } => {
                let size = value.abs().clamp(f64::MIN_POSITIVE, f64::MAX);
                f64::from_bits(size.to_bits() + 1) - size
            }
            _ => FloatFormat::F32.ulp(value),
        }
    }

    /// Half the distance between neighbours around 1: the largest relative error of one rounding.
    pub(crate) fn unit(self) -> f64 {
        match self {
            Kind::Float(short) => power_of_two(-(short.0.mantissa as i32) - 1),
            Kind::Complex { is_double: false } => power_of_two(-24),
            _ => power_of_two(-53),
        }
    }

    /// Half the distance between the smallest numbers: the rounding error near zero.
    pub(crate) fn tiny(self) -> f64 {
        match self {
            Kind::Float(short) => short.0.smallest_normal() * self.unit(),
            Kind::Complex { is_double: false } => f64::from(f32::MIN_POSITIVE) * self.unit(),
            _ => 0.0,
        }
    }

    /// The largest finite number.
    pub(crate) fn largest(self) -> f64 {
        match self {
            Kind::Float(short) => short.0.largest(),
            Kind::Complex { is_double: false } => f64::from(f32::MAX),
            _ => f64::MAX,
        }
    }

    pub(crate) fn smallest_normal(self) -> f64 {
        match self {
            Kind::F64 | Kind::Complex { is_double: true } => f64::MIN_POSITIVE,
            Kind::Float(short) if !self.is_scale() => {
                short.0.smallest_normal().max(f64::from(f32::MIN_POSITIVE))
            }
            Kind::Float(short) => short.0.smallest_normal(),
            _ => f64::from(f32::MIN_POSITIVE),
        }
    }

    /// The number with this code, for floating-point types. For others see [`super::Column::from_bits`].
    pub fn real_from_bits(self, bits: u64) -> f64 {
        match self {
            Kind::Float(short) => short.0.decode(bits),
            _ => f64::from_bits(bits),
        }
    }

    /// The code of the nearest number, for floating-point types.
    pub fn real_to_bits(self, value: f64) -> u64 {
        match self {
            // A hardware conversion makes signalling NaNs quiet.
            Kind::Float(short) if short.0 == FloatFormat::F32 && !value.is_nan() => {
                u64::from((value as f32).to_bits())
            }
            Kind::Float(short) => short.0.encode(value, false),
            _ => value.to_bits(),
        }
    }
}
