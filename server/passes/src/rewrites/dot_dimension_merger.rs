//! `dot_dimension_merger`: joins the batch dimensions of dots.
//!
//! Source: XLA `hlo/transforms/simplifiers/dot_dimension_merger.cc`.

use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, add_copy, every, replace_with};
use crate::dimensions::{with_dims, without_dimensions};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if run.module[id].opcode() == Opcode::Dot {
            merge(run, id);
        }
    });
    Ok(())
}

fn merge(run: &mut Run<'_>, id: InstructionId) {
    let &[lhs, rhs] = run.module[id].operands() else { return };
    let attributes = run.module[id].attributes().clone();
    let lhs_batch = attributes.ints(AttributeKey::LhsBatchDims);
    let rhs_batch = attributes.ints(AttributeKey::RhsBatchDims);
    let is_run = |dims: &[i64]| dims.windows(2).all(|pair| pair[1] == pair[0] + 1);
    let (lhs_shape, rhs_shape) = (run.module[lhs].shape().clone(), run.module[rhs].shape().clone());
    let are_joinable = lhs_batch.len() >= 2
        && lhs_batch.len() == rhs_batch.len()
        && is_run(lhs_batch)
        && is_run(rhs_batch)
        && are_consecutive(&lhs_shape, lhs_batch)
        && are_consecutive(&rhs_shape, rhs_batch);
    let (Some(&lhs_first), Some(&rhs_first)) = (lhs_batch.first(), rhs_batch.first()) else { return };
    if !are_joinable {
        return;
    }
    let count = lhs_batch.len() as i64;
    let sizes = lhs_batch.iter().filter_map(|&dim| lhs_shape.dims().get(dim as usize));
    let size = sizes.fold(1i64, |product, &size| product.saturating_mul(size));
    let joined = |shape: &Shape, first: i64| {
        let others: Vec<_> = (first + 1..first + count).collect();
        let small = without_dimensions(shape, &others);
        let mut dims = small.dims().to_vec();
        dims[first as usize] = size;
        with_dims(&small, dims)
    };
    let shifted = |key, first: i64| -> Vec<i64> {
        let shift = |&dim: &i64| if dim < first { dim } else { dim - (count - 1) };
        attributes.ints(key).iter().map(shift).collect()
    };
    let lhs = add(run, id, NewOp::new(Opcode::Reshape, joined(&lhs_shape, lhs_first), &[lhs]));
    let rhs = add(run, id, NewOp::new(Opcode::Reshape, joined(&rhs_shape, rhs_first), &[rhs]));
    let shape = run.module[id].shape().clone();
    let dot = add_copy(run, id, &[lhs, rhs], joined(&shape, 0));
    let changed = run.module.attributes_mut(dot);
    changed.set(AttributeKey::LhsBatchDims, vec![lhs_first]);
    changed.set(AttributeKey::RhsBatchDims, vec![rhs_first]);
    changed.set(AttributeKey::LhsContractingDims, shifted(AttributeKey::LhsContractingDims, lhs_first));
    changed.set(AttributeKey::RhsContractingDims, shifted(AttributeKey::RhsContractingDims, rhs_first));
    replace_with(run, id, NewOp::new(Opcode::Reshape, shape, &[dot]), "has one batch dimension");
}

/// Whether dimensions are next to each other in memory.
fn are_consecutive(shape: &Shape, dims: &[i64]) -> bool {
    let Some(array) = shape.as_array() else { return false };
    let layout = array.minor_to_major();
    let place = |&dim: &i64| layout.iter().position(|&other| other as i64 == dim);
    let Some(mut places) = dims.iter().map(place).collect::<Option<Vec<_>>>() else { return false };
    places.sort_unstable();
    places.windows(2).all(|pair| pair[1] == pair[0] + 1)
}
