//! Transforms, solvers and batch norms. Source: `ShapeInference::InferFftShape`, `InferCholeskyShape`,
//! `InferTriangularSolveShape`, `InferBatchNorm*Shape`.

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use super::given::{Given, Inferred, array, ensure, fits, like, same_dims};
use crate::element_type::ElementTypeExt;
use crate::shape::{ArrayShape, Shape};

pub(super) fn fft(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.array(0)?;
    let lengths = given.ints(AttributeKey::FftLength);
    let rank = operand.rank();
    let holds = (1..=3).contains(&lengths.len()) && lengths.len() <= rank;
    ensure(holds, || format!("expected 1 to 3 lengths, at most {rank}, but there are {}", lengths.len()))?;
    let kind = given.attributes.text(AttributeKey::FftType).unwrap_or("FFT");
    let is_real = matches!(operand.element, ElementType::F32 | ElementType::F64);
    let holds = if kind == "RFFT" { is_real } else { operand.element.is_complex() };
    let expected = if kind == "RFFT" { "f32 or f64" } else { "complex" };
    ensure(holds, || format!("expected an operand of type {expected} for {kind}, but it is {operand}"))?;
    let other = match (kind, operand.element) {
        ("RFFT", ElementType::F32) => ElementType::C64,
        ("RFFT", _) => ElementType::C128,
        ("IRFFT", ElementType::C64) => ElementType::F32,
        ("IRFFT", _) => ElementType::F64,
        (_, same) => return Ok(like(operand, same)),
    };
    let mut dims = operand.dims.clone();
    for (i, (dim, &length)) in dims[rank - lengths.len()..].iter_mut().zip(lengths).enumerate() {
        let is_last = i + 1 == lengths.len();
        let expected = if kind == "IRFFT" && is_last { length / 2 + 1 } else { length };
        // An empty transform has no elements on either side.
        let holds = fits(*dim, expected) || (length == 0 && *dim == 0);
        ensure(holds, || format!("expected size {expected} for length {length}, but {operand} has {dim}"))?;
        if is_last {
            *dim = if kind == "RFFT" && length > 0 { length / 2 + 1 } else { length };
        }
    }
    Ok(array(other, dims))
}

fn matrix(operand: &ArrayShape) -> Inferred<usize> {
    let rank = operand.rank();
    let is_square = rank >= 2 && fits(operand.dims[rank - 1], operand.dims[rank - 2]);
    ensure(is_square, || format!("expected square matrices, but the operand is {operand}"))?;
    let holds = operand.element.is_floating() || operand.element.is_complex();
    ensure(holds, || format!("expected floating or complex matrices, but the operand is {operand}"))?;
    Ok(rank)
}

pub(super) fn cholesky(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let operand = given.array(0)?;
    matrix(operand)?;
    Ok(like(operand, operand.element))
}

pub(super) fn triangular_solve(given: &Given<'_>) -> Inferred {
    given.count(2)?;
    let (a, b) = (given.array(0)?, given.array(1)?);
    let rank = matrix(a)?;
    let holds = b.rank() == rank && a.element == b.element;
    ensure(holds, || format!("expected a right side of rank {rank} and the type of {a}, but it is {b}"))?;
    let is_left = given.attributes.bool(AttributeKey::LeftSide).unwrap_or(false);
    let shared = if is_left { rank - 2 } else { rank - 1 };
    let holds = fits(a.dims[rank - 1], b.dims[shared]);
    ensure(holds, || {
        format!("expected size {} in dimension {shared} of the right side, but it is {b}", a.dims[rank - 1])
    })?;
    let holds = a.dims[..rank - 2].iter().zip(&b.dims).all(|(&a, &b)| fits(a, b));
    ensure(holds, || format!("expected equal batch dimensions, but they are {a} and {b}"))?;
    let transpose = given.attributes.text(AttributeKey::TransposeA);
    ensure(transpose.is_some(), || "expected transpose_a to be set".to_owned())?;
    Ok(like(b, b.element))
}

/// The array, then vectors with an entry per feature; of gradients the last operand is an array again.
pub(super) fn batch_norm(opcode: Opcode, given: &Given<'_>) -> Inferred {
    let operand = given.array(0)?;
    let vectors = match opcode {
        Opcode::BatchNormTraining => 2,
        Opcode::BatchNormInference => 4,
        _ => 3,
    };
    let is_gradient = opcode == Opcode::BatchNormGrad;
    given.count(1 + vectors + usize::from(is_gradient))?;
    let holds = operand.element.is_floating() && operand.rank() >= 1;
    ensure(holds, || format!("expected a floating array of rank at least 1, but the operand is {operand}"))?;
    let feature = given.attributes.int(AttributeKey::FeatureIndex).unwrap_or(-1);
    let at = usize::try_from(feature).ok().and_then(|feature| operand.dims.get(feature)).copied();
    let features = at.ok_or_else(|| {
        format!("expected feature_index to be a dimension of {operand}, but it is {feature}")
    })?;
    for i in 1..=vectors {
        let vector = given.array(i)?;
        let holds = vector.rank() == 1 && vector.element == operand.element && fits(vector.dims[0], features);
        ensure(holds, || {
            format!("expected a vector of {features} features of {operand}, but operand {i} is {vector}")
        })?;
    }
    if is_gradient {
        let gradient = given.array(4)?;
        let holds = same_dims(operand, gradient) && gradient.element == operand.element;
        ensure(holds, || format!("expected a gradient like {operand}, but it is {gradient}"))?;
    }
    let whole = like(operand, operand.element);
    if opcode == Opcode::BatchNormInference {
        return Ok(whole);
    }
    let vector = array(operand.element, vec![features]);
    Ok(Shape::Tuple([whole, vector.clone(), vector].into()))
}
