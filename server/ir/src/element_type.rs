use syntax::hlo::ElementType;

/// Properties of element types. Source: XLA `primitive_util.h`.
pub trait ElementTypeExt: Copy {
    /// Bits of one element as XLA counts them: `pred` has 8, complex types count both parts. Nothing for `token`
    /// and `opaque`.
    fn bits(self) -> Option<u32>;
    fn is_floating(self) -> bool;
    fn is_complex(self) -> bool;
    fn is_signed_integer(self) -> bool;
    fn is_unsigned_integer(self) -> bool;
}

impl ElementTypeExt for ElementType {
    fn bits(self) -> Option<u32> {
        use ElementType::*;
        Some(match self {
            S1 | U1 => 1,
            S2 | U2 => 2,
            S4 | U4 | F4e2m1fn => 4,
            F6e2m3fn | F6e3m2fn => 6,
            Pred | S8 | U8 | F8e3m4 | F8e4m3 | F8e4m3b11fnuz | F8e4m3fn | F8e4m3fnuz | F8e5m2
            | F8e5m2fnuz | F8e8m0fnu => 8,
            S16 | U16 | F16 | Bf16 => 16,
            S32 | U32 | F32 => 32,
            S64 | U64 | F64 | C64 => 64,
            C128 => 128,
            Token | Opaque => return None,
        })
    }

    fn is_floating(self) -> bool {
        let name = self.name();
        name.starts_with('f') || self == ElementType::Bf16
    }

    fn is_complex(self) -> bool {
        matches!(self, ElementType::C64 | ElementType::C128)
    }

    fn is_signed_integer(self) -> bool {
        self.name().starts_with('s')
    }

    fn is_unsigned_integer(self) -> bool {
        self.name().starts_with('u')
    }
}
