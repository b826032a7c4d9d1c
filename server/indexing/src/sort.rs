//! Ops that sort a row by its values: sort and topk.

use indexing_map::Expr;
use ir::{AttributeKey, Op};

use crate::checks::{self, Checked, Reason};
use crate::extents::{self, Domain};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

const NOTE: &str = "where an element of the row goes depends on the values";

/// An element of a sorted row depends on that row of every operand.
pub(crate) fn sort(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let mut sizes = extents::output(op, output_id)?;
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), sizes.len(), "dimensions")?;
    for i in (0..op.operand_shapes.len()).rev() {
        let misfit = || Reason::from("the operands of a sort differ in size");
        sizes = extents::all_shared(&extents::operand(op, i)?, &sizes).ok_or_else(misfit)?;
    }
    let access = row(op, output_id, &sizes, dim, &sizes[dim]).with_note(NOTE);
    Ok(OpIndexing::of(std::iter::repeat_n(access, op.operand_shapes.len())))
}

/// Each of the k largest elements, and each of their indices, depends on the whole row, which is the last
/// dimension.
pub(crate) fn topk(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let (mut output, operand) = (extents::output(op, output_id)?, extents::operand(op, 0)?);
    let (Some((_, kept)), Some((size, rows))) = (output.split_last(), operand.split_last()) else {
        return Err("topk of a scalar".into());
    };
    let rows = extents::all_shared(rows, kept).filter(|_| op.operand_shapes.len() == 1);
    let rows = rows.ok_or("the output's rows are not the operand's")?;
    output[..rows.len()].clone_from_slice(&rows);
    Ok(OpIndexing::of([row(op, output_id, &output, rows.len(), size).with_note(NOTE)]))
}

fn row(op: &Op, output_id: usize, output: &[Expr], dim: usize, size: &Expr) -> OperandIndexing {
    let mut results: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    let mut domain = Domain::new(op, output_id, output);
    results[dim] = domain.range(size);
    domain.access(results)
}
