//! The groups of replicas that a collective combines. Ids are replica numbers: one partition is assumed.

use ir::{AttributeKey, Op};

use super::positions::{affine, strides};

/// The largest number of replicas in all groups.
const MAX_REPLICAS: i64 = 1 << 16;

/// The replicas of `replica`'s group, in group order. Without groups there is one of all `replicas`. `None`
/// if the replica is in no group, or the attribute has an unsupported form.
pub fn replica_group(op: &Op, replica: u32, replicas: u32) -> Option<Vec<u32>> {
    let mut groups = parse_groups(op.attributes.text(AttributeKey::ReplicaGroups).unwrap_or("{}"))?;
    if groups.is_empty() {
        groups.push((0..replicas).collect());
    }
    let group = groups.into_iter().find(|group| group.contains(&replica))?;
    group.iter().all(|&id| id < replicas).then_some(group)
}

fn numbers(text: &str) -> Option<Vec<u32>> {
    let words = text.split([',', ' ', '{', '}', '[', ']', '(', ')']).filter(|word| !word.is_empty());
    words.map(|word| word.parse().ok()).collect()
}

/// `{{0,1},{2,3}}`, or `[2,4]<=[8]` and `[2,4]<=[4,2]T(1,0)`: an iota of the sizes on the right, transposed,
/// split into groups by the sizes on the left. Source: `IotaTileAssignment`.
fn parse_groups(text: &str) -> Option<Vec<Vec<u32>>> {
    let text = text.trim();
    if let Some((groups, iota)) = text.split_once("<=") {
        let sizes = numbers(groups)?;
        let (reshape, order) = match iota.split_once('T') {
            Some((reshape, order)) => (numbers(reshape)?, Some(numbers(order)?)),
            None => (numbers(iota)?, None),
        };
        let dims: Vec<i64> = reshape.iter().map(|&n| i64::from(n)).collect();
        let count = |dims: &[i64]| {
            dims.iter().try_fold(1, |n: i64, &d| n.checked_mul(d).filter(|&n| n <= MAX_REPLICAS))
        };
        let order = order.unwrap_or_else(|| (0..dims.len() as u32).collect());
        let permuted =
            |of: &[i64]| order.iter().map(|&d| of.get(d as usize).copied()).collect::<Option<Vec<i64>>>();
        let (turned, steps) = (permuted(&dims)?, permuted(&strides(&dims))?);
        let places: Vec<i64> = (0..count(&dims)?.min(count(&turned)?)).collect();
        let ids: Vec<u32> = affine(&places, &turned, 0, &steps).into_iter().map(|id| id as u32).collect();
        let size = *sizes.get(1)? as usize;
        return (size > 0).then(|| ids.chunks(size).map(<[u32]>::to_vec).collect());
    }
    let inner = text.strip_prefix('{')?.strip_suffix('}')?;
    inner.split('}').map(numbers).filter(|group| group.as_ref().is_none_or(|g| !g.is_empty())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_groups() {
        let groups = |text| parse_groups(text).unwrap();
        assert_eq!(groups("{}"), Vec::<Vec<u32>>::new());
        assert_eq!(groups("{{0,1},{3,2}}"), [[0, 1], [3, 2]]);
        assert_eq!(groups("[2,2]<=[4]"), [[0, 1], [2, 3]]);
        assert_eq!(groups("[2,2]<=[2,2]T(1,0)"), [[0, 2], [1, 3]]);
        assert_eq!(groups("[3,2]<=[2,3]T(1,0)"), [[0, 3], [1, 4], [2, 5]]);
    }
}
