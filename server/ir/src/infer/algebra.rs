//! Transforms, solvers and batch norms. Source: `ShapeInference::InferFftShape`, `InferCholeskyShape`,
//! `InferTriangularSolveShape`, `InferBatchNorm*Shape`.

use syntax::hlo::{AttributeKey, ElementType, Opcode};

use super::given::{Given, Inferred, array, ensure, fits, like, same_dims};
use super::problem::{At, OPERANDS, Problem, element, operand, operand_type, value};
use crate::element_type::ElementTypeExt;
use crate::op_table::op_info;
use crate::shape::{ArrayShape, Shape};

pub(crate) fn fft(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let from = given.array(0)?;
    let lengths = given.ints(AttributeKey::FftLength);
    let rank = from.rank();
    let holds = (1..=3).contains(&lengths.len()) && lengths.len() <= rank;
    ensure(holds, value(AttributeKey::FftLength), || {
        format!("expected 1 to 3 lengths, at most {rank}, but there are {}", lengths.len())
    })?;
    let kind = given.attributes.text(AttributeKey::FftType).unwrap_or("FFT");
    let is_real = matches!(from.element, ElementType::F32 | ElementType::F64);
    let holds = if kind == "RFFT" { is_real } else { from.element.is_complex() };
    let expected = if kind == "RFFT" { "f32 or f64" } else { "complex" };
    ensure(holds, operand_type(0), || {
        format!("expected an operand of type {expected} for {kind}, but it is {from}")
    })?;
    let other = match (kind, from.element) {
        ("RFFT", ElementType::F32) => ElementType::C64,
        ("RFFT", _) => ElementType::C128,
        ("IRFFT", ElementType::C64) => ElementType::F32,
        ("IRFFT", _) => ElementType::F64,
        (_, same) => return Ok(like(from, same)),
    };
    let mut dims = from.dims.clone();
    for (i, (dim, &length)) in dims[rank - lengths.len()..].iter_mut().zip(lengths).enumerate() {
        let is_last = i + 1 == lengths.len();
        ensure(length >= 0, element(AttributeKey::FftLength, i), || {
            format!("expected a length of at least 0, but it is {length}")
        })?;
        let expected = if kind == "IRFFT" && is_last { length / 2 + 1 } else { length };
        // An empty transform has no elements on either side.
        let holds = fits(*dim, expected) || (length == 0 && *dim == 0);
        ensure(holds, element(AttributeKey::FftLength, i), || {
            format!("expected size {expected} for length {length}, but {from} has {dim}")
        })?;
        if is_last {
            *dim = if kind == "RFFT" && length > 0 { length / 2 + 1 } else { length };
        }
    }
    Ok(array(other, dims))
}

fn matrix(matrices: &ArrayShape) -> Inferred<usize> {
    let rank = matrices.rank();
    let is_square = rank >= 2 && fits(matrices.dims[rank - 1], matrices.dims[rank - 2]);
    ensure(is_square, operand(0), || format!("expected square matrices, but operand 0 is {matrices}"))?;
    let holds = matrices.element.is_floating() || matrices.element.is_complex();
    ensure(holds, operand_type(0), || {
        format!("expected floating or complex matrices, but operand 0 is {matrices}")
    })?;
    Ok(rank)
}

pub(crate) fn cholesky(given: &Given<'_>) -> Inferred {
    given.count(1)?;
    let matrices = given.array(0)?;
    matrix(matrices)?;
    Ok(like(matrices, matrices.element))
}

pub(crate) fn triangular_solve(given: &Given<'_>) -> Inferred {
    given.count(2)?;
    let (a, b) = (given.array(0)?, given.array(1)?);
    // The result has the shape of b: where it has not, b may be the one that is wrong.
    let is_b = given.declared.and_then(Shape::as_array).is_some_and(|d| !same_dims(d, b));
    let at: At = if is_b { operand(1) } else { OPERANDS };
    ensure(a.element == b.element, super::problem::OPERANDS_TYPE, || {
        format!("expected operands of one type, but they are {a} and {b}")
    })?;
    let rank = matrix(a)?;
    ensure(b.rank() == rank, at, || format!("expected a right side of rank {rank}, but it is {b}"))?;
    let is_left = given.attributes.bool(AttributeKey::LeftSide).unwrap_or(false);
    let shared = if is_left { rank - 2 } else { rank - 1 };
    let holds = fits(a.dims[rank - 1], b.dims[shared]);
    ensure(holds, at, || {
        format!("expected size {} in dimension {shared} of the right side, but it is {b}", a.dims[rank - 1])
    })?;
    let holds = a.dims[..rank - 2].iter().zip(&b.dims).all(|(&a, &b)| fits(a, b));
    ensure(holds, at, || format!("expected equal batch dimensions, but they are {a} and {b}"))?;
    if !given.attributes.has(AttributeKey::TransposeA) {
        let missing = At::missing_attribute();
        let mut problem = Problem::at(missing, "expected transpose_a to be set");
        problem.fix =
            Some(("add transpose_a=NO_TRANSPOSE".to_owned(), ", transpose_a=NO_TRANSPOSE".to_owned()));
        return Err(problem);
    }
    Ok(like(b, b.element))
}

/// The array, then vectors with an entry per feature; of gradients the last operand is an array again.
pub(crate) fn batch_norm(opcode: Opcode, given: &Given<'_>) -> Inferred {
    use AttributeKey::FeatureIndex;
    let normed = given.array(0)?;
    let is_gradient = opcode == Opcode::BatchNormGrad;
    let operands = op_info(opcode).operands.len();
    let vectors = operands - 1 - usize::from(is_gradient);
    given.count(operands)?;
    ensure(normed.element.is_floating(), operand_type(0), || {
        format!("expected a floating array, but operand 0 is {normed}")
    })?;
    ensure(normed.rank() >= 1, operand(0), || {
        format!("expected rank at least 1, but operand 0 is {normed}")
    })?;
    let feature = given.attributes.int(FeatureIndex).unwrap_or(-1);
    let at = usize::try_from(feature).ok().and_then(|feature| normed.dims.get(feature)).copied();
    let features = at.ok_or_else(|| {
        let message = format!("expected feature_index to be a dimension of {normed}, but it is {feature}");
        Problem::at(value(FeatureIndex), message)
    })?;
    // Vectors that agree with each other tell that the index is wrong, or the array.
    let lengths = (1..=vectors).map(|i| given.array(i).ok().and_then(|v| v.dims.first().copied()));
    let agreed = lengths.reduce(|a, b| if a == b { a } else { None }).flatten();
    for i in 1..=vectors {
        let vector = given.array(i)?;
        ensure(vector.element == normed.element, operand_type(i), || {
            format!("expected a vector of the type of {normed}, but operand {i} is {vector}")
        })?;
        let holds = vector.rank() == 1 && fits(vector.dims[0], features);
        let is_agreed = agreed.is_some() && vector.rank() == 1;
        let at = match given.declared.map(|d| d.tuple_elements().and_then(|e| e.first()).unwrap_or(d)) {
            Some(result) if is_agreed && result.dims() != normed.dims => operand(0),
            _ if is_agreed => value(FeatureIndex),
            _ => operand(i),
        };
        ensure(holds, at, || {
            format!("expected a vector of {features} features of {normed}, but operand {i} is {vector}")
        })?;
    }
    if is_gradient {
        let gradient = given.array(4)?;
        ensure(gradient.element == normed.element, operand_type(4), || {
            format!("expected a gradient of the type of {normed}, but it is {gradient}")
        })?;
        ensure(same_dims(normed, gradient), operand(4), || {
            format!("expected a gradient like {normed}, but it is {gradient}")
        })?;
    }
    let whole = like(normed, normed.element);
    if opcode == Opcode::BatchNormInference {
        return Ok(whole);
    }
    let vector = array(normed.element, vec![features]);
    Ok(Shape::Tuple([whole, vector.clone(), vector].into()))
}
