//! What is known of kernels by what they are. The layers of a model and the stages of a compile have most kernels in common.

use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gpu::{BufferTraffic, Device, Estimate, has_same_content, hash_content};
use ir::{AttributeValue, Graph, Op};
use rustc_hash::FxHashMap;

use crate::kernels::{FusionSource, Waste};

/// The most kernels that are kept. With more, all are forgotten; one takes some kilobytes.
const MOST: usize = 4096;

/// The figures of kernels, shared by all clones. Nothing makes an entry invalid: the figures follow from the key.
#[derive(Debug, Clone, Default)]
pub struct KnownKernels(Arc<Mutex<FxHashMap<Content, Arc<Known>>>>);

impl KnownKernels {
    pub(crate) fn of(&self, content: Content) -> Arc<Known> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST && !known.contains_key(&content) {
            known.clear();
        }
        known.entry(content).or_default().clone()
    }
}

/// What is known of one kernel so far. None of it contains a name of an instruction: kernels alike differ in these.
#[derive(Debug, Default)]
pub(crate) struct Known {
    pub(crate) estimate: OnceLock<Arc<Estimate>>,
    coalescing: OnceLock<Arc<Vec<BufferTraffic>>>,
    /// Above a threshold, by its bits.
    waste: OnceLock<(u64, Arc<Vec<Waste>>)>,
}

impl Known {
    pub(crate) fn coalescing(&self) -> Option<Arc<Vec<BufferTraffic>>> {
        self.coalescing.get().cloned()
    }

    pub(crate) fn set_coalescing(&self, found: &Arc<Vec<BufferTraffic>>) {
        if !found.iter().any(has_names) {
            // Of two threads that computed the same, one was first.
            _ = self.coalescing.set(found.clone());
        }
    }

    pub(crate) fn waste(&self, threshold: f64) -> Option<Arc<Vec<Waste>>> {
        self.waste.get().filter(|(bits, _)| *bits == threshold.to_bits()).map(|(_, waste)| waste.clone())
    }

    pub(crate) fn set_waste(&self, threshold: f64, found: &Arc<Vec<Waste>>) {
        _ = self.waste.set((threshold.to_bits(), found.clone()));
    }
}

/// Whether it has text that may name instructions: a reason, a note, the source of a runtime variable.
fn has_names(buffer: &BufferTraffic) -> bool {
    let elements = || buffer.accesses.iter().map(|of| &of.access.elements);
    buffer.unknown.is_some() || elements().any(|e| e.note.is_some() || !e.runtime_variables.is_empty())
}

/// What decides the figures of a kernel: the instruction with all that it calls, and for what it is compiled. Names do not count.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    pub(crate) source: Arc<FusionSource>,
    pub(crate) device: &'static Device,
    pub(crate) is_of_cpu: bool,
    pub(crate) has_several_results_flag: bool,
}

impl Content {
    /// The parts that are compared as they are.
    fn plain(&self) -> (&'static str, bool, bool, (bool, bool), &[usize], usize) {
        let FusionSource { callees, same_as, is_function, is_cut, .. } = &*self.source;
        let (device, flag) = (self.device.name, self.has_several_results_flag);
        (device, self.is_of_cpu, flag, (*is_function, *is_cut), same_as, callees.len())
    }

    /// Calls by the place of the called computation among the callees.
    fn calls<'a>(&'a self, op: &'a Op) -> impl Iterator<Item = Call<'a>> {
        op.attributes.iter().filter_map(|(_, value)| match value {
            AttributeValue::Computation(name) => {
                let at = self.source.callees.iter().position(|(known, _)| known == name);
                Some(Call::Known(at))
            }
            AttributeValue::Names(names) => Some(Call::Named(names)),
            _ => None,
        })
    }

    fn has_same_op(&self, own: &Op, other: &Content, of_other: &Op) -> bool {
        has_same_content(own, of_other) && self.calls(own).eq(other.calls(of_other))
    }

    fn has_same_graph(&self, own: &Graph, other: &Content, of_other: &Graph) -> bool {
        let mut ops = own.ops.iter().zip(&of_other.ops);
        (own.root, own.is_complete, own.ops.len())
            == (of_other.root, of_other.is_complete, of_other.ops.len())
            && own.operands == of_other.operands
            && own.unknown == of_other.unknown
            && ops.all(|(own, of_other)| self.has_same_op(own, other, of_other))
    }
}

/// What an attribute calls.
#[derive(PartialEq)]
enum Call<'a> {
    /// One of the callees, if it is one.
    Known(Option<usize>),
    Named(&'a [String]),
}

impl PartialEq for Content {
    fn eq(&self, other: &Content) -> bool {
        let mut graphs = self.source.callees.iter().zip(&other.source.callees);
        self.plain() == other.plain()
            && self.has_same_op(&self.source.op, other, &other.source.op)
            && graphs.all(|((_, own), (_, of_other))| self.has_same_graph(own, other, of_other))
    }
}

impl Eq for Content {}

impl Hash for Content {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.plain().hash(state);
        hash_content(&self.source.op, state);
        for (_, graph) in &self.source.callees {
            graph.ops.iter().for_each(|op| hash_content(op, state));
            (&graph.operands, graph.root).hash(state);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::{Database, Documents, FileId, KernelId, Language, block, kernel_coalescing, kernel_id};

    /// A module with one fusion per layout of its operand; the parts have names of their own.
    fn module(layouts: &[&str]) -> String {
        let numbered = || layouts.iter().enumerate();
        let fused = numbered().map(|(n, layout)| {
            format!(
                "fused{n} {{\n  p{n} = f32[64,128]{layout} parameter(0)\n  ROOT e{n} = f32[64,128]{{1,0}} exponential(p{n})\n}}\n\n"
            )
        });
        let entry = numbered().map(|(n, layout)| {
            format!(
                "  x{n} = f32[64,128]{layout} parameter({n})\n  f{n} = f32[64,128]{{1,0}} fusion(x{n}), kind=kLoop, calls=fused{n}\n"
            )
        });
        let (fused, entry): (String, String) = (fused.collect(), entry.collect());
        format!("HloModule m\n\n{fused}ENTRY e {{\n{entry}  ROOT t = () tuple()\n}}\n")
    }

    fn traffic(db: &Database, documents: &Documents, file: FileId, count: usize) -> Vec<Vec<BufferTraffic>> {
        let pieces = documents.view(file).expect("it is open").file.pieces(db);
        let id = |n: usize| -> KernelId<'_> {
            let name = format!("f{n}");
            let mut places = pieces.iter().flat_map(|&piece| (0..=count as u32).map(move |of| (piece, of)));
            let place = places.find(|&(piece, of)| block(db, piece).find(of, &name).is_some());
            let (piece, computation) = place.expect("the fusion is in a piece");
            kernel_id(db, piece, computation, &name)
        };
        (0..count).map(|n| kernel_coalescing(db, id(n)).to_vec()).collect()
    }

    /// The traffic of all fusions, and how often code was written for it.
    fn written(layouts: &[&str]) -> (Vec<Vec<BufferTraffic>>, usize) {
        let count = Arc::new(AtomicUsize::new(0));
        let counted = count.clone();
        let mut db = Database::observed(move |query| {
            counted.fetch_add(usize::from(query.contains("kernel_code")), Ordering::Relaxed);
        });
        let mut documents = Documents::default();
        let file = documents.open(&mut db, Language::Hlo, &module(layouts));
        let traffic = traffic(&db, &documents, file, layouts.len());
        (traffic, count.load(Ordering::Relaxed))
    }

    #[test]
    fn kernels_that_are_alike_are_computed_once() {
        let layouts = ["{1,0}", "{0,1}", "{1,0}", "{1,0}", "{0,1}"];
        let (traffic, count) = written(&layouts);
        assert_eq!(count, 2, "one per layout");
        for (layout, found) in layouts.iter().zip(traffic) {
            assert!(!found.is_empty());
            assert_eq!(found, written(&[layout]).0[0], "{layout}");
        }
    }

    #[test]
    fn databases_that_share_what_they_know_share_kernels() {
        let kernels = KnownKernels::default();
        for layouts in [["{1,0}", "{0,1}"], ["{0,1}", "{1,0}"]] {
            let mut db = Database::knowing(kernels.clone());
            let mut documents = Documents::default();
            let file = documents.open(&mut db, Language::Hlo, &module(&layouts));
            assert_eq!(traffic(&db, &documents, file, 2), written(&layouts).0);
        }
        assert_eq!(kernels.0.lock().expect("no thread panicked").len(), 2);
    }
}
