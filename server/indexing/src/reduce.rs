//! Reductions along whole dimensions: reduce and scan.

use indexing_map::{Expr, IndexingMap, Interval};
use ir::{AttributeKey, Graph, Op, Opcode, is_elementwise};

use crate::Rules;
use crate::checks::{self, Checked, Reason, ensure, scalar};
use crate::extents::{self, Domain, Extents};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

struct Reduce {
    output: Extents,
    input: Extents,
    /// Per input dimension, whether it is reduced.
    is_reduced: Vec<bool>,
    /// Operands `0..inputs` are inputs, the others their init values.
    inputs: usize,
}

fn reduce_parts(op: &Op) -> Checked<Reduce> {
    let count = op.operand_shapes.len();
    ensure(count > 0 && count.is_multiple_of(2), "reduce takes inputs and as many init values")?;
    let (output, mut input) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    let mut is_reduced = vec![false; input.len()];
    for dim in checks::dimensions(op.attributes.ints(AttributeKey::Dimensions), input.len(), "dimensions")? {
        is_reduced[dim] = true;
    }
    for i in 1..count / 2 {
        let same = extents::all_shared(&input, &extents::operand(op, i)?);
        input = same.ok_or_else(|| Reason::from(format!("input {i} has other sizes than input 0")))?;
    }
    let kept = input.iter().zip(&is_reduced).filter(|(_, reduced)| !**reduced).map(|(size, _)| size.clone());
    let output = extents::all_shared(&kept.collect::<Extents>(), &output);
    let output = output.ok_or("the output's sizes are not those of the kept dimensions")?;
    Ok(Reduce { output, input, is_reduced, inputs: count / 2 })
}

/// Kept dimensions are the output's; reduced ones are range variables in the input's order. All inputs have
/// the same map, and init values are scalar. Output ids do not matter: each output of a variadic reduce
/// depends on every input.
/// Source: `ComputeOutputToInputReduceOpIndexing`.
pub(crate) fn reduce(op: &Op) -> Checked<OpIndexing> {
    let Reduce { output, input, is_reduced, inputs } = reduce_parts(op)?;
    let mut domain = Domain::new(op, 0, &output);
    let init = domain.access(Vec::new());
    let mut kept = 0;
    let mut results = Vec::with_capacity(input.len());
    for (size, &is_reduced) in input.iter().zip(&is_reduced) {
        if is_reduced {
            results.push(domain.range(size));
        } else {
            results.push(Expr::var(kept));
            kept += 1;
        }
    }
    Ok(inputs_then_scalars(domain.access(results), init, inputs))
}

/// An access for the inputs, another one for as many init values.
pub(crate) fn inputs_then_scalars(
    input: OperandIndexing,
    init: OperandIndexing,
    inputs: usize,
) -> OpIndexing {
    OpIndexing::of(std::iter::repeat_n(input, inputs).chain(std::iter::repeat_n(init, inputs)))
}

/// An input element feeds the output at its kept dimensions, and an init value feeds every element, in all
/// outputs.
/// Source: `ComputeInputToOutputReduceOpIndexing`.
pub(crate) fn reduce_input_to_output(op: &Op, input_id: usize) -> Checked<OpIndexing> {
    let Reduce { output, input, is_reduced, inputs } = reduce_parts(op)?;
    checks::operand(op, input_id)?;
    let access = if input_id < inputs {
        let kept = (0..input.len()).filter(|&i| !is_reduced[i]).map(Expr::var).collect();
        Domain::new(op, 0, &input).access(kept)
    } else {
        let mut domain = Domain::new(op, 0, &[]);
        let everywhere = output.iter().map(|size| domain.range(size)).collect();
        domain.access(everywhere)
    };
    Ok(OpIndexing::of(std::iter::repeat_n(access, checks::output_count(op))))
}

/// XLA's rule depends only on the rank of the selected output: identity for inputs and scalar maps for
/// carries, or scalar maps for all. A carry that is an array has one dimension less than the inputs: XLA's
/// identity then has the wrong rank, ours is undefined. XLA's maps omit that an element depends on all
/// elements before it; [`scan_by_steps`] does not.
/// Source: `ComputeOutputToInputScanOpIndexing`.
pub(crate) fn scan(op: &Op, output_id: usize, rules: Rules) -> Checked<OpIndexing> {
    if rules == Rules::Exact {
        return scan_by_steps(op, output_id, false);
    }
    let output = checks::output(op, output_id)?;
    let inputs = scan_inputs(op)?;
    Ok(OpIndexing::of((0..op.operand_shapes.len()).map(|i| {
        let access = match i < inputs {
            true if output.is_empty() => scan_final(op, i, output),
            true => scan_input(op, i, output),
            false => scan_carry(op, i, output),
        };
        access.unwrap_or_else(OperandIndexing::undefined)
    })))
}

/// The number of operands that are inputs; the others are carries.
fn scan_inputs(op: &Op) -> Checked<usize> {
    let carries = op.attributes.int(AttributeKey::NumCarries).unwrap_or(0);
    let inputs = usize::try_from(carries).ok().and_then(|n| op.operand_shapes.len().checked_sub(n));
    inputs.ok_or_else(|| "num_carries does not fit the operands".into())
}

/// For a scalar carry, XLA's map for the inputs is scalar too, which composes with nothing.
fn scan_final(op: &Op, i: usize, output: &[i64]) -> Checked<OperandIndexing> {
    checks::operand(op, i)?;
    Ok(OperandIndexing::from(scalar(output)).with_note("every element is read; XLA's map does not say so"))
}

fn scan_input(op: &Op, i: usize, output: &[i64]) -> Checked<OperandIndexing> {
    let rank = checks::operand(op, i)?.len();
    ensure(rank == output.len(), "an output of another rank than the inputs: the carry of an array scan")?;
    let note = "the elements before it in the scanned dimension are read too; the map does not say so";
    Ok(OperandIndexing::from(IndexingMap::identity(output)).with_note(note))
}

fn scan_carry(op: &Op, i: usize, output: &[i64]) -> Checked<OperandIndexing> {
    ensure(checks::operand(op, i)?.is_empty(), "XLA takes the init value of a scan for a scalar")?;
    Ok(scalar(output).into())
}

/// Whether each step of a scan computes the elements of its slices one by one: every op of its body is
/// elementwise.
pub(crate) fn is_elementwise_scan(body: &Graph) -> bool {
    use Opcode::{Broadcast, Constant, Parameter, Tuple};
    let is_scalar = |op: &Op| op.operand_shapes.iter().all(|shape| shape.dims().is_empty());
    body.ops.iter().all(|op| match op.opcode {
        Parameter | Constant | Tuple => true,
        Broadcast => is_scalar(op),
        opcode => is_elementwise(opcode),
    })
}

/// The scanned dimension is a range variable over the steps up to the output's own; a final carry, which lacks
/// that dimension, depends on all of them. Slices and initial carries are read at the output's index without it,
/// those of another shape not at all. If the body mixes the elements of a slice, whole slices are read.
pub(crate) fn scan_by_steps(op: &Op, output_id: usize, mixes: bool) -> Checked<OpIndexing> {
    let count = op.operand_shapes.len();
    let inputs = scan_inputs(op)?;
    let mut output = extents::output(op, output_id)?;
    let is_final = output_id + (count - inputs) >= checks::output_count(op);
    // The extent of the scanned dimension, and of the slices.
    let mut parts = Vec::with_capacity(count);
    let dims = op.attributes.ints(AttributeKey::Dimensions);
    let split = |mut of: Extents| {
        let dim = checks::dimension(dims, of.len(), "dimensions")?;
        Ok::<_, Reason>((Some(of.remove(dim)), of))
    };
    for i in 0..count {
        let operand = extents::operand(op, i)?;
        parts.push(if i < inputs { split(operand)? } else { (None, operand) });
    }
    let (mut steps, mut own) = if is_final { (None, output.clone()) } else { split(output.clone())? };
    for (of, slice) in &parts {
        own = extents::all_shared(slice, &own).filter(|_| !mixes).unwrap_or(own);
        if let (Some(of), Some(own)) = (of, &mut steps) {
            *own = extents::shared(of, own).ok_or("the output has other steps than the inputs")?;
        }
    }
    output = own.clone();
    let dim = dims.first().map_or(0, |&dim| dim as usize);
    if let Some(steps) = steps {
        output.insert(dim, steps);
    }
    let access = |(steps, slice): (Option<Expr>, Extents)| {
        let mut domain = Domain::new(op, output_id, &output);
        let at = steps.as_ref().map(|steps| domain.range(steps));
        let is_own = extents::all_shared(&slice, &own).is_some();
        let mut results: Vec<Expr> = match mixes {
            true => slice.iter().map(|size| domain.range(size)).collect(),
            false if slice.is_empty() => Vec::new(),
            false if is_own => (0..output.len()).filter(|&k| is_final || k != dim).map(Expr::var).collect(),
            false => {
                let rank = slice.len() + usize::from(at.is_some());
                return OperandIndexing::unread(output.len(), rank, "its slices have another shape");
            }
        };
        let mixes = mixes && !results.is_empty();
        if let (Some(at), Some(steps)) = (at, steps) {
            if !is_final {
                let is_reverse = op.attributes.bool(AttributeKey::IsReverse).unwrap_or(false);
                let (first, last) =
                    if is_reverse { (Expr::var(dim), at.clone()) } else { (at.clone(), Expr::var(dim)) };
                let most = steps.as_const().map_or(Interval::new(0, i64::MAX), Interval::from_size);
                domain.constrain(last - first, most);
            }
            results.insert(dim, at);
        }
        let access = domain.access(results);
        if mixes { access.at_most("whole slices", "its body may mix their elements") } else { access }
    };
    Ok(OpIndexing::of(parts.into_iter().map(access)))
}
