//! Ops whose output element i reads element i: elementwise ops, map, all-reduce, and ops that pass values on.

use indexing_map::{Expr, IndexingMap};
use ir::{AttributeKey, ElementTypeExt, Op, Opcode};

use crate::checks::{self, Checked, scalar};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

/// Identity for every operand, and the scalar map for a scalar among arrays. Shapes: the operands' sizes are
/// the output's. Source: `ComputeOutputToInputCwiseOpIndexing`. Undefined if XLA's identity has the wrong
/// rank for an operand.
pub(crate) fn output_to_input(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let output = checks::output(op, output_id)?;
    Ok(OpIndexing::of(
        (0..op.operand_shapes.len())
            .map(|i| access(op, i, output).unwrap_or_else(OperandIndexing::undefined)),
    ))
}

fn access(op: &Op, i: usize, output: &[i64]) -> Checked<OperandIndexing> {
    let operand = checks::operand(op, i)?;
    if op.opcode == Opcode::BitcastConvert && operand.len() != output.len() {
        return width_change(op, operand, output);
    }
    if operand.is_empty() && !output.is_empty() {
        return Ok(scalar(output).into());
    }
    same_rank(operand, output, i)?;
    Ok(IndexingMap::identity(output).into())
}

fn same_rank(operand: &[i64], output: &[i64], i: usize) -> Checked<()> {
    let (a, b) = (operand.len(), output.len());
    checks::ensure(a == b, format!("operand {i} has {a} dimensions, the output {b}"))
}

/// A bitcast-convert between widths splits each element into a new last dimension, or joins the last
/// dimension into one element.
/// Source: `ShapeInference::InferBitcastConvertShape`.
fn width_change(op: &Op, operand: &[i64], output: &[i64]) -> Checked<OperandIndexing> {
    let bits = |shape: &ir::Shape| shape.element().and_then(ElementTypeExt::bits);
    let widths = (op.operand_shapes.first().and_then(bits), bits(&op.shape));
    let same: Vec<Expr> = (0..operand.len().min(output.len())).map(Expr::var).collect();
    match widths {
        (Some(from), Some(to)) if from > to && output.split_last().is_some_and(|(_, o)| o == operand) => {
            Ok(IndexingMap::from_sizes(output, &[], same).into())
        }
        (Some(from), Some(to)) if from < to && operand.split_last().is_some_and(|(_, o)| o == output) => {
            let parts = operand[operand.len() - 1];
            let results = same.into_iter().chain([Expr::var(output.len())]).collect();
            Ok(IndexingMap::from_sizes(output, &[parts], results).into())
        }
        _ => Err("the shapes of this bitcast-convert do not fit the element widths".into()),
    }
}

/// Operand `k` of a variadic all-reduce feeds output `k` only.
pub(crate) fn all_reduce(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    if op.shape.tuple_elements().is_none() {
        return output_to_input(op, output_id);
    }
    only_operand(op, output_id)
}

/// Element `k` of a tuple is operand `k`.
pub(crate) fn only_operand(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let output = checks::output(op, output_id)?;
    Ok(OpIndexing::of((0..op.operand_shapes.len()).map(|i| {
        if i == output_id {
            return access(op, i, output).unwrap_or_else(OperandIndexing::undefined);
        }
        let rank = op.operand_shapes[i].dims().len();
        OperandIndexing::from(IndexingMap::known_empty(output.len(), 0, rank))
            .with_note("not read for this element")
    })))
}

/// Reads the element of a tuple at its own index.
pub(crate) fn get_tuple_element(op: &Op) -> Checked<OpIndexing> {
    let index = op.attributes.int(AttributeKey::Index);
    let output = checks::output(op, 0)?;
    let operand = op.operand_shapes.first().ok_or("operand 0 is missing")?;
    if let Some(index) = index {
        let element = operand.element_at(&[index]).ok_or("the tuple has no such element")?;
        same_rank(&checks::array(element, "the element")?.dims, output, 0)?;
    }
    Ok(OpIndexing::of([IndexingMap::identity(output).into()]))
}

/// Output element i reads input element i, for every output. Source: D.4's first row:
/// `ComputeInputToOutputCwiseOpIndexing`.
pub(crate) fn input_to_output(op: &Op, input_id: usize) -> Checked<OpIndexing> {
    let operand = checks::operand(op, input_id)?;
    let output = checks::output(op, 0)?;
    if operand.is_empty() && !output.is_empty() {
        let results = (0..output.len()).map(Expr::var).collect();
        return Ok(OpIndexing::of([IndexingMap::from_sizes(&[], output, results).into()]));
    }
    same_rank(operand, output, input_id)?;
    Ok(OpIndexing::of([IndexingMap::identity(operand).into()]))
}

/// Operand `k` feeds element `k`.
pub(crate) fn only_output(op: &Op, input_id: usize) -> Checked<OpIndexing> {
    let operand = checks::operand(op, input_id)?;
    Ok(OpIndexing::of((0..checks::output_count(op)).map(|k| {
        if k == input_id {
            return IndexingMap::identity(operand).into();
        }
        let rank = checks::output_shape(op, k).map_or(0, |shape| shape.dims().len());
        OperandIndexing::from(IndexingMap::known_empty(operand.len(), 0, rank))
            .with_note("does not feed this element")
    })))
}
