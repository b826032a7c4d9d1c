//! Gather: slices of the operand at positions given by the indices.

use indexing_map::{Expr, Interval};
use ir::{AttributeKey, Op};

use crate::checks::{Checked, Reason, dimensions, ensure};
use crate::extents::{self, Domain};
use crate::operand_indexing::{OpIndexing, RuntimeSource};

/// Operand dimension i is the offset inside the slice (an output dimension of `offset_dims`, or 0 if the
/// dimension is collapsed), plus a runtime variable if `start_index_map` contains i. Runtime variables are
/// numbered in the order of operand dimensions and bounded so that the slice stays inside, as XLA clamps it.
/// The indices are read along the whole index vector. XLA handles only its simplified form and crashes on
/// others. This is the general form, with batching dimensions, which gives the same map for the simplified
/// one. Sources: `ComputeOutputToInputGatherOpIndexing`, XLA operation semantics of gather.
pub(crate) fn gather(op: &Op) -> Checked<OpIndexing> {
    let (mut output, operand, indices) =
        (extents::output(op, 0)?, extents::operand(op, 0)?, extents::operand(op, 1)?);
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
    // The components of an index, of which an unknown number is as many as the list says.
    let components = Expr::Const(start_index_map.len() as i64);
    let vector = indices.get(vector_dim).map_or(Expr::Const(1), Expr::clone);
    ensure(extents::shared(&vector, &components).is_some(), "start_index_map does not fit the index vector")?;
    ensure(batching.len() == indices_batching.len(), "batching dimensions do not come in pairs")?;
    ensure(!indices_batching.contains(&vector_dim), "the index vector cannot be a batching dimension")?;

    // The output dimensions that are not offsets iterate over the indices.
    let batch_dims: Vec<usize> = (0..output.len()).filter(|dim| !offset_dims.contains(dim)).collect();
    let index_dims: Vec<usize> = (0..indices.len()).filter(|&dim| dim != vector_dim).collect();
    const MISFIT: &str = "the output's batch dimensions are not those of the indices";
    ensure(batch_dims.len() == index_dims.len(), MISFIT)?;
    for (&dim, &of) in batch_dims.iter().zip(&index_dims) {
        output[dim] = extents::shared(&indices[of], &output[dim]).ok_or(MISFIT)?;
    }
    let output_of_index =
        |dim: usize| index_dims.iter().position(|&d| d == dim).map(|k| Expr::var(batch_dims[k]));
    let index_at = |component: Option<Expr>| -> Vec<Expr> {
        (0..indices.len()).filter_map(|dim| output_of_index(dim).or_else(|| component.clone())).collect()
    };

    let mut offsets = offset_dims.iter();
    let mut results = Vec::with_capacity(operand.len());
    // The result, the component of its index, and the bounds of that.
    let mut indexed = Vec::new();
    for (dim, (size, &slice)) in operand.iter().zip(slice_sizes).enumerate() {
        let last = match size.as_const() {
            // An op of another language may have slices of unknown sizes.
            _ if slice < 0 && !extents::are_known(&output) => Some(i64::MAX),
            Some(size) => size.checked_sub(slice).filter(|&last| last >= 0 && slice >= 0),
            None => Some(i64::MAX).filter(|_| slice >= 0),
        };
        let misfit = || Reason::from(format!("the slice does not fit the operand in dimension {dim}"));
        let last = last.ok_or_else(misfit)?;
        let batch = batching.iter().position(|&d| d == dim);
        let result = if let Some(k) = batch {
            let fits = extents::shared(&indices[indices_batching[k]], size).is_some() && slice <= 1;
            ensure(fits, "a batching dimension does not fit")?;
            output_of_index(indices_batching[k]).unwrap_or(Expr::ZERO)
        } else if collapsed.contains(&dim) {
            ensure(slice <= 1, format!("dimension {dim} is collapsed, but its slice is larger than 1"))?;
            Expr::ZERO
        } else {
            let offset = *offsets.next().ok_or("offset_dims has too few entries")?;
            let misfit = || Reason::from(format!("output dimension {offset} is not as large as its slice"));
            if slice >= 0 {
                output[offset] = extents::shared(&Expr::Const(slice), &output[offset]).ok_or_else(misfit)?;
            }
            Expr::var(offset)
        };
        if let Some(component) = start_index_map.iter().position(|&d| d == dim) {
            ensure(batch.is_none(), "a batching dimension has an index, too")?;
            indexed.push((dim, component as i64, Interval::new(0, last)));
        }
        results.push(result);
    }
    ensure(offsets.next().is_none(), Reason::from("offset_dims has too many entries"))?;
    let mut domain = Domain::new(op, 0, &output);
    let mut whole_vector = domain.clone();
    let all = (vector_dim < indices.len()).then(|| whole_vector.range(&components));
    let whole_vector = whole_vector.access(index_at(all));
    for (dim, component, bounds) in indexed {
        let index = index_at(Some(Expr::Const(component)));
        let start = domain.runtime(RuntimeSource::Operand(1), index, bounds, bounds);
        results[dim] = results[dim].clone() + start;
    }
    Ok(OpIndexing::of([domain.access(results), whole_vector]))
}
