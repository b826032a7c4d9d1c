//! Ops element by element. Source: `ShapeInference::InferUnaryOpShape`, `InferBinaryOpShape`, `InferTernaryOpShape`,
//! `InferMapShape`; a scalar with an array is accepted where no shape is written, as the parser of HLO text does.

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use super::given::{
    Given, Inferred, array, ensure, higher_precision, like, no_stranger, same_dims, same_kind,
};
use super::problem::{
    OPERANDS, OPERANDS_TYPE, Problem, RESULT_TYPE, SHAPE, callee, callee_parameter, callee_root, operand,
    operand_type, value,
};
use crate::element_type::ElementTypeExt;
use crate::op_table::op_info;
use crate::shape::{ArrayShape, Shape};

/// Holds the type of operand `i` against what `opcode` takes.
fn expect(opcode: Opcode, i: usize, actual: ElementType) -> Inferred<()> {
    let what = op_info(opcode).takes.expect(actual);
    ensure(what.is_none(), operand_type(i), || {
        let what = what.unwrap_or_default();
        format!("expected operand {i} of {opcode} to be {what}, but its type is {actual}")
    })
}

pub(crate) fn unary(opcode: Opcode, given: &Given<'_>) -> Inferred {
    given.count(1)?;
    if opcode == Opcode::Copy {
        return Ok(given.operand(0)?.clone());
    }
    let operand = given.array(0)?;
    expect(opcode, 0, operand.element)?;
    if opcode == Opcode::ReducePrecision {
        for (key, least) in [(AttributeKey::ExponentBits, 1), (AttributeKey::MantissaBits, 0)] {
            let bits = given.attributes.int(key).unwrap_or(1);
            ensure(bits >= least, value(key), || {
                format!("expected {key} of at least {least}, but it is {bits}")
            })?;
        }
    }
    Ok(like(operand, op_info(opcode).gives.of(operand.element)))
}

/// Without a written shape, a scalar may be combined with arrays.
fn is_beside(given: &Given<'_>, a: &ArrayShape, b: &ArrayShape) -> bool {
    same_dims(a, b) || (given.declared.is_none() && (a.rank() == 0 || b.rank() == 0))
}

/// Holds operands against the written sizes: the one that is alone with its sizes is at fault.
fn same_as_declared(given: &Given<'_>, scalars: bool) -> Inferred<()> {
    let Some(declared) = given.declared.and_then(Shape::as_array) else { return Ok(()) };
    let count = given.operands.len();
    let is_other = |i: usize| {
        given.operands[i].as_array().is_none_or(|own| {
            !(same_dims(own, declared) || scalars && own.rank() == 0 && given.operands.len() > 1)
        })
    };
    let mut others = (0..count).filter(|&i| is_other(i));
    let Some(first) = others.next() else { return Ok(()) };
    if count == 1 || (others.count() + 1 == count && agree(given)) {
        // All operands are of other sizes than the result: the caller compares the result.
        return Ok(());
    }
    let shape = given.operand(first)?;
    Err(Problem::at(
        operand(first),
        format!("expected operand {first} to have the sizes of {declared}, but it is {shape}"),
    ))
}

fn agree(given: &Given<'_>) -> bool {
    let mut arrays = given.operands.iter().map(|shape| shape.as_array());
    let Some(Some(first)) = arrays.next() else { return false };
    arrays.all(|other| other.is_some_and(|other| same_dims(first, other)))
}

/// The operand that gives the result its sizes: the first array that is not a scalar. All others have its sizes, or none.
fn shared<'a>(given: &Given<'a>, scalars: bool) -> Inferred<&'a ArrayShape> {
    same_as_declared(given, scalars)?;
    let mut shared = given.array(0)?;
    for i in 1..given.operands.len() {
        let other = given.array(i)?;
        let holds = is_beside(given, shared, other) || scalars && (shared.rank() == 0 || other.rank() == 0);
        if shared.rank() == 0 {
            shared = other;
        }
        let at = if given.operands.len() == 2 { OPERANDS } else { operand(i) };
        ensure(holds, at, || format!("expected operands of equal sizes, but they are {shared} and {other}"))?;
    }
    Ok(shared)
}

pub(crate) fn binary(opcode: Opcode, given: &Given<'_>) -> Inferred {
    use Opcode::*;
    given.count(2)?;
    let (lhs, rhs) = (given.array(0)?, given.array(1)?);
    let (a, b) = (lhs.element, rhs.element);
    let sizes = shared(given, false)?;
    if opcode == StochasticConvert {
        let holds = a.is_floating() && b.is_unsigned_integer() && a.bits() == b.bits();
        ensure(holds, OPERANDS_TYPE, || {
            format!("expected a floating operand and as wide unsigned numbers, but they are {lhs} and {rhs}")
        })?;
        ensure(lhs.minor_to_major() == rhs.minor_to_major(), OPERANDS, || {
            format!("expected operands of one layout, but they are {lhs} and {rhs}")
        })?;
        let declared = given.declared_array()?;
        return Ok(like(sizes, declared.element));
    }
    if !same_kind(a, b) {
        let message = format!("expected operands of one element type, but they are {lhs} and {rhs}");
        // The result's type says which operand is wrong.
        let result = given.declared.and_then(Shape::element).filter(|_| !matches!(opcode, Compare | Complex));
        let at = match result {
            Some(result) if result == a => operand_type(1),
            Some(result) if result == b => operand_type(0),
            _ => OPERANDS_TYPE,
        };
        return Err(Problem::at(at, message));
    }
    expect(opcode, 0, a)?;
    if opcode == Compare {
        compare_type(given, a)?;
    }
    ensure(opcode != Complex || a == b, OPERANDS_TYPE, || {
        format!("expected two f32 or two f64 operands, but they are {lhs} and {rhs}")
    })?;
    Ok(like(sizes, op_info(opcode).gives.of(higher_precision(a, b))))
}

/// Source: `comparison_util.cc`.
fn compare_type(given: &Given<'_>, element: ElementType) -> Inferred<()> {
    let Some(kind) = given.attributes.text(AttributeKey::Type) else { return Ok(()) };
    ensure(!given.attributes.has(AttributeKey::Order), value(AttributeKey::Type), || {
        "expected type or order, but both are given".to_owned()
    })?;
    let (holds, expected) = match element {
        _ if element.is_floating() => (kind == "FLOAT" || kind == "TOTALORDER", "FLOAT or TOTALORDER"),
        _ if element.is_complex() => (kind == "FLOAT", "FLOAT"),
        _ if element.is_signed_integer() => (kind == "SIGNED", "SIGNED"),
        _ => (kind == "UNSIGNED", "UNSIGNED"),
    };
    if holds {
        return Ok(());
    }
    let mut problem = Problem::at(
        value(AttributeKey::Type),
        format!("expected the comparison type of {element} to be {expected}, but it is {kind}"),
    );
    if !element.is_floating() {
        problem.fix = Some((format!("compare as {expected}"), expected.to_owned()));
    }
    Err(problem)
}

pub(crate) fn clamp(given: &Given<'_>) -> Inferred {
    given.count(3)?;
    let clamped = given.array(1)?;
    // A clamped value that differs from the result and from both bounds is the one at fault.
    if let Some(declared) = given.declared.and_then(Shape::as_array)
        && !same_dims(declared, clamped)
        && [0, 2].iter().all(|&i| given.array(i).is_ok_and(|b| b.rank() > 0 && same_dims(b, declared)))
    {
        return Err(Problem::at(
            operand(1),
            format!("expected operand 1 to have the sizes of {declared}, but it is {clamped}"),
        ));
    }
    no_stranger(given, 1, &[0, 2])?;
    for i in [0, 2] {
        let bound = given.array(i)?;
        let same_type = same_kind(bound.element, clamped.element);
        ensure(same_type, operand_type(i), || {
            format!("expected a bound of the type of {clamped}, but operand {i} is {bound}")
        })?;
        let holds = bound.rank() == 0 || same_dims(bound, clamped);
        ensure(holds, operand(i), || {
            format!("expected a bound like {clamped} or a scalar of its type, but operand {i} is {bound}")
        })?;
    }
    Ok(like(clamped, clamped.element))
}

/// Tuples may be selected, too.
pub(crate) fn select(given: &Given<'_>) -> Inferred {
    given.count(3)?;
    let (on_true, on_false) = (given.operand(1)?, given.operand(2)?);
    let predicate = given.array(0)?;
    let is_pred = predicate.element == ElementType::Pred;
    ensure(is_pred, operand_type(0), || {
        format!("expected a predicate of type pred, but operand 0 is {predicate}")
    })?;
    // The result says which of the two is wrong.
    let stranger = match given.declared {
        Some(declared) if declared.is_compatible(on_true) => operand(2),
        Some(declared) if declared.is_compatible(on_false) => operand(1),
        _ => OPERANDS,
    };
    let message = || format!("expected two values of one shape, but they are {on_true} and {on_false}");
    let (Some(t), Some(f)) = (on_true.as_array(), on_false.as_array()) else {
        ensure(on_true.is_compatible(on_false), stranger, message)?;
        return Ok(on_true.clone());
    };
    ensure(same_dims(t, f) && same_kind(t.element, f.element), stranger, message)?;
    let holds = predicate.rank() == 0 || same_dims(predicate, t);
    ensure(holds, operand(0), || {
        format!("expected a scalar predicate or one like {t}, but it is {predicate}")
    })?;
    Ok(like(t, higher_precision(t.element, f.element)))
}

/// Another element type, the same sizes.
pub(crate) fn convert(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    Ok(like(given.array(0)?, given.declared_array()?.element))
}

/// The ratio of the widths is a dimension at the end.
pub(crate) fn bitcast_convert(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let (operand, declared) = (given.array(0)?, given.declared_array()?);
    let complex = operand.element.is_complex() == declared.element.is_complex();
    ensure(complex, RESULT_TYPE, || {
        format!("expected both types complex or neither, but they are {operand} and {declared}")
    })?;
    let (Some(from), Some(to)) = (operand.element.bits(), declared.element.bits()) else {
        return Err(Problem::at(RESULT_TYPE, "an element type without bits"));
    };
    let holds = from % to == 0 || to % from == 0;
    ensure(holds, RESULT_TYPE, || {
        format!("expected one width to divide the other, but they are {from} and {to} bits")
    })?;
    let mut dims = operand.dims.clone();
    if from > to {
        dims.push(i64::from(from / to));
    } else if to > from {
        let last = dims.pop();
        let ratio = i64::from(to / from);
        ensure(last == Some(ratio), SHAPE, || {
            format!("expected the last dimension of {operand} to be {ratio} for the type of {declared}")
        })?;
    }
    Ok(array(declared.element, dims))
}

pub(crate) fn map(given: &Given<'_>) -> Inferred {
    use AttributeKey::{Dimensions, ToApply};
    ensure(!given.operands.is_empty(), super::problem::COUNT, || "expected at least one operand".to_owned())?;
    let sizes = shared(given, true)?;
    let dims = given.ints(Dimensions);
    // XLA looks at them only where it infers the shape.
    let is_inferred = given.declared.is_none() && given.attributes.has(Dimensions);
    if is_inferred && !dims.iter().copied().eq(0..sizes.rank() as i64) {
        let all: Vec<i64> = (0..sizes.rank() as i64).collect();
        let message = format!("expected dimensions to name all of {sizes} in order, but they are {dims:?}");
        let mut problem = Problem::at(value(Dimensions), message);
        problem.fix = Some(("name all dimensions".to_owned(), super::given::list(&all)));
        return Err(problem);
    }
    let Some(called) = given.computation(ToApply) else {
        return Ok(like(sizes, sizes.element));
    };
    let count = (called.parameters.len(), given.operands.len());
    ensure(count.0 == count.1, callee(ToApply, 0), || {
        format!("expected {} parameters of to_apply, but it has {}", count.1, count.0)
    })?;
    for (i, (parameter, operand)) in called.parameters.iter().zip(given.operands).enumerate() {
        let is_scalar = parameter.dims().is_empty();
        ensure(is_scalar, callee_parameter(ToApply, 0, i), || {
            format!("expected parameter {i} of to_apply to be a scalar, but it is {parameter}")
        })?;
        ensure(parameter.element() == operand.element(), operand_type(i), || {
            format!("expected operand {i} to have the type of {parameter}, but it is {operand}")
        })?;
    }
    let result = called.result.as_array().filter(|result| result.rank() == 0);
    let result = result.ok_or_else(|| {
        let message = format!("expected to_apply to return a scalar, but it returns {}", called.result);
        Problem::at(callee_root(ToApply, 0), message)
    })?;
    Ok(like(sizes, result.element))
}

/// Two scalars of the result's type.
pub(crate) fn rng(given: &Given<'_>) -> Inferred {
    given.count(2)?;
    let declared = given.declared()?;
    let types: [Option<ElementType>; 2] = [given.array(0)?.element.into(), given.array(1)?.element.into()];
    for i in 0..2 {
        let bound = given.array(i)?;
        ensure(bound.rank() == 0, operand(i), || format!("expected a scalar, but operand {i} is {bound}"))?;
        let at = if types[0] == types[1] { RESULT_TYPE } else { operand_type(i) };
        ensure(types[i] == declared.element(), at, || {
            format!("expected scalars of the type of {declared}, but operand {i} is {bound}")
        })?;
    }
    let element = given.array(0)?.element;
    let is_normal = given
        .attributes
        .text(AttributeKey::Distribution)
        .is_some_and(|d| d.eq_ignore_ascii_case("rng_normal"));
    let holds = element.is_floating() || !is_normal && !element.is_complex();
    ensure(holds, OPERANDS_TYPE, || format!("{element} has no such distribution"))?;
    Ok(declared.clone())
}

pub(crate) fn iota(given: &Given<'_>) -> Inferred {
    given.count(0)?;
    let declared = given.declared_array()?;
    let dim = given.attributes.int(AttributeKey::IotaDimension).unwrap_or(-1);
    let holds = (0..declared.rank() as i64).contains(&dim);
    let at = if declared.rank() == 0 { SHAPE } else { value(AttributeKey::IotaDimension) };
    ensure(holds, at, || {
        format!("expected iota_dimension to be a dimension of {declared}, but it is {dim}")
    })?;
    let holds = declared.element != ElementType::Pred;
    ensure(holds, RESULT_TYPE, || {
        format!("expected an iota of numbers, but its type is {}", declared.element)
    })?;
    Ok(Shape::clone(given.declared()?))
}
