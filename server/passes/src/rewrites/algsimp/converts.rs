//! Rules for `convert`, `bitcast-convert` and `reduce-precision`. Source: `HandleConvert`, `HandleBitcastConvert`,
//! `HandleReducePrecision`.

use eval::Kind;
use ir::{AttributeKey, ElementType, ElementTypeExt as _, Opcode, Shape};

use super::rewriter::{Id, Rewriter};
use crate::dimensions::with_element;

pub(super) fn convert(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    if r.element(operand) == r.element(id) {
        r.replace(id, operand, "converts to the same type");
        return;
    }
    if let Some(source) = r.operand_of(operand, Opcode::Convert)
        && r.element(source) == r.element(id)
        && keeps_values(r.element(source), r.element(operand))
    {
        r.replace(id, source, "converts back to the type before");
        return;
    }
    narrow(r, id, operand);
}

/// An operation of integers that are converted to a wider type for it, and the result back.
fn narrow(r: &mut Rewriter<'_, '_>, id: Id, operation: Id) -> bool {
    let opcode = r.opcode(operation);
    let is_unsigned = matches!(r.kind(operation), Some(Kind::Unsigned(_)));
    let is_known = match opcode {
        Opcode::Add | Opcode::Subtract | Opcode::Multiply => true,
        // The quotient of the least number and -1 does not fit.
        Opcode::Divide | Opcode::Remainder => is_unsigned,
        _ => false,
    };
    let &[a, b] = r.operands(operation) else { return false };
    if !is_known || !r.has_one_user(operation) || !r.has_one_user(a) || !r.has_one_user(b) {
        return false;
    }
    let (Some(a), Some(b)) = (r.operand_of(a, Opcode::Convert), r.operand_of(b, Opcode::Convert)) else {
        return false;
    };
    let element = r.element(id);
    let fits = match (Kind::of(element), r.kind(operation)) {
        (Some(Kind::Signed(narrow @ 8..)), Some(Kind::Signed(wide)))
        | (Some(Kind::Unsigned(narrow @ 8..)), Some(Kind::Unsigned(wide))) => narrow <= wide,
        _ => false,
    };
    if !fits || r.element(a) != element || r.element(b) != element {
        return false;
    }
    let shape = with_element(r.shape(operation), element);
    let new = r.copy_of(operation, shape, &[a, b]);
    r.replace(id, new, "computes in the narrow type")
}

/// Whether a conversion changes no value.
///
/// Source: `primitive_util::CastPreservesValues`.
fn keeps_values(from: ElementType, to: ElementType) -> bool {
    match (Kind::of(from), Kind::of(to)) {
        _ if from == to => true,
        (Some(Kind::Pred), Some(_)) => to != ElementType::F8e8m0fnu,
        (Some(Kind::Signed(a)), Some(Kind::Signed(b)))
        | (Some(Kind::Unsigned(a)), Some(Kind::Unsigned(b))) => a <= b,
        (Some(Kind::Unsigned(a)), Some(Kind::Signed(b))) => a < b,
        (Some(Kind::Signed(bits)), Some(kind)) if kind.is_float() => {
            Float::of(to).is_some_and(|to| bits - 1 <= to.significand && i64::from(bits) - 1 < to.above)
        }
        (Some(Kind::Unsigned(bits)), Some(kind)) if kind.is_float() => {
            Float::of(to).is_some_and(|to| bits <= to.significand && i64::from(bits) - 1 < to.above)
        }
        (Some(a), Some(b)) if a.is_float() && b.is_float() => {
            let (Some(a), Some(b)) = (Float::of(from), Float::of(to)) else { return false };
            a.significand <= b.significand
                && a.exponent <= b.exponent
                && (!a.has_infinity || b.has_infinity)
                && a.least >= b.least
                && a.above <= b.above
        }
        (Some(Kind::Complex { is_double }), Some(Kind::Complex { is_double: to })) => !is_double || to,
        (Some(a), Some(Kind::Complex { is_double })) if !matches!(a, Kind::Complex { .. }) => {
            keeps_values(from, if is_double { ElementType::F64 } else { ElementType::F32 })
        }
        _ => false,
    }
}

/// The limits of a floating-point type that has NaN and both zeros.
struct Float {
    /// Bits of the significand, with the hidden one.
    significand: u32,
    exponent: u32,
    /// The exponent of the least positive number.
    least: i64,
    /// The exponent of the first power of two that is too large.
    above: i64,
    has_infinity: bool,
}

impl Float {
    fn of(element: ElementType) -> Option<Float> {
        let float = |significand, exponent, least, above, has_infinity| {
            Some(Float { significand, exponent, least, above, has_infinity })
        };
        match element {
            ElementType::F8e4m3fn => float(4, 4, -9, 9, false),
            ElementType::F8e5m2 => float(3, 5, -16, 16, true),
            ElementType::F16 => float(11, 5, -24, 16, true),
            ElementType::Bf16 => float(8, 8, -133, 128, true),
            ElementType::F32 => float(24, 8, -149, 128, true),
            ElementType::F64 => float(53, 11, -1074, 1024, true),
            _ => None,
        }
    }
}

pub(super) fn bitcast_convert(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let shape = r.shape(id).clone();
    if let Some(inner) = r.operand_of(operand, Opcode::BitcastConvert) {
        let new = r.plain(Opcode::BitcastConvert, shape, &[inner], id);
        r.replace(id, new, "reinterprets the bits twice");
        return;
    }
    if before_concatenation(r, id, operand) {
        return;
    }
    if r.options.is_layout_sensitive {
        let from = r.shape(operand).clone();
        let is_same = r.is_same_shape(&with_element(&from, r.element(id)), &shape);
        let longer = if from.dims().len() > shape.dims().len() { &from } else { &shape };
        if is_same || last_dimension_is_contiguous(longer) {
            let new = r.bitcast(shape, operand, id);
            r.replace(id, new, "moves nothing in memory");
            return;
        }
    }
    r.replace_if_same(id, operand, "reinterprets bits as the same type");
}

fn last_dimension_is_contiguous(shape: &Shape) -> bool {
    let Some(array) = shape.as_array() else { return false };
    let is_minor = array.minor_to_major().first().is_some_and(|&dim| dim + 1 == array.rank());
    let bits = array.element.bits().map_or(0, i64::from);
    let stated = array.layout.as_ref().map_or(0, |layout| layout.element_bits);
    is_minor && if stated == 0 { bits % 8 == 0 } else { stated == bits }
}

/// Bits that are reinterpreted before and after a concatenation.
fn before_concatenation(r: &mut Rewriter<'_, '_>, id: Id, concatenation: Id) -> bool {
    if !r.is(concatenation, Opcode::Concatenate) {
        return false;
    }
    let element = r.element(id);
    let source = |&part: &Id| {
        r.operand_of(part, Opcode::BitcastConvert).filter(|&source| r.element(source) == element)
    };
    let Some(sources) = r.operands(concatenation).iter().map(source).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let shape = r.shape(id).clone();
    // The result of a concatenation of other sizes is another shape.
    if sources.iter().any(|&source| r.rank(source) != shape.dims().len()) {
        return false;
    }
    let new = r.copy_of(concatenation, shape, &sources);
    r.replace(id, new, "reinterprets the bits twice")
}

pub(super) fn reduce_precision(r: &mut Rewriter<'_, '_>, id: Id) {
    let operand = r.operand(id, 0);
    let int = |key| r.attributes(id).int(key);
    let (exponent, mantissa) = (int(AttributeKey::ExponentBits), int(AttributeKey::MantissaBits));
    let is_whole = Float::of(r.element(operand)).is_some_and(|float| {
        exponent == Some(float.exponent.into()) && mantissa == Some(i64::from(float.significand) - 1)
    });
    if r.options.removes_whole_precision && is_whole {
        r.replace(id, operand, "keeps all bits");
    }
}
