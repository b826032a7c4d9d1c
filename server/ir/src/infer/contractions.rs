//! Dot in its forms, and convolution. Source: `ShapeInference::InferDotOpShape`, `InferRaggedDotOpShape`,
//! `InferConvolveShape`; scales by the verifier's `HandleScaledDot`. The result has the first operand's type, or the
//! declared one: any accumulation type is accepted.

use syntax::hlo::{AttributeKey, ElementType};

use super::given::{Given, Inferred, array, ensure, fits, higher_precision};
use super::problem::{OPERANDS, Problem, field, opcode, operand, value};
use super::windows::places;
use crate::shape::{ArrayShape, Shape, UNBOUNDED};

struct Dot {
    batch: Vec<i64>,
    lhs_free: Vec<(usize, i64)>,
    rhs_free: Vec<(usize, i64)>,
    lhs_batch: Vec<usize>,
    lhs_contracting: Vec<usize>,
    rhs_taken: Vec<usize>,
}

impl Dot {
    fn of(given: &Given<'_>) -> Inferred<Dot> {
        let (lhs, rhs) = (given.array(0)?, given.array(1)?);
        let lists = |of_batch, of_contracting, operand: &ArrayShape| -> Inferred<[Vec<usize>; 2]> {
            let (batch, contracting) =
                (given.dimensions(of_batch, operand)?, given.dimensions(of_contracting, operand)?);
            let both = batch.iter().find(|dim| contracting.contains(dim));
            ensure(both.is_none(), value(of_contracting), || {
                format!("expected batch and contracting dimensions apart, but both name {both:?}")
            })?;
            Ok([batch, contracting])
        };
        let left = lists(AttributeKey::LhsBatchDims, AttributeKey::LhsContractingDims, lhs)?;
        let right = lists(AttributeKey::RhsBatchDims, AttributeKey::RhsContractingDims, rhs)?;
        let kinds = [
            ("batch", &left[0], &right[0], [AttributeKey::LhsBatchDims, AttributeKey::RhsBatchDims]),
            (
                "contracting",
                &left[1],
                &right[1],
                [AttributeKey::LhsContractingDims, AttributeKey::RhsContractingDims],
            ),
        ];
        for (what, l, r, [left_key, right_key]) in kinds {
            let written = if given.attributes.has(right_key) { right_key } else { left_key };
            ensure(l.len() == r.len(), value(written), || {
                format!("expected {what} dimensions in pairs, but there are {} and {}", l.len(), r.len())
            })?;
            for (&l, &r) in l.iter().zip(r) {
                let holds = fits(lhs.dims[l], rhs.dims[r]);
                ensure(holds, OPERANDS, || {
                    format!(
                        "expected equal {what} sizes, but dimension {l} of {lhs} and dimension {r} of {rhs} differ"
                    )
                })?;
            }
        }
        let free = |operand: &ArrayShape, taken: &[Vec<usize>; 2]| {
            let is_free = |dim: &usize| !taken.iter().flatten().any(|t| t == dim);
            (0..operand.rank()).filter(is_free).map(|dim| (dim, operand.dims[dim])).collect()
        };
        Ok(Dot {
            batch: left[0].iter().map(|&dim| lhs.dims[dim]).collect(),
            lhs_free: free(lhs, &left),
            rhs_free: free(rhs, &right),
            rhs_taken: right.concat(),
            lhs_batch: left[0].clone(),
            lhs_contracting: left[1].clone(),
        })
    }

    fn output(&self) -> Vec<i64> {
        let free = self.lhs_free.iter().chain(&self.rhs_free).map(|&(_, size)| size);
        self.batch.iter().copied().chain(free).collect()
    }
}

fn element(given: &Given<'_>) -> Inferred<ElementType> {
    if let Some(declared) = given.declared.and_then(Shape::as_array) {
        return Ok(declared.element);
    }
    Ok(higher_precision(given.array(0)?.element, given.array(1)?.element))
}

pub(crate) fn dot(given: &Given<'_>) -> Inferred {
    given.count(2)?;
    Ok(array(element(given)?, Dot::of(given)?.output()))
}

/// A scale has one element per block of its operand, or all its sizes are 1.
pub(crate) fn scaled_dot(given: &Given<'_>) -> Inferred {
    given.count(4)?;
    let dot = Dot::of(given)?;
    for side in 0..2 {
        let (scaled, scale) = (given.array(side)?, given.array(side + 2)?);
        let divides = |(&d, &s): (&i64, &i64)| fits(d, s) || (s > 0 && d % s == 0);
        let is_none = scale.dims.iter().all(|&d| d == 1);
        let holds =
            is_none || scale.rank() == scaled.rank() && scaled.dims.iter().zip(&scale.dims).all(divides);
        ensure(holds, operand(side + 2), || {
            format!("expected a scale whose sizes divide those of {scaled}, but it is {scale}")
        })?;
    }
    Ok(array(element(given)?, dot.output()))
}

/// Free ragged dimension: the group dimension of rhs goes. Contracted: a group dimension in front. Batch: a dot.
pub(crate) fn ragged_dot(given: &Given<'_>) -> Inferred {
    given.count(3)?;
    let dot = Dot::of(given)?;
    let (lhs, rhs, sizes) = (given.array(0)?, given.array(1)?, given.array(2)?);
    let ragged = given.dimension(AttributeKey::LhsRaggedDims, lhs)?;
    let groups = given.dimensions(AttributeKey::RhsGroupDims, rhs)?;
    let count = sizes.dims.last().copied();
    let count = count.ok_or_else(|| Problem::at(operand(2), "expected group sizes of rank at least 1"))?;
    let is_free = dot.lhs_free.iter().any(|&(dim, _)| dim == ragged);
    let expected = usize::from(is_free);
    ensure(groups.len() == expected, value(AttributeKey::RhsGroupDims), || {
        format!("expected {expected} group dimensions of rhs, but there are {}", groups.len())
    })?;
    let mut output: Vec<i64> = dot.batch.clone();
    output.extend(dot.lhs_free.iter().map(|&(_, size)| size));
    output.extend(dot.rhs_free.iter().filter(|(dim, _)| !groups.contains(dim)).map(|&(_, size)| size));
    if let Some(&group) = groups.first() {
        ensure(!dot.rhs_taken.contains(&group), value(AttributeKey::RhsGroupDims), || {
            format!("expected a group dimension that is neither batch nor contracting, not {group}")
        })?;
        let size = rhs.dims[group];
        ensure(fits(size, count), OPERANDS, || {
            format!("expected {count} groups in dimension {group} of rhs, but it has {size}")
        })?;
    } else if dot.lhs_contracting.contains(&ragged) {
        output.insert(0, count);
    }
    // Prefix dimensions of the group sizes: batch, then the others before the ragged one.
    let mut prefix: Vec<i64> =
        dot.lhs_batch.iter().take_while(|&&dim| dim != ragged).map(|&dim| lhs.dims[dim]).collect();
    if !dot.lhs_batch.contains(&ragged) {
        let others =
            if is_free { dot.lhs_free.iter().map(|f| f.0).collect() } else { dot.lhs_contracting.clone() };
        prefix.extend(others.into_iter().take_while(|&dim| dim != ragged).map(|dim| lhs.dims[dim]));
    }
    let holds = sizes.rank() == 1 || sizes.dims[..sizes.rank() - 1] == prefix[..];
    ensure(holds, operand(2), || {
        format!("expected group sizes of shape [{count}] or {prefix:?} before it, but they are {sizes}")
    })?;
    Ok(array(element(given)?, output))
}

/// Batch by batch groups, kernel output features, and the window's places.
pub(crate) fn convolution(given: &Given<'_>) -> Inferred {
    let (input, kernel) = (given.array(0)?, given.array(1)?);
    let labels = given
        .attributes
        .convolution_dims()
        .ok_or_else(|| Problem::at(value(AttributeKey::DimLabels), "expected dim_labels"))?;
    let window = given.attributes.window();
    let spatial = labels.output_spatial.len();
    let of_labels = [labels.input_spatial.len(), labels.kernel_spatial.len(), spatial];
    ensure(of_labels.iter().all(|&n| n == spatial), value(AttributeKey::DimLabels), || {
        format!("expected as many spatial dimensions on each side, but there are {of_labels:?}")
    })?;
    for (i, array) in [input, kernel].into_iter().enumerate() {
        let both = input.rank() == kernel.rank();
        let at = if both { value(AttributeKey::DimLabels) } else { operand(i) };
        ensure(array.rank() == spatial + 2, at, || {
            format!(
                "expected an array of rank {} for {spatial} spatial dimensions, but operand {i} is {array}",
                spatial + 2
            )
        })?;
    }
    let at = if given.attributes.has(AttributeKey::Window) {
        value(AttributeKey::Window)
    } else {
        opcode("attribute-value")
    };
    ensure(window.len() == spatial, at, || {
        format!("expected a window of {spatial} dimensions, but it has {}", window.len())
    })?;
    let groups = |key: AttributeKey| -> Inferred<i64> {
        let count = given.attributes.int(key).unwrap_or(1);
        ensure(count >= 1, value(key), || format!("expected {key} of at least 1, but it is {count}"))?;
        Ok(count)
    };
    let (features, batches) =
        (groups(AttributeKey::FeatureGroupCount)?, groups(AttributeKey::BatchGroupCount)?);
    ensure(features == 1 || batches == 1, value(AttributeKey::BatchGroupCount), || {
        "expected groups of features or of the batch, not both".to_owned()
    })?;
    let is_sparse = given.operands.len() > 2;
    let per_group = kernel.dims[labels.kernel_input_feature];
    let expected = if per_group == UNBOUNDED { Some(UNBOUNDED) } else { per_group.checked_mul(features) };
    let actual = input.dims[labels.input_feature];
    let holds = is_sparse || expected.is_some_and(|expected| fits(expected, actual));
    let grouped = |key| if given.attributes.has(key) { value(key) } else { OPERANDS };
    ensure(holds, grouped(AttributeKey::FeatureGroupCount), || {
        format!("expected {features} groups of {per_group} input features, but the input has {actual}")
    })?;
    let output_features = kernel.dims[labels.kernel_output_feature];
    for (count, key) in
        [(features, AttributeKey::FeatureGroupCount), (batches, AttributeKey::BatchGroupCount)]
    {
        let holds = output_features == UNBOUNDED || output_features % count == 0;
        ensure(holds, grouped(key), || {
            format!("expected {output_features} output features to be divisible into {count} groups")
        })?;
    }
    let batch = input.dims[labels.input_batch];
    let holds = batch == UNBOUNDED || batch % batches == 0;
    ensure(holds, grouped(AttributeKey::BatchGroupCount), || {
        format!("expected a batch of {batch} to be divisible into {batches} groups")
    })?;
    let mut dims = vec![0; spatial + 2];
    dims[labels.output_batch] = if batch == UNBOUNDED { batch } else { batch / batches };
    dims[labels.output_feature] = output_features;
    for (i, dim) in window.iter().enumerate() {
        let size = kernel.dims[labels.kernel_spatial[i]];
        ensure(fits(size, dim.size), field(AttributeKey::Window, "size"), || {
            format!("expected a window of size {size} in spatial dimension {i}, but it is {}", dim.size)
        })?;
        dims[labels.output_spatial[i]] = places(input.dims[labels.input_spatial[i]], dim)?;
    }
    Ok(array(element(given)?, dims))
}
