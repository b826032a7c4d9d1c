//! The dimension lists of dots, gathers and scatters: field names of one attribute in MLIR, attributes of their own in HLO.

use ir::AttributeKey as K;

pub(crate) const DOT_LISTS: [(&str, K); 4] = [
    ("lhs_batching_dimensions", K::LhsBatchDims),
    ("lhs_contracting_dimensions", K::LhsContractingDims),
    ("rhs_batching_dimensions", K::RhsBatchDims),
    ("rhs_contracting_dimensions", K::RhsContractingDims),
];

/// The third and the fourth are batches, which HLO leaves out where there are none.
pub(crate) type IndexLists = [(&'static str, K); 5];

pub(crate) const GATHER_LISTS: IndexLists = [
    ("offset_dims", K::OffsetDims),
    ("collapsed_slice_dims", K::CollapsedSliceDims),
    ("operand_batching_dims", K::OperandBatchingDims),
    ("start_indices_batching_dims", K::StartIndicesBatchingDims),
    ("start_index_map", K::StartIndexMap),
];

pub(crate) const SCATTER_LISTS: IndexLists = [
    ("update_window_dims", K::UpdateWindowDims),
    ("inserted_window_dims", K::InsertedWindowDims),
    ("input_batching_dims", K::InputBatchingDims),
    ("scatter_indices_batching_dims", K::ScatterIndicesBatchingDims),
    ("scatter_dims_to_operand_dims", K::ScatterDimsToOperandDims),
];
