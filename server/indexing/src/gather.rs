//! Gather: slices of the operand at positions given by the indices.

use indexing_map::{Expr, IndexingMap, Interval, Variable};
use ir::{AttributeKey, Op};

use crate::checks::{self, Checked, Reason, dimensions, ensure, variables};
use crate::operand_indexing::{OpIndexing, OperandIndexing, RuntimeSource, RuntimeVariable};

/// Operand dimension i is the offset inside the slice (an output dimension of `offset_dims`, or 0 if the
/// dimension is collapsed), plus a runtime variable if `start_index_map` contains i. Runtime variables are
/// numbered in the order of operand dimensions and bounded so that the slice stays inside, as XLA clamps it.
/// The indices are read along the whole index vector. XLA handles only its simplified form and crashes on
/// others. This is the general form, with batching dimensions, which gives the same map for the simplified
/// one. Sources: `ComputeOutputToInputGatherOpIndexing`, XLA operation semantics of gather.
pub(crate) fn gather(op: &Op) -> Checked<OpIndexing> {
    let (output, operand, indices) =
        (checks::output(op, 0)?, checks::operand(op, 0)?, checks::operand(op, 1)?);
    ensure(op.operand_shapes.len() == 2, "gather takes two operands")?;
    let ints = |key| op.attributes.ints(key);
    let offset_dims = dimensions(ints(AttributeKey::OffsetDims), output.len(), "offset_dims")?;
    let collapsed =
        dimensions(ints(AttributeKey::CollapsedSliceDims), operand.len(), "collapsed_slice_dims")?;
    let start_index_map = dimensions(ints(AttributeKey::StartIndexMap), operand.len(), "start_index_map")?;
    let batching =
        dimensions(ints(AttributeKey::OperandBatchingDims), operand.len(), "operand_batching_dims")?;
    let indices_batching = dimensions(
        ints(AttributeKey::StartIndicesBatchingDims),
        indices.len(),
        "start_indices_batching_dims",
    )?;
    let slice_sizes = ints(AttributeKey::SliceSizes);
    ensure(slice_sizes.len() == operand.len(), "slice_sizes does not have one entry per operand dimension")?;
    let vector_dim = op.attributes.int(AttributeKey::IndexVectorDim);
    let vector_dim = vector_dim.and_then(|dim| usize::try_from(dim).ok()).filter(|&dim| dim <= indices.len());
    let vector_dim = vector_dim.ok_or("index_vector_dim is not a dimension of the indices")?;
    let vector = indices.get(vector_dim).copied();
    ensure(
        vector.unwrap_or(1) == start_index_map.len() as i64,
        "start_index_map does not fit the index vector",
    )?;
    ensure(batching.len() == indices_batching.len(), "batching dimensions do not come in pairs")?;
    ensure(!indices_batching.contains(&vector_dim), "the index vector cannot be a batching dimension")?;

    // The output dimensions that are not offsets iterate over the indices.
    let batch_dims: Vec<usize> = (0..output.len()).filter(|dim| !offset_dims.contains(dim)).collect();
    let index_dims: Vec<usize> = (0..indices.len()).filter(|&dim| dim != vector_dim).collect();
    let walks = batch_dims.iter().map(|&dim| output[dim]).eq(index_dims.iter().map(|&dim| indices[dim]));
    ensure(walks, "the output's batch dimensions are not those of the indices")?;
    let output_of_index =
        |dim: usize| index_dims.iter().position(|&d| d == dim).map(|k| Expr::var(batch_dims[k]));
    let index_at = |component: Option<Expr>| -> Vec<Expr> {
        (0..indices.len()).filter_map(|dim| output_of_index(dim).or_else(|| component.clone())).collect()
    };

    let mut offsets = offset_dims.iter();
    let mut results = Vec::with_capacity(operand.len());
    let mut runtime = Vec::new();
    let mut sources = Vec::new();
    for (dim, (&size, &slice)) in operand.iter().zip(slice_sizes).enumerate() {
        let fits = (0..=size).contains(&slice);
        ensure(fits, format!("the slice does not fit the operand in dimension {dim}"))?;
        let batch = batching.iter().position(|&d| d == dim);
        let mut result = if let Some(k) = batch {
            ensure(indices[indices_batching[k]] == size && slice <= 1, "a batching dimension does not fit")?;
            output_of_index(indices_batching[k]).unwrap_or(Expr::ZERO)
        } else if collapsed.contains(&dim) {
            ensure(slice <= 1, format!("dimension {dim} is collapsed, but its slice is larger than 1"))?;
            Expr::ZERO
        } else {
            let offset = *offsets.next().ok_or("offset_dims has too few entries")?;
            ensure(
                output[offset] == slice,
                format!("output dimension {offset} is not as large as its slice"),
            )?;
            Expr::var(offset)
        };
        if let Some(component) = start_index_map.iter().position(|&d| d == dim) {
            ensure(batch.is_none(), "a batching dimension has an index, too")?;
            result = result + Expr::var(output.len() + runtime.len());
            runtime.push(Variable::new(0, size - slice));
            sources.push(RuntimeVariable {
                source: RuntimeSource::Operand(1),
                map: IndexingMap::from_sizes(output, &[], index_at(Some(Expr::Const(component as i64)))),
                feasible: Interval::new(0, size - slice),
            });
        }
        results.push(result);
    }
    ensure(offsets.next().is_none(), Reason::from("offset_dims has too many entries"))?;
    let map = IndexingMap::new(variables(output), Vec::new(), runtime, results);
    let access = OperandIndexing { runtime_variables: sources, ..OperandIndexing::from(map) };
    let ranges: Vec<i64> = vector.into_iter().collect();
    let whole_vector = IndexingMap::from_sizes(output, &ranges, index_at(Some(Expr::var(output.len()))));
    Ok(OpIndexing::of([access, whole_vector.into()]))
}
