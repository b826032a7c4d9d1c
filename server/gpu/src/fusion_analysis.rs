//! The decisions about a fusion's kernel that are made before its code is written.

use indexing::{Callees, IndexingMap};
use ir::{OpId, Opcode};
use rustc_hash::FxHashSet;

use crate::Reason;
use crate::device::Device;
use crate::emitters::{Context, Elsewhere, Emitter};
use crate::fused::Fused;
use crate::heroes::{Kind, hero, kind};
use crate::launch::Launch;
use crate::partition::{Partition, Reason as PartitionReason, partition};

/// The emitter of a fusion on a device, and its consequences. A plain value: it owns the fusion's ops.
#[derive(Debug, Clone)]
pub struct FusionAnalysis {
    pub fused: Fused,
    pub device: &'static Device,
    pub kind: Kind,
    /// Per root, its hero: the op whose elements are distributed over the threads.
    pub heroes: Vec<OpId>,
    pub emitter: Emitter,
}

impl FusionAnalysis {
    /// Analyses a fusion. Fails with the reason if no emitter takes it.
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

    /// The hero that decides the emitter: the first one that requires it.
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

    /// The functions of the kernel, named after `computation`; the part that the entry computes itself is
    /// called `kernel`. In addition to XLA's criteria, each result opens a function, and so do heroes that an
    /// epilogue follows and the ops that these heroes read. Source: `computation_partitioner.cc` and
    /// `EpilogueSpecification`; a hero that nothing else uses has no function, `emitter_base.cc`.
    pub fn partition(&self, kernel: &str, computation: &str, callees: &Callees<'_>) -> Partition {
        let graph = &self.fused.graph;
        let heroes = self.distributed_heroes();
        let results: FxHashSet<OpId> = self.fused.roots.iter().copied().collect();
        let read: FxHashSet<OpId> =
            heroes.iter().flat_map(|&hero| graph.operands[hero as usize].iter().copied()).collect();
        let is_forced = |op| results.contains(&op) || heroes.contains(&op) || read.contains(&op);
        let mut partition = partition(graph, computation, &is_forced, callees);
        for (number, function) in partition.functions.iter_mut().enumerate() {
            let root = function.root;
            let is_hero = heroes.contains(&root);
            if matches!(function.reason, PartitionReason::Forced | PartitionReason::NoUser) {
                function.reason = match () {
                    () if is_hero && !results.contains(&root) => PartitionReason::Hero,
                    () if number > 0 && results.contains(&root) => PartitionReason::Result,
                    () if function.reason == PartitionReason::NoUser => PartitionReason::NoUser,
                    () => PartitionReason::ReadByHero,
                };
            }
            // An op that changes several elements of its operand has no value at one index, and a tuple has
            // none at all.
            let is_written_whole =
                matches!(graph.ops[root as usize].opcode, Opcode::Scatter | Opcode::Sort | Opcode::Tuple);
            let is_unused_hero = is_hero && self.fused.users[root as usize].is_empty();
            if is_written_whole || is_unused_hero {
                function.is_entry = true;
                kernel.clone_into(&mut function.name);
            }
        }
        partition
    }

    /// Heroes whose elements the threads exchange or combine before their epilogue.
    fn distributed_heroes(&self) -> FxHashSet<OpId> {
        let is_distributed = |root: OpId, hero: OpId| match &self.emitter {
            Emitter::Reduction(reduction) => reduction.reductions.contains(&hero),
            Emitter::Transpose(_) | Emitter::PackedTranspose(_) | Emitter::Concatenate(_) => root != hero,
            _ => false,
        };
        let pairs = self.fused.roots.iter().zip(&self.heroes);
        pairs.filter(|&(&root, &hero)| is_distributed(root, hero)).map(|(_, &hero)| hero).collect()
    }

    /// The launch dimensions; `None` for [`Emitter::Elsewhere`].
    pub fn launch(&self) -> Option<Launch> {
        self.emitter.launch()
    }

    /// Whether Triton writes the kernel.
    pub fn is_for_triton(&self) -> bool {
        matches!(&self.emitter, Emitter::Elsewhere(elsewhere) if elsewhere.by == Elsewhere::Triton)
    }

    /// The launch dimensions, including those of a Triton kernel whose tiles the text states.
    pub fn stated_launch(&self) -> Option<Launch> {
        match &self.emitter {
            Emitter::Elsewhere(elsewhere) => elsewhere.launch,
            _ => self.launch(),
        }
    }

    /// Per result of the fusion, the map from threads to the elements that they write.
    pub fn thread_to_output(&self) -> Vec<Option<IndexingMap>> {
        let context = self.context();
        let roots = 0..self.fused.roots.len();
        let maps: Vec<_> = roots.map(|root| self.emitter.thread_to_output(&context, root)).collect();
        self.fused.outputs.iter().map(|&root| maps[root].clone()).collect()
    }

    /// The same for root number `root`. A result may be several roots, and a root several results.
    pub fn thread_to_root(&self, root: usize) -> Option<IndexingMap> {
        self.emitter.thread_to_output(&self.context(), root)
    }

    /// Per hero, each once, and per operand of it, the map from threads to the elements that they read.
    /// Undefined if the operand is not read by a map.
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

#[cfg(test)]
mod tests {
    use crate::Device;
    use crate::fixture::{analysis, check, fused};
    use test_files::hlo::SIZED_BODIES;

    /// All sizes give an analysis or a reason, and maps that can be computed.
    #[test]
    fn no_size_panics() {
        let no_operand = "p = T[A,B] parameter(0)\n ROOT r = T[A,B] transpose(), dimensions={1,0}";
        let bodies = SIZED_BODIES.map(|body| body.replace("=less", "=add"));
        let bodies = bodies.iter().map(String::as_str).chain([no_operand]);
        let sizes = ["0", "1", "31", "64", "4000", "<=7", "?", "4611686018427387905", "9223372036854775807"];
        for body in bodies {
            for (a, b) in sizes.iter().flat_map(|a| sizes.iter().map(move |b| (a, b))) {
                for element in ["s4", "f32", "c128"] {
                    for device in ["h100-sxm", "b200", "mi350"] {
                        let text = body.replace("T[", &format!("{element}[")).replace("[C", "[65");
                        let text = text.replace('A', a).replace('B', b);
                        if let Ok(analysis) = analysis(&text, device) {
                            analysis.thread_to_output();
                            analysis.thread_to_input();
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn ops_alone_are_wrapped() {
        let module = "\
HloModule m
ENTRY e {
 p = f32[40,50] parameter(0)
 ROOT t = f32[50,40] transpose(p), dimensions={1,0}
}
";
        let wrapped = fused(module, "t").unwrap();
        let analysis = super::FusionAnalysis::new(wrapped, Device::find("h100-sxm").unwrap()).unwrap();
        assert_eq!(analysis.emitter.name(), "transpose");
        assert_eq!(analysis.launch().unwrap().shared_bytes, 4224);
    }

    #[test]
    fn fusions_inside_are_looked_through() {
        let module = "\
HloModule m
inner {
 a = f32[40,50] parameter(0)
 b = f32[50,40] transpose(a), dimensions={1,0}
 ROOT t = (f32[50,40], f32[40,50]) tuple(b, a)
}
outer {
 c = f32[40,50] parameter(0)
 d = (f32[50,40], f32[40,50]) fusion(c), kind=kLoop, calls=inner
 e = f32[50,40] get-tuple-element(d), index=0
 ROOT n = f32[50,40] negate(e)
}
ENTRY e {
 p = f32[40,50] parameter(0)
 ROOT f = f32[50,40] fusion(p), kind=kLoop, calls=outer
}
";
        let analysis =
            super::FusionAnalysis::new(fused(module, "f").unwrap(), Device::find("h100-sxm").unwrap())
                .unwrap();
        assert_eq!((analysis.emitter.name(), analysis.fused.name(analysis.hero())), ("transpose", "b"));
    }

    #[test]
    fn heroes() {
        // Another operand may pass through a transpose, but not through a reduction.
        let transpose = "\
p = f32[40,50] parameter(0)
 q = f32[50,40] parameter(1)
            t = f32[50,40] transpose(p), dimensions={1,0}
 ROOT a = f32[50,40] add(t, q)";
        check(transpose, "h100-sxm", "transpose t 4x128 +4224");
        let reduce = "\
p = f32[64,64] parameter(0)
 q = f32[64] parameter(1)
 z = f32[] constant(0)
            r = f32[64] reduce(p, z), dimensions={0}, to_apply=add
 ROOT a = f32[64] add(r, q)";
        check(reduce, "h100-sxm", "loop a 1x64");
        // An op that moves elements of a transpose's result is computed element by element.
        let moved = "p = f32[40,50] parameter(0)\n t = f32[50,40] transpose(p), dimensions={1,0}
            ROOT r = f32[50,40] reverse(t), dimensions={0}";
        check(moved, "h100-sxm", "loop r 16x128");
        // Two results of different widths do not share tiles.
        let widths = "\
p = f32[17,16] parameter(0)
 q = s8[17,16] parameter(1)
            t = f32[16,17] transpose(p), dimensions={1,0}
 u = s8[16,17] transpose(q), dimensions={1,0}
            ROOT r = (f32[16,17], s8[16,17]) tuple(t, u)";
        check(widths, "h100-sxm", "loop t 3x128");
        check(&widths.replace("s8", "s32"), "h100-sxm", "transpose t 1x128 +8448");
        // With two candidates there is no hero.
        let two = "\
p = f32[40,50] parameter(0)
 n = f32[40,50] negate(p)
            t = f32[50,40] transpose(p), dimensions={1,0}
 u = f32[50,40] transpose(n), dimensions={1,0}
            ROOT a = f32[50,40] add(t, u)";
        check(two, "h100-sxm", "loop a 16x128");
    }
}
