//! Select-and-scatter: each source element is added to one element of its window.

use ir::Op;

use crate::Rules;
use crate::checks::{self, Checked, ensure, scalar};
use crate::extents;
use crate::inverse::inverse;
use crate::operand_indexing::OpIndexing;
use crate::window::through_window;

/// Reads the source elements whose window covers the output's index, all operand elements in these windows,
/// which are compared there, and the init value. Shapes: the output as the operand, the source as the window
/// slides.
/// Source: XLA operation semantics of SelectAndScatter.
pub(crate) fn select_and_scatter(op: &Op) -> Checked<OpIndexing> {
    let (output, operand, source) =
        (checks::output(op, 0)?, checks::operand(op, 0)?, checks::operand(op, 1)?);
    ensure(op.operand_shapes.len() == 3, "select-and-scatter takes three operands")?;
    let window = op.attributes.window();
    let rank = operand.len();
    ensure(output == operand, "the output's sizes are not the operand's")?;
    ensure(source.len() == rank, "operand and source differ in rank")?;
    // A missing window has size 1 and does not slide.
    ensure(window.len() == rank, "window does not have one entry per dimension")?;
    let under = through_window(op, &extents::operand(op, 1)?, &extents::operand(op, 0)?, window)?;
    let covering = inverse(&under, operand);
    let compared = covering.compose_by(&under, Rules::Exact);
    let note = "the values decide in which of the windows that cover the element it is selected";
    Ok(OpIndexing::of([
        compared,
        covering.at_most("the sources of the windows", note),
        scalar(output).into(),
    ]))
}
