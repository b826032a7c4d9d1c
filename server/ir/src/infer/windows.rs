//! Reductions, windows and scans. Source: `ShapeInference::InferReduceShape`, `InferReduceWindowShape`,
//! `InferWindowOutputShape`, `InferSelectAndScatterShape`; for scan the verifier's rules.

use syntax::hlo::{AttributeKey, ElementType};

use super::given::{
    Given, Inferred, Reason, array, ensure, fits, like, one_or_tuple, same_dims, same_kind, size,
};
use crate::attributes::WindowDim;
use crate::shape::{ArrayShape, Shape, UNBOUNDED};

/// Inputs of equal sizes, as many scalar init values of their types.
fn pairs(given: &Given<'_>) -> Inferred<usize> {
    let count = given.operands.len();
    ensure(count > 0 && count.is_multiple_of(2), || {
        format!("expected inputs and as many init values, but there are {count} operands")
    })?;
    let first = given.array(0)?;
    for i in 0..count / 2 {
        let (input, init) = (given.array(i)?, given.array(count / 2 + i)?);
        ensure(same_dims(first, input), || {
            format!("expected inputs of the sizes of {first}, but input {i} is {input}")
        })?;
        let holds = init.rank() == 0 && same_kind(init.element, input.element);
        ensure(holds, || {
            format!("expected a scalar of the type of {input} as init value {i}, but it is {init}")
        })?;
    }
    Ok(count / 2)
}

/// A computation of `2 * inputs` scalars that returns `inputs` of them, of equal types.
pub(super) fn check_reducer(given: &Given<'_>, key: AttributeKey, inputs: usize) -> Inferred<()> {
    let Some(called) = given.computation(key) else { return Ok(()) };
    let actual = called.parameters.len();
    ensure(actual == 2 * inputs, || {
        format!("expected {key} to have {} parameters, but it has {actual}", 2 * inputs)
    })?;
    let results =
        called.result.tuple_elements().map_or_else(|| vec![called.result.clone()], <[Shape]>::to_vec);
    let holds = results.len() == inputs
        && called.parameters.iter().all(|p| p.as_array().is_some_and(|a| a.rank() == 0));
    ensure(holds, || format!("expected {key} to return {inputs} scalars, but it returns {}", called.result))?;
    for (i, (result, parameter)) in results.iter().zip(&called.parameters).enumerate() {
        let holds = result.is_compatible(parameter);
        ensure(holds, || format!("expected parameter {i} of {key} to be {result}, but it is {parameter}"))?;
    }
    Ok(())
}

/// The element types of a reducer's results, else those of the operands from `first` on.
fn result_types(given: &Given<'_>, inputs: usize, first: usize) -> Inferred<Vec<ElementType>> {
    if let Some(called) = given.computation(AttributeKey::ToApply) {
        let results =
            called.result.tuple_elements().map_or_else(|| vec![called.result.clone()], <[Shape]>::to_vec);
        return results
            .iter()
            .map(|r| r.element().ok_or_else(|| Reason::from("expected a reducer of arrays")))
            .collect();
    }
    (first..first + inputs).map(|i| Ok(given.array(i)?.element)).collect()
}

pub(super) fn reduce(given: &Given<'_>) -> Inferred {
    let inputs = pairs(given)?;
    let first = given.array(0)?;
    let reduced = given.dimensions(AttributeKey::Dimensions, first)?;
    check_reducer(given, AttributeKey::ToApply, inputs)?;
    let kept: Vec<i64> =
        (0..first.rank()).filter(|dim| !reduced.contains(dim)).map(|dim| first.dims[dim]).collect();
    let types = result_types(given, inputs, 0)?;
    Ok(one_or_tuple(types.into_iter().map(|element| array(element, kept.clone())).collect()))
}

/// Number of places of a window dimension over `base` elements.
pub(super) fn places(base: i64, window: &WindowDim) -> Inferred<i64> {
    let positive = [window.size, window.stride, window.base_dilation, window.window_dilation];
    ensure(positive.iter().all(|&n| n > 0), || {
        format!("expected a window of positive size, stride and dilations, not {positive:?}")
    })?;
    if base == UNBOUNDED {
        return Ok(UNBOUNDED);
    }
    let dilated = |n: i64, by: i64| if n == 0 { Some(0) } else { (n - 1).checked_mul(by)?.checked_add(1) };
    let padded = size(base, |base| {
        dilated(base, window.base_dilation)?.checked_add(window.pad_low)?.checked_add(window.pad_high)
    })?;
    let span = size(window.size, |n| dilated(n, window.window_dilation))?;
    ensure(padded >= 0, || format!("expected a padded size of at least 0, but it is {padded}"))?;
    Ok(if padded == 0 || span > padded { 0 } else { (padded - span) / window.stride + 1 })
}

/// Sizes of the window's places over `operand`. No window at all is one of size 1 everywhere.
fn windowed(given: &Given<'_>, operand: &ArrayShape) -> Inferred<Vec<i64>> {
    let window = given.attributes.window();
    let holds = window.len() == operand.rank();
    ensure(holds, || {
        format!("expected a window of {} dimensions, but it has {}", operand.rank(), window.len())
    })?;
    operand.dims.iter().zip(window).map(|(&base, dim)| places(base, dim)).collect()
}

/// Element types are those of the init values.
pub(super) fn reduce_window(given: &Given<'_>) -> Inferred {
    let inputs = pairs(given)?;
    check_reducer(given, AttributeKey::ToApply, inputs)?;
    let dims = windowed(given, given.array(0)?)?;
    let shapes: Inferred<Vec<Shape>> =
        (inputs..2 * inputs).map(|i| Ok(array(given.array(i)?.element, dims.clone()))).collect();
    Ok(one_or_tuple(shapes?))
}

pub(super) fn select_and_scatter(given: &Given<'_>) -> Inferred {
    given.count(3)?;
    let (operand, source, init) = (given.array(0)?, given.array(1)?, given.array(2)?);
    let expected = array(operand.element, windowed(given, operand)?);
    let holds =
        expected.as_array().is_some_and(|e| same_dims(e, source) && same_kind(e.element, source.element));
    ensure(holds, || format!("expected a source of shape {expected}, but it is {source}"))?;
    let holds = init.rank() == 0 && same_kind(init.element, operand.element);
    ensure(holds, || format!("expected a scalar of the type of {operand} as init value, but it is {init}"))?;
    check_reducer(given, AttributeKey::Scatter, 1)?;
    if let Some(called) = given.computation(AttributeKey::Select) {
        let holds = called.parameters.len() == 2 && called.result.element() == Some(ElementType::Pred);
        ensure(holds, || {
            format!("expected select to compare two scalars, but it returns {}", called.result)
        })?;
    }
    Ok(like(operand, operand.element))
}

/// Inputs and carries in, outputs and carries out; only the scanned dimension's size is known of an output.
pub(super) fn scan(given: &Given<'_>) -> Inferred {
    let declared = given.declared()?;
    let results: Vec<&Shape> =
        declared.tuple_elements().map_or_else(|| vec![declared], |e| e.iter().collect());
    let carries = given.attributes.int(AttributeKey::NumCarries).and_then(|n| usize::try_from(n).ok());
    let operands = given.operands.len();
    let carries = carries.filter(|&n| n <= operands.min(results.len()) && operands + results.len() > 2 * n);
    let carries = carries.ok_or_else(|| {
        format!("expected num_carries to fit {operands} operands and {} results", results.len())
    })?;
    let inputs = operands - carries;
    let (outputs, carried) = results.split_at(results.len() - carries);
    for (i, result) in carried.iter().enumerate() {
        let carry = given.operand(inputs + i)?;
        ensure(carry.is_compatible(result), || {
            format!("expected carry {i} to be {carry}, but the result is {result}")
        })?;
    }
    let dim = given.ints(AttributeKey::Dimensions).first().and_then(|&dim| usize::try_from(dim).ok());
    let dim = dim.ok_or_else(|| Reason::from("expected one dimension to scan"))?;
    let mut length = None;
    for shape in given.operands[..inputs].iter().chain(outputs) {
        let size = shape.as_array().and_then(|array| array.dims.get(dim)).copied();
        let size =
            size.ok_or_else(|| format!("expected {shape} to have dimension {dim}, which is scanned"))?;
        let expected = *length.get_or_insert(size);
        ensure(fits(size, expected), || {
            format!("expected size {expected} in dimension {dim}, but it is {shape}")
        })?;
    }
    Ok(declared.clone())
}
