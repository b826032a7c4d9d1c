//! Ops that sort a row by its values: sort and topk.

use indexing_map::{Expr, IndexingMap};
use ir::{AttributeKey, Op};

use crate::checks::{self, Checked, ensure};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

const NOTE: &str = "where an element of the row goes depends on the values";

/// An element of a sorted row depends on that row of every operand.
pub(crate) fn sort(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let output = checks::output(op, output_id)?;
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    for i in 0..op.operand_shapes.len() {
        ensure(checks::operand(op, i)? == output, "the operands of a sort differ in size")?;
    }
    let access = row(output, dim, output[dim]).with_note(NOTE);
    Ok(OpIndexing::of(std::iter::repeat_n(access, op.operand_shapes.len())))
}

/// Each of the k largest elements, and each of their indices, depends on the whole row, which is the last
/// dimension.
pub(crate) fn topk(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let (output, operand) = (checks::output(op, output_id)?, checks::operand(op, 0)?);
    let (Some((_, kept)), Some((&size, rows))) = (output.split_last(), operand.split_last()) else {
        return Err("topk of a scalar".into());
    };
    ensure(op.operand_shapes.len() == 1 && kept == rows, "the output's rows are not the operand's")?;
    Ok(OpIndexing::of([row(output, rows.len(), size).with_note(NOTE)]))
}

fn row(output: &[i64], dim: usize, size: i64) -> OperandIndexing {
    let mut results: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    results[dim] = Expr::var(output.len());
    IndexingMap::from_sizes(output, &[size], results).into()
}
