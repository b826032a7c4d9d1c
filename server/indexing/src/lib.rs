//! The elements of its operands that an op reads, and the elements of its results that it feeds: one
//! [`IndexingMap`] per access, for single ops and through whole fusions.
//!
//! * [`output_to_input()`], [`input_to_output()`]: one op, from its [`Op`] alone.
//! * [`in_graph`], [`in_graph_input_to_output`]: one op in its [`Graph`]: runtime variables that a constant
//!   or an iota defines are folded, and fusions are inlined.
//! * [`grouped`]: a set of ops treated as one fusion: from a target to every op in it and to the operands
//!   outside.
//! * [`fusion()`]: a fusion's called computation: from one of its outputs to each of the fusion's operands.
//! * [`epilogue()`]: from a hero's index to the root's.
//! * [`variable_names`]: names for the variables of an op's maps by their role, such as `batch`, `m`, `n`,
//!   `k` of a dot.
//! * [`physical`], [`logical_to_physical`], [`logical_to_linear`]: maps between positions in memory.
//!
//! Maps are over *logical* indices: dimension `i` is `d<i>` in `[0, size - 1]`; a dynamic dimension uses its
//! bound as size. An extent without bound is a runtime variable ([`RuntimeSource::Extent`]). Rules: XLA
//! `hlo/analysis/indexing_analysis.cc`. [`Rules::Xla`] gives XLA's maps; [`Rules::Exact`] is exact where XLA's
//! are coarse or missing. Each file names the XLA sources that it follows.
//!
//! Architecture Invariant: no op panics, whatever its operands and attributes. An op without a map gets an
//! undefined map with the reason as text. Arithmetic on sizes is checked; work is bounded
//! ([`MAX_MAPS_PER_OP`], [`MAX_INLINED_OPS`]).
//!
//! Architecture Invariant: this crate depends on neither text nor editors; it reads [`ir`] and makes maps.

mod batch_norm;
mod bitcast;
mod broadcast;
mod calls;
mod checks;
mod collectives;
mod convolution;
mod custom_call;
mod dot;
mod elementwise;
mod epilogue;
mod exact;
mod extents;
mod fusion;
mod gather;
mod inlined;
mod input_to_output;
mod inverse;
mod layouts;
mod linear_algebra;
mod names;
mod operand_indexing;
mod output_to_input;
mod pass_through;
mod permute;
mod ragged_dot;
mod reduce;
mod reshape;
mod round_trip;
mod runtime_maps;
mod runtime_places;
mod runtime_variables;
mod scatter;
mod select_and_scatter;
mod shown_beside;
mod slices;
mod sort;
mod symbolic_tile;
mod utilisation;
mod while_loop;
mod whole_operand;
mod window;

pub use checks::Reason;
pub use collectives::OWN_REPLICA;
pub use epilogue::epilogue;
pub use fusion::{Grouped, GroupedOp, MAX_MAPS_PER_OP, fusion, grouped};
pub use inlined::{Callees, MAX_INLINED_OPS, OpLocation, no_callees};
pub use input_to_output::{
    fusion_input_to_output, in_graph_input_to_output, in_graph_input_to_output_with, input_to_output,
    input_to_output_by,
};
pub use layouts::{
    logical_to_linear, logical_to_physical, physical, physical_input_to_output, physical_to_logical,
};
pub use names::variable_names;
pub use operand_indexing::{ArraySource, OpIndexing, OperandIndexing, RuntimeSource, RuntimeVariable};
pub use output_to_input::{in_graph, output_to_input, output_to_input_by};
pub use round_trip::is_round_trip;
pub use runtime_variables::is_folded_through;
pub use shown_beside::{MapBeside, maps_beside};
pub use symbolic_tile::{SymbolicTile, TileConstraint, TileValues};
pub use utilisation::{Count, Utilisation, utilisation};

#[doc(no_inline)]
pub use indexing_map::IndexingMap;
#[doc(no_inline)]
pub use ir::{Graph, Op, OpId};

/// The maps to use where XLA's are coarse or missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Rules {
    /// XLA's own maps.
    #[default]
    Xla,
    /// The exact set of elements: the updated region of a dynamic-update-slice, the prefix that a scan reads,
    /// the batch group of a convolution and its kernel where the window is not on padding, and runtime variables
    /// that only decide whether an element is read. Also maps for ops that are unknown to XLA (tuple, sort, dot
    /// from input to output, …).
    Exact,
}
