//! Reductions along whole dimensions: reduce and scan.

use indexing_map::{Expr, IndexingMap, Interval};
use ir::{AttributeKey, Op};

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
/// elements before it. By [`Rules::Exact`] the scan dimension is a range variable with that constraint.
/// Source: `ComputeOutputToInputScanOpIndexing`.
pub(crate) fn scan(op: &Op, output_id: usize, rules: Rules) -> Checked<OpIndexing> {
    let output = checks::output(op, output_id)?;
    let carries = op.attributes.int(AttributeKey::NumCarries).unwrap_or(0);
    let count = op.operand_shapes.len();
    let inputs = usize::try_from(carries).ok().and_then(|n| count.checked_sub(n));
    let inputs = inputs.ok_or("num_carries does not fit the operands")?;
    Ok(OpIndexing::of((0..count).map(|i| {
        let access = match (i < inputs, rules) {
            (true, Rules::Xla) if output.is_empty() => scan_final(op, i, output),
            (true, Rules::Xla) => scan_input(op, i, output),
            (true, Rules::Exact) => scan_prefix(op, i, output),
            (false, _) => scan_carry(op, i, output, rules),
        };
        access.unwrap_or_else(OperandIndexing::undefined)
    })))
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

fn scan_prefix(op: &Op, i: usize, output: &[i64]) -> Checked<OperandIndexing> {
    let input = checks::operand(op, i)?;
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), input.len(), "dimensions")?;
    let is_carry = output.len() + 1 == input.len();
    ensure(is_carry || output == input, "the output is neither a scan of the inputs nor a carry")?;
    let at = Expr::var(output.len());
    let mut results: Vec<Expr> =
        (0..input.len()).map(|j| Expr::var(j - usize::from(is_carry && j > dim))).collect();
    results[dim] = at.clone();
    let mut map = IndexingMap::from_sizes(output, &[input[dim]], results);
    if !is_carry {
        let is_reverse = op.attributes.bool(AttributeKey::IsReverse).unwrap_or(false);
        let (first, last) = if is_reverse { (Expr::var(dim), at) } else { (at, Expr::var(dim)) };
        map.add_constraint(last - first, Interval::from_size(input[dim]));
    }
    Ok(map.into())
}

/// The map of an init value: a scalar, or an array of the inputs' other dimensions.
fn scan_carry(op: &Op, i: usize, output: &[i64], rules: Rules) -> Checked<OperandIndexing> {
    let carry = checks::operand(op, i)?;
    if carry.is_empty() {
        return Ok(scalar(output).into());
    }
    ensure(rules == Rules::Exact, "XLA takes the init value of a scan for a scalar")?;
    if carry == output {
        return Ok(IndexingMap::identity(output).into());
    }
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    let kept: Vec<usize> = (0..output.len()).filter(|&j| j != dim).collect();
    ensure(
        kept.iter().map(|&j| output[j]).eq(carry.iter().copied()),
        "the init value does not fit the output",
    )?;
    Ok(IndexingMap::from_sizes(output, &[], kept.into_iter().map(Expr::var).collect()).into())
}
