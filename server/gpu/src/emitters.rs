//! One file per emitter: how it distributes a fusion's work over threads.

mod concatenate;
mod dynamic_update_slice;
mod r#loop;
mod packed_transpose;
mod reduction;
mod reduction_column;
mod reduction_groups;
mod reduction_multirow;
mod reduction_row;
mod reduction_small_column;
mod scatter;
mod sort;
mod transpose;
mod triton_and_custom;

use indexing::{IndexingMap, Rules, no_callees};
use indexing_map::SimplifyMode;
use ir::{OpId, Opcode};

pub use concatenate::ConcatenateEmitter;
pub use dynamic_update_slice::DynamicUpdateSliceEmitter;
pub use r#loop::LoopEmitter;
pub use packed_transpose::PackedTransposeEmitter;
pub use reduction::{Exchange, ReductionEmitter, ReductionPlan, ReductionVariant};
pub use scatter::{ScatterEmitter, ScatterMode};
pub use sort::{SortEmitter, SortStep};
use transpose::Tiles;
pub use transpose::TransposeEmitter;
pub(crate) use triton_and_custom::CUSTOM_FUSION;
pub use triton_and_custom::{Elsewhere, ElsewhereEmitter};

use crate::Reason;
use crate::device::Device;
use crate::fused::Fused;
use crate::heroes::Kind;
use crate::launch::Launch;
use crate::thread_map::then;

/// The inputs of an emitter.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    pub fused: &'a Fused,
    /// The hero of each root.
    pub heroes: &'a [OpId],
    pub kind: Kind,
    pub device: &'a Device,
}

/// The emitter of a fusion with its decisions.
#[derive(Debug, Clone, PartialEq)]
pub enum Emitter {
    Loop(LoopEmitter),
    Transpose(TransposeEmitter),
    PackedTranspose(PackedTransposeEmitter),
    Reduction(ReductionEmitter),
    Concatenate(ConcatenateEmitter),
    DynamicUpdateSlice(DynamicUpdateSliceEmitter),
    Scatter(ScatterEmitter),
    Sort(SortEmitter),
    /// The kernel comes from another compiler or a library.
    Elsewhere(ElsewhereEmitter),
}

impl Emitter {
    /// Chooses the emitter for the context. Source: `GetFusionEmitter`, `backends/gpu/codegen/fusions.cc`.
    pub fn new(context: &Context<'_>) -> Result<Emitter, Reason> {
        Ok(match context.kind {
            Kind::Triton | Kind::CuDnn | Kind::Custom => Emitter::Elsewhere(ElsewhereEmitter::new(context)),
            Kind::Reduction => Emitter::Reduction(ReductionEmitter::new(context)?),
            Kind::Transpose => match PackedTransposeEmitter::new(context)? {
                Some(packed) => Emitter::PackedTranspose(packed),
                None => Emitter::Transpose(TransposeEmitter::new(context)?),
            },
            Kind::Concatenate => Emitter::Concatenate(ConcatenateEmitter::new(context)?),
            Kind::Scatter => Emitter::Scatter(ScatterEmitter::new(context)?),
            Kind::Sort => Emitter::Sort(SortEmitter::new(context)?),
            Kind::Loop => {
                if let Some(copy) = ElsewhereEmitter::memory_copy(context) {
                    Emitter::Elsewhere(copy)
                } else if let Some(in_place) = DynamicUpdateSliceEmitter::new(context)? {
                    Emitter::DynamicUpdateSlice(in_place)
                } else {
                    Emitter::Loop(LoopEmitter::new(context)?)
                }
            }
        })
    }

    /// The name shown to users: `loop`, `reduction-row`, …
    pub fn name(&self) -> &'static str {
        match self {
            Emitter::Loop(_) => "loop",
            Emitter::Transpose(_) | Emitter::PackedTranspose(_) => Opcode::Transpose.name(),
            Emitter::Reduction(reduction) => reduction.plan.variant.name(),
            Emitter::Concatenate(_) => Opcode::Concatenate.name(),
            Emitter::DynamicUpdateSlice(_) => Opcode::DynamicUpdateSlice.name(),
            Emitter::Scatter(_) => Opcode::Scatter.name(),
            Emitter::Sort(_) => Opcode::Sort.name(),
            Emitter::Elsewhere(elsewhere) => elsewhere.name(),
        }
    }

    /// The launch dimensions; `None` if this crate does not decide them.
    pub fn launch(&self) -> Option<Launch> {
        match self {
            Emitter::Loop(e) => Some(e.launch),
            Emitter::Transpose(e) => Some(e.launch),
            Emitter::PackedTranspose(e) => Some(e.launch),
            Emitter::Reduction(e) => Some(e.launch),
            Emitter::Concatenate(e) => Some(e.launch),
            Emitter::DynamicUpdateSlice(e) => Some(e.launch),
            Emitter::Scatter(e) => Some(e.launch),
            Emitter::Sort(e) => e.steps.first().map(|step| step.launch),
            Emitter::Elsewhere(_) => None,
        }
    }

    /// Maps threads to the elements of root number `root` that they write, once each. `None` if no map
    /// determines them. For an in-place update, elements are relative to the start of the update.
    pub fn thread_to_output(&self, context: &Context<'_>, root: usize) -> Option<IndexingMap> {
        match self {
            Emitter::Loop(e) => Some(e.thread_to_output(context, root)),
            Emitter::Transpose(e) => Some(e.thread_to_output(context, root)),
            Emitter::PackedTranspose(e) => Some(e.thread_to_output(context, root)),
            Emitter::Reduction(e) => Some(e.thread_to_output(context, root)),
            // The kernel decides at run time which operand's elements a thread writes, and whether.
            Emitter::Concatenate(_) => None,
            Emitter::DynamicUpdateSlice(e) => Some(e.thread_to_update()),
            // The written position is known only at run time.
            Emitter::Scatter(_) => None,
            // Elements move.
            Emitter::Sort(_) => None,
            Emitter::Elsewhere(_) => None,
        }
    }

    /// Maps threads to the elements of each operand of the hero of root number `root` that they read. The map
    /// is undefined for an operand that is not read by a map.
    pub fn thread_to_input(&self, context: &Context<'_>, root: usize) -> Vec<IndexingMap> {
        let maps = match self {
            Emitter::Loop(e) => e.thread_to_input(context, root),
            Emitter::Transpose(e) => e.thread_to_input(context, root),
            Emitter::PackedTranspose(e) => e.thread_to_input(context, root),
            Emitter::Reduction(e) => e.thread_to_input(context, root),
            Emitter::Concatenate(e) => e.thread_to_input(context),
            Emitter::DynamicUpdateSlice(e) => e.thread_to_input(context, root),
            Emitter::Scatter(e) => e.thread_to_input(context),
            Emitter::Sort(_) | Emitter::Elsewhere(_) => Vec::new(),
        };
        let operands = context.fused.op(context.heroes[root]).operand_shapes.len();
        if maps.is_empty() { vec![IndexingMap::undefined(); operands] } else { maps }
    }
}

impl Context<'_> {
    /// Composes `threads`, from threads to elements of `op`, with the maps from these to the operands of
    /// `op`.
    pub(crate) fn through_operands(&self, threads: &IndexingMap, op: OpId) -> Vec<IndexingMap> {
        let read = indexing::output_to_input(self.fused.op(op), 0);
        let one = |list: Vec<indexing::OperandIndexing>| match &list[..] {
            [access] => {
                let mut map = threads.compose(&access.map);
                map.simplify(SimplifyMode::Replace);
                map
            }
            _ => IndexingMap::undefined(),
        };
        read.operands.into_iter().map(one).collect()
    }

    /// Extends `threads`, from threads to elements of the hero, to elements of its root.
    pub(crate) fn on_to_root(&self, threads: IndexingMap, root: usize) -> IndexingMap {
        let (hero, root) = (self.heroes[root], self.fused.roots[root]);
        if hero == root {
            return threads;
        }
        let epilogue = indexing::epilogue(&self.fused.graph, hero, root, Rules::Xla, &no_callees);
        then(&threads, &epilogue.map)
    }
}
