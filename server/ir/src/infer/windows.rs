//! Reductions, windows and scans. Source: `ShapeInference::InferReduceShape`, `InferReduceWindowShape`,
//! `InferWindowOutputShape`, `InferSelectAndScatterShape`; for scan the verifier's rules.

use syntax::hlo::{AttributeKey, ElementType};

use super::given::{
    Given, Inferred, array, ensure, fits, like, no_stranger, one_or_tuple, same_dims, same_kind, size,
};
use super::problem::{
    COUNT, Problem, SHAPE, callee, callee_parameter, callee_root, field, opcode, operand, operand_type, value,
};
use crate::attributes::WindowDim;
use crate::shape::{ArrayShape, Shape, UNBOUNDED};

/// Inputs of equal sizes, as many scalar init values of their types. Answers the inputs' types.
fn pairs(given: &Given<'_>) -> Inferred<Vec<ElementType>> {
    let count = given.operands.len();
    ensure(count > 0 && count.is_multiple_of(2), COUNT, || {
        format!("expected inputs and as many init values, but there are {count} operands")
    })?;
    let first = given.array(0)?;
    if count == 2 {
        no_stranger(given, 0, &[1])?;
    }
    let mut types = Vec::with_capacity(count / 2);
    for i in 0..count / 2 {
        let (input, init) = (given.array(i)?, given.array(count / 2 + i)?);
        // Of three or more the first may be the stranger.
        let stranger = i == 1 && count > 4 && given.array(2).is_ok_and(|third| same_dims(input, third));
        ensure(same_dims(first, input), operand(if stranger { 0 } else { i }), || {
            format!("expected inputs of the sizes of {first}, but input {i} is {input}")
        })?;
        ensure(init.rank() == 0, operand(count / 2 + i), || {
            format!("expected a scalar as init value {i}, but it is {init}")
        })?;
        ensure(same_kind(init.element, input.element), operand_type(count / 2 + i), || {
            format!("expected an init value of the type of {input}, but init value {i} is {init}")
        })?;
        types.push(input.element);
    }
    Ok(types)
}

/// A computation of `2 * inputs.len()` scalars that returns as many of them as there are inputs, of their types.
/// Source: `VerifyReducerShape`.
pub(super) fn check_reducer(given: &Given<'_>, key: AttributeKey, inputs: &[ElementType]) -> Inferred<()> {
    let Some(called) = given.computation(key) else { return Ok(()) };
    let count = inputs.len();
    let actual = called.parameters.len();
    ensure(actual == 2 * count, callee(key, 0), || {
        format!("expected {key} to have {} parameters, but it has {actual}", 2 * count)
    })?;
    let results = called.result.tuple_elements().unwrap_or(std::slice::from_ref(&called.result));
    let is_tuple = called.result.tuple_elements().is_some();
    let scalar = |shape: &Shape| shape.as_array().is_some_and(|array| array.rank() == 0);
    ensure(
        results.len() == count && (count > 1) == is_tuple && results.iter().all(scalar),
        callee_root(key, 0),
        || format!("expected {key} to return {count} scalars, but it returns {}", called.result),
    )?;
    for (i, (result, &input)) in results.iter().zip(inputs).enumerate() {
        let (left, right) = (&called.parameters[i], &called.parameters[count + i]);
        let is_kind = |shape: &Shape| shape.element().is_some_and(|element| same_kind(element, input));
        ensure(result.is_compatible(left), callee_parameter(key, 0, i), || {
            format!("expected parameter {i} of {key} to be {result}, but it is {left}")
        })?;
        let holds =
            scalar(right) && right.element().zip(result.element()).is_some_and(|(a, b)| same_kind(a, b));
        ensure(holds, callee_parameter(key, 0, count + i), || {
            format!("expected parameter {} of {key} to be {result}, but it is {right}", count + i)
        })?;
        ensure(is_kind(result), callee_root(key, 0), || {
            format!("expected {key} to reduce {input}, but it returns {}", called.result)
        })?;
    }
    Ok(())
}

/// The element types of a reducer's results, else those of the inputs.
fn result_types(given: &Given<'_>, inputs: Vec<ElementType>) -> Vec<ElementType> {
    let Some(called) = given.computation(AttributeKey::ToApply) else { return inputs };
    let results = called.result.tuple_elements().unwrap_or(std::slice::from_ref(&called.result));
    results.iter().zip(inputs).map(|(result, input)| result.element().unwrap_or(input)).collect()
}

pub(crate) fn reduce(given: &Given<'_>) -> Inferred {
    let inputs = pairs(given)?;
    let first = given.array(0)?;
    let reduced = given.dimensions(AttributeKey::Dimensions, first)?;
    check_reducer(given, AttributeKey::ToApply, &inputs)?;
    let kept = (0..first.rank()).filter(|dim| !reduced.contains(dim));
    let kept: Vec<i64> = kept.map(|dim| first.dims[dim]).collect();
    let types = result_types(given, inputs);
    Ok(one_or_tuple(types.into_iter().map(|element| array(element, kept.clone())).collect()))
}

/// Number of places of a window dimension over `base` elements.
pub(super) fn places(base: i64, window: &WindowDim) -> Inferred<i64> {
    let positive = [
        ("size", window.size),
        ("stride", window.stride),
        ("lhs_dilate", window.base_dilation),
        ("rhs_dilate", window.window_dilation),
    ];
    let wrong = positive.iter().find(|(_, n)| *n <= 0);
    let at = field(AttributeKey::Window, wrong.map_or("size", |(name, _)| name));
    ensure(wrong.is_none(), at, || {
        format!("expected a window of positive size, stride and dilations, not {positive:?}")
    })?;
    if base == UNBOUNDED {
        return Ok(UNBOUNDED);
    }
    let dilated = |n: i64, by: i64| if n == 0 { Some(0) } else { (n - 1).checked_mul(by)?.checked_add(1) };
    let padded = size(base, field(AttributeKey::Window, "pad"), |base| {
        dilated(base, window.base_dilation)?.checked_add(window.pad_low)?.checked_add(window.pad_high)
    })?;
    let span =
        size(window.size, field(AttributeKey::Window, "size"), |n| dilated(n, window.window_dilation))?;
    ensure(padded >= 0, field(AttributeKey::Window, "pad"), || {
        format!("expected a padded size of at least 0, but it is {padded}")
    })?;
    Ok(if padded == 0 || span > padded { 0 } else { (padded - span) / window.stride + 1 })
}

/// Sizes of the window's places over `operand`. No window at all is one of size 1 everywhere.
fn windowed(given: &Given<'_>, operand: &ArrayShape) -> Inferred<Vec<i64>> {
    let window = given.attributes.window();
    let holds = window.len() == operand.rank();
    let at = if given.attributes.has(AttributeKey::Window) {
        value(AttributeKey::Window)
    } else {
        opcode("attribute-value")
    };
    ensure(holds, at, || {
        format!("expected a window of {} dimensions, but it has {}", operand.rank(), window.len())
    })?;
    operand.dims.iter().zip(&window).map(|(&base, dim)| places(base, dim)).collect()
}

/// Element types are those of the init values.
pub(crate) fn reduce_window(given: &Given<'_>) -> Inferred {
    let inputs = pairs(given)?;
    check_reducer(given, AttributeKey::ToApply, &inputs)?;
    let dims = windowed(given, given.array(0)?)?;
    let count = inputs.len();
    let shapes: Inferred<Vec<Shape>> =
        (count..2 * count).map(|i| Ok(array(given.array(i)?.element, dims.clone()))).collect();
    Ok(one_or_tuple(shapes?))
}

pub(crate) fn select_and_scatter(given: &Given<'_>) -> Inferred {
    use AttributeKey::{Scatter, Select};
    given.count(3)?;
    let (base, source, init) = (given.array(0)?, given.array(1)?, given.array(2)?);
    let dims = windowed(given, base)?;
    ensure(same_kind(base.element, source.element), operand_type(1), || {
        format!("expected a source of the type of {base}, but it is {source}")
    })?;
    let expected = array(source.element, dims);
    let holds = expected.as_array().is_some_and(|expected| same_dims(expected, source));
    ensure(holds, operand(1), || format!("expected a source of shape {expected}, but it is {source}"))?;
    ensure(init.rank() == 0, operand(2), || format!("expected a scalar as init value, but it is {init}"))?;
    ensure(same_kind(init.element, base.element), operand_type(2), || {
        format!("expected an init value of the type of {base}, but it is {init}")
    })?;
    check_reducer(given, Scatter, &[source.element])?;
    if let Some(called) = given.computation(Select) {
        ensure(called.parameters.len() == 2, callee(Select, 0), || {
            format!("expected select to have 2 parameters, but it has {}", called.parameters.len())
        })?;
        for (i, parameter) in called.parameters.iter().enumerate() {
            let holds =
                parameter.as_array().is_some_and(|p| p.rank() == 0 && same_kind(p.element, base.element));
            ensure(holds, callee_parameter(Select, 0, i), || {
                format!(
                    "expected parameter {i} of select to be a scalar of the type of {base}, but it is {parameter}"
                )
            })?;
        }
        let holds = called.result.element() == Some(ElementType::Pred) && called.result.dims().is_empty();
        ensure(holds, callee_root(Select, 0), || {
            format!("expected select to return pred[], but it returns {}", called.result)
        })?;
    }
    Ok(like(base, base.element))
}

/// Inputs and carries in, outputs and carries out; only the scanned dimension's size is known of an output.
pub(crate) fn scan(given: &Given<'_>) -> Inferred {
    let declared = given.declared()?;
    let results: Vec<&Shape> =
        declared.tuple_elements().map_or_else(|| vec![declared], |e| e.iter().collect());
    let carries = given.attributes.int(AttributeKey::NumCarries).and_then(|n| usize::try_from(n).ok());
    let operands = given.operands.len();
    let carries = carries.filter(|&n| n <= operands.min(results.len()) && operands + results.len() > 2 * n);
    let carries = carries.ok_or_else(|| {
        let message =
            format!("expected num_carries to fit {operands} operands and {} results", results.len());
        Problem::at(value(AttributeKey::NumCarries), message)
    })?;
    let inputs = operands - carries;
    let (outputs, carried) = results.split_at(results.len() - carries);
    for (i, result) in carried.iter().enumerate() {
        let carry = given.operand(inputs + i)?;
        ensure(carry.is_compatible(result), SHAPE, || {
            format!("expected carry {i} to be {carry}, but the result is {result}")
        })?;
    }
    let dim = given.ints(AttributeKey::Dimensions).first().and_then(|&dim| usize::try_from(dim).ok());
    let dim =
        dim.ok_or_else(|| Problem::at(value(AttributeKey::Dimensions), "expected one dimension to scan"))?;
    let mut length = None;
    let all = given.operands[..inputs].iter().copied().chain(outputs.iter().copied());
    for (i, shape) in all.enumerate() {
        let at = if i < inputs { operand(i) } else { SHAPE };
        let found = shape.as_array().and_then(|array| array.dims.get(dim)).copied();
        let at = if found.is_none() && i == 0 { value(AttributeKey::Dimensions) } else { at };
        let found = found.ok_or_else(|| {
            Problem::at(at, format!("expected {shape} to have dimension {dim}, which is scanned"))
        })?;
        let expected = *length.get_or_insert(found);
        ensure(fits(found, expected), at, || {
            format!("expected size {expected} in dimension {dim}, but it is {shape}")
        })?;
    }
    scan_body(given, inputs, carries, dim, &results)?;
    Ok(declared.clone())
}

/// Parameter i is input i without the scanned dimension, then come the carries; results likewise.
fn scan_body(
    given: &Given<'_>,
    inputs: usize,
    carries: usize,
    dim: usize,
    results: &[&Shape],
) -> Inferred<()> {
    use AttributeKey::ToApply;
    let Some(called) = given.computation(ToApply) else { return Ok(()) };
    let slice = |shape: &Shape, is_carry: bool| match shape.as_array() {
        Some(array) if !is_carry && dim < array.rank() => {
            let mut dims = array.dims.clone();
            dims.remove(dim);
            Shape::array(array.element, &dims)
        }
        _ => shape.clone(),
    };
    let count = (called.parameters.len(), given.operands.len());
    ensure(count.0 == count.1, callee(ToApply, 0), || {
        format!("expected to_apply to have {} parameters, but it has {}", count.1, count.0)
    })?;
    for (i, parameter) in called.parameters.iter().enumerate() {
        let expected = slice(given.operands[i], i >= inputs);
        ensure(parameter.is_compatible(&expected), callee_parameter(ToApply, 0, i), || {
            format!("expected parameter {i} of to_apply to be {expected}, but it is {parameter}")
        })?;
    }
    let roots = called.result.tuple_elements().unwrap_or(std::slice::from_ref(&called.result));
    let outputs = results.len() - carries;
    let fit = roots.len() == results.len()
        && roots
            .iter()
            .zip(results)
            .enumerate()
            .all(|(i, (root, result))| root.is_compatible(&slice(result, i >= outputs)));
    ensure(fit, callee_root(ToApply, 0), || {
        format!(
            "expected to_apply to return the results without dimension {dim}, but it returns {}",
            called.result
        )
    })
}
