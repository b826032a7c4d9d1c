//! Convolutions of cuDNN: their dimension labels follow the layouts.
//!
//! Source: XLA `service/gpu/conv_layout_normalization.cc`.

use ir::{AttributeValue, ConvolutionDims, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::super::conv_rewriter::labels;
use super::super::every::{Visited, add, replace};
use super::{order, row_major};
use crate::driver::Run;
use crate::module::{InstructionId, NewOp};

/// Computes a convolution row-major. What it makes of the operands of one that is row-major already goes to `unused`: XLA leaves
/// that in the module.
pub(super) fn convolution(
    run: &mut Run<'_>,
    id: InstructionId,
    visited: &mut Visited,
    unused: &mut Vec<InstructionId>,
) -> Option<()> {
    let dims = run.module[id].attributes().convolution_dims()?;
    let target = run.module[id].attributes().text(AttributeKey::CustomCallTarget)?.to_owned();
    let of = |operand: usize| run.module[run.module.operand(id, operand)].shape().clone();
    let shape = run.module[id].shape().clone();
    let result = shape.element_at(&[0])?.clone();
    let (input, filter, output) = match &*target {
        "__cudnn$convForward" | "__cudnn$convBiasActivationForward" | "__cudnn$convForwardGraph" => {
            (of(0), of(1), result)
        }
        "__cudnn$convBackwardInput" => (result, of(1), of(0)),
        "__cudnn$convBackwardFilter" => (of(0), result, of(1)),
        _ => return None,
    };
    let (input, filter, output) = (order(&input), order(&filter), order(&output));
    let at = |order: &[i64], dim: usize| order.iter().position(|&own| own == dim as i64).unwrap_or(dim);
    let all = |order: &[i64], dims: &[usize]| dims.iter().map(|&dim| at(order, dim)).collect();
    let new_dims = ConvolutionDims {
        input_batch: at(&input, dims.input_batch),
        input_feature: at(&input, dims.input_feature),
        input_spatial: all(&input, &dims.input_spatial),
        kernel_input_feature: at(&filter, dims.kernel_input_feature),
        kernel_output_feature: at(&filter, dims.kernel_output_feature),
        kernel_spatial: all(&filter, &dims.kernel_spatial),
        output_batch: at(&output, dims.output_batch),
        output_feature: at(&output, dims.output_feature),
        output_spatial: all(&output, &dims.output_spatial),
    };
    let Shape::Tuple(elements) = &shape else { return None };
    let normal = Shape::tuple(elements.iter().map(row_major));
    // Bitcasts even where nothing changes.
    let operands: Vec<InstructionId> = run.module[id]
        .operands()
        .to_vec()
        .into_iter()
        .map(|operand| {
            let shape = row_major(run.module[operand].shape());
            add(run, id, NewOp::new(Opcode::Bitcast, shape, &[operand]))
        })
        .collect();
    if normal == shape && new_dims == dims {
        unused.extend(operands);
        return Some(());
    }
    let new = run.module.add_copy(run.module[id].parent(), id, &operands);
    run.module.set_shape(new, normal);
    run.module.attributes_mut(new).set(AttributeKey::DimLabels, AttributeValue::Word(labels(&new_dims)));
    let parts: Vec<InstructionId> = elements
        .iter()
        .zip(0..)
        .map(|(shape, index)| {
            let element = run.module.add_element(new, index);
            add(run, id, NewOp::new(Opcode::Bitcast, shape.clone(), &[element]))
        })
        .collect();
    parts.iter().for_each(|&part| _ = visited.insert(part));
    let tuple = run.module.add_tuple(run.module[id].parent(), &parts);
    replace(run, id, tuple, "is computed row-major");
    Some(())
}
