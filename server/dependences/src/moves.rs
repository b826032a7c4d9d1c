//! Ops that move elements, with places known from shapes and attributes. Semantics: XLA "Operation
//! Semantics".

use eval::{Checked, ensure};
use ir::{ArrayShape, AttributeKey, ElementTypeExt, Opcode};

use crate::case::{Case, MAX_ELEMENTS};
use crate::traced::{Traced, for_each_index, position};

/// Element i of each operand; a scalar operand beside arrays has one element.
pub(crate) fn elementwise(case: &Case<'_>) -> Checked<Traced> {
    if case.op.opcode == Opcode::BitcastConvert {
        return bitcast_convert(case);
    }
    let scalar: Vec<bool> =
        (0..case.operand_count()).map(|i| Ok(case.operand(i)?.is_empty())).collect::<Checked<_>>()?;
    case.trace(|index, reads| {
        for (i, &is_scalar) in scalar.iter().enumerate() {
            reads.at(i, if is_scalar { &[] } else { index });
        }
    })
}

/// Element i of operand 0 only.
pub(crate) fn copy(case: &Case<'_>) -> Checked<Traced> {
    case.trace(|index, reads| reads.at(0, index))
}

/// The same bits with another width: a wide element is a row of narrow ones.
fn bitcast_convert(case: &Case<'_>) -> Checked<Traced> {
    let (output, operand) = (case.output()?.len(), case.operand(0)?.to_vec());
    case.trace(|index, reads| {
        if output > operand.len() {
            reads.at(0, &index[..operand.len()]);
        } else if output < operand.len() {
            (0..operand[output]).for_each(|k| reads.at(0, &[index, &[k]].concat()));
        } else {
            reads.at(0, index);
        }
    })
}

/// `dimensions[i]` is the output dimension that operand dimension i becomes.
pub(crate) fn broadcast(case: &Case<'_>) -> Checked<Traced> {
    let dims = case.dimensions(AttributeKey::Dimensions, case.output()?.len())?;
    case.trace(|index, reads| reads.at(0, &dims.iter().map(|&dim| index[dim]).collect::<Vec<_>>()))
}

/// Output dimension i is operand dimension `dimensions[i]`.
pub(crate) fn transpose(case: &Case<'_>) -> Checked<Traced> {
    let rank = case.operand(0)?.len();
    let dims = case.dimensions(AttributeKey::Dimensions, rank)?;
    ensure(dims.len() == rank && case.output()?.len() == rank, "dimensions is not a permutation")?;
    case.trace(|index, reads| {
        let mut from = vec![0; rank];
        dims.iter().zip(index).for_each(|(&dim, &i)| from[dim] = i);
        reads.at(0, &from);
    })
}

pub(crate) fn reverse(case: &Case<'_>) -> Checked<Traced> {
    let operand = case.operand(0)?;
    let dims = case.dimensions(AttributeKey::Dimensions, operand.len())?;
    ensure(case.output()?.len() == operand.len(), "output and operand differ in rank")?;
    case.trace(|index, reads| {
        let mut from = index.to_vec();
        dims.iter().for_each(|&dim| from[dim] = operand[dim] - 1 - index[dim]);
        reads.at(0, &from);
    })
}

/// Rotates left by one shift per listed dimension.
pub(crate) fn shuffle(case: &Case<'_>) -> Checked<Traced> {
    let operand = case.operand(0)?;
    let dims = case.dimensions(AttributeKey::Dimensions, operand.len())?;
    let shifts = case.op.attributes.ints(AttributeKey::Shifts);
    ensure(case.output()? == operand, "the output's sizes are not the operand's")?;
    ensure(shifts.len() == dims.len(), "shifts does not have a number per dimension")?;
    case.trace(|index, reads| {
        let mut from = index.to_vec();
        for (&dim, &shift) in dims.iter().zip(shifts) {
            from[dim] = (index[dim] + shift.rem_euclid(operand[dim])) % operand[dim];
        }
        reads.at(0, &from);
    })
}

/// The elements from start to limit with a stride.
pub(crate) fn slice(case: &Case<'_>) -> Checked<Traced> {
    let slices = case.op.attributes.triples(AttributeKey::Slice);
    let fits = slices.len() == case.output()?.len()
        && slices.len() == case.operand(0)?.len()
        && slices.iter().zip(case.operand(0)?).all(|(s, &size)| s[2] > 0 && s[0] >= 0 && s[1] <= size);
    ensure(fits, "slice does not fit the output")?;
    let taken: Vec<Vec<i64>> = slices
        .iter()
        .map(|&[start, limit, stride]| (start..limit).step_by(stride as usize).collect())
        .collect();
    let fits = taken.iter().zip(case.output()?).all(|(taken, &size)| taken.len() as i64 == size);
    ensure(fits, "the output's sizes are not those of the slice")?;
    case.trace(|index, reads| {
        let from: Vec<i64> = taken.iter().zip(index).map(|(taken, &i)| taken[i as usize]).collect();
        reads.at(0, &from);
    })
}

/// Concatenates the operands.
pub(crate) fn concatenate(case: &Case<'_>) -> Checked<Traced> {
    let dim = case.dimension(AttributeKey::Dimensions, case.output()?.len())?;
    let mut sizes = Vec::new();
    for i in 0..case.operand_count() {
        sizes.push(*case.operand(i)?.get(dim).ok_or("an operand has too few dimensions")?);
    }
    case.trace(|index, reads| {
        let mut from = index.to_vec();
        for (i, &size) in sizes.iter().enumerate() {
            if from[dim] < size {
                return reads.at(i, &from);
            }
            from[dim] -= size;
        }
    })
}

/// Puts elements at `low + i * (interior + 1)`; the rest holds the padding value.
pub(crate) fn pad(case: &Case<'_>) -> Checked<Traced> {
    let (operand, output) = (case.operand(0)?, case.output()?);
    let padding = case.op.attributes.triples(AttributeKey::Padding);
    let is_small = padding.iter().flatten().all(|n| n.abs() <= MAX_ELEMENTS);
    ensure(
        is_small && padding.len() == operand.len() && output.len() == operand.len(),
        "padding does not fit",
    )?;
    let mut from = vec![None; output.iter().product::<i64>() as usize];
    let mut source = 0;
    for_each_index(operand, |index| {
        let to: Vec<i64> =
            index.iter().zip(padding).map(|(&i, &[low, _, interior])| low + i * (interior + 1)).collect();
        if let Some(to) = position(output, &to) {
            from[to] = Some(source);
        }
        source += 1;
    });
    let mut at = 0;
    case.trace(|_, reads| {
        match from[at] {
            Some(source) => reads.position(0, source),
            None => reads.at(1, &[]),
        }
        at += 1;
    })
}

/// The same elements in row-major order. The sizes of a dynamic reshape affect all of them.
pub(crate) fn reshape(case: &Case<'_>) -> Checked<Traced> {
    let count: i64 = case.output()?.iter().product();
    ensure(case.operand(0)?.iter().product::<i64>() == count, "the element counts differ")?;
    let mut at = 0;
    case.trace(|_, reads| {
        reads.position(0, at);
        (1..case.operand_count()).for_each(|size| reads.all(size));
        at += 1;
    })
}

/// The bit offset of each element in memory, in row-major order of the array.
fn places(array: &ArrayShape) -> Checked<Vec<i64>> {
    let bits = i64::from(array.element.bits().ok_or("no element width")?);
    if let Some(layout) = &array.layout {
        ensure(layout.tiles.is_empty(), "tiled layouts are not evaluated")?;
    }
    let order = array.minor_to_major();
    let mut places = Vec::new();
    for_each_index(&array.dims, |index| {
        let (mut place, mut stride) = (0, bits);
        for &dim in &order {
            place += index[dim] * stride;
            stride *= array.dims[dim];
        }
        places.push(place);
    });
    Ok(places)
}

/// The same memory with another shape: the element at the same bits. Sub-byte elements count as packed.
pub(crate) fn bitcast(case: &Case<'_>) -> Checked<Traced> {
    let array = |shape: &'static str, s: &ir::Shape| s.as_array().cloned().ok_or(shape);
    let output = array("the output is not an array", case.output_shape()?)?;
    let operand = array("the operand is not an array", case.operand_shape(0)?)?;
    case.operand(0)?;
    let (to, from) = (places(&output)?, places(&operand)?);
    let width = |a: &ArrayShape| i64::from(a.element.bits().unwrap_or(0));
    let (wide, narrow) = (width(&output), width(&operand));
    ensure(to.len() as i64 * wide == from.len() as i64 * narrow, "a bitcast between different sizes")?;
    let mut at = 0;
    case.trace(|_, reads| {
        let place = to[at];
        for (source, &start) in from.iter().enumerate() {
            if start < place + wide && place < start + narrow {
                reads.position(0, source);
            }
        }
        at += 1;
    })
}

/// An element of a tuple; `leaf` is the number of its first array there.
pub(crate) fn leaf_of_operand(case: &Case<'_>, operand: usize, leaf: usize) -> Checked<Traced> {
    let dims = case.output()?;
    case.trace(|index, reads| {
        let position = position(dims, index).unwrap_or_default();
        reads.leaf(operand, leaf, case.setting.replica, position);
    })
}
