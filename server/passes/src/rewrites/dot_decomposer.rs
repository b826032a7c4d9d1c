//! `dot_decomposer`: brings dots into the form with batch dimensions first, and one contracting and one other dimension.
//!
//! Source: XLA `hlo/transforms/expanders/dot_decomposer.cc`.

use std::sync::Arc;

use ir::{ArrayShape, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};
use crate::shapes::of_element;

const BATCH: [AttributeKey; 2] = [AttributeKey::LhsBatchDims, AttributeKey::RhsBatchDims];
const CONTRACTING: [AttributeKey; 2] = [AttributeKey::LhsContractingDims, AttributeKey::RhsContractingDims];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.instructions(computation) {
            let is_dot = run.module[id].opcode() == Opcode::Dot && !run.module[id].has_control_dependencies();
            if is_dot && !(0..2).all(|side| is_canonical(run.module, id, side)) {
                run.changed(
                    id,
                    "computed as a product of matrices, by transposes and reshapes of its operands",
                );
                decompose(run.module, id);
            }
        }
    }
    Ok(())
}

fn is_canonical(module: &Module, id: InstructionId, side: usize) -> bool {
    let attributes = module[id].attributes();
    let batch = attributes.ints(BATCH[side]);
    attributes.ints(CONTRACTING[side]).len() == 1
        && batch.len() + 2 >= module[module.operand(id, side)].dims().len()
        && batch.iter().zip(0..).all(|(&dim, at)| dim == at)
}

fn decompose(module: &mut Module, id: InstructionId) {
    let attributes = module[id].attributes().clone();
    let left = module[module.operand(id, 0)].dims().to_vec();
    let of_batch = attributes.ints(BATCH[0]);
    // In the order of the operand, as XLA has them.
    let batch: Vec<i64> =
        (0..).zip(&left).filter(|(dim, _)| of_batch.contains(dim)).map(|(_, &size)| size).collect();
    let mut dims = batch.clone();
    let mut operands = Vec::new();
    let mut contracting = Vec::new();
    for side in 0..2 {
        let operand = module.operand(id, side);
        let (new, at, size) = canonical(
            module,
            operand,
            attributes.ints(BATCH[side]),
            attributes.ints(CONTRACTING[side]),
            &batch,
            side == 0,
        );
        operands.push(new);
        contracting.push(at);
        dims.extend(size);
    }
    let Some(shape) = of_element(module[id].shape(), &dims) else { return };
    let numbers: Vec<i64> = (0..batch.len() as i64).collect();
    let parent = module[id].parent();
    let dot = module.add_copy(parent, id, &operands);
    module.set_shape(dot, shape);
    for side in 0..2 {
        let attributes = module.attributes_mut(dot);
        attributes.set(CONTRACTING[side], vec![contracting[side]]);
        match numbers.is_empty() {
            true => _ = attributes.remove(BATCH[side]),
            false => attributes.set(BATCH[side], numbers.clone()),
        }
    }
    let back = NewOp::new(Opcode::Reshape, module[id].shape().clone(), &[dot]);
    module.replace_with_new(id, back);
}

/// An operand with its batch dimensions first and the others joined, its contracting dimension, and the size of the other one
/// unless it is 1.
fn canonical(
    module: &mut Module,
    operand: InstructionId,
    batch: &[i64],
    contracting: &[i64],
    batch_sizes: &[i64],
    contracts_last: bool,
) -> (InstructionId, i64, Option<i64>) {
    let dims = module[operand].dims().to_vec();
    let others: Vec<i64> =
        (0..dims.len() as i64).filter(|dim| !batch.contains(dim) && !contracting.contains(dim)).collect();
    let product = |of: &[i64]| of.iter().map(|&dim| dims[dim as usize]).product::<i64>();
    let (inner, outer) = (product(contracting), product(&others));
    let (first, second) =
        if contracts_last { (&others[..], contracting) } else { (contracting, &others[..]) };
    let order: Vec<i64> = batch.iter().chain(first).chain(second).copied().collect();
    let transposed: Vec<i64> = order.iter().map(|&dim| dims[dim as usize]).collect();
    let parent = module[operand].parent();
    // XLA transposes even where the order is the same.
    let transpose = module[operand].shape().as_array().cloned().map(|array| {
        // The layout stays as it is, too.
        let shape = Shape::Array(Arc::new(ArrayShape { dims: transposed, ..array }));
        let new = module.add(parent, NewOp::new(Opcode::Transpose, shape, &[operand]).dimensions(&order));
        module.inherit_metadata(new, operand);
        new
    });
    let outer = Some(outer).filter(|&size| size != 1);
    let mut sizes = batch_sizes.to_vec();
    let at = (sizes.len() + usize::from(contracts_last && outer.is_some())) as i64;
    if contracts_last {
        sizes.extend(outer);
        sizes.push(inner);
    } else {
        sizes.push(inner);
        sizes.extend(outer);
    }
    (reshape(module, transpose.unwrap_or(operand), &sizes), at, outer)
}

/// The array with other dimensions, row-major.
fn reshape(module: &mut Module, id: InstructionId, dims: &[i64]) -> InstructionId {
    let shape = of_element(module[id].shape(), dims).unwrap_or(Shape::Opaque);
    let new = module.add(module[id].parent(), NewOp::new(Opcode::Reshape, shape, &[id]));
    module.inherit_metadata(new, id);
    new
}
