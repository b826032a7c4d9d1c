//! `topk-specializer`: finds few of the largest elements by a kernel of their own.
//!
//! Source: XLA `backends/gpu/transforms/topk_specializer.cc`.

use ir::{AttributeValue, ElementType};
use syntax::hlo::{AttributeKey, Opcode};

use super::every::{add, every, replace};
use super::topk_decomposer::{is_stable, is_topk};
use crate::driver::{Run, Stop};
use crate::module::{InstructionId, Module, NewOp};

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    every(run, |run, id| {
        if is_topk(run.module, id) && is_small(run.module, id) && !run.module[id].has_control_dependencies() {
            specialize(run, id);
        }
    });
    Ok(())
}

/// Source: `SmallBufferOptimization`.
fn is_small(module: &Module, id: InstructionId) -> bool {
    let &[operand] = module[id].operands() else { return false };
    let element = module[operand].shape().element();
    let count = module[id].shape().element_at(&[0]).and_then(|values| values.dims().last().copied());
    let (Some(count), &[ref batch @ .., size]) = (count, module[operand].dims()) else { return false };
    if batch.len() > 1 || !matches!(element, Some(ElementType::F32 | ElementType::Bf16)) {
        return false;
    }
    if count as f64 / size as f64 >= 0.85 {
        return false;
    }
    let batch = batch.first().copied().unwrap_or(0);
    let (most, least) = match (is_stable(module, id), element) {
        (true, _) => (16, 1024),
        (false, Some(ElementType::F32)) if batch >= 64 && size >= 16384 => (256, 1),
        (false, Some(ElementType::Bf16)) if (64..=128).contains(&batch) && (8192..=32768).contains(&size) => {
            (64, 1)
        }
        (false, Some(ElementType::Bf16)) if batch >= 16 && size >= 65536 => (256, 1),
        (false, _) => (128, 1),
    };
    count <= most && size >= least
}

fn specialize(run: &mut Run<'_>, id: InstructionId) {
    let call = &run.module[id];
    let mut new = NewOp::new(Opcode::CustomCall, call.shape().clone(), call.operands())
        .with(AttributeKey::CustomCallTarget, AttributeValue::Quoted("__gpu$TopK".to_owned()))
        .with(AttributeKey::ApiVersion, AttributeValue::Word("API_VERSION_TYPED_FFI".to_owned()));
    if let Some(config) = call.attributes().get(AttributeKey::BackendConfig) {
        new.attributes.set(AttributeKey::BackendConfig, config.clone());
    }
    let new = add(run, id, new);
    let elements = [run.module.add_element(new, 0), run.module.add_element(new, 1)];
    let tuple = run.module.add_tuple(run.module[id].parent(), &elements);
    replace(run, id, tuple, "found by a kernel for few elements");
}
