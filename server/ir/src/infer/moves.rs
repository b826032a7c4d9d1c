//! Ops that move elements. Source: `shape_inference.cc`, `HandleBroadcast`, `HandleReshape` and `HandleBitcast` of
//! `hlo_verifier.cc`.

use std::sync::Arc;

use syntax::hlo::{AttributeKey, ElementType};

use super::given::{
    Given, Inferred, array, ensure, fits, higher_precision, is_integral, like, no_stranger, same_dims,
    same_kind, size,
};
use super::problem::{
    COUNT, Problem, RESULT_TYPE, SHAPE, callee, callee_parameter, callee_root, element, operand,
    operand_type, value,
};
use crate::shape::{ArrayShape, Shape, UNBOUNDED};

/// Operand sizes at the places that dimensions name; sizes of 1 are not stretched. A scalar may leave its shape out.
pub(crate) fn broadcast(given: &Given<'_>) -> Inferred {
    use AttributeKey::Dimensions;
    given.count(1)?;
    let operand = given.array(0)?;
    let places = given.ints(Dimensions);
    if given.declared.is_none() && operand.rank() == 0 && places.is_empty() {
        return Ok(given.operand(0)?.clone());
    }
    let declared = given.declared_array()?;
    let holds = declared.element == operand.element;
    ensure(holds, RESULT_TYPE, || {
        format!("expected the element type of {operand}, but the shape is {declared}")
    })?;
    let rank = operand.rank();
    let at = if given.attributes.has(Dimensions) {
        value(Dimensions)
    } else {
        super::problem::opcode("attribute-value")
    };
    ensure(places.len() == rank, at, || {
        format!("expected {rank} dimensions, but there are {}", places.len())
    })?;
    // Where one place alone does not fit it is either the place or the size.
    for (i, (&place, &from)) in places.iter().zip(&operand.dims).enumerate() {
        let to = usize::try_from(place).ok().and_then(|place| declared.dims.get(place)).copied();
        let to = to.ok_or_else(|| {
            let message = format!("expected a dimension of {declared}, but dimensions has {place}");
            Problem::at(element(Dimensions, i), message)
        })?;
        if !fits(from, to) {
            let is_elsewhere = declared.dims.contains(&from);
            let at = if is_elsewhere { element(Dimensions, i) } else { SHAPE };
            let message = format!(
                "dimension {i} of {operand} goes to dimension {place} of {declared}, which has size {to}, not {from}"
            );
            return Err(Problem::at(at, message));
        }
    }
    Ok(given.declared()?.clone())
}

fn same_count(operand: &ArrayShape, declared: &ArrayShape) -> Inferred<()> {
    let holds = operand.element == declared.element;
    ensure(holds, RESULT_TYPE, || {
        format!("expected the element type of {operand}, but the shape is {declared}")
    })?;
    let is_unbounded = operand.dims.contains(&UNBOUNDED) || declared.dims.contains(&UNBOUNDED);
    let holds = is_unbounded || operand.elements() == declared.elements();
    ensure(holds, SHAPE, || {
        format!("expected as many elements as {operand} has, but the shape is {declared}")
    })
}

pub(crate) fn reshape(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    same_count(given.array(0)?, given.declared_array()?)?;
    Ok(given.declared()?.clone())
}

pub(crate) fn dynamic_reshape(given: &Given<'_>) -> Inferred {
    let declared = given.declared_array()?;
    same_count(given.array(0)?, declared)?;
    given.count(1 + declared.rank())?;
    for i in 1..given.operands.len() {
        let size = given.array(i)?;
        let holds = size.element == ElementType::S32;
        ensure(holds, operand_type(i), || format!("expected sizes of type s32, but operand {i} is {size}"))?;
    }
    Ok(given.declared()?.clone())
}

/// The same bytes; element counts may differ, as XLA has it.
pub(crate) fn bitcast(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    given.operand(0)?;
    Ok(given.declared()?.clone())
}

pub(crate) fn transpose(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.array(0)?;
    let dims = given.dimensions(AttributeKey::Dimensions, operand)?;
    let rank = operand.rank();
    ensure(dims.len() == rank, value(AttributeKey::Dimensions), || {
        format!("expected a permutation of {rank} dimensions, but it names {}", dims.len())
    })?;
    Ok(Shape::Array(Arc::new(ArrayShape {
        element: operand.element,
        dims: dims.iter().map(|&dim| operand.dims[dim]).collect(),
        dynamic: match operand.dynamic.is_empty() {
            true => Vec::new(),
            false => dims.iter().map(|&dim| operand.is_dynamic(dim)).collect(),
        },
        layout: None,
    })))
}

pub(crate) fn reverse(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.array(0)?;
    given.dimensions(AttributeKey::Dimensions, operand)?;
    Ok(like(operand, operand.element))
}

pub(crate) fn slice(given: &Given<'_>) -> Inferred {
    use AttributeKey::Slice;
    given.count(1)?;
    let operand = given.array(0)?;
    let slices = given.attributes.triples(Slice);
    let rank = operand.rank();
    ensure(slices.len() == rank, value(Slice), || {
        format!("expected a range per dimension of {operand}, but there are {}", slices.len())
    })?;
    let mut dims = Vec::with_capacity(rank);
    for (i, (&[start, limit, stride], &whole)) in slices.iter().zip(&operand.dims).enumerate() {
        let holds = 0 <= start && start <= limit && (limit <= whole || whole == UNBOUNDED) && stride > 0;
        ensure(holds, element(Slice, i), || {
            format!(
                "expected 0 <= start <= limit <= {whole} and a stride above 0 in dimension {i}, but it is [{start}:{limit}:{stride}]"
            )
        })?;
        dims.push((limit - start).div_euclid(stride) + i64::from((limit - start) % stride != 0));
    }
    Ok(array(operand.element, dims))
}

/// One vector of integers, or a scalar per dimension, all of one integral type.
fn start_indices(given: &Given<'_>, first: usize, rank: usize) -> Inferred<()> {
    let count = given.operands.len().saturating_sub(first);
    let vector = given.operand(first).ok().and_then(Shape::as_array).filter(|a| count == 1 && a.rank() == 1);
    if let Some(vector) = vector {
        ensure(is_integral(vector.element), operand_type(first), || {
            format!("expected integers, but the indices are {vector}")
        })?;
        return ensure(fits(vector.dims[0], rank as i64), operand(first), || {
            format!("expected a vector of {rank} integers, but the indices are {vector}")
        });
    }
    ensure(count == rank, COUNT, || format!("expected {rank} start indices, but there are {count}"))?;
    // The type that two of the first three have is the right one.
    let type_of = |i: usize| given.array(first + i).map(|a| a.element).ok();
    let expected = match rank {
        0 => None,
        3.. if type_of(0) != type_of(1) && type_of(1) == type_of(2) => type_of(1),
        _ => type_of(0),
    };
    for i in first..given.operands.len() {
        let index = given.array(i)?;
        ensure(is_integral(index.element), operand_type(i), || {
            format!("expected an integral scalar, but operand {i} is {index}")
        })?;
        ensure(index.rank() == 0, operand(i), || format!("expected a scalar, but operand {i} is {index}"))?;
        let at = if rank == 2 { super::problem::OPERANDS_TYPE } else { operand_type(i) };
        ensure(Some(index.element) == expected, at, || {
            format!("expected start indices of one type, but operand {i} is {index}")
        })?;
    }
    Ok(())
}

/// Sizes of a slice within `operand`, one per dimension.
pub(super) fn slice_sizes<'a>(
    given: &Given<'a>,
    key: AttributeKey,
    operand: &ArrayShape,
) -> Inferred<&'a [i64]> {
    let sizes = given.ints(key);
    let rank = operand.rank();
    ensure(sizes.len() == rank, value(key), || {
        format!("expected {key} to have a size per dimension of {operand}, but it has {}", sizes.len())
    })?;
    for (i, (&size, &whole)) in sizes.iter().zip(&operand.dims).enumerate() {
        let holds = size >= 0 && (size <= whole || whole == UNBOUNDED);
        ensure(holds, element(key, i), || {
            format!("expected a size of 0 to {whole} in dimension {i}, but {key} has {size}")
        })?;
    }
    Ok(sizes)
}

pub(crate) fn dynamic_slice(given: &Given<'_>) -> Inferred {
    let operand = given.array(0)?;
    start_indices(given, 1, operand.rank())?;
    let sizes = slice_sizes(given, AttributeKey::DynamicSliceSizes, operand)?;
    Ok(array(operand.element, sizes.to_vec()))
}

pub(crate) fn dynamic_update_slice(given: &Given<'_>) -> Inferred {
    let (whole, update) = (given.array(0)?, given.array(1)?);
    no_stranger(given, 0, &[1])?;
    ensure(same_kind(whole.element, update.element), operand_type(1), || {
        format!("expected an update of the type of {whole}, but it is {update}")
    })?;
    let is_inside = |(&u, &d): (&i64, &i64)| u <= d || d == UNBOUNDED;
    let holds = whole.rank() == update.rank() && update.dims.iter().zip(&whole.dims).all(is_inside);
    ensure(holds, operand(1), || format!("expected an update within {whole}, but it is {update}"))?;
    start_indices(given, 2, whole.rank())?;
    Ok(given.operand(0)?.clone())
}

pub(crate) fn concatenate(given: &Given<'_>) -> Inferred {
    use AttributeKey::Dimensions;
    let mut first = given.array(0)?;
    let dim = given.dimension(Dimensions, first)?;
    let beside = |a: &ArrayShape, b: &ArrayShape| {
        a.rank() == b.rank() && (0..a.rank()).all(|d| d == dim || fits(a.dims[d], b.dims[d]))
    };
    let mut expected = given.declared.and_then(Shape::as_array).filter(|d| d.rank() == first.rank());
    // The operands are compared with the result, unless none is like it.
    if expected
        .is_some_and(|e| !(0..given.operands.len()).any(|i| given.array(i).is_ok_and(|a| beside(e, a))))
    {
        expected = None;
    }
    let mut dims = first.dims.clone();
    let mut element_type = first.element;
    let reference_type = given.declared.and_then(Shape::element).unwrap_or(element_type);
    for i in 0..given.operands.len() {
        let other = given.array(i)?;
        let reference = expected.unwrap_or(first);
        ensure(beside(reference, other), operand(i), || {
            format!("expected operand {i} like {reference} outside dimension {dim}, but it is {other}")
        })?;
        if i == 0 {
            first = other;
            continue;
        }
        if !same_kind(element_type, other.element) {
            let at = if same_kind(reference_type, other.element) { operand_type(0) } else { operand_type(i) };
            return Err(Problem::at(
                at,
                format!("expected operands of one element type, but operand {i} is {other}"),
            ));
        }
        element_type = higher_precision(element_type, other.element);
        dims[dim] = match other.dims[dim] {
            UNBOUNDED => UNBOUNDED,
            more => size(dims[dim], operand(i), |n| n.checked_add(more))?,
        };
    }
    Ok(array(element_type, dims))
}

pub(crate) fn pad(given: &Given<'_>) -> Inferred {
    use AttributeKey::Padding;
    given.count(2)?;
    let (padded, filler) = (given.array(0)?, given.array(1)?);
    ensure(filler.rank() == 0, operand(1), || format!("expected a scalar to pad with, but it is {filler}"))?;
    no_stranger(given, 0, &[1])?;
    ensure(same_kind(filler.element, padded.element), operand_type(1), || {
        format!("expected a value of the type of {padded} to pad with, but it is {filler}")
    })?;
    let padding = given.attributes.triples(Padding);
    // A scalar has no padding, so the attribute may be missing.
    let holds = padding.len() == padded.rank();
    ensure(holds, value(Padding), || {
        format!("expected padding per dimension of {padded}, but there is {}", padding.len())
    })?;
    let mut dims = Vec::with_capacity(padded.rank());
    for (i, (&dim, &[low, high, interior])) in padded.dims.iter().zip(padding).enumerate() {
        ensure(interior >= 0, element(Padding, i), || {
            format!("expected interior padding of at least 0, but it is {interior}")
        })?;
        let result = size(dim, element(Padding, i), |n| {
            (n - 1).max(0).checked_mul(interior)?.checked_add(n)?.checked_add(low)?.checked_add(high)
        })?;
        ensure(result >= 0 || result == UNBOUNDED, element(Padding, i), || {
            format!("expected a size of at least 0, but dimension {i} gets {result}")
        })?;
        dims.push(result);
    }
    Ok(array(higher_precision(padded.element, filler.element), dims))
}

pub(crate) fn get_dimension_size(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    given.dimension(AttributeKey::Dimensions, given.array(0)?)?;
    Ok(array(ElementType::S32, Vec::new()))
}

pub(crate) fn set_dimension_size(given: &Given<'_>) -> Inferred {
    given.count(2)?;
    let (sized, extent) = (given.array(0)?, given.array(1)?);
    let dim = given.dimension(AttributeKey::Dimensions, sized)?;
    let holds = extent.rank() == 0 && extent.element == ElementType::S32;
    ensure(holds, operand(1), || format!("expected a size of type s32[], but it is {extent}"))?;
    let mut shape = ArrayShape { layout: None, ..sized.clone() };
    shape.dynamic = (0..sized.rank()).map(|i| i == dim || sized.is_dynamic(i)).collect();
    Ok(Shape::Array(Arc::new(shape)))
}

/// One array, or a tuple; all operands of equal sizes.
pub(crate) fn sort(given: &Given<'_>) -> Inferred {
    use AttributeKey::ToApply;
    let first = given.array(0)?;
    let declared = given.declared.map(|d| d.tuple_elements().and_then(|e| e.first()).unwrap_or(d));
    let mut shapes = Vec::with_capacity(given.operands.len());
    // Two others that agree outvote the first.
    let by_result = declared.and_then(Shape::as_array).filter(|d| {
        given.operands.len() > 1
            && given.operands.iter().any(|o| o.as_array().is_some_and(|o| same_dims(o, d)))
    });
    let reference = by_result.unwrap_or(first);
    for i in 0..given.operands.len() {
        let other = given.array(i)?;
        ensure(same_dims(reference, other), operand(i), || {
            format!("expected operands of the sizes of {reference}, but operand {i} is {other}")
        })?;
        shapes.push(given.operand(i)?.clone());
    }
    given.dimension(AttributeKey::Dimensions, first)?;
    if let Some(called) = given.computation(ToApply) {
        let expected = 2 * shapes.len();
        let actual = called.parameters.len();
        ensure(actual == expected, callee(ToApply, 0), || {
            format!("expected a comparator of {expected} parameters, but it has {actual}")
        })?;
        for (i, parameter) in called.parameters.iter().enumerate() {
            let own = shapes[i / 2].element();
            let holds = parameter
                .as_array()
                .is_some_and(|p| p.rank() == 0 && own.is_some_and(|o| same_kind(o, p.element)));
            ensure(holds, callee_parameter(ToApply, 0, i), || {
                format!(
                    "expected parameter {i} of the comparator to be a scalar of the type of {}, but it is {parameter}",
                    shapes[i / 2]
                )
            })?;
        }
        let is_pred = called.result.element() == Some(ElementType::Pred) && called.result.dims().is_empty();
        ensure(is_pred, callee_root(ToApply, 0), || {
            format!("expected a comparator that returns pred[], but it returns {}", called.result)
        })?;
    }
    Ok(super::given::one_or_tuple(shapes))
}

pub(crate) fn topk(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let sorted = given.array(0)?;
    let k = given.attributes.int(AttributeKey::K).unwrap_or(-1);
    let last = sorted.dims.last().copied().unwrap_or(-1);
    let holds = k >= 0 && (k <= last || last == UNBOUNDED);
    ensure(holds, value(AttributeKey::K), || {
        format!("expected k within the last dimension of {sorted}, but it is {k}")
    })?;
    let mut dims = sorted.dims.clone();
    dims.pop();
    dims.push(k);
    Ok(Shape::Tuple([array(sorted.element, dims.clone()), array(ElementType::S32, dims)].into()))
}
