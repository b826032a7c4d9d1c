//! `dynamic-slice-copy-fusion-async-wrapper`: makes fusions that only copy a slice asynchronous, so that other kernels run meanwhile.
//!
//! Source: XLA `backends/gpu/transforms/dynamic_slice_copy_fusion_async_wrapper.cc`, `dynamic_slice_copy.cc`.

use ir::{ElementType, Shape};
use syntax::hlo::{AttributeKey, Opcode};

use super::backend_config::plain;
use crate::driver::{Run, Stop};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let callers = run.module.callers();
    for computation in run.module.non_fusion_computations() {
        let is_start = |&id: &InstructionId| run.module[id].opcode() == Opcode::AsyncStart;
        if callers.get(&computation).is_some_and(|callers| callers.iter().any(is_start)) {
            continue;
        }
        for id in run.module.post_order(computation) {
            cancel::tick();
            let is_custom = run.module[id].attributes().text(AttributeKey::Kind) == Some("kCustom");
            let called = run.module.fused_computation(id).filter(|_| !is_custom);
            if called.is_some_and(|called| copies_slice(run.module, called)) {
                wrap(run, id);
            }
        }
    }
    Ok(())
}

/// Whether all that a fusion does is copy a slice, or into one. Source: `AnalyzeDynamicSliceCopyFusion`.
fn copies_slice(module: &Module, called: ComputationId) -> bool {
    let root = module.root(called);
    let slicing = through(module, root);
    let is_offset = |&offset: &InstructionId| is_expression(module, offset);
    let (copied, has_target) = match module[slicing].opcode() {
        Opcode::DynamicSlice => (root, true),
        Opcode::DynamicUpdateSlice => {
            let target = through(module, module.operand(slicing, 0));
            let is_parameter = module[target].opcode() == Opcode::Parameter;
            let has_target = is_parameter && module[slicing].operands()[2..].iter().all(is_offset);
            (module.operand(slicing, 1), has_target)
        }
        _ => return false,
    };
    has_target
        && has_config(module, slicing)
        && module[copied].shape().as_array().is_some()
        && module.instructions(called).into_iter().all(|id| is_compatible(module, id))
        && is_given(module, copied)
}

/// What bitcasts and reshapes read.
fn through(module: &Module, mut id: InstructionId) -> InstructionId {
    while matches!(module[id].opcode(), Opcode::Bitcast | Opcode::Reshape) {
        id = module.operand(id, 0);
    }
    id
}

/// Whether the offsets of a slice are noted. See `dynamic-slice-annotator`.
fn has_config(module: &Module, id: InstructionId) -> bool {
    plain(module, id).contains("dynamic_slice_config:")
}

/// Source: `IsSlicingInstructionCompatible`.
fn is_compatible(module: &Module, id: InstructionId) -> bool {
    match module[id].opcode() {
        Opcode::DynamicSlice | Opcode::DynamicUpdateSlice => has_config(module, id),
        Opcode::Slice => is_contiguous(module, id),
        _ => true,
    }
}

/// Whether the elements of a slice follow each other in memory. Source: `IsContiguousStaticSlice`.
fn is_contiguous(module: &Module, slice: InstructionId) -> bool {
    let whole = module[module.operand(slice, 0)].shape().as_array();
    let (Some(whole), Some(part)) = (whole, module[slice].shape().as_array()) else { return false };
    let steps = module[slice].attributes().triples(AttributeKey::Slice);
    let mut is_cut = false;
    whole.minor_to_major().into_iter().all(|dim| {
        let (size, of) = (part.dims[dim], whole.dims[dim]);
        if is_cut && size != 1 {
            return false;
        }
        let has_steps = steps.get(dim).is_some_and(|&[_, _, step]| step != 1);
        is_cut |= size < of;
        !(size < of && has_steps && size > 1)
    })
}

/// Whether a value is a parameter of the fusion, or a slice of one at offsets that the host can compute.
/// Source: `DynamicSliceFusion::ResolveParameter`.
fn is_given(module: &Module, copied: InstructionId) -> bool {
    let slice = through(module, copied);
    let (source, is_sliced) = match module[slice].opcode() {
        Opcode::DynamicSlice => {
            let offsets = &module[slice].operands()[1..];
            if !offsets.iter().all(|&offset| is_expression(module, offset)) {
                return false;
            }
            (module.operand(slice, 0), true)
        }
        Opcode::Slice => (module.operand(slice, 0), true),
        _ => (slice, false),
    };
    let source = through(module, source);
    module[source].opcode() == Opcode::Parameter
        && (is_sliced || module[source].shape().bytes() == module[copied].shape().bytes())
}

/// Source: `DynamicSliceFusion::Offset::IsExpr`.
fn is_expression(module: &Module, id: InstructionId) -> bool {
    use Opcode::{Add, Compare, Constant, Multiply, Parameter, Select, Subtract};
    module[id].dims().is_empty()
        && match module[id].opcode() {
            Constant | Parameter => true,
            Add | Subtract | Multiply | Compare | Select => {
                let mut operands = module[id].operands().iter();
                operands.all(|&operand| recursion::grow(|| is_expression(module, operand)))
            }
            _ => false,
        }
}

/// Source: `HloComputation::CreateAsyncInstructions`.
fn wrap(run: &mut Run<'_>, id: InstructionId) {
    run.changed(id, "runs beside other kernels");
    let module = &mut *run.module;
    let called = module.add_computation("async_computation");
    let operands = module[id].operands().to_vec();
    let shapes: Vec<Shape> = operands.iter().map(|&operand| module[operand].shape().clone()).collect();
    let parameters: Vec<InstructionId> = (0..)
        .zip(&shapes)
        .map(|(number, shape)| module.add_parameter(called, number, shape.clone()))
        .collect();
    let copy = module.add_copy(called, id, &parameters);
    if let Some(fused) = module.fused_computation(id) {
        let fused = module.copy_computation(fused);
        module.set_calls(copy, AttributeKey::Calls, &[fused]);
    }
    module.set_root(called, copy);
    let shape = module[id].shape().clone();
    let of_start = Shape::tuple([Shape::tuple(shapes), shape.clone(), Shape::array(ElementType::U32, &[])]);
    let computation = module[id].parent();
    let start = NewOp::new(Opcode::AsyncStart, of_start, &operands).calling(AttributeKey::Calls, &[called]);
    let start = module.add_named(computation, start, "fusion-start");
    let done = module.add_named(computation, NewOp::new(Opcode::AsyncDone, shape, &[start]), "fusion-done");
    for new in [start, done] {
        module.inherit_metadata(new, id);
        if let Some(config) = module[id].attributes().get(AttributeKey::BackendConfig).cloned() {
            module.attributes_mut(new).set(AttributeKey::BackendConfig, config);
        }
    }
    for before in module[id].control_predecessors().to_vec() {
        module.add_control(before, start);
    }
    for after in module[id].control_successors().to_vec() {
        module.add_control(done, after);
    }
    module.drop_control(id);
    module.replace(id, done);
}
