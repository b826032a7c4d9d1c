//! `conv-padding-legalization`: pads and slices for convolutions of cuDNN, which pads both ends alike.
//!
//! Source: XLA `backends/gpu/transforms/conv_padding_legalization.cc`.

use ir::{AttributeValue, ElementType, Shape, WindowDim};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, add_copy, replace};
use crate::dimensions::with_dims;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.instructions(computation) {
            cancel::tick();
            let target = run.module[id].attributes().text(AttributeKey::CustomCallTarget);
            if run.module[id].is_removed() || run.module[id].has_control_dependencies() {
                continue;
            }
            match target {
                Some(
                    "__cudnn$convForward" | "__cudnn$convBiasActivationForward" | "__cudnn$convForwardGraph",
                ) => forward(run, id),
                Some("__cudnn$convBackwardInput") => backward_input(run, id),
                Some("__cudnn$convBackwardFilter") => backward_filter(run, id),
                _ => {}
            }
        }
    }
    Ok(())
}

fn is_symmetric(window: &[WindowDim]) -> bool {
    window.iter().all(|dim| dim.pad_low == dim.pad_high)
}

/// A value padded with zeros. `padding` has low, high and interior padding per dimension.
fn padded(run: &mut Run<'_>, value: InstructionId, padding: Vec<[i64; 3]>) -> InstructionId {
    let shape = run.module[value].shape().clone();
    let Some(element) = shape.element() else { return value };
    let zero = add(run, value, NewOp::constant(Shape::array(element, &[]), "0"));
    let size =
        |(&size, &[low, high, interior]): (&i64, &[i64; 3])| low + high + size + (size - 1).max(0) * interior;
    let dims = shape.dims().iter().zip(&padding).map(size).collect();
    let pad =
        NewOp::new(Opcode::Pad, with_dims(&shape, dims), &[value, zero]).with(AttributeKey::Padding, padding);
    let pad = add(run, value, pad);
    run.module.inherit_metadata(pad, value);
    pad
}

fn forward(run: &mut Run<'_>, id: InstructionId) {
    let Some(dims) = run.module[id].attributes().convolution_dims() else { return };
    let mut window = run.module[id].attributes().window().to_vec();
    let is_negative = |window: &[WindowDim]| window.iter().any(|dim| dim.pad_low < 0 || dim.pad_high < 0);
    let is_dilated = |window: &[WindowDim]| window.iter().any(|dim| dim.base_dilation != 1);
    if is_symmetric(&window) && !is_negative(&window) && !is_dilated(&window) {
        return;
    }
    let mut operands = run.module[id].operands().to_vec();
    let rank = run.module[operands[0]].dims().len();
    if !is_symmetric(&window) || is_dilated(&window) {
        let mut padding = vec![[0, 0, 0]; rank];
        for (dim, &at) in window.iter_mut().zip(&dims.input_spatial) {
            padding[at] = [dim.pad_low.max(0), dim.pad_high.max(0), dim.base_dilation - 1];
            dim.pad_low = dim.pad_low.min(0);
            dim.pad_high = dim.pad_high.min(0);
            dim.base_dilation = 1;
        }
        operands[0] = padded(run, operands[0], padding);
    }
    if is_negative(&window) {
        let shape = run.module[operands[0]].shape().clone();
        let mut slices: Vec<[i64; 3]> = shape.dims().iter().map(|&size| [0, size, 1]).collect();
        for (dim, &at) in window.iter_mut().zip(&dims.input_spatial) {
            slices[at][0] += -dim.pad_low.min(0);
            slices[at][1] -= -dim.pad_high.min(0);
            dim.pad_low = dim.pad_low.max(0);
            dim.pad_high = dim.pad_high.max(0);
        }
        let sizes = slices.iter().map(|[start, limit, _]| limit - start).collect();
        let slice = NewOp::new(Opcode::Slice, with_dims(&shape, sizes), &[operands[0]]);
        operands[0] = add(run, id, slice.with(AttributeKey::Slice, slices));
    }
    if window.iter().any(|dim| dim.window_dilation != 1) {
        let mut padding = vec![[0, 0, 0]; run.module[operands[1]].dims().len()];
        for (dim, &at) in window.iter_mut().zip(&dims.kernel_spatial) {
            padding[at][2] = dim.window_dilation - 1;
            dim.window_dilation = 1;
        }
        operands[1] = padded(run, operands[1], padding);
    }
    for (dim, &at) in window.iter_mut().zip(&dims.kernel_spatial) {
        dim.size = run.module[operands[1]].dims()[at];
    }
    let shape = run.module[id].shape().clone();
    let new = add_copy(run, id, &operands, shape);
    set_window(run, new, window);
    replace(run, id, new, "pads its operands before cuDNN computes it");
}

fn set_window(run: &mut Run<'_>, id: InstructionId, window: Vec<WindowDim>) {
    run.module.attributes_mut(id).set(AttributeKey::Window, AttributeValue::Window(window));
}

fn backward_filter(run: &mut Run<'_>, id: InstructionId) {
    let Some(dims) = run.module[id].attributes().convolution_dims() else { return };
    let mut window = run.module[id].attributes().window().to_vec();
    if is_symmetric(&window) || window.iter().any(|dim| dim.pad_low < 0 || dim.pad_high < 0) {
        return;
    }
    let mut operands = run.module[id].operands().to_vec();
    let mut padding = vec![[0, 0, 0]; run.module[operands[0]].dims().len()];
    for (dim, &at) in window.iter_mut().zip(&dims.input_spatial) {
        // All of it, as XLA's dumps show.
        padding[at] = [dim.pad_low, dim.pad_high, 0];
        (dim.pad_low, dim.pad_high) = (0, 0);
    }
    operands[0] = padded(run, operands[0], padding);
    let shape = run.module[id].shape().clone();
    let new = add_copy(run, id, &operands, shape);
    set_window(run, new, window);
    replace(run, id, new, "pads its input before cuDNN computes it");
}

fn backward_input(run: &mut Run<'_>, id: InstructionId) {
    let Some(dims) = run.module[id].attributes().convolution_dims() else { return };
    let old = run.module[id].attributes().window().to_vec();
    if is_symmetric(&old) || old.iter().any(|dim| dim.pad_low < 0 || dim.pad_high < 0) {
        return;
    }
    let Some(shape) = run.module[id].shape().element_at(&[0]).cloned() else { return };
    let mut window = old.clone();
    let mut sizes = shape.dims().to_vec();
    let mut slices: Vec<[i64; 3]> = sizes.iter().map(|&size| [0, size, 1]).collect();
    for (dim, &at) in window.iter_mut().zip(&dims.input_spatial) {
        let more = (dim.pad_low - dim.pad_high).abs();
        sizes[at] += more;
        if dim.pad_low > dim.pad_high {
            slices[at] = [more, sizes[at], 1];
        }
        let both = dim.pad_low.min(dim.pad_high);
        (dim.pad_low, dim.pad_high) = (both, both);
    }
    let larger = Shape::tuple([with_dims(&shape, sizes), Shape::array(ElementType::U8, &[0])]);
    let operands = run.module[id].operands().to_vec();
    let new = add_copy(run, id, &operands, larger);
    set_window(run, new, window);
    let (result, scratch) = (run.module.add_element(new, 0), run.module.add_element(new, 1));
    let slice = NewOp::new(Opcode::Slice, shape, &[result]).with(AttributeKey::Slice, slices);
    let slice = add(run, id, slice);
    let tuple = run.module.add_tuple(run.module[id].parent(), &[slice, scratch]);
    replace(run, id, tuple, "computes more than is used, so that cuDNN pads both ends alike");
}
