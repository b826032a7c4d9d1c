//! The kernel of a fusion before its code is written: emitter, hero, launch, thread maps.

use gpu::{Device, Emitter, Fused, FusionAnalysis, Launch};
use indexing_map::IndexingMap;
use ir::{AttributeKey, Opcode};

use crate::locate::FileContext;
use crate::maps::{callee_graph, local_graph};

/// An instruction and the device that its kernel is for.
#[derive(Debug, Clone)]
pub struct FusionQuery {
    /// Without `%`.
    pub instruction: String,
    /// Where it may be left out: the name is looked for in the entry first.
    pub computation: Option<String>,
    pub device: String,
}

#[derive(Debug, Clone)]
pub struct FusionReply {
    pub emitter: &'static str,
    pub hero: String,
    /// Nothing where somebody else decides; then `note` says who.
    pub launch: Option<Launch>,
    /// Of a sort, whose launch is its first kernel's: all of them in order.
    pub launches: Vec<Launch>,
    /// Per result of the fusion.
    pub thread_to_output: Vec<Option<IndexingMap>>,
    /// Per hero and operand of it.
    pub thread_to_input: Vec<(String, Vec<IndexingMap>)>,
    pub note: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FusionError {
    /// No such instruction, or one without a shape.
    NotFound(String),
    UnknownDevice(String),
    /// No emitter takes it.
    NotEmitted(String),
}

/// As XLA's kernel loops: a packed transpose writes its vectors in a loop inside the one over its turns, and the variable
/// of the outer loop is a dimension of the inner one's map.
fn thread_to_output(analysis: &FusionAnalysis) -> Vec<Option<IndexingMap>> {
    let maps = analysis.thread_to_output();
    if !matches!(analysis.emitter, Emitter::PackedTranspose(_)) {
        return maps;
    }
    let nested = |map: IndexingMap| if map.num_ranges() == 3 { map.ranges_to_dims(&[0]) } else { map };
    maps.into_iter().map(|map| map.map(nested)).collect()
}

pub(crate) fn fusion_kernel(
    context: &FileContext<'_>,
    query: &FusionQuery,
) -> Result<FusionReply, FusionError> {
    let device = Device::find(&query.device).map_err(|e| FusionError::UnknownDevice(e.to_string()))?;
    let not_found = |why: &str| FusionError::NotFound(format!("{} {why}", query.instruction));
    let at = context
        .find_instruction(query.computation.as_deref(), &query.instruction)
        .ok_or_else(|| not_found("is not in the module"))?;
    let (graph, id) = local_graph(context, at).ok_or_else(|| not_found("has no known shape"))?;
    let op = &graph.ops[id as usize];
    let callees = |name: &str| callee_graph(context, at, name);
    let fused = match (op.opcode, op.attributes.computation(AttributeKey::Calls)) {
        (Opcode::Fusion, Some(called)) => {
            let callee = callees(called).ok_or_else(|| not_found("calls an unknown computation"))?;
            Fused::of_fusion(op, &callee, &callees)
        }
        _ => Fused::wrapping(op, &query.instruction),
    };
    let analysis = fused.and_then(|fused| FusionAnalysis::new(fused, device));
    let analysis = analysis.map_err(|reason| FusionError::NotEmitted(reason.into_owned()))?;
    let name = |id| analysis.fused.name(id).to_owned();
    let thread_to_input = analysis.thread_to_input();
    Ok(FusionReply {
        emitter: analysis.emitter.name(),
        hero: name(analysis.hero()),
        launch: analysis.launch(),
        launches: match &analysis.emitter {
            Emitter::Sort(sort) => sort.steps.iter().map(|step| step.launch).collect(),
            _ => analysis.launch().into_iter().collect(),
        },
        thread_to_output: thread_to_output(&analysis),
        thread_to_input: thread_to_input.into_iter().map(|(hero, maps)| (name(hero), maps)).collect(),
        note: match &analysis.emitter {
            Emitter::Elsewhere(elsewhere) => Some(elsewhere.reason().to_owned()),
            _ => None,
        },
    })
}
