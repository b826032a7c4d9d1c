//! `conv-rewriter`: computes convolutions by cuDNN.
//!
//! Source: XLA `backends/gpu/transforms/conv_rewriter.cc`.

use ir::{AttributeValue, ConvolutionDims, ElementType, Shape, WindowDim};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, replace};
use crate::dimensions::{UnitChanges, permuted, with_dims};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};

const CONFIG: &str = "{\"cudnn_conv_backend_config\":{\"activation_mode\":\"kNone\",\"conv_result_scale\":1,\
                      \"leakyrelu_alpha\":0,\"side_input_scale\":0}}";

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in run.module.non_fusion_computations() {
        for id in run.module.instructions(computation) {
            cancel::tick();
            let is_convolution = run.module[id].opcode() == Opcode::Convolution;
            if is_convolution && !run.module[id].has_control_dependencies() {
                rewrite(run, id)?;
            }
        }
    }
    Ok(())
}

/// A convolution for cuDNN.
struct Call {
    target: &'static str,
    name: &'static str,
    operands: [InstructionId; 2],
    window: Vec<WindowDim>,
    dims: ConvolutionDims,
    groups: i64,
}

fn rewrite(run: &mut Run<'_>, id: InstructionId) -> Result<(), Stop> {
    let Some(dims) = run.module[id].attributes().convolution_dims() else { return Ok(()) };
    let call = match backward_input(run, id, &dims)? {
        Some(call) => Some(call),
        None => backward_filter(run.module, id, &dims).or_else(|| forward(run, id, &dims)),
    };
    let Some(call) = call else { return Ok(()) };
    let convolution = &run.module[id];
    let shape = convolution.shape().clone();
    let precision = convolution.attributes().get(AttributeKey::OperandPrecision).cloned();
    let tuple = Shape::tuple([shape, Shape::array(ElementType::U8, &[0])]);
    let mut new = NewOp::new(Opcode::CustomCall, tuple, &call.operands);
    if !call.window.is_empty() {
        new = new.with(AttributeKey::Window, AttributeValue::Window(call.window));
    }
    new = new.with(AttributeKey::DimLabels, AttributeValue::Word(labels(&call.dims)));
    if call.groups != 1 {
        new = new.with(AttributeKey::FeatureGroupCount, call.groups);
    }
    new = new
        .with(AttributeKey::CustomCallTarget, AttributeValue::Quoted(call.target.to_owned()))
        .with(AttributeKey::BackendConfig, AttributeValue::Text(CONFIG.to_owned()));
    if let Some(precision) = precision {
        new.attributes.set(AttributeKey::OperandPrecision, precision);
    }
    let new = run.module.add_named(run.module[id].parent(), new, call.name);
    run.module.inherit_metadata(new, id);
    let result = run.module.add_element(new, 0);
    replace(run, id, result, "computed by cuDNN");
    Ok(())
}

/// The text of dimension labels.
pub(super) fn labels(dims: &ConvolutionDims) -> String {
    let side = |first: (usize, char), second: (usize, char), spatial: &[usize]| {
        let mut all = vec![' '; spatial.len() + 2];
        let spatial = spatial.iter().zip("0123456789".chars()).map(|(&at, label)| (at, label));
        for (at, label) in [first, second].into_iter().chain(spatial) {
            if let Some(slot) = all.get_mut(at) {
                *slot = label;
            }
        }
        all.into_iter().collect::<String>()
    };
    format!(
        "{}_{}->{}",
        side((dims.input_batch, 'b'), (dims.input_feature, 'f'), &dims.input_spatial),
        side((dims.kernel_input_feature, 'i'), (dims.kernel_output_feature, 'o'), &dims.kernel_spatial),
        side((dims.output_batch, 'b'), (dims.output_feature, 'f'), &dims.output_spatial),
    )
}

fn window(module: &Module, id: InstructionId) -> Vec<WindowDim> {
    module[id].attributes().window().to_vec()
}

fn groups(module: &Module, id: InstructionId, key: AttributeKey) -> i64 {
    module[id].attributes().int(key).unwrap_or(1)
}

/// A list of filters as a matrix of them: the reshape adds a dimension of size 1. Source: `MaybeConv1dToConv2d`.
fn is_list(module: &Module, id: InstructionId, dims: &ConvolutionDims) -> bool {
    let filter = module.operand(id, 1);
    if window(module, id).len() != 2 || module[filter].opcode() != Opcode::Reshape {
        return false;
    }
    let from = module[module.operand(filter, 0)].dims();
    UnitChanges::of(from, module[filter].dims()).is_some_and(|changes| {
        changes.deleted.is_empty()
            && matches!(changes.inserted[..], [dim] if dims.kernel_spatial.contains(&dim))
    })
}

/// Source: `MatchBackwardInput`.
fn backward_input(
    run: &mut Run<'_>,
    id: InstructionId,
    dims: &ConvolutionDims,
) -> Result<Option<Call>, Stop> {
    let module = &*run.module;
    if groups(module, id, AttributeKey::FeatureGroupCount) > 1 {
        return Ok(None);
    }
    let (gradient, filter) = (module.operand(id, 0), module.operand(id, 1));
    let mut spatial: Vec<i64> = dims.kernel_spatial.iter().map(|&dim| dim as i64).collect();
    spatial.sort_unstable();
    let mut reversed = module[filter].dimensions().to_vec();
    reversed.sort_unstable();
    let is_reversed = module[filter].opcode() == Opcode::Reverse && reversed == spatial;
    let is_reversed_list =
        is_list(module, id, dims) && module[module.operand(filter, 0)].opcode() == Opcode::Reverse;
    let old = window(module, id);
    let is_unit = old.iter().all(|dim| dim.size == 1);
    let is_constant = module[filter].opcode() == Opcode::Constant;
    let is_dilated = old.iter().any(|dim| dim.base_dilation != 1);
    if !is_reversed && !is_reversed_list && !(is_dilated && (is_constant || is_unit)) {
        return Ok(None);
    }
    let is_plain = |dim: &WindowDim| dim.stride == 1 && dim.window_dilation == 1 && !dim.is_reversed;
    if !old.iter().all(is_plain) {
        return Ok(None);
    }
    let mut new = old.clone();
    for (i, dim) in new.iter_mut().enumerate() {
        dim.stride = old[i].base_dilation;
        dim.base_dilation = 1;
        dim.pad_low = old[i].size - 1 - old[i].pad_low;
        if dim.pad_low < 0 {
            return Ok(None);
        }
        let input = module[id].dims()[dims.output_spatial[i]];
        let output = module[gradient].dims()[dims.input_spatial[i]];
        let least = old[i].size + dim.stride * (output - 1) - input - dim.pad_low;
        dim.pad_high = dim.pad_low.clamp(least, least + dim.stride - 1);
        if dim.pad_high < 0 {
            return Ok(None);
        }
    }
    if is_constant {
        let name = module[id].name();
        return Err(Stop::Unsupported(format!("%{name} has a constant filter; that is not implemented")));
    }
    let filter = match (is_reversed, is_reversed_list) {
        (true, _) => module.operand(filter, 0),
        (_, true) => {
            let source = module.operand(module.operand(filter, 0), 0);
            let shape = module[filter].shape().clone();
            add(run, id, NewOp::new(Opcode::Reshape, shape, &[source]))
        }
        _ => filter,
    };
    let dims = ConvolutionDims {
        input_batch: dims.output_batch,
        input_feature: dims.output_feature,
        input_spatial: dims.output_spatial.clone(),
        kernel_input_feature: dims.kernel_output_feature,
        kernel_output_feature: dims.kernel_input_feature,
        kernel_spatial: dims.kernel_spatial.clone(),
        output_batch: dims.input_batch,
        output_feature: dims.input_feature,
        output_spatial: dims.input_spatial.clone(),
    };
    Ok(Some(Call {
        target: "__cudnn$convBackwardInput",
        name: "cudnn-conv-bw-input",
        operands: [gradient, filter],
        window: new,
        dims,
        groups: 1,
    }))
}

/// Source: `LooksLikeForwardConvolution`.
fn looks_forward(module: &Module, id: InstructionId, dims: &ConvolutionDims) -> bool {
    let of = |operand: usize| module[module.operand(id, operand)].dims();
    let (left, right, result) = (of(0), of(1), module[id].dims());
    let mut spatial = dims.kernel_spatial.iter().zip(&dims.output_spatial);
    left[dims.input_batch] == result[dims.output_batch]
        && right[dims.kernel_output_feature] == result[dims.output_feature]
        && spatial.all(|(&kernel, &output)| right[kernel] <= result[output])
}

/// Source: `MatchBackwardFilter`.
fn backward_filter(module: &Module, id: InstructionId, dims: &ConvolutionDims) -> Option<Call> {
    let old = window(module, id);
    let is_plain =
        |dim: &WindowDim| dim.stride == 1 && dim.base_dilation == 1 && dim.pad_low >= 0 && !dim.is_reversed;
    if groups(module, id, AttributeKey::FeatureGroupCount) > 1
        || looks_forward(module, id, dims)
        || !old.iter().all(is_plain)
    {
        return None;
    }
    let (input, gradient) = (module.operand(id, 0), module.operand(id, 1));
    let (kernel, result) = (module[gradient].dims(), module[id].dims());
    let spatial = dims.kernel_spatial.iter().zip(&dims.output_spatial);
    let small = spatial.filter(|&(&of, &output)| kernel[of] <= result[output]).count();
    let is_dilated = old.iter().any(|dim| dim.window_dilation != 1);
    let is_forward = old.is_empty() || small > 1 || small == 1 && !is_list(module, id, dims);
    if is_forward && !is_dilated {
        return None;
    }
    let mut new = old.clone();
    for (i, dim) in new.iter_mut().enumerate() {
        dim.size = result[dims.output_spatial[i]];
        dim.stride = old[i].window_dilation;
        dim.window_dilation = 1;
        let input = module[input].dims()[dims.input_spatial[i]];
        let least = dim.size + (old[i].size - 1) * dim.stride - input - dim.pad_low;
        dim.pad_high = dim.pad_low.clamp(least, least + dim.stride - 1);
        if dim.pad_high < 0 {
            return None;
        }
    }
    let dims = ConvolutionDims {
        input_batch: dims.input_feature,
        input_feature: dims.input_batch,
        input_spatial: dims.input_spatial.clone(),
        kernel_input_feature: dims.output_batch,
        kernel_output_feature: dims.output_feature,
        kernel_spatial: dims.output_spatial.clone(),
        output_batch: dims.kernel_input_feature,
        output_feature: dims.kernel_output_feature,
        output_spatial: dims.kernel_spatial.clone(),
    };
    Some(Call {
        target: "__cudnn$convBackwardFilter",
        name: "cudnn-conv-bw-filter",
        operands: [input, gradient],
        window: new,
        dims,
        groups: groups(module, id, AttributeKey::BatchGroupCount),
    })
}

/// Source: `CanImplementAsGpuForwardConv`.
fn forward(run: &mut Run<'_>, id: InstructionId, dims: &ConvolutionDims) -> Option<Call> {
    let module = &*run.module;
    let window = window(module, id);
    let is_empty = |&operand: &InstructionId| module[operand].dims().contains(&0);
    let reversed = window.iter().filter(|dim| dim.is_reversed).count();
    let is_mixed = reversed > 0 && !(window.len() == 2 && reversed == 2);
    if dims.input_spatial.len() > 3 || module[id].operands().iter().any(is_empty) || is_mixed {
        return None;
    }
    let mut operands = [module.operand(id, 0), module.operand(id, 1)];
    let mut count = groups(module, id, AttributeKey::FeatureGroupCount);
    let batches = groups(module, id, AttributeKey::BatchGroupCount);
    if batches > 1 {
        operands[0] = features_of_batches(run, id, operands[0], batches, dims);
        count = batches;
    }
    Some(Call {
        target: "__cudnn$convForward",
        name: "cudnn-conv",
        operands,
        window,
        dims: dims.clone(),
        groups: count,
    })
}

/// The input with each group of the batch as features of its own.
/// Source: `ConvertBatchGroupedToFeatureGroupedConvolution`.
fn features_of_batches(
    run: &mut Run<'_>,
    id: InstructionId,
    input: InstructionId,
    groups: i64,
    dims: &ConvolutionDims,
) -> InstructionId {
    let Some(element) = run.module[input].shape().element() else { return input };
    let (batch, feature) = (dims.input_batch, dims.input_feature);
    let mut split = run.module[input].dims().to_vec();
    let features = split[feature];
    split[batch] /= groups;
    split.insert(batch, groups);
    let split = Shape::array(element, &split);
    let new = add(run, id, NewOp::new(Opcode::Reshape, split.clone(), &[input]));
    let mut order: Vec<i64> = (0..split.dims().len() as i64).collect();
    order.remove(batch);
    order.insert(feature, batch as i64);
    let moved = Shape::array(element, permuted(&split, &order).dims());
    let new = add(run, id, NewOp::new(Opcode::Transpose, moved.clone(), &[new]).dimensions(&order));
    let mut joined = moved.dims().to_vec();
    joined.remove(feature);
    joined[feature] = features * groups;
    let joined = with_dims(&Shape::array(element, &joined), joined.clone());
    add(run, id, NewOp::new(Opcode::Reshape, joined, &[new]))
}
