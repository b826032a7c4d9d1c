//! Which element types elementwise ops take, and which they give.

use syntax::hlo::{ElementType, Opcode};

use super::given::is_integral;
use crate::element_type::ElementTypeExt;
use crate::op_table::op_info;

/// The element types of the operands of a unary or binary op.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ElementTypes {
    Any,
    Floating,
    FloatingOrComplex,
    SignedOrComplex,
    /// All but `pred`.
    Number,
    Integral,
    IntegralOrPred,
    F32OrF64,
}

/// The element type of the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResultType {
    OfOperands,
    /// The same. XLA's shape inference accepts any number, its code generators only integers.
    OfIntegers,
    Pred,
    /// The real type of a complex type's parts; other types stay.
    Part,
    Complex,
}

impl ElementTypes {
    /// What is expected, in words; nothing where `element` is among them.
    pub(crate) fn expect(self, element: ElementType) -> Option<&'static str> {
        let (floating, complex, integral) =
            (element.is_floating(), element.is_complex(), is_integral(element));
        let is_pred = element == ElementType::Pred;
        let (holds, what) = match self {
            ElementTypes::Any => (true, ""),
            ElementTypes::Floating => (floating, "floating"),
            ElementTypes::FloatingOrComplex => (floating || complex, "floating or complex"),
            ElementTypes::SignedOrComplex => {
                (floating || complex || element.is_signed_integer(), "signed or complex")
            }
            ElementTypes::Number => (!is_pred, "a number"),
            ElementTypes::Integral => (integral, "integral"),
            ElementTypes::IntegralOrPred => (integral || is_pred, "pred or integral"),
            ElementTypes::F32OrF64 => (matches!(element, ElementType::F32 | ElementType::F64), "f32 or f64"),
        };
        (!holds).then_some(what)
    }
}

impl ResultType {
    /// The element type of the result of operands of type `element`.
    pub(crate) fn of(self, element: ElementType) -> ElementType {
        match (self, element) {
            (ResultType::Pred, _) => ElementType::Pred,
            (ResultType::Part, ElementType::C64) => ElementType::F32,
            (ResultType::Part, ElementType::C128) => ElementType::F64,
            (ResultType::Complex, ElementType::F32) => ElementType::C64,
            (ResultType::Complex, ElementType::F64) => ElementType::C128,
            (
                ResultType::OfOperands | ResultType::OfIntegers | ResultType::Part | ResultType::Complex,
                element,
            ) => element,
        }
    }
}

/// Whether an op can have a result of this element type, as far as the opcode alone decides it.
pub fn has_result_of(opcode: Opcode, element: ElementType) -> bool {
    let row = op_info(opcode);
    let is_taken = row.takes.expect(element).is_none();
    match row.gives {
        ResultType::OfOperands => is_taken,
        ResultType::OfIntegers => is_integral(element),
        ResultType::Pred => element == ElementType::Pred,
        ResultType::Part => is_taken && !element.is_complex(),
        ResultType::Complex => element.is_complex(),
    }
}
