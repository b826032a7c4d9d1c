//! Elements of arrays in registers and in memory.

use ir::ElementTypeExt;
use ptx::Type;
use syntax::hlo::ElementType;

use super::machine::Class;

/// The class of a scalar's register.
pub(crate) fn class_of(element: ElementType) -> Class {
    match element {
        ElementType::Pred => Class::Pred,
        other => Class::of_bits(other.bits().unwrap_or(32)),
    }
}

/// The number of bits of an element, if several share a byte.
pub(super) fn packed(element: ElementType) -> Option<u32> {
    element.bits().filter(|bits| *bits < 8 && 8 % bits == 0)
}

/// The type of a float with arithmetic instructions.
pub(super) fn float_type(element: ElementType) -> Type {
    match element {
        ElementType::F64 => Type::F64,
        ElementType::F16 => Type::F16,
        ElementType::Bf16 => Type::Bf16,
        _ => Type::F32,
    }
}
