//! `triton-softmax-rewriter`: fuses normalisations for Triton, so that each row is read once: a reduction of rows, and an operation of the
//! rows with what they were reduced to.
//!
//! Source: XLA `backends/gpu/transforms/softmax_rewriter_triton.cc`.

mod diamonds;

use std::sync::Arc;

use gpu::{Device, Fused, FusionAnalysis, RankedTiling, best_tilings, estimate};
use ir::{AttributeValue, Graph, Op, OpId};
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::{AttributeKey, Opcode};

use super::backend_config::{BlockConfig, of_block, of_kind};
use crate::driver::{Options, Run, Stop, optimize};
use crate::module::{ComputationId, InstructionId, Module, NewOp};

use diamonds::Diamond;

/// What XLA does between this pass and the end of fusing. It tells how fast the normalisation would be otherwise.
const OTHERWISE: [&str; 4] =
    ["reduction-dimension-grouper", "reduction-splitter", "tree-reduction-rewriter", "fusion-pipeline"];

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let is_supported = matches!(run.options.device.platform, gpu::Platform::Cuda { major, .. } if major >= 8);
    if !is_supported {
        return Ok(());
    }
    let mut found = Vec::new();
    for computation in run.module.non_fusion_computations() {
        for id in run.module.post_order(computation) {
            cancel::tick();
            found
                .extend(diamonds::diamond(run.module, id).filter(|diamond| is_tileable(run.module, diamond)));
        }
    }
    // Diamonds of the same computation have the same tiling.
    let mut known: Vec<(ComputationId, Option<RankedTiling>)> = Vec::new();
    // A diamond may start where another one ends.
    for diamond in found.into_iter().rev() {
        let is_held = run.module[diamond.root].has_control_dependencies();
        if run.module[diamond.root].is_removed() || is_held {
            continue;
        }
        let Some((called, inputs)) = add_computation(run.module, &diamond) else { continue };
        let same = known.iter().find(|(other, _)| run.module.is_same_computation(*other, called));
        let best = match same {
            Some((_, best)) => best.clone(),
            None => {
                let best = faster_tiling(run, called)?;
                known.push((called, best.clone()));
                best
            }
        };
        match best {
            Some(best) => fuse(run, &diamond, called, &inputs, &best),
            None if known.iter().all(|(other, _)| *other != called) => run.module.remove_computation(called),
            None => {}
        }
    }
    let refused = known.into_iter().filter(|(_, best)| best.is_none());
    refused.for_each(|(called, _)| run.module.remove_computation(called));
    Ok(())
}

fn is_tileable(module: &Module, diamond: &Diamond) -> bool {
    let mut graph = Graph { is_complete: true, ..Graph::default() };
    let mut numbers: FxHashMap<InstructionId, OpId> = FxHashMap::default();
    let mut inputs = 0;
    for member in members(module, diamond) {
        let (id, op, operands) = match member {
            Member::Input(id) => {
                inputs += 1;
                (id, Op::parameter(inputs - 1, module[id].shape().clone()), Some(Vec::new()))
            }
            Member::Inner(id) => {
                let operands = module[id].operands().iter();
                (id, module.op(id), operands.map(|operand| numbers.get(operand).copied()).collect())
            }
        };
        let Some(operands) = operands else { return false };
        numbers.insert(id, graph.push(op, operands, module[id].name().to_owned()));
    }
    graph.root = numbers[&diamond.root];
    let fused = Fused::of_fusion(&ir::Op::leaf(ir::Shape::Token), &graph, &|_| None);
    fused.is_ok_and(|fused| xtile::check_tileable(&fused).is_ok())
}

/// What the computation of a diamond has.
enum Member {
    /// A value that it reads.
    Input(InstructionId),
    /// An instruction of which it has a copy.
    Inner(InstructionId),
}

/// What the computation of a diamond has, operands first.
fn members(module: &Module, diamond: &Diamond) -> Vec<Member> {
    let mut members = Vec::new();
    let mut known: FxHashSet<InstructionId> = FxHashSet::default();
    let mut stack = vec![(diamond.root, false), (diamond.producer, false)];
    while let Some((id, has_operands)) = stack.pop() {
        cancel::tick();
        if known.contains(&id) {
            continue;
        }
        let is_input = id == diamond.producer || module[id].opcode() == Opcode::Parameter;
        if !is_input && !has_operands {
            stack.push((id, true));
            stack.extend(module[id].operands().iter().rev().map(|&operand| (operand, false)));
            continue;
        }
        known.insert(id);
        members.push(if is_input { Member::Input(id) } else { Member::Inner(id) });
    }
    members
}

/// Adds the computation of a diamond, and returns what it reads. Source: `MakeFusionForDiamond`.
fn add_computation(module: &mut Module, diamond: &Diamond) -> Option<(ComputationId, Vec<InstructionId>)> {
    let members = members(module, diamond);
    let called = module.add_computation("triton_softmax_computation");
    let mut inputs = Vec::new();
    let mut copies: FxHashMap<InstructionId, InstructionId> = FxHashMap::default();
    for member in members {
        let (id, copy) = match member {
            Member::Input(id) => {
                let number = inputs.len() as u32;
                inputs.push(id);
                let new = NewOp::parameter(module[id].shape().clone(), number);
                (id, module.add_named(called, new, &format!("parameter_{number}")))
            }
            Member::Inner(id) => {
                let operands: Option<Vec<InstructionId>> =
                    module[id].operands().iter().map(|operand| copies.get(operand).copied()).collect();
                (id, module.add_copy(called, id, &operands?))
            }
        };
        copies.insert(id, copy);
    }
    module.set_root(called, copies[&diamond.root]);
    Some((called, inputs))
}

/// The fastest tiling of a computation, if it is at least as fast as the computation is without this pass.
fn faster_tiling(run: &Run<'_>, called: ComputationId) -> Result<Option<RankedTiling>, Stop> {
    let (module, options) = (&*run.module, run.options);
    let find = || {
        let Some(best) = best_tiling(module, called, options.device, "__triton") else { return Ok(None) };
        let otherwise = time_otherwise(module, called, options)?;
        Ok(Some(best).filter(|best| best.time.exec_us <= otherwise))
    };
    let graph = module.graph(called).graph;
    with_callees(module, called, |callees| options.estimates.tiling(options.device, &graph, callees, find))
}

fn fuse(
    run: &mut Run<'_>,
    diamond: &Diamond,
    called: ComputationId,
    inputs: &[InstructionId],
    best: &RankedTiling,
) {
    run.changed(diamond.root, "fused for Triton with what normalises it");
    let config = of_block("__triton", &block_config(best));
    let shape = run.module[diamond.root].shape().clone();
    let new = NewOp::fusion("kCustom", shape, inputs, called)
        .with(AttributeKey::BackendConfig, AttributeValue::Text(config));
    let new = run.module.add_named(run.module[diamond.root].parent(), new, "triton_softmax");
    run.module.replace(diamond.root, new);
}

/// The fastest tiling of a computation that is fused for Triton, if it has one.
pub(super) fn best_tiling(
    module: &Module,
    called: ComputationId,
    device: &'static Device,
    kind: &str,
) -> Option<RankedTiling> {
    let graph = module.graph(called).graph;
    let mut op = ir::Op::leaf(module[module.root(called)].shape().clone());
    op.opcode = Opcode::Fusion;
    op.attributes.set(AttributeKey::Kind, AttributeValue::Word("kCustom".to_owned()));
    op.attributes.set(AttributeKey::BackendConfig, AttributeValue::Text(of_kind(kind)));
    let fused = Fused::of_fusion(&op, &graph, &|_| None).ok()?;
    let analysis = FusionAnalysis::new(fused, device).ok()?;
    with_callees(module, called, |callees| best_tilings(&analysis, callees, 1).ok()?.into_iter().next())
}

/// The tiling as a configuration. Triton's tiles are powers of two.
pub(super) fn block_config(best: &RankedTiling) -> BlockConfig {
    let padded = |&size: &i64| u64::try_from(size).map_or(1, u64::next_power_of_two) as i64;
    BlockConfig {
        tile: best.tile.iter().map(padded).collect(),
        stages: 1,
        warps: best.warps,
        is_tma_allowed: false,
    }
}

fn with_callees<T>(module: &Module, of: ComputationId, f: impl FnOnce(&indexing::Callees<'_>) -> T) -> T {
    let called = module.instructions(of).into_iter().flat_map(|id| module[id].called().collect::<Vec<_>>());
    let graphs: FxHashMap<&str, Arc<Graph>> =
        called.map(|called| (module[called].name(), Arc::new(module.graph(called).graph))).collect();
    f(&|name: &str| graphs.get(name).cloned())
}

/// How long the computation takes if it is not fused for Triton.
/// Source: `EstimateOptimizedHloRunTimeWithoutSoftMaxRewriterTriton`.
fn time_otherwise(module: &Module, called: ComputationId, options: &Options) -> Result<f64, Stop> {
    let mut scratch = module.with_entry(called);
    let options = Options { until: None, pipeline: "fusion".to_owned(), ..options.clone() };
    optimize(&mut scratch, &OTHERWISE, &options)?;
    let mut time = 0.0;
    for id in scratch.instructions(scratch.entry()) {
        let op = scratch.op(id);
        let fused = match scratch.fused_computation(id) {
            Some(called) => Fused::of_fusion(&op, &scratch.graph(called).graph, &|_| None),
            None if is_free(op.opcode) => continue,
            None => Fused::wrapping(&op, scratch[id].name()),
        };
        let Ok(analysis) = fused.and_then(|fused| FusionAnalysis::new(fused, options.device)) else {
            continue;
        };
        let of = scratch.fused_computation(id).unwrap_or(scratch.entry());
        let estimate = with_callees(&scratch, of, |callees| estimate(&analysis, callees));
        time += estimate.xla.map_or(0.0, |time| time.exec_us);
    }
    Ok(time)
}

fn is_free(opcode: Opcode) -> bool {
    use Opcode::{Bitcast, Constant, GetTupleElement, Parameter, Tuple};
    matches!(opcode, Bitcast | Constant | GetTupleElement | Parameter | Tuple)
}
