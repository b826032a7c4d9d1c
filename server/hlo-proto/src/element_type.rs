//! Element types by their numbers. Source: XLA `xla_data.proto` PrimitiveType.

use syntax::hlo::ElementType;

pub(crate) const TUPLE: i32 = 13;
pub(crate) const OPAQUE: i32 = 14;
pub(crate) const TOKEN: i32 = 17;
pub(crate) const BUFFER: i32 = 34;

const NUMBERS: &[(ElementType, i32)] = {
    use ElementType::*;
    &[
        (Pred, 1),
        (S8, 2),
        (S16, 3),
        (S32, 4),
        (S64, 5),
        (U8, 6),
        (U16, 7),
        (U32, 8),
        (U64, 9),
        (F16, 10),
        (F32, 11),
        (F64, 12),
        (Opaque, OPAQUE),
        (C64, 15),
        (Bf16, 16),
        (Token, TOKEN),
        (C128, 18),
        (F8e5m2, 19),
        (F8e4m3fn, 20),
        (S4, 21),
        (U4, 22),
        (F8e4m3b11fnuz, 23),
        (F8e5m2fnuz, 24),
        (F8e4m3fnuz, 25),
        (S2, 26),
        (U2, 27),
        (F8e4m3, 28),
        (F8e3m4, 29),
        (S1, 30),
        (U1, 31),
        (F4e2m1fn, 32),
        (F8e8m0fnu, 33),
        (F6e3m2fn, 35),
        (F6e2m3fn, 36),
    ]
};

pub(crate) fn element_type(number: i32) -> Option<ElementType> {
    NUMBERS.iter().find(|(_, own)| *own == number).map(|(element, _)| *element)
}

/// 0, which is no type, for one that XLA lacks.
pub(crate) fn number_of(element: ElementType) -> i32 {
    NUMBERS.iter().find(|(own, _)| *own == element).map_or(0, |(_, number)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_number_of_its_own() {
        for &element in ElementType::ALL {
            assert_eq!(element_type(number_of(element)), Some(element), "{element}");
        }
        assert_eq!(element_type(0), None);
    }
}
