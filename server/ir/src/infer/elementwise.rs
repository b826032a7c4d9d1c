//! Ops element by element. Source: `ShapeInference::InferUnaryOpShape`, `InferBinaryOpShape`, `InferTernaryOpShape`,
//! `InferMapShape`; a scalar beside an array is accepted, as the parser of HLO text does where no shape is written.

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use super::given::{
    Given, Inferred, array, ensure, higher_precision, is_integral, like, same_dims, same_kind,
};
use crate::element_type::ElementTypeExt;
use crate::shape::{ArrayShape, Shape};

/// The real type of a complex type's parts.
fn part(element: ElementType) -> ElementType {
    match element {
        ElementType::C64 => ElementType::F32,
        ElementType::C128 => ElementType::F64,
        other => other,
    }
}

fn expect(holds: bool, opcode: Opcode, what: &str, actual: ElementType) -> Inferred<()> {
    ensure(holds, || format!("expected the operand of {opcode} to be {what}, but its type is {actual}"))
}

pub(super) fn unary(opcode: Opcode, given: &Given<'_>) -> Inferred {
    use Opcode::*;
    given.count(1)?;
    if opcode == Copy {
        return Ok(given.operand(0)?.clone());
    }
    let operand = given.array(0)?;
    let element = operand.element;
    let (floating, complex, integral) = (element.is_floating(), element.is_complex(), is_integral(element));
    let is_pred = element == ElementType::Pred;
    match opcode {
        Floor | Ceil | Cbrt | Erf | RoundNearestAfz | RoundNearestEven | IsFinite | ReducePrecision => {
            expect(floating, opcode, "floating", element)?;
        }
        Real | Imag => expect(floating || complex, opcode, "complex or floating", element)?,
        Abs | Sign => {
            let is_signed = floating || complex || element.is_signed_integer();
            expect(is_signed, opcode, "signed or complex", element)?;
        }
        Negate => expect(!is_pred, opcode, "integral, floating or complex", element)?,
        CountLeadingZeros | Popcnt => expect(integral, opcode, "integral", element)?,
        Not => expect(integral || is_pred, opcode, "pred or integral", element)?,
        _ => expect(floating || complex, opcode, "floating or complex", element)?,
    }
    if opcode == ReducePrecision {
        let bits = |key| given.attributes.int(key).unwrap_or(1);
        let (exponent, mantissa) = (bits(AttributeKey::ExponentBits), bits(AttributeKey::MantissaBits));
        let holds = exponent >= 1 && mantissa >= 0;
        ensure(holds, || {
            format!("expected at least 1 exponent bit and 0 mantissa bits, not {exponent}, {mantissa}")
        })?;
    }
    Ok(like(
        operand,
        match opcode {
            IsFinite => ElementType::Pred,
            Real | Imag | Abs => part(element),
            _ => element,
        },
    ))
}

/// The operand that gives the result its sizes: the first array that is no scalar. All others have its sizes, or none.
fn shared<'a>(given: &Given<'a>) -> Inferred<&'a ArrayShape> {
    let mut shared = given.array(0)?;
    for i in 1..given.operands.len() {
        let other = given.array(i)?;
        if shared.rank() == 0 {
            shared = other;
        }
        let holds = other.rank() == 0 || same_dims(shared, other);
        ensure(holds, || format!("expected operands of equal sizes, but they are {shared} and {other}"))?;
    }
    Ok(shared)
}

pub(super) fn binary(opcode: Opcode, given: &Given<'_>) -> Inferred {
    use Opcode::*;
    given.count(2)?;
    let (lhs, rhs) = (given.array(0)?, given.array(1)?);
    let (a, b) = (lhs.element, rhs.element);
    let sizes = shared(given)?;
    if opcode == StochasticConvert {
        let holds = a.is_floating() && b.is_unsigned_integer() && a.bits() == b.bits();
        ensure(holds, || {
            format!("expected a floating operand and as wide unsigned numbers, but they are {lhs} and {rhs}")
        })?;
        let declared = given.declared_array()?;
        return Ok(like(sizes, declared.element));
    }
    ensure(same_kind(a, b), || {
        format!("expected operands of one element type, but they are {lhs} and {rhs}")
    })?;
    match opcode {
        Compare => return Ok(like(sizes, ElementType::Pred)),
        Complex => {
            let element = match (a, b) {
                (ElementType::F32, ElementType::F32) => ElementType::C64,
                (ElementType::F64, ElementType::F64) => ElementType::C128,
                _ => {
                    return Err(format!(
                        "expected two f32 or two f64 operands, but they are {lhs} and {rhs}"
                    )
                    .into());
                }
            };
            return Ok(like(sizes, element));
        }
        Subtract | Divide | Power | Remainder | ShiftLeft | ShiftRightArithmetic | ShiftRightLogical => {
            expect(a != ElementType::Pred, opcode, "a number", a)?;
        }
        Atan2 => expect(a.is_floating() || a.is_complex(), opcode, "floating or complex", a)?,
        And | Or | Xor => expect(is_integral(a) || a == ElementType::Pred, opcode, "pred or integral", a)?,
        _ => {}
    }
    Ok(like(sizes, higher_precision(a, b)))
}

pub(super) fn clamp(given: &Given<'_>) -> Inferred {
    given.count(3)?;
    let operand = given.array(1)?;
    for i in [0, 2] {
        let bound = given.array(i)?;
        let holds =
            same_kind(bound.element, operand.element) && (bound.rank() == 0 || same_dims(bound, operand));
        ensure(holds, || {
            format!("expected a bound like {operand} or a scalar of its type, but it is {bound}")
        })?;
    }
    Ok(like(operand, operand.element))
}

/// Tuples may be selected, too.
pub(super) fn select(given: &Given<'_>) -> Inferred {
    given.count(3)?;
    let (on_true, on_false) = (given.operand(1)?, given.operand(2)?);
    let predicate = given.array(0)?;
    let is_pred = predicate.element == ElementType::Pred;
    ensure(is_pred, || format!("expected a predicate of type pred, but it is {predicate}"))?;
    let (Some(t), Some(f)) = (on_true.as_array(), on_false.as_array()) else {
        let holds = on_true.is_compatible(on_false);
        ensure(holds, || format!("expected two values of one shape, but they are {on_true} and {on_false}"))?;
        return Ok(on_true.clone());
    };
    let holds = same_dims(t, f) && same_kind(t.element, f.element);
    ensure(holds, || format!("expected two values of one shape, but they are {t} and {f}"))?;
    let holds = predicate.rank() == 0 || same_dims(predicate, t);
    ensure(holds, || format!("expected a scalar predicate or one like {t}, but it is {predicate}"))?;
    Ok(like(t, higher_precision(t.element, f.element)))
}

/// Another element type, the same sizes.
pub(super) fn convert(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    Ok(like(given.array(0)?, given.declared_array()?.element))
}

/// The ratio of the widths is a dimension at the end.
pub(super) fn bitcast_convert(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let (operand, declared) = (given.array(0)?, given.declared_array()?);
    let complex = operand.element.is_complex() == declared.element.is_complex();
    ensure(complex, || {
        format!("expected both types complex or neither, but they are {operand} and {declared}")
    })?;
    let (Some(from), Some(to)) = (operand.element.bits(), declared.element.bits()) else {
        return Err("an element type without bits".into());
    };
    let holds = from % to == 0 || to % from == 0;
    ensure(holds, || format!("expected one width to divide the other, but they are {from} and {to} bits"))?;
    let mut dims = operand.dims.clone();
    if from > to {
        dims.push(i64::from(from / to));
    } else if to > from {
        let last = dims.pop();
        let ratio = i64::from(to / from);
        ensure(last == Some(ratio), || format!("expected the last dimension of {operand} to be {ratio}"))?;
    }
    Ok(array(declared.element, dims))
}

pub(super) fn map(given: &Given<'_>) -> Inferred {
    ensure(!given.operands.is_empty(), || "expected at least one operand".to_owned())?;
    let sizes = shared(given)?;
    let dims = given.ints(AttributeKey::Dimensions);
    let holds = dims.is_empty() || dims.iter().copied().eq(0..sizes.rank() as i64);
    ensure(holds, || format!("expected dimensions to name all of {sizes} in order, but they are {dims:?}"))?;
    let Some(called) = given.computation(AttributeKey::ToApply) else {
        return Ok(like(sizes, sizes.element));
    };
    let count = (called.parameters.len(), given.operands.len());
    ensure(count.0 == count.1, || {
        format!("expected {} parameters of to_apply, but it has {}", count.1, count.0)
    })?;
    for (parameter, operand) in called.parameters.iter().zip(given.operands) {
        let holds = parameter.dims().is_empty() && parameter.element() == operand.element();
        ensure(holds, || {
            format!("expected a scalar parameter of the type of {operand}, but it is {parameter}")
        })?;
    }
    let result = called.result.as_array().filter(|result| result.rank() == 0);
    let result = result
        .ok_or_else(|| format!("expected to_apply to return a scalar, but it returns {}", called.result))?;
    Ok(like(sizes, result.element))
}

/// Two scalars of the result's type.
pub(super) fn rng(given: &Given<'_>) -> Inferred {
    given.count(2)?;
    let declared = given.declared()?;
    for i in 0..2 {
        let operand = given.array(i)?;
        let holds = operand.rank() == 0 && Some(operand.element) == declared.element();
        ensure(holds, || {
            format!("expected a scalar of the type of {declared}, but operand {i} is {operand}")
        })?;
    }
    Ok(declared.clone())
}

pub(super) fn iota(given: &Given<'_>) -> Inferred {
    given.count(0)?;
    let declared = given.declared_array()?;
    let dim = given.attributes.int(AttributeKey::IotaDimension).unwrap_or(-1);
    let holds = (0..declared.rank() as i64).contains(&dim);
    ensure(holds, || format!("expected iota_dimension to be a dimension of {declared}, but it is {dim}"))?;
    let holds = declared.element != ElementType::Pred;
    ensure(holds, || format!("expected an iota of numbers, but its type is {}", declared.element))?;
    Ok(Shape::clone(given.declared()?))
}
