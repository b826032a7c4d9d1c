//! Ops that return values unchanged: barriers, tuples, copies, the two halves of asynchronous ops.

use indexing_map::{Expr, IndexingMap};
use ir::{AttributeKey, Op, Opcode};

use crate::checks::{self, Checked, ensure, leaf, leaf_count};
use crate::extents::{self, Domain};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

/// The exact maps for output `output_id`: the corresponding leaf of the operand.
///
/// A barrier of several operands, which HLO has as one of a tuple, returns each as the result of its number.
pub(crate) fn pass_through(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    if op.opcode == Opcode::OptBarrier && op.operand_shapes.first().is_some_and(|s| s.as_array().is_some()) {
        let own = extents::operand(op, output_id)?;
        let output = extents::all_shared(&own, &extents::output(op, output_id)?);
        let output = output.ok_or("the output's sizes are not the operand's")?;
        let same = Domain::new(op, output_id, &output).access((0..output.len()).map(Expr::var).collect());
        let mut operands = vec![Vec::new(); op.operand_shapes.len()];
        operands[output_id].push(same);
        return Ok(OpIndexing { operands });
    }
    let output = checks::output(op, output_id)?;
    let operand = op.operand_shapes.first().ok_or("operand 0 is missing")?;
    let of_element = |index: usize| {
        let element = checks::element(operand, index);
        element.map(|(first, _)| first + output_id).ok_or("the operand has no such element")
    };
    let source = match op.opcode {
        Opcode::GetTupleElement => {
            let index = op.attributes.int(AttributeKey::Index).and_then(|i| usize::try_from(i).ok());
            // An op that was synthesised for an operand's suffix has no element index.
            let Some(index) = index else {
                return Ok(OpIndexing::of([IndexingMap::identity(output).into()]));
            };
            of_element(index)?
        }
        // Destination, source, context.
        Opcode::CopyDone | Opcode::RecvDone => of_element(0)?,
        // Operands, results, context.
        Opcode::AsyncDone | Opcode::AllGatherDone | Opcode::CollectivePermuteDone => of_element(1)?,
        Opcode::CopyStart if output_id > 1 => return unread(op, output),
        Opcode::CopyStart => 0,
        Opcode::Send if output_id > 0 => return unread(op, output),
        _ => output_id,
    };
    let shape = leaf(operand, source).ok_or_else(|| format!("operand 0 has no part {source}"))?;
    ensure(checks::array(shape, "the operand")?.dims == output, "the output's sizes are not the operand's")?;
    let element = operand.tuple_elements().map(|_| source);
    let access = OperandIndexing::from(IndexingMap::identity(output)).of_element(element);
    let others = op.operand_shapes[1..].iter().map(|shape| match shape.as_array() {
        Some(array) => OperandIndexing::unread(output.len(), array.rank(), "not read for this output"),
        None => OperandIndexing::undefined("this operand only orders"),
    });
    Ok(OpIndexing::of([access].into_iter().chain(others)))
}

fn unread(op: &Op, output: &[i64]) -> Checked<OpIndexing> {
    let nothing = |shape: &ir::Shape| {
        OperandIndexing::unread(output.len(), shape.dims().len(), "not read for this output")
    };
    Ok(OpIndexing::of(op.operand_shapes.iter().map(nothing)))
}

/// The operand, with another extent in one dimension. Elements behind the operand's have no source.
pub(crate) fn set_dimension_size(op: &Op) -> Checked<OpIndexing> {
    let (mut output, operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    let resized =
        checks::dimension(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    ensure(operand.len() == output.len(), "output and operand differ in rank")?;
    for k in (0..output.len()).filter(|&k| k != resized) {
        let same = extents::shared(&operand[k], &output[k]);
        output[k] = same.ok_or("the output's sizes are not the operand's")?;
    }
    let mut domain = Domain::new(op, 0, &output);
    let size = domain.access(Vec::new());
    domain.within(Expr::var(resized), &operand[resized]);
    Ok(OpIndexing::of([domain.access((0..output.len()).map(Expr::var).collect()), size]))
}

/// The size of a dimension is known without reading elements.
pub(crate) fn dimension_size(op: &Op) -> Checked<OpIndexing> {
    let (output, operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    let access =
        OperandIndexing::unread(output.len(), operand.len(), "its size is read, none of its elements");
    Ok(OpIndexing::of([access]))
}

/// Leaf k of a tuple is a leaf of one operand.
pub(crate) fn tuple(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let output = checks::output(op, output_id)?;
    let mut first = 0;
    Ok(OpIndexing::of(op.operand_shapes.iter().map(|shape| {
        let own = output_id.checked_sub(first).filter(|&own| own < leaf_count(shape));
        first += leaf_count(shape);
        let element = shape.tuple_elements().and(own);
        match own.and_then(|own| leaf(shape, own)) {
            Some(_) => OperandIndexing::from(IndexingMap::identity(output)).of_element(element),
            None => OperandIndexing::unread(output.len(), shape.dims().len(), "not read for this element"),
        }
    })))
}

/// Element i of the state holds the operands, then the results, of the ops that an async-start begins; this
/// maps the parts that are not results.
pub(crate) fn async_operand(op: &Op, output_id: usize) -> Option<Checked<OpIndexing>> {
    let (first, result) = checks::element(&op.shape, 1)?;
    let results = first..first + leaf_count(result);
    if results.contains(&output_id) {
        return None;
    }
    Some(checks::output(op, output_id).and_then(|output| {
        if output_id >= results.end {
            return unread(op, output);
        }
        // Maps like a tuple of the operands.
        tuple(op, output_id)
    }))
}
