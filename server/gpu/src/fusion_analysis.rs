//! Everything about a fusion's kernel that is decided before its code is written.

use indexing::IndexingMap;
use ir::OpId;

use crate::Reason;
use crate::device::Device;
use crate::emitters::{Context, Emitter};
use crate::fused::Fused;
use crate::heroes::{Kind, hero, kind};
use crate::launch::Launch;

/// The emitter of a fusion on a device, and what follows from it. A plain value: it owns the fusion's ops.
#[derive(Debug, Clone)]
pub struct FusionAnalysis {
    pub fused: Fused,
    pub device: &'static Device,
    pub kind: Kind,
    /// Per root, the op that its elements are distributed after.
    pub heroes: Vec<OpId>,
    pub emitter: Emitter,
}

impl FusionAnalysis {
    /// The reason, where no emitter takes the fusion.
    pub fn new(fused: Fused, device: &'static Device) -> Result<FusionAnalysis, Reason> {
        let mut heroes: Vec<OpId> = fused.roots.iter().map(|&root| hero(&fused, root)).collect();
        let kind = kind(&fused, &heroes, device);
        if kind == Kind::Loop {
            heroes.clone_from(&fused.roots);
        }
        let context = Context { fused: &fused, heroes: &heroes, kind, device };
        let emitter = Emitter::new(&context)?;
        if let Emitter::DynamicUpdateSlice(in_place) = &emitter {
            heroes.clone_from(&in_place.updates);
        }
        Ok(FusionAnalysis { fused, device, kind, heroes, emitter })
    }

    fn context(&self) -> Context<'_> {
        Context { fused: &self.fused, heroes: &self.heroes, kind: self.kind, device: self.device }
    }

    /// The hero that the emitter is chosen for: the first that makes it what it is.
    pub fn hero(&self) -> OpId {
        let is_wanted = |&hero: &OpId| match &self.emitter {
            Emitter::Transpose(_) | Emitter::PackedTranspose(_) => {
                crate::heroes::tiling(&self.fused, hero).is_some()
            }
            Emitter::Reduction(reduction) => reduction.reductions.contains(&hero),
            _ => true,
        };
        self.heroes.iter().copied().find(is_wanted).unwrap_or(self.heroes[0])
    }

    /// Nothing where somebody else decides, see [`Emitter::Elsewhere`].
    pub fn launch(&self) -> Option<Launch> {
        self.emitter.launch()
    }

    /// Per result of the fusion, the map from threads to the elements that they write.
    pub fn thread_to_output(&self) -> Vec<Option<IndexingMap>> {
        let context = self.context();
        let roots = 0..self.fused.roots.len();
        let maps: Vec<_> = roots.map(|root| self.emitter.thread_to_output(&context, root)).collect();
        self.fused.outputs.iter().map(|&root| maps[root].clone()).collect()
    }

    /// Per hero, each once, and per operand of it, the map from threads to the elements that they read. Undefined where
    /// the operand is not read by a map.
    pub fn thread_to_input(&self) -> Vec<(OpId, Vec<IndexingMap>)> {
        let context = self.context();
        let mut answer: Vec<(OpId, Vec<IndexingMap>)> = Vec::new();
        for (root, &hero) in self.heroes.iter().enumerate() {
            if answer.iter().all(|(known, _)| *known != hero) {
                answer.push((hero, self.emitter.thread_to_input(&context, root)));
            }
        }
        answer
    }
}
