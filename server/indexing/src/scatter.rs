//! Scatter: the indices give the positions at which updates are written.

use indexing_map::{Expr, IndexingMap, Interval, Variable};
use ir::{AttributeKey, Op};

use crate::checks::{self, Checked, dimensions, ensure, variables};
use crate::operand_indexing::{OpIndexing, OperandIndexing, RuntimeSource, RuntimeVariable};

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
    let output = checks::output(op, output_id)?;
    for i in 0..inputs {
        ensure(checks::operand(op, i)? == output, format!("operand {i} has other sizes than the output"))?;
        let same = checks::operand(op, inputs + 1 + i)? == checks::operand(op, inputs + 1)?;
        ensure(same, "the updates differ in size")?;
    }
    let operand = OperandIndexing::from(IndexingMap::identity(output))
        .with_note("where an update lands, the combiner decides whether it is read");
    let indices = checks::operand(op, inputs)?;
    let at = (0..indices.len()).map(|i| Expr::var(output.len() + i)).collect();
    let indices = OperandIndexing::from(IndexingMap::from_sizes(output, indices, at))
        .with_note("which updates land on an element depends on every index");
    let update = update(op, output, inputs)?;
    let operands = std::iter::repeat_n(operand, inputs).chain([indices]);
    Ok(OpIndexing::of(operands.chain(std::iter::repeat_n(update, inputs))))
}

fn update(op: &Op, output: &[i64], inputs: usize) -> Checked<OperandIndexing> {
    let (indices, update) = (checks::operand(op, inputs)?, checks::operand(op, inputs + 1)?);
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
    let vector = indices.get(vector_dim).copied().unwrap_or(1);
    ensure(vector == indexed.len() as i64, "scatter_dims_to_operand_dims does not fit the index vector")?;
    ensure(batching.len() == indices_batching.len(), "batching dimensions do not come in pairs")?;
    ensure(!indices_batching.contains(&vector_dim), "the index vector cannot be a batching dimension")?;

    // The dimensions of the updates that are not window dimensions iterate over the indices.
    let walked: Vec<usize> = (0..indices.len()).filter(|&dim| dim != vector_dim).collect();
    let walking: Vec<usize> = (0..update.len()).filter(|dim| !window_dims.contains(dim)).collect();
    let walks = walking.iter().map(|&dim| update[dim]).eq(walked.iter().map(|&dim| indices[dim]));
    ensure(walks, "the updates' scatter dimensions are not those of the indices")?;
    let mut ranges = Vec::new();
    let mut walk = Vec::with_capacity(walked.len());
    for &dim in &walked {
        walk.push(match indices_batching.iter().position(|&d| d == dim) {
            Some(k) => {
                ensure(indices[dim] == output[batching[k]], "a batching dimension does not fit")?;
                Expr::var(batching[k])
            }
            None => {
                ranges.push(indices[dim]);
                Expr::var(output.len() + ranges.len() - 1)
            }
        });
    }
    let index_at = |component: i64| -> Vec<Expr> {
        let mut at = walk.clone();
        if vector_dim < indices.len() {
            at.insert(vector_dim, Expr::Const(component));
        }
        at
    };

    let first_runtime = output.len() + ranges.len();
    let mut runtime = Vec::new();
    let mut sources = Vec::new();
    let mut results = vec![Expr::ZERO; update.len()];
    let mut constraints = Vec::new();
    walking.iter().zip(&walk).for_each(|(&dim, at)| results[dim] = at.clone());
    let mut windows = window_dims.iter();
    for (dim, &size) in output.iter().enumerate() {
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
        let window_size = window.map_or(1, |window| update[window]);
        ensure(window_size <= size, format!("the window is larger than the operand in dimension {dim}"))?;
        let mut inside = Expr::var(dim);
        if let Some(component) = component {
            inside = inside - Expr::var(first_runtime + runtime.len());
            runtime.push(Variable::new(0, size - window_size));
            sources.push(RuntimeVariable {
                source: RuntimeSource::Operand(inputs),
                map: IndexingMap::from_sizes(output, &ranges, index_at(component as i64)),
                feasible: Interval::ALL,
            });
        }
        constraints.push((inside.clone(), Interval::from_size(window_size)));
        if let Some(window) = window {
            results[window] = inside;
        }
    }
    ensure(windows.next().is_none(), "update_window_dims has too many entries")?;
    let mut map = IndexingMap::new(variables(output), variables(&ranges), runtime, results);
    for (expr, interval) in constraints {
        map.add_constraint(expr, interval);
    }
    let access = OperandIndexing { runtime_variables: sources, ..OperandIndexing::from(map) };
    Ok(access.with_note("an update whose window leaves the operand is skipped"))
}
