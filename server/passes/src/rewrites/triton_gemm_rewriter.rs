//! `triton-gemm-rewriter`: fuses dots with what surrounds them into fusions for Triton.
//!
//! Around a dot lies a search space: all that Triton can compute. The fusion grows in it from the dot to its operands, then to its
//! user and that one's operands, as long as the tile of the result decides all tiles and less memory is moved. Bitcasts move out of
//! the way.
//! Source: XLA `backends/gpu/transforms/gemm_fusion.cc`, with `xla_gpu_experimental_gemm_fusion_v2`.

mod dot_support;
mod grow;
mod moves;
mod search_space;
mod worth;

use ir::AttributeValue;
use syntax::hlo::{AttributeKey, Opcode};

use super::backend_config;
use super::every::visit;
use super::fusing::fusible_computations;
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};

use dot_support::{is_supported_by_loops, is_supported_by_triton, is_tiny};
use grow::Grown;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    for computation in fusible_computations(run.module) {
        let mut stop = None;
        visit(run, computation, |run, id, _| match run.module[id].opcode() {
            Opcode::Dot => fuse(run, id),
            Opcode::ScaledDot => stop = Some(format!("%{} is a scaled dot", run.module[id].name())),
            _ => {}
        });
        if let Some(what) = stop {
            return Err(Stop::Unsupported(format!("{what}, whose fusions are not implemented")));
        }
    }
    Ok(())
}

/// Whether a dot is too small for matrix instructions, and is computed by loops.
pub(super) fn is_left_to_loops(module: &Module, dot: InstructionId) -> bool {
    is_tiny(module, dot) && is_supported_by_loops(module, dot)
}

fn fuse(run: &mut Run<'_>, dot: InstructionId) {
    if is_left_to_loops(run.module, dot) || !is_supported_by_triton(run.module, dot, run.options.device) {
        return;
    }
    let Some(Grown { mut space, fusion, output }) = grow::grow(run.module, dot, run.options.device) else {
        return;
    };
    let scratch = space.module.clone();
    let Some(body) = scratch.fused_computation(fusion) else { return };
    let inputs: Option<Vec<InstructionId>> = (scratch[fusion].operands().iter())
        .zip(scratch.parameters(body))
        .map(|(&operand, parameter)| space.original(run.module, operand, scratch[parameter].shape()))
        .collect();
    let Some(inputs) = inputs else { return };

    let name = format!("gemm_fusion_{}", run.module[dot].name());
    let called = run.module.add_computation(&format!("{}.{name}_computation", scratch[body].name()));
    let mut copies = rustc_hash::FxHashMap::default();
    for id in scratch.post_order(body) {
        let operands: Vec<InstructionId> = scratch[id].operands().iter().map(|of| copies[of]).collect();
        let copy = match scratch[id].parameter_number() {
            Some(number) => run.module.add_parameter(called, number, scratch[id].shape().clone()),
            None => run.module.add_copy_from(called, &scratch, id, &operands),
        };
        copies.insert(id, copy);
    }
    run.module.set_root(called, copies[&scratch.root(body)]);

    let shape = scratch[scratch.root(body)].shape().clone();
    let new = NewOp::fusion("kCustom", shape.clone(), &inputs, called)
        .with(AttributeKey::BackendConfig, AttributeValue::Text(backend_config::of_kind("__triton_gemm")));
    run.changed(dot, format!("fused into %{name} with what surrounds it"));
    let parent = run.module[dot].parent();
    let fused = run.module.add_named(parent, new, &name);
    run.module.inherit_metadata(fused, dot);
    let mut replacement = fused;
    if *run.module[output].shape() != shape {
        let of_output = run.module[output].shape().clone();
        replacement = run.module.add(parent, NewOp::new(Opcode::Bitcast, of_output, &[fused]));
    }
    run.module.replace(output, replacement);
}
