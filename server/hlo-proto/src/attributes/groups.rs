//! Groups of devices in their three forms, and pairs of them.
//!
//! Source: XLA `hlo/ir/replica_group.cc`.

use std::fmt::Write as _;

use ir::AttributeValue;

use super::sharding::{axis, mesh, write_axes, write_mesh};
use super::{Context, Proto};
use crate::messages::{
    CollectiveDeviceListProto, IotaReplicaGroupListProto, MeshAxesReplicaGroupListProto, ReplicaGroup,
    SourceTarget,
};
use crate::scan::{Scanned, Scanner, write_list};

pub(super) fn has_groups(proto: &Proto) -> bool {
    proto.collective_device_list.is_some()
        || proto.iota_collective_device_list.is_some()
        || proto.mesh_axes_replica_group_list.is_some()
}

/// `{{0,1},{2,3}}`, `[2,2]<=[4]`, `mesh['a'=2,'b'=2] {'b'}`
pub(super) fn take(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let mut out = String::new();
    if let Some(iota) = proto.iota_collective_device_list.take() {
        write_list(&mut out, '[', ']', [iota.num_replica_groups, iota.num_devices_per_group]);
        out.push_str("<=");
        write_iota(&mut out, &iota.iota_reshape_dims, &iota.iota_transpose_perm);
    } else if let Some(groups) = &proto.mesh_axes_replica_group_list {
        let empty = Default::default();
        let mesh = groups.mesh.as_ref().unwrap_or(&empty);
        write_mesh(&mut out, mesh);
        out.push(' ');
        write_axes(&mut out, mesh, &groups.axes)?;
        proto.mesh_axes_replica_group_list = None;
    } else {
        // The old field is read where the new one is absent.
        let old = std::mem::take(&mut proto.replica_groups);
        let groups = proto.collective_device_list.take().map_or(old, |list| list.replica_groups);
        out.push('{');
        for (i, group) in groups.into_iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            write_list(&mut out, '{', '}', group.replica_ids);
        }
        out.push('}');
    }
    proto.replica_groups.clear();
    Some(AttributeValue::Text(out))
}

/// `[4]`, or `[2,2]T(1,0)` where the numbers do not go up in order.
pub(super) fn write_iota<N: std::fmt::Display + PartialEq + TryFrom<usize>>(
    out: &mut String,
    dims: &[i64],
    permutation: &[N],
) {
    write_list(out, '[', ']', dims);
    let is_identity = permutation.iter().enumerate().all(|(i, dim)| N::try_from(i).is_ok_and(|i| i == *dim));
    if !is_identity {
        out.push('T');
        write_list(out, '(', ')', permutation);
    }
}

pub(super) fn put(proto: &mut Proto, value: &AttributeValue, _: &mut Context<'_>) -> Result<(), String> {
    let AttributeValue::Text(text) = value else { return Err(String::new()) };
    put_groups(proto, &mut Scanner::new(text)).map_err(|_| String::new())
}

fn put_groups(proto: &mut Proto, scanner: &mut Scanner<'_>) -> Scanned<()> {
    if scanner.at('[') {
        let sizes = scanner.list('[', ']', Scanner::int)?;
        let &[num_replica_groups, num_devices_per_group] = &sizes[..] else {
            return Err(crate::scan::OtherForm);
        };
        scanner.expect('<')?;
        scanner.expect('=')?;
        let (iota_reshape_dims, permutation) = iota(scanner)?;
        let narrow = |dim: i64| i32::try_from(dim).map_err(|_| crate::scan::OtherForm);
        proto.iota_collective_device_list = Some(IotaReplicaGroupListProto {
            num_replica_groups,
            num_devices_per_group,
            iota_reshape_dims,
            iota_transpose_perm: permutation.into_iter().map(narrow).collect::<Scanned<_>>()?,
        });
    } else if scanner.at('{') {
        let groups = scanner.list('{', '}', Scanner::ints)?;
        let replica_groups = groups.into_iter().map(|replica_ids| ReplicaGroup { replica_ids }).collect();
        proto.collective_device_list = Some(CollectiveDeviceListProto { replica_groups });
    } else {
        let mesh = mesh(scanner)?;
        let axes = scanner.list('{', '}', |scanner| axis(scanner, &mesh))?;
        proto.mesh_axes_replica_group_list = Some(MeshAxesReplicaGroupListProto { mesh: Some(mesh), axes });
    }
    scanner.end()
}

/// `[4]` or `[2,2]T(1,0)`: sizes, and their order.
pub(super) fn iota(scanner: &mut Scanner<'_>) -> Scanned<(Vec<i64>, Vec<i64>)> {
    let dims = scanner.list('[', ']', Scanner::int)?;
    let permutation = match scanner.eat_word("T") {
        true => scanner.list('(', ')', Scanner::int)?,
        false => (0..dims.len() as i64).collect(),
    };
    Ok((dims, permutation))
}

/// `{{0,1},{1,0}}`
pub(super) fn take_pairs(proto: &mut Proto, _: &mut Context<'_>) -> Option<AttributeValue> {
    let mut out = String::from("{");
    for (i, pair) in proto.source_target_pairs.drain(..).enumerate() {
        _ = write!(out, "{}{{{},{}}}", if i > 0 { "," } else { "" }, pair.source, pair.target);
    }
    out.push('}');
    Some(AttributeValue::Text(out))
}

pub(super) fn put_pairs(
    proto: &mut Proto,
    value: &AttributeValue,
    _: &mut Context<'_>,
) -> Result<(), String> {
    let attributes = ir::Attributes::default().with(ir::AttributeKey::SourceTargetPairs, value.clone());
    let pairs = attributes.source_target_pairs().ok_or_else(String::new)?;
    proto.source_target_pairs =
        pairs.into_iter().map(|(source, target)| SourceTarget { source, target }).collect();
    Ok(())
}
