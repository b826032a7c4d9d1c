//! Whether one op is the inverse of another.

use indexing_map::IndexingMap;
use ir::Op;

use crate::operand_indexing::OperandIndexing;
use crate::output_to_input::output_to_input_by;
use crate::{OpIndexing, Rules};

/// Whether `outer`, applied to the result of `inner`, reads the operand of `inner` at its own index: the
/// composition of their maps is the identity. Assumes that both read one operand, once.
pub fn is_round_trip(outer: &Op, inner: &Op) -> bool {
    let chain = || Some(only_map(outer)?.compose_by(&only_map(inner)?, Rules::Exact));
    chain().is_some_and(|access| {
        let OpIndexing { operands } = OpIndexing { operands: vec![vec![access]] }.simplified();
        let map: Option<&IndexingMap> = operands.first().and_then(|o| o.first()).map(|access| &access.map);
        map.is_some_and(IndexingMap::is_identity)
    })
}

fn only_map(op: &Op) -> Option<OperandIndexing> {
    let OpIndexing { operands } = output_to_input_by(op, 0, Rules::Exact);
    let mut accesses = operands.into_iter().next()?.into_iter();
    let only = accesses.next()?;
    let is_plain = accesses.next().is_none()
        && only.map.is_mapped()
        && only.runtime_variables.is_empty()
        && only.replica_id_map.is_none();
    is_plain.then_some(only)
}
