//! Shardings, meshes and groups of devices.

use super::{OpMetadata, messages};

messages! {
    OpSharding {
        1 r#type: i32 = [int32],
        2 tile_shape: Vec<u8> = [bytes = "vec"],
        3 tile_assignment_dimensions: Vec<i64> = [int64, repeated],
        4 tile_assignment_devices: Vec<i64> = [int64, repeated],
        5 tuple_shardings: Vec<OpSharding> = [message, repeated] of OpSharding,
        6 replicate_on_last_tile_dim: bool = [bool],
        7 metadata: Vec<OpMetadata> = [message, repeated] of OpMetadata,
        8 last_tile_dims: Vec<i32> = [int32, repeated],
        9 iota_reshape_dims: Vec<i64> = [int64, repeated],
        10 iota_transpose_perm: Vec<i32> = [int32, repeated],
        11 is_shard_group: bool = [bool],
        12 shard_group_id: i64 = [int64],
        13 shard_group_type: i32 = [int32],
        14 named_sharding: Option<NamedShardingProto> = [message, optional] of NamedShardingProto,
    }
    NamedShardingProto {
        2 mesh: Option<MeshProto> = [message, optional] of MeshProto,
        3 dim_shardings: Vec<DimensionSharding> = [message, repeated] of DimensionSharding,
        4 replicated_axes: Vec<AxisRefProto> = [message, repeated] of AxisRefProto,
        5 unreduced_axes: Vec<AxisRefProto> = [message, repeated] of AxisRefProto,
        6 metadata: Vec<OpMetadata> = [message, repeated] of OpMetadata,
        7 manual_axes: Vec<AxisRefProto> = [message, repeated] of AxisRefProto,
        8 reduction_op: i32 = [int32],
    }
    DimensionSharding {
        1 axes: Vec<AxisRefProto> = [message, repeated] of AxisRefProto,
        2 is_closed: bool = [bool],
    }
    AxisRefProto {
        1 mesh_axis_index: i64 = [int64],
        2 sub_axis_info: Option<SubAxis> = [message, optional] of SubAxis,
    }
    SubAxis {
        1 pre_size: i64 = [int64],
        2 size: i64 = [int64],
    }
    MeshProto {
        1 axes: Vec<MeshAxis> = [message, repeated] of MeshAxis,
        2 device_ids: Vec<i64> = [int64, repeated],
        3 iota_transform: Option<IotaTransform> = [message, optional] of IotaTransform,
    }
    MeshAxis {
        1 name: String = [string],
        2 size: i64 = [int64],
    }
    IotaTransform {
        1 reshape_dims: Vec<i64> = [int64, repeated],
        2 transpose_perm: Vec<i64> = [int64, repeated],
    }
    ReplicaGroup {
        1 replica_ids: Vec<i64> = [int64, repeated],
    }
    CollectiveDeviceListProto {
        1 replica_groups: Vec<ReplicaGroup> = [message, repeated] of ReplicaGroup,
    }
    IotaReplicaGroupListProto {
        1 num_replica_groups: i64 = [int64],
        2 num_devices_per_group: i64 = [int64],
        3 iota_reshape_dims: Vec<i64> = [int64, repeated],
        4 iota_transpose_perm: Vec<i32> = [int32, repeated],
    }
    MeshAxesReplicaGroupListProto {
        1 mesh: Option<MeshProto> = [message, optional] of MeshProto,
        2 axes: Vec<AxisRefProto> = [message, repeated] of AxisRefProto,
    }
}
