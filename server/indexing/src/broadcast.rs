//! Ops that only rename dimensions: broadcast, transpose, reverse.

use indexing_map::{Expr, IndexingMap};
use ir::{AttributeKey, Op};

use crate::checks::{self, Checked, ensure};
use crate::extents::{self, Domain, Extents};
use crate::operand_indexing::OpIndexing;

/// Extents of output and operand; per operand dimension, the corresponding output dimension.
fn broadcast_dims(op: &Op) -> Checked<(Extents, Extents, Vec<usize>)> {
    let (output, operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    let dims = op.attributes.ints(AttributeKey::Dimensions);
    let dims = checks::dimensions(dims, output.len(), "dimensions")?;
    ensure(dims.len() == operand.len(), "dimensions does not name one per operand dimension")?;
    // HLO repeats no dimension; an op of another language whose extents are unknown may.
    let may_repeat = !extents::are_known(&output) || !extents::are_known(&operand);
    let fits = dims.iter().zip(&operand).all(|(&dim, size)| {
        extents::shared(&output[dim], size).is_some() || may_repeat && *size == Expr::Const(1)
    });
    ensure(fits, "a dimension of the operand and its dimension of the output differ in size")?;
    Ok((output, operand, dims))
}

/// Result i is `d<D[i]>`. Source: `ComputeOutputToInputBroadcastOpIndexing`.
pub(crate) fn broadcast(op: &Op) -> Checked<OpIndexing> {
    let (output, operand, dims) = broadcast_dims(op)?;
    let results = stretched(&dims, &operand, &output);
    Ok(OpIndexing::of([Domain::new(op, 0, &output).access(results)]))
}

/// The index in an operand whose dimensions correspond to `dims` of the output, and may be 1 there.
///
/// An unknown extent is that of the output, or 1 if the op of another language repeats such a dimension; the
/// remainder is right for both.
fn stretched(dims: &[usize], operand: &[Expr], output: &[Expr]) -> Vec<Expr> {
    let place = |(&dim, extent): (&usize, &Expr)| match extent.as_const() {
        Some(1) if output[dim] != *extent => Expr::ZERO,
        Some(_) => Expr::var(dim),
        None => Expr::var(dim).modulo(extent.clone()),
    };
    dims.iter().zip(operand).map(place).collect()
}

/// An elementwise op of CHLO that broadcasts its operands: their dimensions are the last ones of the output, or
/// those that `dimensions` lists.
pub(crate) fn broadcasting(op: &Op) -> Checked<OpIndexing> {
    let output = extents::output(op, 0)?;
    let listed = op.attributes.ints(AttributeKey::Dimensions);
    let domain = Domain::new(op, 0, &output);
    let access = |i: usize| {
        let operand = extents::operand(op, i)?;
        let first = output.len().checked_sub(operand.len()).ok_or("an operand has more dimensions")?;
        let dims = match first > 0 && listed.len() == operand.len() {
            true => checks::dimensions(listed, output.len(), "broadcast_dimensions")?,
            false => (first..output.len()).collect(),
        };
        Ok(domain.access(stretched(&dims, &operand, &output)))
    };
    Ok(OpIndexing::of((0..op.operand_shapes.len()).map(access).collect::<Checked<Vec<_>>>()?))
}

/// New output dimensions become range variables, in order. Source: `ComputeInputToOutputBroadcastOpIndexing`.
pub(crate) fn broadcast_input_to_output(op: &Op) -> Checked<OpIndexing> {
    let (output, operand, dims) = broadcast_dims(op)?;
    let mut domain = Domain::new(op, 0, &operand);
    let results = (0..output.len()).map(|dim| match dims.iter().position(|&d| d == dim) {
        Some(i) => Expr::var(i),
        None => domain.range(&output[dim]),
    });
    let results = results.collect();
    Ok(OpIndexing::of([domain.access(results)]))
}

/// Extents of output and operand, and the permutation.
fn permutation(op: &Op) -> Checked<(Extents, Extents, Vec<usize>)> {
    let (mut output, mut operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    let rank = operand.len();
    let permutation = checks::dimensions(op.attributes.ints(AttributeKey::Dimensions), rank, "dimensions")?;
    ensure(
        permutation.len() == rank && output.len() == rank,
        "dimensions is no permutation of the operand's",
    )?;
    for (&dim, size) in permutation.iter().zip(&mut output) {
        let shared =
            extents::shared(&operand[dim], size).ok_or("the output is not the operand transposed")?;
        *size = shared.clone();
        operand[dim] = shared;
    }
    Ok((output, operand, permutation))
}

/// Operand dimension `P[i]` is `d<i>`. Source: `ComputeTransposeIndexingMap`.
pub(crate) fn transpose(op: &Op) -> Checked<OpIndexing> {
    let (output, _, permutation) = permutation(op)?;
    let mut results = vec![Expr::ZERO; permutation.len()];
    for (i, &dim) in permutation.iter().enumerate() {
        results[dim] = Expr::var(i);
    }
    Ok(OpIndexing::of([Domain::new(op, 0, &output).access(results)]))
}

/// Output dimension i is `d<P[i]>`.
pub(crate) fn transpose_input_to_output(op: &Op) -> Checked<OpIndexing> {
    let (_, operand, permutation) = permutation(op)?;
    let results = permutation.into_iter().map(Expr::var).collect();
    Ok(OpIndexing::of([Domain::new(op, 0, &operand).access(results)]))
}

/// `size - 1 - d` in the listed dimensions; its own inverse. Source: `ComputeReverseOpIndexing`.
pub(crate) fn reverse(op: &Op) -> Checked<OpIndexing> {
    let (output, operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    let sizes = extents::all_shared(&operand, &output).ok_or("the output's sizes are not the operand's")?;
    let reversed =
        checks::dimensions(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    let results = sizes.iter().enumerate().map(|(i, size)| match reversed.contains(&i) {
        true => -Expr::var(i) + (size.clone() - 1),
        false => Expr::var(i),
    });
    let results = results.collect();
    Ok(OpIndexing::of([Domain::new(op, 0, &sizes).access(results)]))
}

/// The direction in which a rotated dimension is mapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rotation {
    OutputToInput,
    InputToOutput,
}

/// `(d + shift) mod size` in the listed dimensions, which rotate to the left. Source: `xla/shuffle.h`,
/// `ShuffleExpander`. XLA's indexing has no map for shuffle.
pub(crate) fn shuffle(op: &Op, way: Rotation) -> Checked<OpIndexing> {
    let mode = op.attributes.text(AttributeKey::Mode).unwrap_or_default();
    ensure(mode == "rotate", format!("the mode {mode} of a shuffle is not known"))?;
    let (output, operand) = (checks::output(op, 0)?, checks::operand(op, 0)?);
    ensure(output == operand, "the output's sizes are not the operand's")?;
    let rotated =
        checks::dimensions(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    let shifts = op.attributes.ints(AttributeKey::Shifts);
    ensure(shifts.len() == rotated.len(), "shifts does not have a number per dimension")?;
    let mut results: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    for (&dim, &shift) in rotated.iter().zip(shifts) {
        let size = output[dim].max(1);
        let shift = match way {
            Rotation::OutputToInput => shift.rem_euclid(size),
            Rotation::InputToOutput => (size - shift.rem_euclid(size)) % size,
        };
        if shift > 0 {
            results[dim] = (Expr::var(dim) + shift).modulo(size);
        }
    }
    Ok(OpIndexing::of([IndexingMap::from_sizes(output, &[], results).into()]))
}
