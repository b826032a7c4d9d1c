//! Ops across replicas.

use indexing_map::{Expr, IndexingMap};
use ir::{AttributeKey, Op};

use crate::checks::{self, Checked, ensure};
use crate::operand_indexing::{OpIndexing, OperandIndexing};

/// In the gathered dimension `d mod n` of replica `d floordiv n` of the group, with n the operand's size. One operand
/// and an array as output; XLA does not handle the tuple form. Source: `ComputeOutputToInputAllGatherOpIndexing`.
pub(crate) fn all_gather(op: &Op) -> Checked<OpIndexing> {
    ensure(op.operand_shapes.len() == 1, "an all-gather of several operands")?;
    ensure(op.shape.tuple_elements().is_none(), "the output is a tuple")?;
    let (output, operand) = (checks::output(op, 0)?, checks::operand(op, 0)?);
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    ensure(operand.len() == output.len(), "output and operand differ in rank")?;
    let fits = (0..output.len()).all(|i| match i == dim {
        true => operand[i] > 0 && output[i] % operand[i] == 0,
        false => operand[i] == output[i],
    });
    ensure(fits, "the output is not the operand times the number of replicas")?;
    let gathered = Expr::var(dim);
    let mut results: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    results[dim] = gathered.clone().modulo(operand[dim]);
    let replica = IndexingMap::from_sizes(output, &[], vec![gathered.floor_div(operand[dim])]);
    let map = IndexingMap::from_sizes(output, &[], results);
    let access = OperandIndexing { replica_id_map: Some(replica), ..OperandIndexing::from(map) };
    Ok(OpIndexing::of([access]))
}
