//! The result shape where the text leaves it out.
//!
//! Only opcodes whose shape may be left out, and only what follows from operand shapes and a few attributes;
//! nothing else is guessed: an op that is not listed here has no shape.

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use crate::attributes::Attributes;
use crate::op_table::is_elementwise;
use crate::shape::Shape;

pub(crate) fn infer_shape(opcode: Opcode, operands: &[&Shape], attributes: &Attributes) -> Option<Shape> {
    let first = *operands.first()?;
    let array = |dims: &[i64]| Some(Shape::array(first.element()?, dims));
    match opcode {
        Opcode::Tuple => Some(Shape::Tuple(operands.iter().map(|&s| s.clone()).collect())),
        Opcode::GetTupleElement => first.element_at(&[attributes.int(AttributeKey::Index)?]).cloned(),
        Opcode::AfterAll => Some(Shape::Token),
        Opcode::Compare | Opcode::IsFinite => Some(Shape::array(ElementType::Pred, first.dims())),
        Opcode::Complex => {
            let element =
                if first.element()? == ElementType::F64 { ElementType::C128 } else { ElementType::C64 };
            Some(Shape::array(element, first.dims()))
        }
        Opcode::Real | Opcode::Imag | Opcode::Abs if first.element() == Some(ElementType::C64) => {
            Some(Shape::array(ElementType::F32, first.dims()))
        }
        Opcode::Real | Opcode::Imag | Opcode::Abs if first.element() == Some(ElementType::C128) => {
            Some(Shape::array(ElementType::F64, first.dims()))
        }
        Opcode::Select => operands.get(1).map(|&s| s.clone()),
        Opcode::Clamp => operands.get(1).map(|&s| s.clone()),
        Opcode::Broadcast
            if first.dims().is_empty() && attributes.ints(AttributeKey::Dimensions).is_empty() =>
        {
            Some(first.clone())
        }
        Opcode::Reverse | Opcode::OptBarrier | Opcode::AddDependency | Opcode::While | Opcode::Cholesky => {
            Some(first.clone())
        }
        Opcode::Sort => Some(match operands {
            [one] => (*one).clone(),
            many => Shape::Tuple(many.iter().map(|&s| s.clone()).collect()),
        }),
        Opcode::Transpose => {
            let permutation = attributes.ints(AttributeKey::Dimensions);
            let dims: Option<Vec<i64>> =
                permutation.iter().map(|&p| first.dims().get(usize::try_from(p).ok()?).copied()).collect();
            array(&dims?)
        }
        Opcode::Concatenate => {
            let dim = usize::try_from(*attributes.ints(AttributeKey::Dimensions).first()?).ok()?;
            let mut dims = first.dims().to_vec();
            let total = operands.iter().try_fold(0i64, |n, s| n.checked_add(*s.dims().get(dim)?))?;
            *dims.get_mut(dim)? = total;
            array(&dims)
        }
        Opcode::Pad => {
            let mut dims = first.dims().to_vec();
            for (dim, [low, high, interior]) in dims.iter_mut().zip(attributes.triples(AttributeKey::Padding))
            {
                let gaps = (*dim - 1).max(0).checked_mul(*interior)?;
                *dim = dim.checked_add(gaps)?.checked_add(*low)?.checked_add(*high)?;
            }
            array(&dims)
        }
        Opcode::Reduce => {
            let reduced = attributes.ints(AttributeKey::Dimensions);
            let kept: Vec<i64> =
                (0..).zip(first.dims()).filter(|(i, _)| !reduced.contains(i)).map(|(_, &d)| d).collect();
            let results: Option<Vec<Shape>> = operands[..operands.len() / 2]
                .iter()
                .map(|s| Some(Shape::array(s.element()?, &kept)))
                .collect();
            match results?.as_slice() {
                [one] => Some(one.clone()),
                many => Some(Shape::Tuple(many.iter().cloned().collect())),
            }
        }
        Opcode::Dot => {
            let second = *operands.get(1)?;
            let of = |key| attributes.ints(key);
            let mut dims: Vec<i64> = Vec::new();
            for &batch in of(AttributeKey::LhsBatchDims) {
                dims.push(*first.dims().get(usize::try_from(batch).ok()?)?);
            }
            let sides = [
                (first, AttributeKey::LhsBatchDims, AttributeKey::LhsContractingDims),
                (second, AttributeKey::RhsBatchDims, AttributeKey::RhsContractingDims),
            ];
            for (shape, batch, contracting) in sides {
                let is_free = |i: &i64| !of(batch).contains(i) && !of(contracting).contains(i);
                dims.extend((0..).zip(shape.dims()).filter(|(i, _)| is_free(i)).map(|(_, &d)| d));
            }
            array(&dims)
        }
        // Binary ops allow a scalar beside an array.
        _ if is_elementwise(opcode) || opcode == Opcode::Map => {
            operands.iter().max_by_key(|s| s.dims().len()).map(|&s| Shape::array_like(s))
        }
        _ => None,
    }
}

impl Shape {
    /// The same array without its layout.
    fn array_like(shape: &Shape) -> Shape {
        match shape.element() {
            Some(element) => Shape::array(element, shape.dims()),
            None => shape.clone(),
        }
    }
}
