//! Ops that move elements. Source: `shape_inference.cc`, `HandleBroadcast`, `HandleReshape` and `HandleBitcast` of
//! `hlo_verifier.cc`.

use syntax::hlo::{AttributeKey, ElementType};

use super::given::{
    Given, Inferred, array, ensure, fits, higher_precision, is_integral, like, same_dims, same_kind, size,
};
use crate::shape::{ArrayShape, Shape, UNBOUNDED};

/// Operand sizes at the places that dimensions name; sizes of 1 are not stretched. A scalar may leave its shape out.
pub(super) fn broadcast(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.array(0)?;
    let places = given.ints(AttributeKey::Dimensions);
    if given.declared.is_none() && operand.rank() == 0 && places.is_empty() {
        return Ok(given.operand(0)?.clone());
    }
    let declared = given.declared_array()?;
    let holds = declared.element == operand.element;
    ensure(holds, || format!("expected the element type of {operand}, but the shape is {declared}"))?;
    let rank = operand.rank();
    ensure(places.len() == rank, || format!("expected {rank} dimensions, but there are {}", places.len()))?;
    for (&place, &from) in places.iter().zip(&operand.dims) {
        let to = usize::try_from(place).ok().and_then(|place| declared.dims.get(place)).copied();
        let to =
            to.ok_or_else(|| format!("expected a dimension of {declared}, but dimensions has {place}"))?;
        ensure(fits(from, to), || {
            format!("expected dimension {place} to have size {from}, but it has {to}")
        })?;
    }
    Ok(given.declared()?.clone())
}

fn same_count(operand: &ArrayShape, declared: &ArrayShape) -> Inferred<()> {
    let holds = operand.element == declared.element;
    ensure(holds, || format!("expected the element type of {operand}, but the shape is {declared}"))?;
    let is_unbounded = operand.dims.contains(&UNBOUNDED) || declared.dims.contains(&UNBOUNDED);
    let holds = is_unbounded || operand.elements() == declared.elements();
    ensure(holds, || format!("expected as many elements as {operand} has, but the shape is {declared}"))
}

pub(super) fn reshape(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    same_count(given.array(0)?, given.declared_array()?)?;
    Ok(given.declared()?.clone())
}

pub(super) fn dynamic_reshape(given: &Given<'_>) -> Inferred {
    let declared = given.declared_array()?;
    same_count(given.array(0)?, declared)?;
    given.count(1 + declared.rank())?;
    for i in 1..given.operands.len() {
        let size = given.array(i)?;
        let holds = size.element == ElementType::S32;
        ensure(holds, || format!("expected sizes of type s32, but operand {i} is {size}"))?;
    }
    Ok(given.declared()?.clone())
}

/// The same bytes; element counts may differ, as XLA has it.
pub(super) fn bitcast(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    given.operand(0)?;
    Ok(given.declared()?.clone())
}

pub(super) fn transpose(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.array(0)?;
    let dims = given.dimensions(AttributeKey::Dimensions, operand)?;
    let rank = operand.rank();
    ensure(dims.len() == rank, || {
        format!("expected a permutation of {rank} dimensions, but it names {}", dims.len())
    })?;
    let mut shape = ArrayShape { layout: None, dynamic: Vec::new(), ..operand.clone() };
    shape.dims = dims.iter().map(|&dim| operand.dims[dim]).collect();
    if !operand.dynamic.is_empty() {
        shape.dynamic = dims.iter().map(|&dim| operand.is_dynamic(dim)).collect();
    }
    Ok(Shape::Array(std::sync::Arc::new(shape)))
}

pub(super) fn reverse(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.array(0)?;
    given.dimensions(AttributeKey::Dimensions, operand)?;
    Ok(like(operand, operand.element))
}

pub(super) fn slice(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.array(0)?;
    let slices = given.attributes.triples(AttributeKey::Slice);
    let rank = operand.rank();
    ensure(slices.len() == rank, || {
        format!("expected a range per dimension of {operand}, but there are {}", slices.len())
    })?;
    let mut dims = Vec::with_capacity(rank);
    for (i, (&[start, limit, stride], &whole)) in slices.iter().zip(&operand.dims).enumerate() {
        let holds = 0 <= start && start <= limit && (limit <= whole || whole == UNBOUNDED) && stride > 0;
        ensure(holds, || {
            format!(
                "expected 0 <= start <= limit <= {whole} and a stride above 0 in dimension {i}, but it is [{start}:{limit}:{stride}]"
            )
        })?;
        dims.push((limit - start).div_euclid(stride) + i64::from((limit - start) % stride != 0));
    }
    Ok(array(operand.element, dims))
}

/// Start indices from operand `first` on: one vector, or a scalar per dimension, all of one integral type.
fn start_indices(given: &Given<'_>, first: usize, rank: usize) -> Inferred<()> {
    let count = given.operands.len().saturating_sub(first);
    let vector = given.operand(first).ok().and_then(Shape::as_array).filter(|a| count == 1 && a.rank() == 1);
    if let Some(vector) = vector {
        let holds = fits(vector.dims[0], rank as i64) && is_integral(vector.element);
        return ensure(holds, || {
            format!("expected a vector of {rank} integers, but the indices are {vector}")
        });
    }
    ensure(count == rank, || format!("expected {rank} start indices, but there are {count}"))?;
    for i in first..given.operands.len() {
        let index = given.array(i)?;
        let holds =
            index.rank() == 0 && is_integral(index.element) && index.element == given.array(first)?.element;
        ensure(holds, || format!("expected integral scalars of one type, but operand {i} is {index}"))?;
    }
    Ok(())
}

pub(super) fn dynamic_slice(given: &Given<'_>) -> Inferred {
    let operand = given.array(0)?;
    start_indices(given, 1, operand.rank())?;
    let sizes = given.ints(AttributeKey::DynamicSliceSizes);
    let holds = sizes.len() == operand.rank()
        && sizes.iter().zip(&operand.dims).all(|(&s, &d)| s >= 0 && (s <= d || d == UNBOUNDED));
    ensure(holds, || format!("expected sizes within {operand}, but dynamic_slice_sizes is {sizes:?}"))?;
    Ok(array(operand.element, sizes.to_vec()))
}

pub(super) fn dynamic_update_slice(given: &Given<'_>) -> Inferred {
    let (operand, update) = (given.array(0)?, given.array(1)?);
    let is_inside = |(&u, &d): (&i64, &i64)| u <= d || d == UNBOUNDED;
    let holds = operand.rank() == update.rank()
        && same_kind(operand.element, update.element)
        && update.dims.iter().zip(&operand.dims).all(is_inside);
    ensure(holds, || format!("expected an update within {operand}, but it is {update}"))?;
    start_indices(given, 2, operand.rank())?;
    Ok(given.operand(0)?.clone())
}

pub(super) fn concatenate(given: &Given<'_>) -> Inferred {
    let first = given.array(0)?;
    let dim = given.dimension(AttributeKey::Dimensions, first)?;
    let mut dims = first.dims.clone();
    let mut element = first.element;
    for i in 1..given.operands.len() {
        let other = given.array(i)?;
        let beside =
            |a: &[i64], b: &[i64]| a.len() == b.len() && (0..a.len()).all(|d| d == dim || fits(a[d], b[d]));
        let holds = same_kind(element, other.element) && beside(&first.dims, &other.dims);
        ensure(holds, || {
            format!("expected operand {i} like {first} outside dimension {dim}, but it is {other}")
        })?;
        element = higher_precision(element, other.element);
        dims[dim] = match other.dims[dim] {
            UNBOUNDED => UNBOUNDED,
            more => size(dims[dim], |n| n.checked_add(more))?,
        };
    }
    Ok(array(element, dims))
}

pub(super) fn pad(given: &Given<'_>) -> Inferred {
    given.count(2)?;
    let (operand, value) = (given.array(0)?, given.array(1)?);
    let holds = value.rank() == 0 && same_kind(value.element, operand.element);
    ensure(holds, || format!("expected a scalar of the type of {operand} to pad with, but it is {value}"))?;
    let padding = given.attributes.triples(AttributeKey::Padding);
    // Of a scalar nothing is padded, and the attribute may be missing.
    let holds = padding.len() == operand.rank();
    ensure(holds, || format!("expected padding per dimension of {operand}, but there is {}", padding.len()))?;
    let mut dims = Vec::with_capacity(operand.rank());
    for (i, (&dim, &[low, high, interior])) in operand.dims.iter().zip(padding).enumerate() {
        ensure(interior >= 0, || format!("expected interior padding of at least 0, but it is {interior}"))?;
        let padded = size(dim, |n| {
            (n - 1).max(0).checked_mul(interior)?.checked_add(n)?.checked_add(low)?.checked_add(high)
        })?;
        ensure(padded >= 0 || padded == UNBOUNDED, || {
            format!("expected a size of at least 0, but dimension {i} gets {padded}")
        })?;
        dims.push(padded);
    }
    Ok(array(higher_precision(operand.element, value.element), dims))
}

pub(super) fn get_dimension_size(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    given.dimension(AttributeKey::Dimensions, given.array(0)?)?;
    Ok(array(ElementType::S32, Vec::new()))
}

pub(super) fn set_dimension_size(given: &Given<'_>) -> Inferred {
    given.count(2)?;
    let (operand, value) = (given.array(0)?, given.array(1)?);
    let dim = given.dimension(AttributeKey::Dimensions, operand)?;
    let holds = value.rank() == 0 && value.element == ElementType::S32;
    ensure(holds, || format!("expected a size of type s32[], but it is {value}"))?;
    let mut shape = ArrayShape { layout: None, ..operand.clone() };
    shape.dynamic = (0..operand.rank()).map(|i| i == dim || operand.is_dynamic(i)).collect();
    Ok(Shape::Array(std::sync::Arc::new(shape)))
}

/// One array, or a tuple; all operands of equal sizes.
pub(super) fn sort(given: &Given<'_>) -> Inferred {
    let first = given.array(0)?;
    given.dimension(AttributeKey::Dimensions, first)?;
    let mut shapes = Vec::new();
    for i in 0..given.operands.len() {
        let operand = given.array(i)?;
        let holds = same_dims(first, operand);
        ensure(holds, || format!("expected operands of the sizes of {first}, but operand {i} is {operand}"))?;
        shapes.push(given.operand(i)?.clone());
    }
    if let Some(called) = given.computation(AttributeKey::ToApply) {
        let expected = 2 * shapes.len();
        let actual = called.parameters.len();
        ensure(actual == expected, || {
            format!("expected a comparator of {expected} parameters, but it has {actual}")
        })?;
        let is_pred = called.result.element() == Some(ElementType::Pred) && called.result.dims().is_empty();
        ensure(is_pred, || {
            format!("expected a comparator that returns pred[], but it returns {}", called.result)
        })?;
    }
    Ok(super::given::one_or_tuple(shapes))
}

pub(super) fn topk(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.array(0)?;
    let k = given.attributes.int(AttributeKey::K).unwrap_or(-1);
    let last = operand.dims.last().copied().unwrap_or(-1);
    let holds = k >= 0 && (k <= last || last == UNBOUNDED);
    ensure(holds, || format!("expected k within the last dimension of {operand}, but it is {k}"))?;
    let mut dims = operand.dims.clone();
    dims.pop();
    dims.push(k);
    Ok(Shape::Tuple([array(operand.element, dims.clone()), array(ElementType::S32, dims)].into()))
}
