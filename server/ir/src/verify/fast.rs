//! The common case, without an allocation: an instruction of a frequent opcode in which everything fits.
//!
//! Says yes only where the full check says nothing, and no where it does not know.

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use crate::attributes::AttributeView;
use crate::element_type::ElementTypeExt;
use crate::op_table::op_info;
use crate::shape::{ArrayShape, Shape, UNBOUNDED};

pub(super) fn is_fine(
    opcode: Opcode,
    operands: &[&Shape],
    declared: Option<&Shape>,
    attributes: AttributeView<'_>,
) -> bool {
    let Some(declared) = declared else { return false };
    match (opcode, operands) {
        (Opcode::Parameter | Opcode::Constant, []) => true,
        (Opcode::Tuple, _) => declared.tuple_elements().is_some_and(|elements| {
            elements.len() == operands.len() && elements.iter().zip(operands).all(|(a, &b)| is_same(a, b))
        }),
        (Opcode::GetTupleElement, [tuple]) => {
            let index = attributes.int(AttributeKey::Index).and_then(|i| usize::try_from(i).ok());
            let element = index.and_then(|i| tuple.tuple_elements()?.get(i));
            element.is_some_and(|element| is_same(element, declared))
        }
        (Opcode::Copy, [operand]) => is_same(operand, declared),
        (Opcode::Fusion | Opcode::CustomCall, _) => false,
        _ => {
            let Shape::Array(result) = declared else { return false };
            arrays_are_fine(opcode, operands, result, attributes)
        }
    }
}

fn is_same(a: &Shape, b: &Shape) -> bool {
    match (a, b) {
        (Shape::Array(a), Shape::Array(b)) => a.element == b.element && has_dims_of(a, b),
        _ => a.is_compatible(b),
    }
}

/// Equal shapes of a piece are usually shared. The others have few dimensions, for which a call of `memcmp` takes longer than a loop.
fn has_dims_of(a: &ArrayShape, b: &ArrayShape) -> bool {
    std::ptr::eq(a, b)
        || a.dims.len() == b.dims.len() && a.dims.iter().zip(&b.dims).all(|(one, other)| one == other)
}

fn arrays_are_fine(
    opcode: Opcode,
    operands: &[&Shape],
    result: &ArrayShape,
    attributes: AttributeView<'_>,
) -> bool {
    let row = op_info(opcode);
    let array = |i: usize| match operands[i] {
        Shape::Array(array) => Some(&**array),
        _ => None,
    };
    match operands {
        [_] => {
            let Some(operand) = array(0) else { return false };
            match opcode {
                Opcode::Convert => has_dims_of(operand, result),
                Opcode::Broadcast => {
                    let places = attributes.ints(AttributeKey::Dimensions);
                    let fits = |(&place, &size): (&i64, &i64)| {
                        usize::try_from(place).ok().and_then(|place| result.dims.get(place)) == Some(&size)
                    };
                    operand.element == result.element
                        && places.len() == operand.rank()
                        && places.iter().zip(&operand.dims).all(fits)
                }
                Opcode::Reshape => {
                    operand.element == result.element
                        && !operand.dims.contains(&UNBOUNDED)
                        && operand.elements().is_some_and(|count| result.elements() == Some(count))
                }
                Opcode::Transpose => {
                    let dims = attributes.ints(AttributeKey::Dimensions);
                    let mut seen = 0u64;
                    let mut fits = |(&dim, &size): (&i64, &i64)| {
                        let Some(&from) = usize::try_from(dim).ok().and_then(|d| operand.dims.get(d)) else {
                            return false;
                        };
                        let is_new = seen & 1 << dim == 0;
                        seen |= 1 << dim;
                        is_new && from == size
                    };
                    let rank = operand.rank();
                    operand.element == result.element
                        && rank <= 64
                        && (dims.len(), result.rank()) == (rank, rank)
                        && dims.iter().zip(&result.dims).all(&mut fits)
                }
                Opcode::BitcastConvert | Opcode::ReducePrecision | Opcode::Copy => false,
                _ => {
                    row.is_elementwise
                        && has_dims_of(operand, result)
                        && row.takes.expect(operand.element).is_none()
                        && row.gives.of(operand.element) == result.element
                }
            }
        }
        [_, _] => {
            let (Some(a), Some(b)) = (array(0), array(1)) else { return false };
            let holds = row.is_elementwise
                && a.element == b.element
                && has_dims_of(a, result)
                && has_dims_of(b, result)
                && row.takes.expect(a.element).is_none();
            holds
                && match opcode {
                    Opcode::Compare => {
                        result.element == ElementType::Pred && !attributes.has(AttributeKey::Type)
                    }
                    Opcode::Complex | Opcode::StochasticConvert => false,
                    _ => result.element == a.element,
                }
        }
        [_, _, _] if opcode == Opcode::Select => {
            let (Some(p), Some(t), Some(f)) = (array(0), array(1), array(2)) else { return false };
            p.element == ElementType::Pred
                && t.element == result.element
                && f.element == result.element
                && has_dims_of(t, result)
                && has_dims_of(f, result)
                && (p.rank() == 0 || has_dims_of(p, result))
        }
        [] if opcode == Opcode::Iota => {
            let dim = attributes.int(AttributeKey::IotaDimension);
            let element = result.element;
            dim.is_some_and(|dim| (0..result.rank() as i64).contains(&dim))
                && (element.is_floating() || element.is_complex() || element != ElementType::Pred)
        }
        _ => false,
    }
}
