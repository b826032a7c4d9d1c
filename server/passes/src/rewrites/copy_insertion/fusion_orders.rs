//! How kernels of fusions read and write, for whether their results may overwrite what they read.

use std::sync::Arc;

use gpu::{Fused, FusionAnalysis};
use ir::Graph;
use memory::FusionOrder;
use rustc_hash::FxHashMap;
use syntax::hlo::AttributeKey;

use crate::module::{ComputationId, InstructionId, Module};

pub(super) struct FusionOrders<'m> {
    module: &'m Module,
    device: &'static gpu::Device,
    by_name: FxHashMap<&'m str, ComputationId>,
}

impl<'m> FusionOrders<'m> {
    pub(super) fn new(module: &'m Module, device: &'static gpu::Device) -> FusionOrders<'m> {
        let computations = module.computations().into_iter();
        let by_name = computations.map(|id| (module[id].name(), id)).collect();
        FusionOrders { module, device, by_name }
    }

    /// That of a fusion. One without a kernel has none.
    pub(super) fn of(&self, fusion: InstructionId) -> FusionOrder {
        let graph = |id: ComputationId| self.module.graph(id).graph;
        let callees = |name: &str| -> Option<Arc<Graph>> { Some(Arc::new(graph(*self.by_name.get(name)?))) };
        let Some(called) = self.module[fusion].callee(AttributeKey::Calls) else {
            return FusionOrder::default();
        };
        let fused = Fused::of_fusion(&self.module.op(fusion), &graph(called), &callees);
        let analysis = fused.and_then(|fused| FusionAnalysis::new(fused, self.device));
        analysis.map(|analysis| FusionOrder::of(&analysis)).unwrap_or_default()
    }
}
