//! The entry of the in-place dynamic-update-slice emitter: only the updated elements are computed and written
//! into the buffer of the operand. Source: `backends/gpu/codegen/emitters/in_place_dynamic_update_slice.cc`.

use gpu::DynamicUpdateSliceEmitter;
use indexing_map::{Expr, Variable};
use ir::OpId;

use crate::Reason;
use crate::emit::Emission;
use crate::emit::elemental::first_array;
use crate::emit::entry::{Entry, buffer, results_of, share_buffer, through};
use crate::kernel::Kernel;

pub(super) fn emit(
    emission: &Emission<'_>,
    update: &DynamicUpdateSliceEmitter,
    kernel: &mut Kernel,
) -> Result<(), Reason> {
    let analysis = emission.source.analysis;
    let fused = &analysis.fused;
    let own = results_of(emission);
    let has_all_indices = |&dus: &OpId| {
        let op = fused.op(dus);
        op.operand_shapes.len() == 2 + op.shape.dims().len()
    };
    if !update.updates.iter().all(has_all_indices) {
        return Err("an update does not have an index for each dimension".into());
    }
    for (own, &dus) in own.iter().zip(&update.updates) {
        share_buffer(kernel, own.start, buffer(emission, dus, 0));
    }
    let mut entry = Entry::new(emission, kernel);
    let map = update.thread_to_update();
    let tensors = entry.results.clone();
    let sizes = update.update.dims().to_vec();
    entry.elements.body.origin = update.updates.first().copied();
    entry.results = entry.each(&map, &sizes, tensors, |entry, at, _, mut tensors| {
        for ((&root, &dus), own) in fused.roots.iter().zip(&update.updates).zip(&own) {
            let op = fused.op(dus);
            let shape = &op.shape;
            let updated = op.operand_shapes.get(1).map(|shape| shape.dims().to_vec()).unwrap_or_default();
            let mut index: Vec<Expr> = Vec::new();
            for (dim, offset) in at.iter().enumerate() {
                let start = entry.operand(dus, dim + 2, &[]);
                let room = shape.dims()[dim] - updated.get(dim).copied().unwrap_or(0);
                let start = entry.elements.clamped(start, Variable::new(0, room.max(0)));
                index.push(start + offset.clone());
            }
            let value = entry.operand(dus, 1, at);
            let root_shape = first_array(&fused.op(root).shape).clone();
            let index = through(&entry.elements.body, &gpu::bitcast(shape, &root_shape), &index);
            entry.write(root, vec![value], &index, &mut tensors[own.clone()]);
        }
        tensors
    });
    entry.finish(kernel);
    Ok(())
}
