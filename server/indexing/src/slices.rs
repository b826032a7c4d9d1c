//! Parts of arrays: slice, pad, concatenate, dynamic-slice, dynamic-update-slice.

use indexing_map::{Expr, IndexingMap, Interval, Variable};
use ir::{AttributeKey, Op};

use crate::Rules;
use crate::checks::{self, Checked, Reason, ensure};
use crate::extents::{self, Domain, Extents};
use crate::operand_indexing::{OpIndexing, OperandIndexing, RuntimeSource};

/// The output's extents; start and stride per dimension. Shapes: output dimension i has elements
/// `start + k * stride` of operand dimension i.
fn strides(op: &Op) -> Checked<(Extents, Vec<(i64, i64)>)> {
    let (output, operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    let slices = op.attributes.triples(AttributeKey::Slice);
    ensure(slices.len() == operand.len(), "slice does not name one range per dimension")?;
    ensure(output.len() == operand.len(), "output and operand differ in rank")?;
    let mut strides = Vec::with_capacity(slices.len());
    for (i, &[start, _, stride]) in slices.iter().enumerate() {
        ensure(stride > 0, format!("the stride in dimension {i} is not positive"))?;
        let inside = match (output[i].as_const(), operand[i].as_const()) {
            (Some(size), Some(whole)) if size > 0 => {
                let last = (size - 1).checked_mul(stride).and_then(|n| n.checked_add(start));
                last.is_some_and(|last| last < whole)
            }
            _ => true,
        };
        if start < 0 || !inside {
            return Err(format!("the slice leaves the operand in dimension {i}").into());
        }
        strides.push((start, stride));
    }
    Ok((output, strides))
}

/// `d * stride + start`. Source: `ComputeOutputToInputSliceOpIndexing`.
pub(crate) fn slice(op: &Op) -> Checked<OpIndexing> {
    let (output, strides) = strides(op)?;
    let results = strides.iter().enumerate().map(|(i, &(start, stride))| Expr::var(i) * stride + start);
    Ok(OpIndexing::of([Domain::new(op, 0, &output).access(results.collect())]))
}

/// `(d - start) floordiv stride` if the slice contains the element. Source:
/// `ComputeInputToOutputSliceOpIndexing`.
pub(crate) fn slice_input_to_output(op: &Op) -> Checked<OpIndexing> {
    let (output, operand) = (checks::output(op, 0)?, checks::operand(op, 0)?);
    let (_, strides) = strides(op)?;
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

/// Output's and operand's extents, and the padding. An output extent that is unknown is that of the padded operand.
fn padding(op: &Op) -> Checked<(Extents, Extents, &[[i64; 3]])> {
    let (mut output, operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    let padding = op.attributes.triples(AttributeKey::Padding);
    let rank = operand.len();
    ensure(padding.len() == rank && output.len() == rank, "padding does not name one entry per dimension")?;
    ensure(padding.iter().all(|p| p[2] >= 0), "interior padding is negative")?;
    for (i, (size, &padding)) in operand.iter().zip(padding).enumerate() {
        let padded = match size.as_const() {
            Some(size) => Expr::Const(padded_size(size, padding)?),
            None => {
                let [low, high, interior] = padding;
                size.clone() + (size.clone() - 1).max(0) * interior + low + high
            }
        };
        let misfit = || Reason::from(format!("the padding does not give the output's size in dimension {i}"));
        output[i] = extents::shared(&padded, &output[i]).ok_or_else(misfit)?;
    }
    Ok((output, operand, padding))
}

/// Reads the operand where the output is not padding, and otherwise the padding value, a condition that XLA's
/// map omits.
/// Source: `ComputeOutputToInputPadOpIndexing`.
pub(crate) fn pad(op: &Op, rules: Rules) -> Checked<OpIndexing> {
    let (output, operand, padding) = padding(op)?;
    let value = match rules {
        Rules::Xla => Domain::new(op, 0, &output)
            .access(Vec::new())
            .at_most("the value everywhere", "the map does not say where the output is padding"),
        Rules::Exact => padding_value(op, &output, &operand, padding)?,
    };
    let sizes: Option<Vec<i64>> = output.iter().map(Expr::as_const).collect();
    let inside = match sizes.filter(|_| extents::are_known(&operand)) {
        Some(sizes) => unpad(&sizes, padding)?.into(),
        None => {
            let mut domain = Domain::new(op, 0, &output);
            let mut results = Vec::with_capacity(output.len());
            for (i, (size, &[low, _, interior])) in operand.iter().zip(padding).enumerate() {
                let distance = Expr::var(i) - low;
                let step = interior.checked_add(1).ok_or("padding beyond 64 bits")?;
                let place = distance.clone().floor_div(step);
                domain.constrain(distance.modulo(step), Interval::point(0));
                domain.within(place.clone(), size);
                results.push(place);
            }
            domain.access(results)
        }
    };
    Ok(OpIndexing::of([inside, value]))
}

/// The padding value is read if the index in some dimension is before, after or between the operand's
/// elements.
fn padding_value(
    op: &Op,
    output: &[Expr],
    operand: &[Expr],
    padding: &[[i64; 3]],
) -> Checked<OperandIndexing> {
    let too_large = || Reason::from("padding beyond 64 bits");
    let mut domain = Domain::new(op, 0, output);
    if operand.contains(&Expr::ZERO) {
        return Ok(domain.access(Vec::new()));
    }
    let mut outside = Outside::default();
    for (i, (size, &[low, high, interior])) in operand.iter().zip(padding).enumerate() {
        let step = interior.checked_add(1).ok_or_else(too_large)?;
        if low > 0 {
            outside.add(Expr::Const(low) - Expr::var(i), low);
        }
        match size.as_const() {
            Some(size) => {
                let last = (size - 1).checked_mul(step).and_then(|n| n.checked_add(low));
                let last = last.ok_or_else(too_large)?;
                if high > 0 {
                    outside.add(Expr::var(i) + last.checked_neg().ok_or_else(too_large)?, high);
                }
            }
            // An operand without elements is padding alone.
            None => outside.add(Expr::var(i) - low - (size.clone() - 1) * step, i64::MAX),
        }
        if step > 1 && *size != Expr::Const(1) {
            let place = Expr::var(i) + low.checked_neg().ok_or_else(too_large)?;
            outside.add(place.modulo(step), interior);
        }
    }
    Ok(match outside.constraint() {
        None => OperandIndexing::unread(output.len(), 0, "there is no padding"),
        Some((expr, interval)) => {
            domain.constrain(expr, interval);
            domain.access(Vec::new())
        }
    })
}

/// The indices outside of a box in at least one dimension, as one constraint: the maximum of several
/// expressions, each of which is positive outside one side, is positive.
#[derive(Default)]
pub(crate) struct Outside {
    parts: Vec<(Expr, i64)>,
}

impl Outside {
    /// Adds a side: `expr` is at most `largest`.
    pub(crate) fn add(&mut self, expr: Expr, largest: i64) {
        self.parts.push((expr, largest));
    }

    /// The constraint; `None` if the box has no sides.
    pub(crate) fn constraint(self) -> Option<(Expr, Interval)> {
        let largest = self.parts.iter().map(|(_, largest)| *largest).max()?;
        let expr = self.parts.into_iter().map(|(expr, _)| expr).reduce(Expr::max)?;
        Some((expr, Interval::new(1, largest)))
    }
}

/// `d * (interior + 1) + low` if that is inside the output. XLA has no such map.
pub(crate) fn pad_input_to_output(op: &Op, input_id: usize) -> Checked<OpIndexing> {
    let (output, operand, padding) = padding(op)?;
    ensure(input_id == 0, "the padding value's map is by its inverse")?;
    let place = |(i, p): (usize, &[i64; 3])| Expr::var(i) * Expr::from(p[2].saturating_add(1)) + p[0];
    let results: Vec<Expr> = padding.iter().enumerate().map(place).collect();
    let mut domain = Domain::new(op, 0, &operand);
    for (result, size) in results.iter().zip(&output) {
        domain.within(result.clone(), size);
    }
    Ok(OpIndexing::of([domain.access(results)]))
}

/// The operands of a concatenation: the output's extents, the dimension, and per operand its start and extent there.
struct Concatenated {
    output: Extents,
    dim: usize,
    parts: Vec<(Expr, Expr)>,
}

fn concatenated(op: &Op) -> Checked<Concatenated> {
    let mut output = extents::output(op, 0)?;
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    let mut operands = Vec::with_capacity(op.operand_shapes.len());
    for i in 0..op.operand_shapes.len() {
        let operand = extents::operand(op, i)?;
        ensure(operand.len() == output.len(), format!("operand {i} and the output differ in rank"))?;
        operands.push(operand);
    }
    for j in (0..output.len()).filter(|&j| j != dim) {
        for (i, operand) in operands.iter().enumerate().rev() {
            let misfit = || format!("operand {i} and the output differ in more than dimension {dim}");
            output[j] = extents::shared(&operand[j], &output[j]).ok_or_else(|| Reason::from(misfit()))?;
        }
    }
    let mut parts = Vec::with_capacity(operands.len());
    let mut end = Expr::ZERO;
    for operand in &operands {
        parts.push((end.clone(), operand[dim].clone()));
        end = extents::sum(end, operand[dim].clone())?;
    }
    output[dim] = extents::shared(&end, &output[dim]).ok_or("the operands do not add up to the output")?;
    Ok(Concatenated { output, dim, parts })
}

/// `d - offset`, with the domain as a bound on that dimension. Source:
/// `ComputeOutputToInputConcatenateOpIndexing`.
pub(crate) fn concatenate(op: &Op) -> Checked<OpIndexing> {
    let Concatenated { output, dim, parts } = concatenated(op)?;
    Ok(OpIndexing::of(parts.into_iter().map(|(start, size)| {
        let mut domain = Domain::new(op, 0, &output);
        let place = Expr::var(dim) - start.clone();
        match (start.as_const(), size.as_const()) {
            (Some(start), Some(size)) => {
                domain.constrain(Expr::var(dim), Interval::new(start, start + size - 1));
            }
            _ => domain.within(place.clone(), &size),
        }
        let results = (0..output.len()).map(|j| if j == dim { place.clone() } else { Expr::var(j) });
        domain.access(results.collect())
    })))
}

/// `d + offset`. Source: `ComputeInputToOutputConcatenateOpIndexing`.
pub(crate) fn concatenate_input_to_output(op: &Op, input_id: usize) -> Checked<OpIndexing> {
    let Concatenated { dim, parts, .. } = concatenated(op)?;
    let operand = extents::operand(op, input_id)?;
    let start = |j: usize| if j == dim { parts[input_id].0.clone() } else { Expr::ZERO };
    let results = (0..operand.len()).map(|j| Expr::var(j) + start(j)).collect();
    Ok(OpIndexing::of([Domain::new(op, 0, &operand).access(results)]))
}

/// A map whose runtime variables are the offsets of a window of `slice` in `whole`.
struct Offsets<'a> {
    domain: Domain<'a>,
    offsets: Vec<Expr>,
    /// Those to the operands that hold the offsets.
    accesses: Vec<OperandIndexing>,
}

/// The operands from `first` on hold the offsets: a scalar per dimension, or (the old form) one vector.
fn runtime_offsets<'a>(
    op: &'a Op,
    output: &[Expr],
    whole: &[Expr],
    slice: &[Expr],
    first: usize,
) -> Checked<Offsets<'a>> {
    let rank = whole.len();
    ensure(slice.len() == rank, "the slice and the array differ in rank")?;
    let mut bounds = Vec::with_capacity(rank);
    for (i, (whole, slice)) in whole.iter().zip(slice).enumerate() {
        bounds.push(match (whole.as_const(), slice.as_const()) {
            (Some(whole), Some(slice)) => {
                ensure(slice <= whole, format!("the slice is larger than the array in dimension {i}"))?;
                Interval::new(0, whole - slice)
            }
            _ => Interval::new(0, i64::MAX),
        });
    }
    let mut domain = Domain::new(op, 0, output);
    let given = op.operand_shapes.len().saturating_sub(first);
    if given == 1 && extents::operand(op, first)?.len() == 1 {
        let length = extents::operand(op, first)?[0].clone();
        let fits = extents::shared(&length, &Expr::Const(rank as i64)).is_some();
        ensure(fits, "the index vector does not have one entry per dimension")?;
        let mut vector = domain.clone();
        let all = vector.range(&length);
        let accesses = vec![vector.access(vec![all])];
        let offsets = (0..rank).map(|i| {
            let index = vec![Expr::Const(i as i64)];
            domain.runtime(RuntimeSource::Operand(first), index, bounds[i], bounds[i])
        });
        let offsets = offsets.collect();
        return Ok(Offsets { domain, offsets, accesses });
    }
    ensure(given == rank, format!("{given} indices for {rank} dimensions"))?;
    for i in first..first + given {
        ensure(extents::operand(op, i)?.is_empty(), format!("index operand {i} is no scalar"))?;
    }
    let accesses = vec![domain.access(Vec::new()); given];
    let offsets = bounds
        .iter()
        .zip(first..)
        .map(|(&bounds, i)| domain.runtime(RuntimeSource::Operand(i), Vec::new(), bounds, bounds));
    let offsets = offsets.collect();
    Ok(Offsets { domain, offsets, accesses })
}

/// `d + rt`, with `rt` in `[0, whole - slice]`: XLA clamps the offsets so that the slice stays inside.
/// Source: `ComputeOutputToInputDynamicSliceOpIndexing`.
pub(crate) fn dynamic_slice(op: &Op) -> Checked<OpIndexing> {
    let (output, whole) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    let Offsets { domain, offsets, accesses } = runtime_offsets(op, &output, &whole, &output, 1)?;
    let results = offsets.into_iter().enumerate().map(|(i, offset)| Expr::var(i) + offset).collect();
    Ok(OpIndexing::of([domain.access(results)].into_iter().chain(accesses)))
}

/// The operand at the output's index, the update at `d - rt`. XLA's maps omit the part of the output for
/// which each is read; [`Rules::Exact`] adds it. Source: `ComputeOutputToInputDynamicUpdateSliceOpIndexing`.
pub(crate) fn dynamic_update_slice(op: &Op, rules: Rules) -> Checked<OpIndexing> {
    let (output, whole) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    let update = extents::operand(op, 1)?;
    let output = extents::all_shared(&whole, &output).ok_or("the output's sizes are not the operand's")?;
    let Offsets { domain, offsets, accesses } = runtime_offsets(op, &output, &output, &update, 2)?;
    let rank = output.len();
    let results: Vec<Expr> =
        offsets.into_iter().enumerate().map(|(i, offset)| Expr::var(i) - offset).collect();
    let identity = || (0..rank).map(Expr::var).collect::<Vec<_>>();
    let everywhere = || Domain::new(op, 0, &output).access(identity());
    if rules == Rules::Xla {
        let kept = everywhere().at_most("the whole operand", "the map does not say where the update is");
        let inside = domain
            .access(results)
            .at_most("the update everywhere", "the map does not say where the update is");
        return Ok(OpIndexing::of([kept, inside].into_iter().chain(accesses)));
    }
    let (mut inside, mut kept) = (domain.clone(), domain);
    let mut outside = Outside::default();
    for (i, (result, size)) in results.iter().zip(&update).enumerate() {
        let left = match (output[i].as_const(), size.as_const()) {
            (Some(whole), Some(size)) => whole - size,
            _ => i64::MAX,
        };
        if left > 0 {
            outside.add(-result.clone(), left);
            outside.add(result.clone() + (Expr::Const(1) - size.clone()), left);
        }
        inside.within(result.clone(), size);
    }
    let kept = if update.contains(&Expr::ZERO) {
        everywhere()
    } else if let Some((expr, interval)) = outside.constraint() {
        kept.constrain(expr, interval);
        kept.access(identity())
    } else {
        OperandIndexing::unread(rank, rank, "the update is as large as the operand")
    };
    Ok(OpIndexing::of([kept, inside.access(results)].into_iter().chain(accesses)))
}
