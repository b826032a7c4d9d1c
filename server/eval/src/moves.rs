//! Ops that move elements, with places from shapes and attributes, or from index operands for the dynamic
//! ones.

use std::rc::Rc;

use ir::{AttributeKey, ElementTypeExt, Opcode};

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::literals;
use super::positions::{affine, array, count, distinct, each_index, from_memory, memory_strides, strides};
use super::types::Kind;
use crate::checks::{Checked, dimensions, ensure};

type Answer = Checked<Column>;

pub(crate) fn constant(asked: &Asked<'_>) -> Answer {
    let positions: Vec<u32> = asked.batch.positions.iter().map(|&p| p as u32).collect();
    Ok(literals::constant(asked.op)?.pick(&positions))
}

pub(crate) fn iota(asked: &Asked<'_>) -> Answer {
    let output = array(&asked.op.shape)?;
    let dim = asked.op.attributes.int(AttributeKey::IotaDimension).unwrap_or(0);
    let dim = dimensions(&[dim], output.dims.len())?[0];
    let kind = kind_of(&asked.op.shape)?;
    let mut values = Vec::with_capacity(asked.batch.positions.len());
    each_index(&asked.batch.positions, &output.dims, |_, index| values.push(index[dim]));
    let reals = values.iter().map(|&v| kind.round(v as f64));
    Ok(match kind {
        _ if kind.is_integral() => Column::int(kind, values.iter().map(|&v| kind.wrap(v)).collect()),
        Kind::Complex { .. } => Column::complex(kind, reals.map(|v| [v, 0.0]).collect()),
        _ => Column::real(kind, reals.collect()),
    })
}

/// A transpose, reverse or slice.
pub(crate) fn strided(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    taken(evaluator, asked, 0, places(asked)?)
}

pub(crate) fn reshaped(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let same = count(array(asked.operand_shape(0)?)?) == count(array(&asked.op.shape)?);
    ensure(same && asked.op.operand_shapes.len() == 1, "the element counts differ")?;
    taken(evaluator, asked, 0, asked.batch.positions.clone())
}

/// Elements of an operand at places that are distinct, or nearly.
fn taken(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>, operand: usize, from: Vec<i64>) -> Answer {
    let column = evaluator.at(asked.frame, asked.operand(operand)?, 0, from)?;
    Ok(Rc::unwrap_or_clone(column))
}

/// Elements of an operand at places that may repeat: each is evaluated once.
pub(crate) fn shared(
    evaluator: &mut Evaluator<'_>,
    asked: &Asked<'_>,
    operand: usize,
    from: &[i64],
) -> Answer {
    let (different, numbers) = distinct(from);
    let column = evaluator.at(asked.frame, asked.operand(operand)?, 0, different)?;
    Ok(column.pick(&numbers))
}

pub(crate) fn broadcast(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let output = array(&asked.op.shape)?;
    let operand = array(asked.operand_shape(0)?)?;
    let dims = dimensions(asked.op.attributes.ints(AttributeKey::Dimensions), output.dims.len())?;
    ensure(dims.len() == operand.dims.len(), "dimensions does not fit the operand")?;
    if operand.dims.is_empty() {
        let one = evaluator.scalar(asked.frame, asked.operand(0)?)?;
        return Ok(one.pick(&vec![0; asked.batch.positions.len()]));
    }
    let mut steps = vec![0; output.dims.len()];
    for ((&dim, stride), &size) in dims.iter().zip(strides(&operand.dims)).zip(&operand.dims) {
        // A dimension of size 1 is repeated.
        steps[dim] += if size == 1 { 0 } else { stride };
    }
    let from = affine(&asked.batch.positions, &output.dims, 0, &steps);
    shared(evaluator, asked, 0, &from)
}

/// The operand positions of a transpose, reverse or slice.
fn places(asked: &Asked<'_>) -> Checked<Vec<i64>> {
    let output = array(&asked.op.shape)?;
    let operand = array(asked.operand_shape(0)?)?;
    let own = strides(&operand.dims);
    let rank = operand.dims.len();
    ensure(output.dims.len() == rank, "output and operand differ in rank")?;
    let (mut base, mut steps) = (0, own.clone());
    match asked.op.opcode {
        Opcode::Transpose => {
            let dims = dimensions(asked.op.attributes.ints(AttributeKey::Dimensions), rank)?;
            ensure(dims.len() == rank, "dimensions is not a permutation")?;
            steps = dims.iter().map(|&dim| own[dim]).collect();
        }
        Opcode::Reverse => {
            for dim in dimensions(asked.op.attributes.ints(AttributeKey::Dimensions), rank)? {
                base += (operand.dims[dim] - 1) * own[dim];
                steps[dim] = -own[dim];
            }
        }
        _ => {
            let slices = asked.op.attributes.triples(AttributeKey::Slice);
            let fits = slices.len() == rank
                && slices.iter().zip(&operand.dims).all(|(s, &size)| s[0] >= 0 && s[1] <= size && s[2] > 0);
            ensure(fits, "slice does not fit the operand")?;
            for (dim, slice) in slices.iter().enumerate() {
                base += slice[0] * own[dim];
                steps[dim] = own[dim].saturating_mul(slice[2].min(operand.dims[dim].max(1)));
            }
        }
    }
    Ok(affine(&asked.batch.positions, &output.dims, base, &steps))
}

/// A shuffle, which rotates left by one shift per listed dimension.
pub(crate) fn rotated(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let attributes = &asked.op.attributes;
    let mode = attributes.text(AttributeKey::Mode).unwrap_or_default();
    ensure(mode == "rotate", format!("the mode {mode} of a shuffle is not known"))?;
    let output = array(&asked.op.shape)?;
    let operand = array(asked.operand_shape(0)?)?;
    ensure(output.dims == operand.dims, "the output's sizes are not the operand's")?;
    let dims = dimensions(attributes.ints(AttributeKey::Dimensions), output.dims.len())?;
    let shifts = attributes.ints(AttributeKey::Shifts);
    ensure(shifts.len() == dims.len(), "shifts does not have a number per dimension")?;
    let own = strides(&operand.dims);
    let mut from = Vec::with_capacity(asked.batch.positions.len());
    let positions = &asked.batch.positions;
    each_index(positions, &output.dims, |i, index| {
        let moved = dims.iter().zip(shifts).map(|(&dim, &shift)| {
            let size = operand.dims[dim];
            let shift = shift.rem_euclid(size);
            // Avoids a sum beyond the size.
            let by = if index[dim] >= size - shift { shift - size } else { shift };
            by * own[dim]
        });
        from.push(positions[i] + moved.sum::<i64>());
    });
    taken(evaluator, asked, 0, from)
}

/// The same memory with another shape.
pub(crate) fn bitcast(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let output = array(&asked.op.shape)?;
    let operand = array(asked.operand_shape(0)?)?;
    if output.element != operand.element {
        return bitcast_convert(evaluator, asked);
    }
    ensure(count(output) == count(operand), "a bitcast between different sizes")?;
    let tiles = |a: &ir::ArrayShape| a.layout.as_ref().is_some_and(|l| !l.tiles.is_empty());
    ensure(!tiles(output) && !tiles(operand), "tiled layouts are not evaluated")?;
    let places = affine(&asked.batch.positions, &output.dims, 0, &memory_strides(output));
    taken(evaluator, asked, 0, from_memory(&places, operand))
}

/// The same bits as numbers of another kind of equal width. The result is open where the operand has an error
/// and the kinds differ, and for the bits of a computed NaN.
pub(super) fn reinterpreted(column: &Column, to: Kind) -> Column {
    if column.kind == to {
        return column.clone();
    }
    let result = Column::from_bits(to, (0..column.len()).map(|i| column.bits(i)));
    let mut result = super::elementwise::with_doubt(result, column);
    if column.reals().iter().any(|value| value.is_nan()) {
        let mut error = result.error.take().unwrap_or_else(|| vec![0.0; column.len()]);
        for (error, value) in error.iter_mut().zip(column.reals()) {
            if value.is_nan() {
                *error = f64::INFINITY;
            }
        }
        result.error = Some(error);
    }
    result
}

/// The bits as another type. If the width differs, a wide element is a row of narrow ones, lowest first.
pub(crate) fn bitcast_convert(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let output = array(&asked.op.shape)?;
    let operand = array(asked.operand_shape(0)?)?;
    let to = kind_of(&asked.op.shape)?;
    let width = |e: ir::ElementType| i64::from(e.bits().unwrap_or(0));
    let (wide, narrow) = (width(output.element), width(operand.element));
    ensure(wide > 0 && narrow > 0, "no element width")?;
    let mut places = affine(&asked.batch.positions, &output.dims, 0, &memory_strides(output));
    let total = |a: &ir::ArrayShape, bits: i64| count(a).checked_mul(bits);
    ensure(total(output, wide) == total(operand, narrow), "a bitcast between different sizes")?;
    let of = |bits: u128, bits_at: u32| bits >> bits_at;
    if wide == narrow {
        let column = shared(evaluator, asked, 0, &from_memory(&places, operand))?;
        return Ok(reinterpreted(&column, to));
    }
    if wide < narrow {
        let ratio = narrow / wide;
        let parts: Vec<u32> = places.iter().map(|p| (p % ratio * wide) as u32).collect();
        places.iter_mut().for_each(|p| *p /= ratio);
        let column = shared(evaluator, asked, 0, &from_memory(&places, operand))?;
        let bits = (0..column.len()).map(|i| of(column.bits(i), parts[i]) & ((1 << wide) - 1));
        let result = Column::from_bits(to, bits);
        return Ok(super::elementwise::with_doubt(result, &column));
    }
    let ratio = wide / narrow;
    let all: Vec<i64> = places.iter().flat_map(|p| (0..ratio).map(move |k| p * ratio + k)).collect();
    let column = shared(evaluator, asked, 0, &from_memory(&all, operand))?;
    let bits = (0..places.len()).map(|i| {
        let first = i * ratio as usize;
        (0..ratio as usize).fold(0, |bits, k| bits | column.bits(first + k) << (k as i64 * narrow))
    });
    let mut result = Column::from_bits(to, bits);
    if column.error.is_some() {
        let is_sure = |i: usize| (0..ratio as usize).all(|k| column.error_at(i * ratio as usize + k) == 0.0);
        result.error =
            Some((0..places.len()).map(|i| if is_sure(i) { 0.0 } else { f64::INFINITY }).collect());
    }
    Ok(result)
}

/// Interleaves columns of several operands: element i is the next one of operand `choice[i]`.
pub(crate) fn woven(kind: Kind, parts: &[Column], choice: &[usize]) -> Column {
    let mut all = Column::none(kind);
    let mut starts = Vec::with_capacity(parts.len());
    for part in parts {
        starts.push(all.len() as u32);
        all.append(part);
    }
    let indices: Vec<u32> = choice
        .iter()
        .map(|&which| {
            let next = starts[which];
            starts[which] += 1;
            next
        })
        .collect();
    all.pick(&indices)
}

pub(crate) fn concatenate(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let output = array(&asked.op.shape)?;
    let dims = dimensions(asked.op.attributes.ints(AttributeKey::Dimensions), output.dims.len())?;
    let dim = *dims.first().ok_or("dimensions is missing")?;
    let operands: Vec<&ir::ArrayShape> = asked.op.operand_shapes.iter().map(array).collect::<Checked<_>>()?;
    ensure(operands.iter().all(|o| o.dims.len() == output.dims.len()), "the operands' ranks differ")?;
    let own: Vec<Vec<i64>> = operands.iter().map(|o| strides(&o.dims)).collect();
    let mut from = vec![Vec::new(); operands.len()];
    let mut choice = Vec::with_capacity(asked.batch.positions.len());
    let mut is_outside = false;
    each_index(&asked.batch.positions, &output.dims, |_, index| {
        let mut at = index[dim];
        let which = operands.iter().position(|o| {
            let is_inside = at < o.dims[dim];
            at -= if is_inside { 0 } else { o.dims[dim] };
            is_inside
        });
        let Some(which) = which else {
            is_outside = true;
            return;
        };
        let place = index.iter().zip(&own[which]).enumerate();
        from[which]
            .push(place.map(|(d, (&i, stride))| if d == dim { at * stride } else { i * stride }).sum());
        choice.push(which);
    });
    ensure(!is_outside, "the operands are smaller than the output")?;
    let mut parts = Vec::new();
    for (i, from) in from.into_iter().enumerate() {
        parts.push(match from.is_empty() {
            true => Column::none(kind_of(&asked.op.shape)?),
            false => taken(evaluator, asked, i, from)?,
        });
    }
    Ok(woven(kind_of(&asked.op.shape)?, &parts, &choice))
}

/// Puts elements at `low + i * (interior + 1)`; the rest holds the padding value.
pub(crate) fn pad(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Answer {
    let output = array(&asked.op.shape)?;
    let operand = array(asked.operand_shape(0)?)?;
    let padding = asked.op.attributes.triples(AttributeKey::Padding);
    let fits = padding.len() == operand.dims.len()
        && output.dims.len() == operand.dims.len()
        && padding.iter().all(|p| p.iter().all(|n| n.abs() < 1 << 56) && p[2] >= 0);
    ensure(fits, "padding does not fit")?;
    let own = strides(&operand.dims);
    let mut from = Vec::new();
    let mut choice = Vec::with_capacity(asked.batch.positions.len());
    each_index(&asked.batch.positions, &output.dims, |_, index| {
        let mut place = Some(0);
        for (d, &[low, _, interior]) in padding.iter().enumerate() {
            let (at, step) = (index[d] - low, interior + 1);
            let is_covered = at >= 0 && at % step == 0 && at / step < operand.dims[d];
            place = place.filter(|_| is_covered).map(|place| place + at / step * own[d]);
        }
        choice.push(usize::from(place.is_none()));
        from.extend(place);
    });
    let padded = choice.iter().filter(|&&c| c == 1).count();
    let kind = kind_of(&asked.op.shape)?;
    let inside = if from.is_empty() { Column::none(kind) } else { taken(evaluator, asked, 0, from)? };
    let value = match padded {
        0 => Column::none(kind),
        _ => evaluator.scalar(asked.frame, asked.operand(1)?)?.pick(&vec![0; padded]),
    };
    Ok(woven(kind, &[inside, value], &choice))
}
