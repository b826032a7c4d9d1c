//! Collectives. By [`crate::Rules::Exact`] a map's elements are those of the replica that its replica id map
//! gives, by position in the group. If that depends on the executing replica's own position, the position is
//! a runtime variable.

use std::sync::Arc;

use indexing_map::{Expr, IndexingMap, Interval, Variable};
use ir::{AttributeKey, Op, OpId, Opcode};

use crate::checks::{self, Checked, ensure, scalar, variables};
use crate::operand_indexing::{OpIndexing, OperandIndexing, RuntimeSource, RuntimeVariable};
use crate::permute;
use crate::whole_operand::whole;

/// In the gathered dimension, `d mod n` of replica `d floordiv n` of the group, where n is the operand's
/// size. One operand and an array as output; XLA does not handle the tuple form. Source:
/// `ComputeOutputToInputAllGatherOpIndexing`.
pub(crate) fn all_gather(op: &Op) -> Checked<OpIndexing> {
    ensure(op.operand_shapes.len() == 1, "an all-gather of several operands")?;
    ensure(op.shape.tuple_elements().is_none(), "the output is a tuple")?;
    Ok(OpIndexing::of([gathered(op, 0, checks::output(op, 0)?)?]))
}

fn gathered(op: &Op, i: usize, output: &[i64]) -> Checked<OperandIndexing> {
    let operand = checks::operand(op, i)?;
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    let shards = shards(operand, output, dim)?;
    ensure(
        shards * operand[dim] == output[dim],
        "the output is not the operand times the number of replicas",
    )?;
    let gathered = Expr::var(dim);
    let mut results: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    results[dim] = gathered.clone().modulo(operand[dim]);
    let replica = IndexingMap::from_sizes(output, &[], vec![gathered.floor_div(operand[dim])]);
    Ok(of_replica(IndexingMap::from_sizes(output, &[], results), replica))
}

/// The number of arrays of `part`'s size that make `whole`, which is larger only in dimension `dim`.
fn shards(part: &[i64], whole: &[i64], dim: usize) -> Checked<i64> {
    ensure(part.len() == whole.len(), "output and operand differ in rank")?;
    let fits = (0..whole.len()).all(|i| match i == dim {
        true => part[i] > 0 && whole[i] % part[i] == 0,
        false => part[i] == whole[i],
    });
    ensure(fits, "the sizes of output and operand do not fit the number of replicas")?;
    Ok(whole[dim] / part[dim])
}

pub(crate) fn of_replica(map: IndexingMap, replica: IndexingMap) -> OperandIndexing {
    OperandIndexing { replica_id_map: Some(replica), ..OperandIndexing::from(map) }
}

/// `(d…)[s0] -> (s0)`: the same element of every replica. Undefined without a known number of replicas.
fn every_replica(map: IndexingMap, dims: &[i64], replicas: Option<i64>) -> OperandIndexing {
    let note = "of every replica of the group";
    match replicas {
        Some(n) => {
            of_replica(map, IndexingMap::from_sizes(dims, &[n], vec![Expr::var(dims.len())])).with_note(note)
        }
        None => OperandIndexing::from(map).with_note(note),
    }
}

/// The op id of [`RuntimeSource::Op`] for a value that is the executing replica's position in its group.
pub const OWN_REPLICA: OpId = OpId::MAX;

/// The executing replica's position in its group of `replicas`.
fn own_place(dims: &[i64], replicas: i64) -> RuntimeVariable {
    RuntimeVariable {
        source: RuntimeSource::Op { op: OWN_REPLICA, name: Arc::from(Opcode::ReplicaId.name()) },
        map: scalar(dims),
        feasible: Interval::from_size(replicas),
    }
}

/// The exact maps for output `output_id` of any collective.
pub(crate) fn collective(op: &Op, output_id: usize) -> Checked<OpIndexing> {
    let output = checks::output(op, output_id)?;
    let count = op.operand_shapes.len();
    // The result of a start holds its operands, then the results of the done, then state of the runtime.
    let is_pair = matches!(op.opcode, Opcode::AllGatherStart | Opcode::CollectivePermuteStart);
    let (feeding, is_alias) = match is_pair {
        true if output_id >= 2 * count => return Ok(unread_but(op, None, output)),
        true => (output_id % count.max(1), output_id < count),
        false => (output_id, false),
    };
    let of_one = |access: Checked<OperandIndexing>| Ok(unread_but(op, Some((feeding, access?)), output));
    let same = |i: usize| -> Checked<IndexingMap> {
        ensure(checks::operand(op, i)? == output, "the output's sizes are not the operand's")?;
        Ok(IndexingMap::identity(output))
    };
    if is_alias {
        return of_one(same(feeding).map(OperandIndexing::from));
    }
    let replicas = op.attributes.replica_group_size();
    match op.opcode {
        Opcode::AllGather | Opcode::AllGatherStart => of_one(gathered(op, feeding, output)),
        Opcode::AllReduce | Opcode::AllReduceStart => {
            of_one(same(feeding).map(|map| every_replica(map, output, replicas)))
        }
        Opcode::ReduceScatter => of_one(scattered(op, feeding, output)),
        Opcode::CollectiveBroadcast if !has_dynamic_root(op) => {
            let first = IndexingMap::from_sizes(output, &[], vec![Expr::ZERO]);
            of_one(same(feeding).map(|map| of_replica(map, first).with_note("of the group's first replica")))
        }
        Opcode::CollectiveBroadcast | Opcode::CollectiveReduce => {
            let access = match op.opcode {
                Opcode::CollectiveReduce => reduced_at_root(op, feeding, output, replicas),
                _ => same(feeding)
                    .map(|map| every_replica(map, output, replicas).at_most("of any replica", UNKNOWN_ROOT)),
            };
            let mut answer = of_one(access)?;
            if has_dynamic_root(op)
                && let Some(last) = count.checked_sub(1)
            {
                answer.operands[last] = whole(op, last, output, "it says which replica is the root");
            }
            Ok(answer)
        }
        Opcode::CollectivePermute | Opcode::CollectivePermuteStart if permute::is_in_place(op) => {
            permute::in_place(op, output)
        }
        Opcode::CollectivePermute | Opcode::CollectivePermuteStart => {
            same(feeding)?;
            let mut answer = unread_but(op, None, output);
            if let Some(list) = answer.operands.get_mut(feeding) {
                *list = permute::received(op, output);
            }
            Ok(answer)
        }
        Opcode::AllToAll if op.shape.tuple_elements().is_some() => exchanged_operands(op, output_id, output),
        Opcode::AllToAll => of_one(exchanged_blocks(op, output, replicas)),
        Opcode::RaggedAllToAll => ragged_exchange(op, output),
        opcode => Err(crate::whole_operand::reason(opcode)),
    }
}

/// `access` for one operand, and no reads of the others.
fn unread_but(op: &Op, access: Option<(usize, OperandIndexing)>, output: &[i64]) -> OpIndexing {
    let (number, mut access) = match access {
        Some((number, access)) => (Some(number), Some(access)),
        None => (None, None),
    };
    OpIndexing::of(op.operand_shapes.iter().enumerate().map(|(i, shape)| match Some(i) == number {
        true => access.take().unwrap_or_else(|| OperandIndexing::undefined("given twice")),
        false => OperandIndexing::unread(output.len(), shape.dims().len(), "not read for this output"),
    }))
}

/// Reads, of every replica, the block at the executing replica's position.
fn scattered(op: &Op, i: usize, output: &[i64]) -> Checked<OperandIndexing> {
    let operand = checks::operand(op, i)?;
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    let replicas = shards(output, operand, dim)?;
    let own = Expr::var(output.len());
    let mut results: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    results[dim] = own * output[dim] + results[dim].clone();
    let map = IndexingMap::new(variables(output), Vec::new(), vec![Variable::from_size(replicas)], results);
    let access = every_replica(map, output, Some(replicas));
    Ok(OperandIndexing { runtime_variables: vec![own_place(output, replicas)], ..access })
}

const UNKNOWN_ROOT: &str = "which replica is the root is a runtime value";

fn has_dynamic_root(op: &Op) -> bool {
    op.attributes.bool(AttributeKey::HasDynamicRoot) == Some(true)
}

/// Reads the same element of every replica if the executing one is the root: the first of its group, or given
/// by a runtime value.
fn reduced_at_root(op: &Op, i: usize, output: &[i64], replicas: Option<i64>) -> Checked<OperandIndexing> {
    ensure(checks::operand(op, i)? == output, "the output's sizes are not the operand's")?;
    let everywhere = || every_replica(IndexingMap::identity(output), output, replicas);
    match replicas {
        Some(_) if has_dynamic_root(op) => Ok(everywhere().at_most("on the root alone", UNKNOWN_ROOT)),
        Some(replicas) => {
            let results = (0..output.len()).map(Expr::var).collect();
            let map = IndexingMap::new(variables(output), Vec::new(), vec![Variable::new(0, 0)], results);
            let access = OperandIndexing { map, ..everywhere() };
            let access = access.with_note("on the group's first replica");
            Ok(OperandIndexing { runtime_variables: vec![own_place(output, replicas)], ..access })
        }
        None => Ok(everywhere().at_most("on the root alone", "the number of replicas is not known")),
    }
}

/// Block j of the output is the executing replica's block of replica j's operand.
fn exchanged_blocks(op: &Op, output: &[i64], replicas: Option<i64>) -> Checked<OperandIndexing> {
    ensure(checks::operand(op, 0)? == output, "the output's sizes are not the operand's")?;
    let dim = checks::dimension(op.attributes.ints(AttributeKey::Dimensions), output.len(), "dimensions")?;
    let mut results: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    let Some(replicas) = replicas else {
        results[dim] = Expr::var(output.len());
        let map = IndexingMap::from_sizes(output, &output[dim..=dim], results);
        let why = "the number of replicas is not known";
        return Ok(OperandIndexing::from(map).at_most("all of the split dimension", why));
    };
    let block = output[dim] / replicas;
    ensure(block > 0 && block * replicas == output[dim], "the split dimension is not a block per replica")?;
    let at = Expr::var(dim);
    results[dim] = at.clone().modulo(block) + Expr::var(output.len()) * block;
    let map = IndexingMap::new(variables(output), Vec::new(), vec![Variable::from_size(replicas)], results);
    let access = of_replica(map, IndexingMap::from_sizes(output, &[], vec![at.floor_div(block)]));
    Ok(OperandIndexing { runtime_variables: vec![own_place(output, replicas)], ..access })
}

/// Output j is replica j's operand at the executing replica's position: operand i is read only if the
/// position is i.
fn exchanged_operands(op: &Op, output_id: usize, output: &[i64]) -> Checked<OpIndexing> {
    let replicas = op.operand_shapes.len() as i64;
    let accesses = (0..replicas).map(|i| -> Checked<OperandIndexing> {
        let operand = checks::operand(op, i as usize)?;
        ensure(operand == output, "the operands of an all-to-all differ in size")?;
        let results = (0..output.len()).map(Expr::var).collect();
        let map = IndexingMap::new(variables(output), Vec::new(), vec![Variable::new(i, i)], results);
        let replica = IndexingMap::from_sizes(output, &[], vec![Expr::Const(output_id as i64)]);
        let access = of_replica(map, replica).with_note(format!("on the replica at place {i}"));
        Ok(OperandIndexing { runtime_variables: vec![own_place(output, replicas)], ..access })
    });
    Ok(OpIndexing::of(accesses.collect::<Checked<Vec<_>>>()?))
}

/// Rows of every replica's input are written into the output operand; offsets and sizes are runtime values.
fn ragged_exchange(op: &Op, output: &[i64]) -> Checked<OpIndexing> {
    let input = checks::operand(op, 0)?;
    ensure(op.operand_shapes.len() == 6, "ragged-all-to-all takes six operands")?;
    let fits = checks::operand(op, 1)? == output && !input.is_empty() && input.len() == output.len();
    ensure(fits && input[1..] == output[1..], "input and output differ in more than their rows")?;
    let results = (0..input.len()).map(|i| Expr::var(if i == 0 { input.len() } else { i })).collect();
    let rows = IndexingMap::from_sizes(output, &input[..1], results);
    let why = "the offsets and sizes are runtime values";
    let rows = every_replica(rows, output, op.attributes.replica_group_size()).at_most("any row", why);
    let kept = OperandIndexing::from(IndexingMap::identity(output)).at_most("what is kept", why);
    let others = (2..6).map(|i| whole(op, i, output, "they say which rows land where"));
    Ok(OpIndexing { operands: [vec![rows], vec![kept]].into_iter().chain(others).collect() })
}

/// Maps operand `input_id` of the executing replica to output `output_id` of the replicas that the replica id
/// map gives.
pub(crate) fn collective_input_to_output(
    op: &Op,
    input_id: usize,
    output_id: usize,
) -> Checked<Vec<OperandIndexing>> {
    let is_root = matches!(op.opcode, Opcode::CollectiveBroadcast | Opcode::CollectiveReduce)
        && has_dynamic_root(op)
        && input_id + 1 == op.operand_shapes.len();
    if permute::is_permute(op.opcode) && permute::is_in_place(op) || is_root {
        return Err("by its inverse".into());
    }
    if let Some(output_id) = permute::result_number(op, output_id).filter(|&output| output == input_id) {
        let operand = checks::operand(op, input_id)?;
        ensure(operand == checks::output(op, output_id)?, "the output's sizes are not the operand's")?;
        return Ok(permute::sent(op, operand));
    }
    Ok(vec![single_input_to_output(op, input_id, output_id)?])
}

/// [`collective_input_to_output`] for ops with a single access.
fn single_input_to_output(op: &Op, input_id: usize, output_id: usize) -> Checked<OperandIndexing> {
    let (operand, output) = (checks::operand(op, input_id)?, checks::output(op, output_id)?);
    let count = op.operand_shapes.len();
    let is_pair = matches!(op.opcode, Opcode::AllGatherStart | Opcode::CollectivePermuteStart);
    let none = || OperandIndexing::unread(operand.len(), output.len(), "does not feed this output");
    let is_exchange = matches!(op.opcode, Opcode::AllToAll | Opcode::RaggedAllToAll);
    let fed = if is_pair { output_id % count.max(1) } else { output_id };
    if is_pair && output_id >= 2 * count || (!is_exchange && fed != input_id) {
        return Ok(none());
    }
    let same = || -> Checked<IndexingMap> {
        ensure(operand == output, "the output's sizes are not the operand's")?;
        Ok(IndexingMap::identity(operand))
    };
    if is_pair && output_id < count {
        return Ok(same()?.into());
    }
    let replicas = op.attributes.replica_group_size();
    let dimension =
        || checks::dimension(op.attributes.ints(AttributeKey::Dimensions), operand.len(), "dimensions");
    let own = Expr::var(operand.len());
    let places = |at: std::ops::RangeInclusive<i64>, replicas: i64, results: Vec<Expr>| {
        let own = Variable::new(*at.start(), *at.end());
        let map = IndexingMap::new(variables(operand), Vec::new(), vec![own], results);
        let runtime_variables = vec![own_place(operand, replicas)];
        OperandIndexing { runtime_variables, ..OperandIndexing::from(map) }
    };
    let mut results: Vec<Expr> = (0..operand.len()).map(Expr::var).collect();
    match op.opcode {
        Opcode::AllGather | Opcode::AllGatherStart => {
            let dim = dimension()?;
            let replicas = shards(operand, output, dim)?;
            results[dim] = results[dim].clone() + own * operand[dim];
            let access = places(0..=replicas - 1, replicas, results);
            let all = every_replica(IndexingMap::identity(operand), operand, Some(replicas));
            Ok(OperandIndexing { replica_id_map: all.replica_id_map, ..access })
        }
        Opcode::AllReduce | Opcode::AllReduceStart => Ok(every_replica(same()?, operand, replicas)),
        Opcode::ReduceScatter => {
            let dim = dimension()?;
            shards(output, operand, dim)?;
            let at = results[dim].clone();
            results[dim] = at.clone().modulo(output[dim]);
            let replica = IndexingMap::from_sizes(operand, &[], vec![at.floor_div(output[dim])]);
            Ok(of_replica(IndexingMap::from_sizes(operand, &[], results), replica))
        }
        Opcode::CollectiveBroadcast | Opcode::CollectiveReduce if has_dynamic_root(op) => {
            let to = match op.opcode {
                Opcode::CollectiveReduce => "to the root alone",
                _ => "from the root alone",
            };
            Ok(every_replica(same()?, operand, replicas).at_most(to, UNKNOWN_ROOT))
        }
        Opcode::CollectiveBroadcast => {
            same()?;
            let access = match replicas {
                Some(replicas) => places(0..=0, replicas, results),
                None => IndexingMap::identity(operand).into(),
            };
            let all = every_replica(IndexingMap::identity(operand), operand, replicas);
            let note = "to every replica, from the group's first";
            Ok(OperandIndexing { replica_id_map: all.replica_id_map, ..access }.with_note(note))
        }
        Opcode::CollectiveReduce => {
            let first = IndexingMap::from_sizes(operand, &[], vec![Expr::ZERO]);
            Ok(of_replica(same()?, first).with_note("to the group's first replica"))
        }
        Opcode::AllToAll if op.shape.tuple_elements().is_some() => {
            same()?;
            let at = output_id as i64;
            let replica = IndexingMap::from_sizes(operand, &[], vec![Expr::Const(input_id as i64)]);
            let access = places(at..=at, count as i64, results);
            Ok(OperandIndexing { replica_id_map: Some(replica), ..access })
        }
        Opcode::AllToAll => {
            same()?;
            let dim = dimension()?;
            let replicas = replicas.ok_or("the number of replicas is not known")?;
            let block = operand[dim] / replicas;
            ensure(
                block > 0 && block * replicas == operand[dim],
                "the split dimension is not a block per replica",
            )?;
            let at = results[dim].clone();
            results[dim] = at.clone().modulo(block) + own * block;
            let replica = IndexingMap::from_sizes(operand, &[], vec![at.floor_div(block)]);
            Ok(OperandIndexing {
                replica_id_map: Some(replica),
                ..places(0..=replicas - 1, replicas, results)
            })
        }
        opcode => Err(crate::whole_operand::reason(opcode)),
    }
}
