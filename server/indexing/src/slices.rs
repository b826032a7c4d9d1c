//! Parts of arrays: slice, pad, concatenate, dynamic-slice, dynamic-update-slice.

use indexing_map::{Expr, IndexingMap, Interval, Variable};
use ir::{AttributeKey, Op};

use crate::Rules;
use crate::checks::{self, Checked, Reason, ensure, scalar, variables};
use crate::operand_indexing::{OpIndexing, OperandIndexing, RuntimeSource, RuntimeVariable};

/// Sizes of output and operand.
type Ends<'a> = (&'a [i64], &'a [i64]);

/// Start and stride per dimension. Shapes: output dimension i has elements `start + k * stride` of operand
/// dimension i.
fn strides(op: &Op) -> Checked<(Ends<'_>, Vec<(i64, i64)>)> {
    let (output, operand) = (checks::output(op, 0)?, checks::operand(op, 0)?);
    let slices = op.attributes.triples(AttributeKey::Slice);
    ensure(slices.len() == operand.len(), "slice does not name one range per dimension")?;
    ensure(output.len() == operand.len(), "output and operand differ in rank")?;
    let mut strides = Vec::with_capacity(slices.len());
    for (i, &[start, _, stride]) in slices.iter().enumerate() {
        ensure(stride > 0, format!("the stride in dimension {i} is not positive"))?;
        let last = (output[i] - 1).max(0).checked_mul(stride).and_then(|n| n.checked_add(start));
        let inside = start >= 0 && (output[i] == 0 || last.is_some_and(|last| last < operand[i]));
        ensure(inside, format!("the slice leaves the operand in dimension {i}"))?;
        strides.push((start, stride));
    }
    Ok(((output, operand), strides))
}

/// `d * stride + start`. Source: `ComputeOutputToInputSliceOpIndexing`.
pub(crate) fn slice(op: &Op) -> Checked<OpIndexing> {
    let ((output, _), strides) = strides(op)?;
    let results = strides.iter().enumerate().map(|(i, &(start, stride))| Expr::var(i) * stride + start);
    Ok(OpIndexing::of([IndexingMap::from_sizes(output, &[], results.collect()).into()]))
}

/// `(d - start) floordiv stride` if the slice contains the element. Source:
/// `ComputeInputToOutputSliceOpIndexing`.
pub(crate) fn slice_input_to_output(op: &Op) -> Checked<OpIndexing> {
    let ((output, operand), strides) = strides(op)?;
    let moved = |i: usize, start: i64| Expr::var(i) + -start;
    let results =
        strides.iter().enumerate().map(|(i, &(start, stride))| moved(i, start).floor_div(stride)).collect();
    let mut map = IndexingMap::from_sizes(operand, &[], results);
    for (i, &(start, stride)) in strides.iter().enumerate() {
        let last = start + (output[i] - 1).max(0) * stride;
        let bounds = if output[i] == 0 { Interval::EMPTY } else { Interval::new(start, last) };
        map.add_constraint(Expr::var(i), bounds);
        map.add_constraint(moved(i, start).modulo(stride), Interval::point(0));
    }
    Ok(OpIndexing::of([map.into()]))
}

/// Maps the padded array to the operand: `(d - low) floordiv (interior + 1)` where that is an element of the
/// operand.
/// The domain is a bound on the dimension variables and, with interior padding, a constraint.
/// Source: `ComputePadIndexingMap`.
pub(crate) fn unpad(padded: &[i64], padding: &[[i64; 3]]) -> Checked<IndexingMap> {
    let too_large = || Reason::from("padding beyond 64 bits");
    let mut dims = Vec::with_capacity(padded.len());
    let mut results = Vec::with_capacity(padded.len());
    let mut constraints = Vec::new();
    for (i, (&size, &[low, high, interior])) in padded.iter().zip(padding).enumerate() {
        ensure(interior >= 0, "interior padding is negative")?;
        let step = interior.checked_add(1).ok_or_else(too_large)?;
        let moved = Expr::var(i) + low.checked_neg().ok_or_else(too_large)?;
        let last = (size - 1).checked_sub(high).ok_or_else(too_large)?;
        dims.push(Variable::new(low.max(0), last.min(size - 1)));
        if step > 1 {
            constraints.push(moved.clone().modulo(step));
        }
        results.push(moved.floor_div(step));
    }
    let mut map = IndexingMap::new(dims, Vec::new(), Vec::new(), results);
    for constraint in constraints {
        map.add_constraint(constraint, Interval::point(0));
    }
    Ok(map)
}

/// The size of a dimension after padding.
pub(crate) fn padded_size(size: i64, [low, high, interior]: [i64; 3]) -> Checked<i64> {
    let gaps = (size - 1).max(0).checked_mul(interior);
    let padded = gaps.and_then(|n| n.checked_add(size)?.checked_add(low)?.checked_add(high));
    padded.map(|n| n.max(0)).ok_or_else(|| "padded sizes beyond 64 bits".into())
}

fn padding(op: &Op) -> Checked<(Ends<'_>, &[[i64; 3]])> {
    let (output, operand) = (checks::output(op, 0)?, checks::operand(op, 0)?);
    let padding = op.attributes.triples(AttributeKey::Padding);
    let rank = operand.len();
    ensure(padding.len() == rank && output.len() == rank, "padding does not name one entry per dimension")?;
    ensure(padding.iter().all(|p| p[2] >= 0), "interior padding is negative")?;
    for (i, (&size, &padding)) in operand.iter().zip(padding).enumerate() {
        let fits = padded_size(size, padding)? == output[i];
        ensure(fits, format!("the padding does not give the output's size in dimension {i}"))?;
    }
    Ok(((output, operand), padding))
}

/// Reads the operand where the output is not padding, and otherwise the padding value, a condition that XLA's
/// map omits.
/// Source: `ComputeOutputToInputPadOpIndexing`.
pub(crate) fn pad(op: &Op, rules: Rules) -> Checked<OpIndexing> {
    let ((output, operand), padding) = padding(op)?;
    let value = match rules {
        Rules::Xla => OperandIndexing::from(scalar(output))
            .at_most("the value everywhere", "the map does not say where the output is padding"),
        Rules::Exact => padding_value(output, operand, padding)?,
    };
    Ok(OpIndexing::of([unpad(output, padding)?.into(), value]))
}

/// The padding value is read if the index in some dimension is before, after or between the operand's
/// elements.
fn padding_value(output: &[i64], operand: &[i64], padding: &[[i64; 3]]) -> Checked<OperandIndexing> {
    let too_large = || Reason::from("padding beyond 64 bits");
    if operand.contains(&0) {
        return Ok(scalar(output).into());
    }
    let mut outside = Outside::default();
    for (i, (&size, &[low, high, interior])) in operand.iter().zip(padding).enumerate() {
        let step = interior.checked_add(1).ok_or_else(too_large)?;
        let last = (size - 1).checked_mul(step).and_then(|n| n.checked_add(low)).ok_or_else(too_large)?;
        if low > 0 {
            outside.add(Expr::Const(low) - Expr::var(i), low);
        }
        if high > 0 {
            outside.add(Expr::var(i) + last.checked_neg().ok_or_else(too_large)?, high);
        }
        if step > 1 && size > 1 {
            let place = Expr::var(i) + low.checked_neg().ok_or_else(too_large)?;
            outside.add(place.modulo(step), interior);
        }
    }
    Ok(match outside.constraint() {
        None => OperandIndexing::unread(output.len(), 0, "there is no padding"),
        Some((expr, interval)) => {
            let mut map = scalar(output);
            map.add_constraint(expr, interval);
            map.into()
        }
    })
}

/// The indices outside of a box in at least one dimension, as one constraint: the maximum of several
/// expressions, each of which is positive outside one side, is positive.
#[derive(Default)]
struct Outside {
    parts: Vec<(Expr, i64)>,
}

impl Outside {
    /// Adds a side: `expr` is at most `largest`.
    fn add(&mut self, expr: Expr, largest: i64) {
        self.parts.push((expr, largest));
    }

    /// The constraint; `None` if the box has no sides.
    fn constraint(self) -> Option<(Expr, Interval)> {
        let largest = self.parts.iter().map(|(_, largest)| *largest).max()?;
        let expr = self.parts.into_iter().map(|(expr, _)| expr).reduce(Expr::max)?;
        Some((expr, Interval::new(1, largest)))
    }
}

/// `d * (interior + 1) + low` if that is inside the output. XLA has no such map.
pub(crate) fn pad_input_to_output(op: &Op, input_id: usize) -> Checked<OpIndexing> {
    let ((output, operand), padding) = padding(op)?;
    ensure(input_id == 0, "the padding value's map is by its inverse")?;
    let place = |(i, p): (usize, &[i64; 3])| Expr::var(i) * Expr::from(p[2].saturating_add(1)) + p[0];
    let results: Vec<Expr> = padding.iter().enumerate().map(place).collect();
    let mut map = IndexingMap::from_sizes(operand, &[], results.clone());
    for (result, &size) in results.into_iter().zip(output) {
        map.add_constraint(result, Interval::from_size(size));
    }
    Ok(OpIndexing::of([map.into()]))
}

/// Per operand, its start in the concatenated dimension.
fn offsets(op: &Op) -> Checked<(&[i64], usize, Vec<i64>)> {
    let output = checks::output(op, 0)?;
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    let mut offsets = Vec::with_capacity(op.operand_shapes.len());
    let mut offset = 0i64;
    for i in 0..op.operand_shapes.len() {
        let operand = checks::operand(op, i)?;
        ensure(operand.len() == output.len(), format!("operand {i} and the output differ in rank"))?;
        let fits = operand.iter().zip(output).enumerate().all(|(j, (a, b))| j == dim || a == b);
        ensure(fits, format!("operand {i} and the output differ in more than dimension {dim}"))?;
        offsets.push(offset);
        offset = offset.checked_add(operand[dim]).ok_or("sizes beyond 64 bits")?;
    }
    ensure(offset == output[dim], "the operands do not add up to the output")?;
    Ok((output, dim, offsets))
}

/// `d - offset`, with the domain as a bound on that dimension. Source:
/// `ComputeOutputToInputConcatenateOpIndexing`.
pub(crate) fn concatenate(op: &Op) -> Checked<OpIndexing> {
    let (output, dim, offsets) = offsets(op)?;
    Ok(OpIndexing::of(offsets.iter().enumerate().map(|(i, &offset)| {
        let mut dims = variables(output);
        let size = op.operand_shapes[i].dims()[dim];
        dims[dim] = Variable::new(offset, offset + size - 1);
        let results = (0..output.len()).map(|j| Expr::var(j) + if j == dim { -offset } else { 0 });
        IndexingMap::new(dims, Vec::new(), Vec::new(), results.collect()).into()
    })))
}

/// `d + offset`. Source: `ComputeInputToOutputConcatenateOpIndexing`.
pub(crate) fn concatenate_input_to_output(op: &Op, input_id: usize) -> Checked<OpIndexing> {
    let (_, dim, offsets) = offsets(op)?;
    let operand = checks::operand(op, input_id)?;
    let results = (0..operand.len()).map(|j| Expr::var(j) + if j == dim { offsets[input_id] } else { 0 });
    Ok(OpIndexing::of([IndexingMap::from_sizes(operand, &[], results.collect()).into()]))
}

/// Runtime offsets of a window of `slice` in `whole`, from the operands from `first` on: a scalar per
/// dimension, or (the old form) one vector.
struct Offsets {
    bounds: Vec<Variable>,
    sources: Vec<RuntimeVariable>,
    accesses: Vec<OperandIndexing>,
}

fn runtime_offsets(op: &Op, output: &[i64], whole: &[i64], slice: &[i64], first: usize) -> Checked<Offsets> {
    let rank = whole.len();
    ensure(slice.len() == rank, "the slice and the array differ in rank")?;
    let mut bounds = Vec::with_capacity(rank);
    for (i, (&whole, &slice)) in whole.iter().zip(slice).enumerate() {
        ensure(slice <= whole, format!("the slice is larger than the array in dimension {i}"))?;
        bounds.push(Variable::new(0, whole - slice));
    }
    let given = op.operand_shapes.len().saturating_sub(first);
    if given == 1 && checks::operand(op, first)?.len() == 1 {
        let length = checks::operand(op, first)?[0];
        ensure(length == rank as i64, "the index vector does not have one entry per dimension")?;
        let sources = (0..rank).map(|i| RuntimeVariable {
            source: RuntimeSource::Operand(first),
            map: IndexingMap::from_sizes(output, &[], vec![Expr::Const(i as i64)]),
            feasible: bounds[i].bounds,
        });
        let sources = sources.collect();
        let vector = IndexingMap::from_sizes(output, &[length], vec![Expr::var(output.len())]);
        return Ok(Offsets { bounds, sources, accesses: vec![vector.into()] });
    }
    ensure(given == rank, format!("{given} indices for {rank} dimensions"))?;
    for i in first..first + given {
        ensure(checks::operand(op, i)?.is_empty(), format!("index operand {i} is no scalar"))?;
    }
    let sources = bounds.iter().zip(first..).map(|(variable, i)| RuntimeVariable {
        source: RuntimeSource::Operand(i),
        map: scalar(output),
        feasible: variable.bounds,
    });
    let sources: Vec<RuntimeVariable> = sources.collect();
    let accesses = vec![scalar(output).into(); given];
    Ok(Offsets { bounds, sources, accesses })
}

/// `d + rt`, with `rt` in `[0, whole - slice]`: XLA clamps the offsets so that the slice stays inside.
/// Source: `ComputeOutputToInputDynamicSliceOpIndexing`.
pub(crate) fn dynamic_slice(op: &Op) -> Checked<OpIndexing> {
    let (output, whole) = (checks::output(op, 0)?, checks::operand(op, 0)?);
    let Offsets { bounds, sources, accesses } = runtime_offsets(op, output, whole, output, 1)?;
    let rank = output.len();
    let results = (0..rank).map(|i| Expr::var(i) + Expr::var(rank + i)).collect();
    let map = IndexingMap::new(variables(output), Vec::new(), bounds, results);
    let operand = OperandIndexing { runtime_variables: sources, ..OperandIndexing::from(map) };
    Ok(OpIndexing::of([operand].into_iter().chain(accesses)))
}

/// The operand at the output's index, the update at `d - rt`. XLA's maps omit the part of the output for
/// which each is read; [`Rules::Exact`] adds it. Source: `ComputeOutputToInputDynamicUpdateSliceOpIndexing`.
pub(crate) fn dynamic_update_slice(op: &Op, rules: Rules) -> Checked<OpIndexing> {
    let (output, whole, update) = (checks::output(op, 0)?, checks::operand(op, 0)?, checks::operand(op, 1)?);
    ensure(output == whole, "the output's sizes are not the operand's")?;
    let Offsets { bounds, sources, accesses } = runtime_offsets(op, output, whole, update, 2)?;
    let rank = output.len();
    let results: Vec<Expr> = (0..rank).map(|i| Expr::var(i) - Expr::var(rank + i)).collect();
    let mut inside = IndexingMap::new(variables(output), Vec::new(), bounds.clone(), results.clone());
    if rules == Rules::Xla {
        let kept = OperandIndexing::from(IndexingMap::identity(output))
            .at_most("the whole operand", "the map does not say where the update is");
        let inside = OperandIndexing { runtime_variables: sources, ..OperandIndexing::from(inside) }
            .at_most("the update everywhere", "the map does not say where the update is");
        return Ok(OpIndexing::of([kept, inside].into_iter().chain(accesses)));
    }
    let mut outside = Outside::default();
    for (i, (result, &size)) in results.into_iter().zip(update).enumerate() {
        if size < whole[i] {
            outside.add(-result.clone(), whole[i] - size);
            outside.add(result.clone() + (1 - size), whole[i] - size);
        }
        inside.add_constraint(result, Interval::from_size(size));
    }
    let kept = if update.contains(&0) {
        IndexingMap::identity(output).into()
    } else if let Some((expr, interval)) = outside.constraint() {
        let results = (0..rank).map(Expr::var).collect();
        let mut map = IndexingMap::new(variables(output), Vec::new(), bounds, results);
        map.add_constraint(expr, interval);
        OperandIndexing { runtime_variables: sources.clone(), ..OperandIndexing::from(map) }
    } else {
        OperandIndexing::unread(rank, rank, "the update is as large as the operand")
    };
    let inside = OperandIndexing { runtime_variables: sources, ..OperandIndexing::from(inside) };
    Ok(OpIndexing::of([kept, inside].into_iter().chain(accesses)))
}
