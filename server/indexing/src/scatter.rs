//! Scatter: the indices give the positions at which updates are written.

use indexing_map::{Expr, Interval};
use ir::{AttributeKey, Op};

use crate::checks::{Checked, Reason, dimensions, ensure};
use crate::extents::{self, Domain, Extents};
use crate::operand_indexing::{OpIndexing, OperandIndexing, RuntimeSource};

/// Operands at the output's index; the whole indices; and the updates that are written to that index. In a
/// window dimension these are at `d - rt` if that is inside the window, in other dimensions at every index
/// (range variables), except that a batching dimension is the output's. Each index has its own runtime
/// variable per component of the index vector.
///
/// Shapes: n equal operands, indices, n equal updates. A window that would leave the operand is skipped as a
/// whole, as XLA's GPU emitter does: such values are outside the runtime variables' bounds. Sources: XLA
/// operation semantics of
/// scatter; `backends/gpu/codegen/emitters/scatter.cc`.
pub(crate) fn scatter(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let count = op.operand_shapes.len();
    ensure(count >= 3 && count % 2 == 1, "scatter takes n operands, indices, and n updates")?;
    let inputs = count / 2;
    let mut output = extents::output(op, output_id)?;
    let mut updates = extents::operand(op, inputs + 1)?;
    for i in (0..inputs).rev() {
        let misfit = || Reason::from(format!("operand {i} has other sizes than the output"));
        output = extents::all_shared(&extents::operand(op, i)?, &output).ok_or_else(misfit)?;
        let same = extents::all_shared(&updates, &extents::operand(op, inputs + 1 + i)?);
        updates = same.ok_or("the updates differ in size")?;
    }
    let mut domain = Domain::new(op, output_id, &output);
    let operand = domain
        .access((0..output.len()).map(Expr::var).collect())
        .with_note("where an update lands, the combiner decides whether it is read");
    let indices = extents::operand(op, inputs)?;
    let at = indices.iter().map(|size| domain.range(size)).collect();
    let all_indices = domain.access(at).with_note("which updates land on an element depends on every index");
    let update = update(op, output_id, &output, &indices, &updates)?;
    let operands = std::iter::repeat_n(operand, inputs).chain([all_indices]);
    Ok(OpIndexing::of(operands.chain(std::iter::repeat_n(update, inputs))))
}

fn update(
    op: &Op,
    output_id: usize,
    output: &[Expr],
    indices: &[Expr],
    update: &[Expr],
) -> Checked<OperandIndexing> {
    let inputs = op.operand_shapes.len() / 2;
    let dims = |key, rank, what| dimensions(op.attributes.ints(key), rank, what);
    let window_dims = dims(AttributeKey::UpdateWindowDims, update.len(), "update_window_dims")?;
    let inserted = dims(AttributeKey::InsertedWindowDims, output.len(), "inserted_window_dims")?;
    let batching = dims(AttributeKey::InputBatchingDims, output.len(), "input_batching_dims")?;
    let indices_batching =
        dims(AttributeKey::ScatterIndicesBatchingDims, indices.len(), "scatter_indices_batching_dims")?;
    let indexed = dims(AttributeKey::ScatterDimsToOperandDims, output.len(), "scatter_dims_to_operand_dims")?;
    let vector_dim =
        op.attributes.int(AttributeKey::IndexVectorDim).and_then(|dim| usize::try_from(dim).ok());
    let vector_dim = vector_dim.filter(|&dim| dim <= indices.len());
    let vector_dim = vector_dim.ok_or("index_vector_dim is not a dimension of the indices")?;
    let vector = indices.get(vector_dim).map_or(Expr::Const(1), Expr::clone);
    let fits = extents::shared(&vector, &Expr::Const(indexed.len() as i64)).is_some();
    ensure(fits, "scatter_dims_to_operand_dims does not fit the index vector")?;
    ensure(batching.len() == indices_batching.len(), "batching dimensions do not come in pairs")?;
    ensure(!indices_batching.contains(&vector_dim), "the index vector cannot be a batching dimension")?;

    // The dimensions of the updates that are not window dimensions iterate over the indices.
    let walked: Vec<usize> = (0..indices.len()).filter(|&dim| dim != vector_dim).collect();
    let walking: Vec<usize> = (0..update.len()).filter(|dim| !window_dims.contains(dim)).collect();
    let of = |array: &[Expr], dims: &[usize]| dims.iter().map(|&dim| array[dim].clone()).collect::<Extents>();
    let walks = extents::all_shared(&of(indices, &walked), &of(update, &walking));
    let walks = walks.ok_or("the updates' scatter dimensions are not those of the indices")?;
    let mut domain = Domain::new(op, output_id, output);
    let mut walk = Vec::with_capacity(walked.len());
    for (&dim, size) in walked.iter().zip(&walks) {
        walk.push(match indices_batching.iter().position(|&d| d == dim) {
            Some(k) => {
                let fits = extents::shared(size, &output[batching[k]]).is_some();
                ensure(fits, "a batching dimension does not fit")?;
                Expr::var(batching[k])
            }
            None => domain.range(size),
        });
    }
    let index_at = |component: i64| -> Vec<Expr> {
        let mut at = walk.clone();
        if vector_dim < indices.len() {
            at.insert(vector_dim, Expr::Const(component));
        }
        at
    };

    let mut results = vec![Expr::ZERO; update.len()];
    walking.iter().zip(&walk).for_each(|(&dim, at)| results[dim] = at.clone());
    let mut windows = window_dims.iter();
    for (dim, size) in output.iter().enumerate() {
        let component = indexed.iter().position(|&d| d == dim);
        if batching.contains(&dim) {
            ensure(
                component.is_none() && !inserted.contains(&dim),
                "a batching dimension has an index, too",
            )?;
            continue;
        }
        let window = if inserted.contains(&dim) {
            None
        } else {
            Some(*windows.next().ok_or("update_window_dims has too few entries")?)
        };
        let window_size = window.map_or(Expr::Const(1), |window| update[window].clone());
        // The last start of a window that stays inside.
        let last = size.as_const().zip(window_size.as_const()).map(|(size, window)| size - window);
        let fits = last.is_none_or(|last| last >= 0);
        ensure(fits, format!("the window is larger than the operand in dimension {dim}"))?;
        let mut inside = Expr::var(dim);
        if let Some(component) = component {
            let bounds = Interval::new(0, last.unwrap_or(i64::MAX));
            let source = RuntimeSource::Operand(inputs);
            let start = domain.runtime(source, index_at(component as i64), bounds, Interval::ALL);
            if last.is_none() {
                let behind = start.clone() + window_size.clone() - size.clone();
                domain.constrain(behind, Interval::new(i64::MIN, 0));
            }
            inside = inside - start;
        }
        domain.within(inside.clone(), &window_size);
        if let Some(window) = window {
            results[window] = inside;
        }
    }
    ensure(windows.next().is_none(), "update_window_dims has too many entries")?;
    Ok(domain.access(results).with_note("an update whose window leaves the operand is skipped"))
}
