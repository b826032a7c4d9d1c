//! Collective permutes: `source_target_pairs` gives senders and receivers. Here the executing device is
//! represented by its id.

use std::sync::Arc;

use indexing_map::{Expr, IndexingMap, Interval, Variable};
use ir::{Op, Opcode};

use crate::checks::{Checked, scalar, variables};
use crate::collectives::{OWN_REPLICA, of_replica};
use crate::operand_indexing::{OpIndexing, OperandIndexing, RuntimeSource, RuntimeVariable};
use crate::whole_operand::whole;

/// The maximum number of runs into which one permute is split; more irregular ones get a bound.
const MAX_RUNS: usize = 16;

/// The range of device ids, which have 32 bits.
const DEVICES: Interval = Interval { lower: 0, upper: u32::MAX as i64 };

/// Devices `first, first + stride, …, last`, the partner of each of which is `shift` higher, modulo the
/// number of devices if they form a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Run {
    first: i64,
    last: i64,
    stride: i64,
    shift: i64,
    ring: Option<i64>,
}

pub(crate) fn is_permute(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::CollectivePermute | Opcode::CollectivePermuteStart)
}

/// Whether a permute writes in place. Four operands are either four permuted arrays or input, output and the
/// offsets in both.
pub(crate) fn is_in_place(op: &Op) -> bool {
    let is_array_per_operand = op.shape.tuple_elements().is_some_and(|elements| elements.len() >= 4);
    op.operand_shapes.len() == 4 && !is_array_per_operand
}

/// The number of the permuted array for output `output_id`: the result of a start holds the operands before
/// them.
pub(crate) fn result_number(op: &Op, output_id: usize) -> Option<usize> {
    let count = op.operand_shapes.len();
    match op.opcode {
        Opcode::CollectivePermute => Some(output_id),
        Opcode::CollectivePermuteStart => output_id.checked_sub(count).filter(|&number| number < count),
        _ => None,
    }
}

/// Slices of another device's input are written into the output operand.
pub(crate) fn in_place(op: &Op, output: &[i64]) -> Checked<OpIndexing> {
    let why = "the offsets are runtime values";
    let input = whole(op, 0, output, why);
    let kept = OperandIndexing::from(IndexingMap::identity(output)).at_most("what is kept", why);
    let offsets = (2..op.operand_shapes.len()).map(|i| whole(op, i, output, why));
    Ok(OpIndexing { operands: [input, vec![kept]].into_iter().chain(offsets).collect() })
}

/// Maps the output of the executing device to the operand of the device that sends to it. A device that
/// receives nothing reads nothing, and its output is zeros.
pub(crate) fn received(op: &Op, dims: &[i64]) -> Vec<OperandIndexing> {
    accesses(
        op,
        dims,
        |(source, target)| (target, source),
        "of the device that source_target_pairs sends from",
    )
}

/// Maps the operand of the executing device to the output of the device to which it sends.
pub(crate) fn sent(op: &Op, dims: &[i64]) -> Vec<OperandIndexing> {
    accesses(op, dims, |pair| pair, "to the device that source_target_pairs sends to")
}

fn accesses(
    op: &Op,
    dims: &[i64],
    own_and_partner: fn((i64, i64)) -> (i64, i64),
    note: &'static str,
) -> Vec<OperandIndexing> {
    let pairs = op.attributes.source_target_pairs().unwrap_or_default();
    let pairs: Vec<(i64, i64)> = pairs.into_iter().map(own_and_partner).collect();
    match runs(&pairs) {
        Some(runs) => runs.iter().map(|run| access(run, dims).with_note(note)).collect(),
        None => vec![
            OperandIndexing::from(IndexingMap::identity(dims))
                .at_most("one device's element", "which device is not regular in source_target_pairs"),
        ],
    }
}

/// The access for executing devices of the run. The runtime variable of both the map and the replica id map
/// is the device id.
fn access(run: &Run, dims: &[i64]) -> OperandIndexing {
    let device = Expr::var(dims.len());
    let own = Variable::new(run.first, run.last);
    let results = (0..dims.len()).map(Expr::var).collect();
    let mut map = IndexingMap::new(variables(dims), Vec::new(), vec![own.clone()], results);
    if run.stride > 1 {
        map.add_constraint((device.clone() + -run.first).modulo(run.stride), Interval::point(0));
    }
    let partner = match run.ring {
        Some(devices) => (device + run.shift).modulo(devices),
        None => device + run.shift,
    };
    let own = Variable { name: Some(Arc::from("own")), ..own };
    let replica = IndexingMap::new(variables(dims), Vec::new(), vec![own], vec![partner]);
    let source = RuntimeSource::Op { op: OWN_REPLICA, name: Arc::from(Opcode::ReplicaId.name()) };
    let variable = RuntimeVariable { source, map: scalar(dims), feasible: DEVICES };
    OperandIndexing { runtime_variables: vec![variable], ..of_replica(map, replica) }
}

/// Splits the pairs of a device and its partner into few runs. `None` if there are too many, or if the list
/// is not one of pairs of device ids. A device with two partners is in two runs.
fn runs(pairs: &[(i64, i64)]) -> Option<Vec<Run>> {
    if pairs.is_empty()
        || !pairs.iter().all(|&(own, partner)| DEVICES.contains(own) && DEVICES.contains(partner))
    {
        return None;
    }
    if let Some(ring) = ring(pairs) {
        return Some(vec![ring]);
    }
    // Sorts by shift, then by device.
    let mut sorted: Vec<(i64, i64)> = pairs.iter().map(|&(own, partner)| (partner - own, own)).collect();
    sorted.sort_unstable();
    sorted.dedup();
    let mut runs: Vec<Run> = Vec::new();
    for (shift, own) in sorted {
        if let Some(run) = runs.last_mut().filter(|run| run.shift == shift)
            && (run.first == run.last || own - run.last == run.stride)
        {
            run.stride = own - run.last;
            run.last = own;
            continue;
        }
        runs.push(Run { first: own, last: own, stride: 1, shift, ring: None });
        if runs.len() > MAX_RUNS {
            return None;
        }
    }
    Some(runs)
}

/// A ring: devices 0 to n - 1, each once, all with the same shift, for which some wrap around.
fn ring(pairs: &[(i64, i64)]) -> Option<Run> {
    let devices = pairs.len() as i64;
    let shift = (pairs[0].1 - pairs[0].0).rem_euclid(devices);
    let mut seen = vec![false; pairs.len()];
    for &(own, partner) in pairs {
        let fits = own < devices && partner == (own + shift) % devices;
        if !fits || std::mem::replace(&mut seen[own as usize], true) {
            return None;
        }
    }
    (shift != 0).then_some(Run { first: 0, last: devices - 1, stride: 1, shift, ring: Some(devices) })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the runs give every device exactly its partners, and the number of runs.
    #[track_caller]
    fn check(pairs: &[(i64, i64)], count: usize) {
        let runs = runs(pairs).unwrap();
        assert_eq!(runs.len(), count, "{runs:?}");
        for own in 0..20 {
            let mut expected: Vec<i64> =
                pairs.iter().filter(|pair| pair.0 == own).map(|pair| pair.1).collect();
            let mut got: Vec<i64> = runs
                .iter()
                .map(|run| access(run, &[]))
                .filter(|access| access.map.evaluate(&[own]).is_some())
                .map(|access| access.replica_id_map.unwrap().evaluate(&[own]).unwrap()[0])
                .collect();
            expected.sort_unstable();
            got.sort_unstable();
            assert_eq!(got, expected, "device {own}");
        }
    }

    #[test]
    fn regular_permutes_are_few_runs() {
        check(&[(0, 3), (1, 0), (2, 1), (3, 2)], 1);
        check(&[(1, 0), (2, 1), (3, 2)], 1);
        check(&[(0, 1), (2, 3), (4, 5)], 1);
        check(&[(0, 1), (1, 0), (2, 3), (3, 2)], 2);
        check(&[(0, 2), (1, 3), (2, 0), (3, 1), (4, 6), (5, 7), (6, 4), (7, 5)], 4);
        check(&[(0, 0), (1, 1)], 1);
        check(&[(5, 2)], 1);
        check(&[(0, 1), (0, 2)], 2);
    }

    #[test]
    fn what_is_no_permute_is_none() {
        assert_eq!(runs(&[]), None);
        assert_eq!(runs(&[(0, -1)]), None);
        assert_eq!(runs(&[(i64::MAX, i64::MIN)]), None);
        assert_eq!(runs(&(0..40).map(|i| (i, i * i)).collect::<Vec<_>>()), None);
    }
}
