//! Ragged dot: a dot in which rows, or summands, belong to groups whose sizes are runtime values.

use ir::{AttributeKey, Op};

use crate::checks::{self, Checked, ensure};
use crate::dot;
use crate::extents::{self, Domain};
use crate::operand_indexing::OpIndexing;

/// There are three forms, by the ragged dimension of lhs: free (each row is multiplied by the rhs matrix of
/// its group), contracting (each group is a sum of its own, in the output's first dimension) or batch. The
/// group of a row depends on the sums of the group sizes, which no runtime variable holds, so the maps read
/// at most all groups.
/// Source: XLA operation semantics of RaggedDot.
pub(crate) fn ragged_dot(op: &Op) -> Checked<OpIndexing> {
    ensure(op.operand_shapes.len() == 3, "ragged-dot takes three operands")?;
    let (lhs, sizes) = (extents::operand(op, 0)?, extents::operand(op, 2)?);
    let rhs = extents::operand(op, 1)?;
    let groups = sizes.last().ok_or("the group sizes are a scalar")?;
    let ragged =
        checks::dimension(op.attributes.ints(AttributeKey::LhsRaggedDims), lhs.len(), "lhs_ragged_dims")?;
    let group =
        checks::dimensions(op.attributes.ints(AttributeKey::RhsGroupDims), rhs.len(), "rhs_group_dims")?;
    let is_ragged = |key| op.attributes.ints(key).contains(&(ragged as i64));
    let is_contracted = is_ragged(AttributeKey::LhsContractingDims);
    let is_batch = is_ragged(AttributeKey::LhsBatchDims);
    let is_free = !is_contracted && !is_batch;
    ensure(group.len() == usize::from(is_free), "rhs_group_dims does not fit the ragged dimension")?;
    ensure(
        group.iter().all(|&dim| extents::shared(&rhs[dim], groups).is_some()),
        "the groups of rhs are not those of the group sizes",
    )?;

    let dot = dot::parts(op, is_contracted.then(|| groups.clone()), &group)?;
    let [mut left, mut right] = [0, 1].map(|side| dot.map(dot.results(side)));
    if is_contracted {
        let why = "only what is in the output's group is summed; the groups' sizes are runtime values";
        left = left.at_most("the sums of all groups", why);
        right = right.at_most("the sums of all groups", why);
    } else if is_free {
        left = left
            .at_most("its row", "a row after the last group is not; the groups' sizes are runtime values");
        right =
            right.at_most("every group", "a row belongs to one group; the groups' sizes are runtime values");
    }
    let mut domain = Domain::new(op, 0, &dot.output);
    let at = sizes.iter().map(|size| domain.range(size)).collect();
    let sizes =
        domain.access(at).at_most("all group sizes", "the ones before its group say where that starts");
    Ok(OpIndexing::of([left, right, sizes]))
}
