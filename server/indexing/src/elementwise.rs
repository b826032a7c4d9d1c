//! Ops whose output element i reads element i: elementwise ops, map, all-reduce, and ops that pass values on.

use indexing_map::{Expr, IndexingMap};
use ir::{AttributeKey, ElementTypeExt, Op, Opcode};

use crate::checks::{self, Checked};
use crate::extents::{self, Domain};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

/// Identity for every operand, and the scalar map for a scalar among arrays. Shapes: the operands' sizes are
/// the output's. Source: `ComputeOutputToInputCwiseOpIndexing`. Undefined if XLA's identity has the wrong
/// rank for an operand.
pub(crate) fn output_to_input(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let output = extents::output_like_operands(op, output_id)?;
    let domain = Domain::new(op, output_id, &output);
    Ok(OpIndexing::of(
        (0..op.operand_shapes.len())
            .map(|i| access(op, i, &output, &domain).unwrap_or_else(OperandIndexing::undefined)),
    ))
}

fn access(op: &Op, i: usize, output: &[Expr], domain: &Domain<'_>) -> Checked<OperandIndexing> {
    let operand = extents::operand(op, i)?;
    if op.opcode == Opcode::BitcastConvert && operand.len() != output.len() {
        return width_change(op, &operand, output);
    }
    if operand.is_empty() && !output.is_empty() {
        return Ok(domain.access(Vec::new()));
    }
    same_rank(operand.len(), output.len(), i)?;
    Ok(domain.access((0..output.len()).map(Expr::var).collect()))
}

fn same_rank(operand: usize, output: usize, i: usize) -> Checked<()> {
    let reason = || format!("operand {i} has {operand} dimensions, the output {output}");
    if operand == output { Ok(()) } else { Err(reason().into()) }
}

/// A bitcast-convert between widths splits each element into a new last dimension, or joins the last
/// dimension into one element.
/// Source: `ShapeInference::InferBitcastConvertShape`.
fn width_change(op: &Op, operand: &[Expr], output: &[Expr]) -> Checked<OperandIndexing> {
    const MISFIT: &str = "the shapes of this bitcast-convert do not fit the element widths";
    let bits = |shape: &ir::Shape| shape.element().and_then(ElementTypeExt::bits).map(i64::from);
    let widths = op.operand_shapes.first().and_then(bits).zip(bits(&op.shape));
    let (from, to) = widths.filter(|(from, to)| from != to).ok_or(MISFIT)?;
    // The number of parts of an element, where its extent is unknown.
    let parts = |extent: &Expr| match extent.as_const() {
        Some(_) => extent.clone(),
        None => Expr::Const(from.max(to) / from.min(to).max(1)),
    };
    let (last, mut dims) = match from > to {
        true => {
            let (last, others) = output.split_last().ok_or(MISFIT)?;
            (last, extents::all_shared(operand, others).ok_or(MISFIT)?)
        }
        false => {
            let (last, others) = operand.split_last().ok_or(MISFIT)?;
            (last, extents::all_shared(others, output).ok_or(MISFIT)?)
        }
    };
    let mut results: Vec<Expr> = (0..dims.len()).map(Expr::var).collect();
    if from > to {
        dims.push(parts(last));
        return Ok(Domain::new(op, 0, &dims).access(results));
    }
    let mut domain = Domain::new(op, 0, &dims);
    results.push(domain.range(&parts(last)));
    Ok(domain.access(results))
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
    let own = extents::output(op, output_id)?;
    let domain = Domain::new(op, output_id, &own);
    Ok(OpIndexing::of((0..op.operand_shapes.len()).map(|i| {
        if i == output_id {
            return access(op, i, &own, &domain).unwrap_or_else(OperandIndexing::undefined);
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
        same_rank(checks::array(element, "the element")?.rank(), output.len(), 0)?;
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
    same_rank(operand.len(), output.len(), input_id)?;
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
