//! Which devices take part in a collective: replica groups, source-target pairs, channels.
//! Source: `hlo_verifier.cc` CheckReplicaGroups, `collective_op_group_mode.cc`.

use syntax::hlo::{AttributeKey, Opcode};

use super::{Subject, Verifier};
use crate::attributes::number_lists;
use crate::finding::Part;

/// What the numbers in replica groups name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Replica,
    Partition,
    ReplicaAndPartition,
    Flattened,
}

impl Verifier<'_> {
    pub(super) fn check_groups(&mut self, subject: &Subject<'_>) {
        use Opcode::*;
        match subject.opcode {
            AllGather | AllGatherStart | AllReduce | AllReduceStart | CollectiveReduce | ReduceScatter
            | AllToAll => {
                self.check_replica_groups(subject);
            }
            CollectivePermute | CollectivePermuteStart => self.check_source_target_pairs(subject),
            _ => {}
        }
    }

    fn check_replica_groups(&mut self, subject: &Subject<'_>) {
        let channel = subject.attributes.int(AttributeKey::ChannelId);
        let is_global = subject.attributes.bool(AttributeKey::UseGlobalDeviceIds);
        if let (Opcode::AllReduce, Some(..=0)) = (subject.opcode, channel) {
            let part = Part::Value(AttributeKey::ChannelId);
            return self.error(subject, "channel-id", part, "expected a channel_id above 0");
        }
        let has_flag = !matches!(subject.opcode, Opcode::AllToAll);
        let mode = match (channel, is_global) {
            (None, Some(true)) => {
                let part = Part::Value(AttributeKey::UseGlobalDeviceIds);
                return self.error(
                    subject,
                    "replica-groups",
                    part,
                    "use_global_device_ids needs a channel_id",
                );
            }
            (None, _) => Mode::Replica,
            (Some(_), _) if !has_flag => Mode::Partition,
            (Some(_), Some(true)) => Mode::Flattened,
            (Some(_), _) => Mode::ReplicaAndPartition,
        };
        let text = subject.attributes.text(AttributeKey::ReplicaGroups).unwrap_or("{}");
        let (replicas, partitions) = (self.around.replica_count, self.around.num_partitions);
        let expected = match mode {
            Mode::Replica | Mode::ReplicaAndPartition => Some(replicas),
            Mode::Partition => Some(partitions),
            Mode::Flattened => replicas.checked_mul(partitions),
        };
        // A count of 1 may only mean that none is stated.
        let expected = expected.filter(|&count| count != 1);
        let whole = Part::Value(AttributeKey::ReplicaGroups);
        if subject.opcode == Opcode::AllToAll && !subject.attributes.has(AttributeKey::Dimensions) {
            let all = if mode == Mode::Partition { partitions } else { replicas };
            let groups = subject.attributes.replica_group_size();
            if groups.is_none() && matches!(Groups::of(text), Some(Groups::Explicit(g)) if g.is_empty()) {
                self.check_operand_per_device(subject, all);
            }
        }
        let groups = match Groups::of(text) {
            None => return,
            Some(Groups::Iota(count)) => {
                if let Some(expected) = expected
                    && count != expected
                {
                    let message =
                        format!("replica_groups name {count} devices, but the module runs on {expected}");
                    self.error(subject, "replica-groups", whole, message);
                }
                return;
            }
            Some(Groups::Explicit(groups)) => groups,
        };
        if groups.is_empty() {
            if mode == Mode::Flattened {
                let message = "expected explicit replica_groups with use_global_device_ids";
                self.error(subject, "replica-groups", whole, message);
            }
            return;
        }
        if groups.iter().any(Vec::is_empty) {
            return self.error(subject, "replica-groups", whole, "a replica group is empty");
        }
        let count = groups.iter().map(Vec::len).sum::<usize>();
        let mut seen = vec![false; count];
        for (i, &id) in groups.iter().flatten().enumerate() {
            let part = Part::Element(AttributeKey::ReplicaGroups, i as u32);
            let slot = usize::try_from(id).ok().and_then(|id| seen.get_mut(id));
            let message = match slot {
                None => format!(
                    "expected the devices 0 to {} in replica_groups, each once, but there is {id}",
                    count - 1
                ),
                Some(true) => format!("device {id} is in replica_groups twice"),
                Some(slot) => {
                    *slot = true;
                    continue;
                }
            };
            return self.error(subject, "replica-groups", part, message);
        }
        if let Some(expected) = expected
            && count as i64 != expected
        {
            let message = format!("replica_groups name {count} devices, but the module runs on {expected}");
            return self.error(subject, "replica-groups", whole, message);
        }
        let may_differ = matches!(subject.opcode, Opcode::AllReduce | Opcode::AllReduceStart);
        if !may_differ && groups.iter().any(|group| group.len() != groups[0].len()) {
            self.error(subject, "replica-groups", whole, "expected replica groups of one size");
        }
    }

    /// Of an all-to-all in the form of a tuple, where all devices are one group.
    fn check_operand_per_device(&mut self, subject: &Subject<'_>, devices: i64) {
        let count = subject.operands.len();
        if count as i64 != devices {
            let message = format!("expected an operand per device, {devices}, but there are {count}");
            self.error(subject, "operand-count", Part::Operands, message);
        }
    }

    fn check_source_target_pairs(&mut self, subject: &Subject<'_>) {
        let key = AttributeKey::SourceTargetPairs;
        let Some(pairs) = subject.attributes.text(key).and_then(|text| number_lists(text.trim())) else {
            return;
        };
        let has_channel = subject.attributes.has(AttributeKey::ChannelId);
        let count = if has_channel { self.around.num_partitions } else { self.around.replica_count };
        // In the in-place form a device may take part as often as there are slices.
        let is_in_place = subject.operands.len() == 4;
        let mut seen = [Vec::new(), Vec::new()];
        for (i, pair) in pairs.iter().enumerate() {
            for (side, (&device, what)) in pair.iter().zip(["source", "target"]).enumerate() {
                let part = Part::Element(key, (2 * i + side) as u32);
                let message = match () {
                    () if device < 0 => {
                        format!("expected a device of at least 0 as {what}, but it is {device}")
                    }
                    () if count != 1 && device >= count => {
                        format!("expected a device below {count} as {what}, but it is {device}")
                    }
                    () => {
                        seen[side].push((device, i));
                        continue;
                    }
                };
                return self.error(subject, "source-target-pairs", part, message);
            }
        }
        for (side, what) in ["source", "target"].into_iter().enumerate() {
            seen[side].sort_unstable();
            let twice = seen[side].windows(2).find(|two| two[0].0 == two[1].0).map(|two| two[1]);
            if let (Some((device, i)), false) = (twice, is_in_place) {
                let part = Part::Element(key, (2 * i + side) as u32);
                let message = format!("device {device} is the {what} of two pairs");
                return self.error(subject, "source-target-pairs", part, message);
            }
        }
    }
}

enum Groups {
    Explicit(Vec<Vec<i64>>),
    /// `[groups,size]<=[…]`: all devices below the product.
    Iota(i64),
}

impl Groups {
    /// Nothing for a mesh, whose devices are not listed.
    fn of(text: &str) -> Option<Groups> {
        let text = text.trim();
        if let Some(tile) = text.strip_prefix('[') {
            let sizes = tile.split_once(']')?.0.split(',').map(|n| n.trim().parse::<i64>().ok());
            return sizes.into_iter().try_fold(1i64, |n, size| n.checked_mul(size?)).map(Groups::Iota);
        }
        number_lists(text).map(Groups::Explicit)
    }
}
