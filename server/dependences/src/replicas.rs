//! Ops across replicas. Ids in groups and pairs are replica numbers: one partition is assumed.

use eval::{Checked, Reason, ensure, replica_group};
use ir::{AttributeKey, Opcode};

use crate::case::Case;
use crate::traced::Traced;

/// The group, and the replica's index in it.
fn group(case: &Case<'_>) -> Checked<(Vec<u32>, usize)> {
    let replica = case.setting.replica;
    let group = replica_group(case.op, replica, case.setting.replicas);
    let group = group.ok_or_else(|| Reason::from("the replica is in no group, or groups of this form"))?;
    let at = group.iter().position(|&id| id == replica).unwrap_or_default();
    Ok((group, at))
}

/// Concatenates the operands of the group's members.
pub(crate) fn all_gather(case: &Case<'_>) -> Checked<Traced> {
    let (group, _) = group(case)?;
    let operand = output_operand(case)?;
    let size = case.operand(operand)?;
    let dim = case.dimension(AttributeKey::Dimensions, size.len())?;
    let output = case.output()?;
    ensure(output.get(dim).copied() == Some(size[dim] * group.len() as i64), "the output's size is wrong")?;
    case.trace(|index, reads| {
        let mut from = index.to_vec();
        from[dim] = index[dim] % size[dim];
        reads.at_of(operand, group[(index[dim] / size[dim]) as usize], &from);
    })
}

/// With several operands, output k comes from operand k.
fn output_operand(case: &Case<'_>) -> Checked<usize> {
    ensure(case.output < case.operand_count(), "more outputs than operands")?;
    Ok(case.output)
}

pub(crate) fn all_reduce(case: &Case<'_>) -> Checked<Traced> {
    let (group, _) = group(case)?;
    let operand = output_operand(case)?;
    case.trace(|index, reads| group.iter().for_each(|&id| reads.at_of(operand, id, index)))
}

/// The sum over the group; the k-th member keeps the k-th part.
pub(crate) fn reduce_scatter(case: &Case<'_>) -> Checked<Traced> {
    let (group, at) = group(case)?;
    let operand = output_operand(case)?;
    let dim = case.dimension(AttributeKey::Dimensions, case.operand(operand)?.len())?;
    let size = *case.output()?.get(dim).ok_or("the output has too few dimensions")?;
    ensure(case.operand(operand)?[dim] == size * group.len() as i64, "the output's size is wrong")?;
    case.trace(|index, reads| {
        let mut from = index.to_vec();
        from[dim] += size * at as i64;
        group.iter().for_each(|&id| reads.at_of(operand, id, &from));
    })
}

/// From the receiver's view: part `at` of every member, in group order. In the tuple form parts are operands.
pub(crate) fn all_to_all(case: &Case<'_>) -> Checked<Traced> {
    let (group, at) = group(case)?;
    if case.ints(AttributeKey::Dimensions).is_empty() {
        ensure(case.operand_count() == group.len(), "not one operand per member of the group")?;
        let from = group[output_operand(case)?];
        return case.trace(|index, reads| reads.at_of(at, from, index));
    }
    let dims = case.operand(0)?;
    let dim = case.dimension(AttributeKey::Dimensions, dims.len())?;
    ensure(dims[dim] % group.len() as i64 == 0 && case.output()? == dims, "the shapes do not fit")?;
    let part = dims[dim] / group.len() as i64;
    case.trace(|index, reads| {
        let mut from = index.to_vec();
        from[dim] = at as i64 * part + index[dim] % part;
        reads.at_of(0, group[(index[dim] / part) as usize], &from);
    })
}

/// A target gets its source's operand; all others get zeros.
pub(crate) fn collective_permute(case: &Case<'_>) -> Checked<Traced> {
    let pairs = case.op.attributes.source_target_pairs().ok_or("no source_target_pairs")?;
    let operand = output_operand(case)?;
    ensure(case.op.attributes.text(AttributeKey::SliceSizes).is_none(), "an in-place permute")?;
    let replica = case.setting.replica;
    let source =
        pairs.iter().find(|pair| pair.1 == i64::from(replica)).and_then(|pair| u32::try_from(pair.0).ok());
    case.trace(|index, reads| source.iter().for_each(|&id| reads.at_of(operand, id, index)))
}

/// The root's operand. The root is the first member, or the one that the last operand selects.
pub(crate) fn collective_broadcast(case: &Case<'_>) -> Checked<Traced> {
    let (group, _) = group(case)?;
    let operand = output_operand(case)?;
    if has_dynamic_root(case) {
        return by_runtime_root(case, &group, operand);
    }
    case.trace(|index, reads| reads.at_of(operand, group[0], index))
}

/// The sum over all members, on the root alone; results on other members are undefined and read nothing. The
/// root is the first member, or the one that the last operand selects.
pub(crate) fn collective_reduce(case: &Case<'_>) -> Checked<Traced> {
    let (group, at) = group(case)?;
    let operand = output_operand(case)?;
    if has_dynamic_root(case) {
        return by_runtime_root(case, &group, operand);
    }
    case.trace(|index, reads| {
        let members = group.iter().filter(|_| at == 0);
        members.for_each(|&id| reads.at_of(operand, id, index));
    })
}

fn has_dynamic_root(case: &Case<'_>) -> bool {
    case.op.attributes.bool(AttributeKey::HasDynamicRoot) == Some(true)
}

/// The reads for every possible root, and of the operand that selects it.
fn by_runtime_root(case: &Case<'_>, group: &[u32], operand: usize) -> Checked<Traced> {
    let mut traced = case.trace(|index, reads| {
        group.iter().for_each(|&id| reads.at_of(operand, id, index));
        reads.all(case.operand_count() - 1);
    })?;
    traced.is_exact = false;
    Ok(traced)
}

/// A start whose result also holds the operands: arrays `0..n` are the operands unchanged.
pub(crate) fn start(case: &Case<'_>) -> Checked<Traced> {
    let count = case.operand_count();
    if case.output < count {
        let operand = case.output;
        return case.trace(|index, reads| reads.at(operand, index));
    }
    let rest = Case { op: case.op, output: case.output, setting: case.setting };
    ensure(rest.output < 2 * count, "an output that holds no data")?;
    started(&rest, count)
}

fn started(case: &Case<'_>, count: usize) -> Checked<Traced> {
    // The op without the copies of its operands: output k comes from operand k.
    let leaves = eval::leaves(&case.op.shape);
    let elements = leaves.iter().skip(count).map(|&shape| shape.clone()).collect();
    let opcode = match case.op.opcode {
        Opcode::AllGatherStart => Opcode::AllGather,
        _ => Opcode::CollectivePermute,
    };
    let op = ir::Op { opcode, shape: ir::Shape::Tuple(elements), ..case.op.clone() };
    let case = Case { op: &op, output: case.output - count, setting: case.setting };
    match opcode {
        Opcode::AllGather => all_gather(&case),
        _ => collective_permute(&case),
    }
}
