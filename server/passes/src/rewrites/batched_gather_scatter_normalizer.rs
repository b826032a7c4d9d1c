//! `batched_gather_scatter_normalizer`: makes the batch dimensions of gathers and scatters part of the index vectors.
//!
//! Source: XLA `service/batched_gather_scatter_normalizer.cc`.

use ir::{ElementType, ElementTypeExt as _, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, add_copy, every, replace};
use super::index_shapes::reshape;
use crate::dimensions::{with_dims, with_element};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

/// The attributes that say which dimensions are batches, and which the index vector chooses from.
struct Keys {
    batch: AttributeKey,
    indices_batch: AttributeKey,
    map: AttributeKey,
    absent: AttributeKey,
}

const GATHER: Keys = Keys {
    batch: AttributeKey::OperandBatchingDims,
    indices_batch: AttributeKey::StartIndicesBatchingDims,
    map: AttributeKey::StartIndexMap,
    absent: AttributeKey::CollapsedSliceDims,
};

const SCATTER: Keys = Keys {
    batch: AttributeKey::InputBatchingDims,
    indices_batch: AttributeKey::ScatterIndicesBatchingDims,
    map: AttributeKey::ScatterDimsToOperandDims,
    absent: AttributeKey::InsertedWindowDims,
};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| match run.module[id].opcode() {
        Opcode::Gather => normalize(run, id, &GATHER, 1),
        Opcode::Scatter => normalize(run, id, &SCATTER, run.module[id].operands().len() / 2),
        _ => {}
    });
    Ok(())
}

/// `at`: the number of the operand that has the indices.
fn normalize(run: &mut Run<'_>, id: InstructionId, keys: &Keys, at: usize) {
    let attributes = run.module[id].attributes().clone();
    let (batch, map) = (attributes.ints(keys.batch), attributes.ints(keys.map));
    if batch.is_empty() || batch.iter().any(|dim| map.contains(dim)) {
        return;
    }
    let mut operands = run.module[id].operands().to_vec();
    let indices_batch = attributes.ints(keys.indices_batch);
    let vector = attributes.int(AttributeKey::IndexVectorDim).unwrap_or(0);
    let Some(&indices) = operands.get(at) else { return };
    operands[at] = with_batch_indices(run, indices, vector, indices_batch);
    let map: Vec<_> = batch.iter().chain(map).copied().collect();
    let mut absent: Vec<_> = attributes.ints(keys.absent).iter().chain(batch).copied().collect();
    absent.sort_unstable();
    let is_sorted = attributes.bool(AttributeKey::IndicesAreSorted) == Some(true)
        && indices_batch.is_sorted()
        && map.is_sorted();
    let new = add_copy(run, id, &operands, run.module[id].shape().clone());
    let changed = run.module.attributes_mut(new);
    changed.set(keys.map, map);
    changed.set(keys.absent, absent);
    changed.remove(keys.batch);
    changed.remove(keys.indices_batch);
    if !is_sorted {
        changed.remove(AttributeKey::IndicesAreSorted);
    }
    replace(run, id, new, "has its batches in the index vectors");
}

/// Index vectors with the position in each batch dimension in front.
fn with_batch_indices(
    run: &mut Run<'_>,
    mut indices: InstructionId,
    vector: i64,
    batch: &[i64],
) -> InstructionId {
    let shape = run.module[indices].shape().clone();
    let Some(mut element) = shape.element() else { return indices };
    for &dim in batch {
        element = holding(element, shape.dims().get(dim as usize).copied().unwrap_or(0));
    }
    if Some(element) != shape.element() {
        indices = add(run, indices, NewOp::new(Opcode::Convert, with_element(&shape, element), &[indices]));
    }
    let mut dims = shape.dims().to_vec();
    if vector as usize == dims.len() {
        dims.push(1);
        indices = reshape(run, indices, &dims);
    }
    let Some(size) = dims.get(vector as usize).copied() else { return indices };
    dims[vector as usize] = 1;
    let one: Shape = with_dims(run.module[indices].shape(), dims.clone());
    let mut parts = Vec::with_capacity(batch.len() + 1);
    for &dim in batch {
        let iota = NewOp::new(Opcode::Iota, one.clone(), &[]).with(AttributeKey::IotaDimension, dim);
        parts.push(add(run, indices, iota));
    }
    parts.push(indices);
    dims[vector as usize] = batch.len() as i64 + size;
    add(run, indices, NewOp::new(Opcode::Concatenate, with_dims(&one, dims), &parts).dimensions(&[vector]))
}

/// The integer type, or a wider one that holds the number.
fn holding(element: ElementType, number: i64) -> ElementType {
    let bits = i64::from(element.bits().unwrap_or(64)) - i64::from(element.is_signed_integer());
    match bits {
        _ if bits >= 63 || number < 1 << bits => element,
        _ if number <= i64::from(i32::MAX) => ElementType::S32,
        _ => ElementType::S64,
    }
}
