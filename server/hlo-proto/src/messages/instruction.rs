//! Instructions, and the groups of numbers that their attributes are.

use super::{
    CollectiveDeviceListProto, FrontendAttributes, IotaReplicaGroupListProto, LiteralProto,
    MeshAxesReplicaGroupListProto, OpMetadata, OpSharding, OriginalValueProto, Payload, ReplicaGroup,
    ResultAccuracy, ShapeProto, StatisticsViz, messages,
};

messages! {
    HloInstructionProto {
        1 name: String = [string],
        2 opcode: String = [string],
        3 shape: Option<ShapeProto> = [message, optional] of ShapeProto,
        7 metadata: Option<OpMetadata> = [message, optional] of OpMetadata,
        8 literal: Option<LiteralProto> = [message, optional] of LiteralProto,
        9 parameter_number: i64 = [int64],
        11 fusion_kind: String = [string],
        13 tuple_index: i64 = [int64],
        14 dimensions: Vec<i64> = [int64, repeated],
        15 window: Option<Window> = [message, optional] of Window,
        16 convolution_dimension_numbers: Option<ConvolutionDimensionNumbers> = [message, optional] of ConvolutionDimensionNumbers,
        17 slice_dimensions: Vec<SliceDimensions> = [message, repeated] of SliceDimensions,
        18 exponent_bits: i32 = [int32],
        19 mantissa_bits: i32 = [int32],
        20 dynamic_slice_sizes: Vec<i64> = [int64, repeated],
        21 padding_config: Option<PaddingConfig> = [message, optional] of PaddingConfig,
        22 outfeed_config: Vec<u8> = [bytes = "vec"],
        23 distribution: i32 = [int32],
        24 epsilon: f32 = [float],
        25 feature_index: i64 = [int64],
        26 channel_id: i64 = [int64],
        27 infeed_config: Vec<u8> = [bytes = "vec"],
        28 custom_call_target: String = [string],
        29 outfeed_shape: Option<ShapeProto> = [message, optional] of ShapeProto,
        30 dot_dimension_numbers: Option<DotDimensionNumbers> = [message, optional] of DotDimensionNumbers,
        31 fft_type: i32 = [int32],
        32 fft_length: Vec<i64> = [int64, repeated],
        33 gather_dimension_numbers: Option<GatherDimensionNumbers> = [message, optional] of GatherDimensionNumbers,
        34 gather_slice_sizes: Vec<i64> = [int64, repeated],
        35 id: i64 = [int64],
        36 operand_ids: Vec<i64> = [int64, repeated],
        37 control_predecessor_ids: Vec<i64> = [int64, repeated],
        38 called_computation_ids: Vec<i64> = [int64, repeated],
        40 sharding: Option<OpSharding> = [message, optional] of OpSharding,
        43 backend_config: Vec<u8> = [bytes = "vec"],
        45 all_reduce_id: i64 = [int64],
        47 is_host_transfer: bool = [bool],
        48 scatter_dimension_numbers: Option<ScatterDimensionNumbers> = [message, optional] of ScatterDimensionNumbers,
        49 replica_groups: Vec<ReplicaGroup> = [message, repeated] of ReplicaGroup,
        50 feature_group_count: i64 = [int64],
        51 precision_config: Option<PrecisionConfig> = [message, optional] of PrecisionConfig,
        52 source_target_pairs: Vec<SourceTarget> = [message, repeated] of SourceTarget,
        54 domain_entry_sharding: Option<OpSharding> = [message, optional] of OpSharding,
        55 domain_exit_sharding: Option<OpSharding> = [message, optional] of OpSharding,
        56 constrain_layout: bool = [bool],
        57 operand_shapes_with_layout: Vec<ShapeProto> = [message, repeated] of ShapeProto,
        58 batch_group_count: i64 = [int64],
        59 triangular_solve_options: Option<TriangularSolveOptions> = [message, optional] of TriangularSolveOptions,
        60 is_stable: bool = [bool],
        61 parameter_replication: Option<ParameterReplication> = [message, optional] of ParameterReplication,
        62 cholesky_options: Option<CholeskyOptions> = [message, optional] of CholeskyOptions,
        63 comparison_direction: String = [string],
        65 custom_call_has_side_effect: bool = [bool],
        66 delta: i64 = [int64],
        67 indices_are_sorted: bool = [bool],
        68 frontend_attributes: Option<FrontendAttributes> = [message, optional] of FrontendAttributes,
        69 unique_indices: bool = [bool],
        70 rng_algorithm: i32 = [int32],
        71 use_global_device_ids: bool = [bool],
        72 comparison_type: String = [string],
        73 is_cross_program_prefetch: bool = [bool],
        74 output_operand_aliasing: Vec<OutputOperandAliasing> = [message, repeated] of OutputOperandAliasing,
        75 padding_type: i32 = [int32],
        76 custom_call_schedule: i32 = [int32],
        77 custom_call_api_version: i32 = [int32],
        79 async_execution_thread: String = [string],
        80 cross_program_prefetch_index: Option<i32> = [int32, optional],
        81 k: i64 = [int64],
        82 statistics_viz: Option<StatisticsViz> = [message, optional] of StatisticsViz,
        85 largest: bool = [bool],
        87 collective_device_list: Option<CollectiveDeviceListProto> = [message, optional] of CollectiveDeviceListProto,
        88 original_value: Option<OriginalValueProto> = [message, optional] of OriginalValueProto,
        89 is_composite: bool = [bool],
        90 ragged_dot_dimension_numbers: Option<RaggedDotDimensionNumbers> = [message, optional] of RaggedDotDimensionNumbers,
        91 result_accuracy: Option<ResultAccuracy> = [message, optional] of ResultAccuracy,
        92 iota_collective_device_list: Option<IotaReplicaGroupListProto> = [message, optional] of IotaReplicaGroupListProto,
        93 mesh_axes_replica_group_list: Option<MeshAxesReplicaGroupListProto> = [message, optional] of MeshAxesReplicaGroupListProto,
        94 is_reverse: bool = [bool],
        95 num_carries: i64 = [int64],
        96 is_associative: i32 = [int32],
        97 conv_kind: i32 = [int32],
        98 sparsity_config: Option<SparsityConfig> = [message, optional] of SparsityConfig,
        99 backend_config_payload: Option<Payload> = [message, optional] of Payload,
        100 has_dynamic_root: bool = [bool],
        101 block_scaling_config: Option<BlockScalingConfig> = [message, optional] of BlockScalingConfig,
        102 comparison_order: String = [string],
        103 shuffle_mode: Option<ShuffleMode> = [message, optional] of ShuffleMode,
    }
    Window {
        1 dimensions: Vec<WindowDimension> = [message, repeated] of WindowDimension,
    }
    WindowDimension {
        1 size: i64 = [int64],
        2 stride: i64 = [int64],
        3 padding_low: i64 = [int64],
        4 padding_high: i64 = [int64],
        5 window_dilation: i64 = [int64],
        6 base_dilation: i64 = [int64],
        7 window_reversal: bool = [bool],
    }
    ConvolutionDimensionNumbers {
        3 kernel_input_feature_dimension: i64 = [int64],
        4 kernel_output_feature_dimension: i64 = [int64],
        6 kernel_spatial_dimensions: Vec<i64> = [int64, repeated],
        7 input_batch_dimension: i64 = [int64],
        8 input_feature_dimension: i64 = [int64],
        9 output_batch_dimension: i64 = [int64],
        10 output_feature_dimension: i64 = [int64],
        11 input_spatial_dimensions: Vec<i64> = [int64, repeated],
        12 output_spatial_dimensions: Vec<i64> = [int64, repeated],
    }
    SliceDimensions {
        1 start: i64 = [int64],
        2 limit: i64 = [int64],
        3 stride: i64 = [int64],
    }
    PaddingConfig {
        1 dimensions: Vec<PaddingConfigDimension> = [message, repeated] of PaddingConfigDimension,
    }
    PaddingConfigDimension {
        1 edge_padding_low: i64 = [int64],
        2 edge_padding_high: i64 = [int64],
        3 interior_padding: i64 = [int64],
    }
    DotDimensionNumbers {
        1 lhs_contracting_dimensions: Vec<i64> = [int64, repeated],
        2 rhs_contracting_dimensions: Vec<i64> = [int64, repeated],
        3 lhs_batch_dimensions: Vec<i64> = [int64, repeated],
        4 rhs_batch_dimensions: Vec<i64> = [int64, repeated],
    }
    RaggedDotDimensionNumbers {
        1 dot_dimension_numbers: Option<DotDimensionNumbers> = [message, optional] of DotDimensionNumbers,
        2 lhs_ragged_dimensions: Vec<i64> = [int64, repeated],
        3 rhs_group_dimensions: Vec<i64> = [int64, repeated],
    }
    GatherDimensionNumbers {
        1 offset_dims: Vec<i64> = [int64, repeated],
        2 collapsed_slice_dims: Vec<i64> = [int64, repeated],
        3 start_index_map: Vec<i64> = [int64, repeated],
        4 index_vector_dim: i64 = [int64],
        5 operand_batching_dims: Vec<i64> = [int64, repeated],
        6 start_indices_batching_dims: Vec<i64> = [int64, repeated],
    }
    ScatterDimensionNumbers {
        1 update_window_dims: Vec<i64> = [int64, repeated],
        2 inserted_window_dims: Vec<i64> = [int64, repeated],
        3 scatter_dims_to_operand_dims: Vec<i64> = [int64, repeated],
        4 index_vector_dim: i64 = [int64],
        5 input_batching_dims: Vec<i64> = [int64, repeated],
        6 scatter_indices_batching_dims: Vec<i64> = [int64, repeated],
    }
    PrecisionConfig {
        1 operand_precision: Vec<i32> = [int32, repeated],
        2 algorithm: i32 = [int32],
    }
    SourceTarget {
        1 source: i64 = [int64],
        2 target: i64 = [int64],
    }
    TriangularSolveOptions {
        1 left_side: bool = [bool],
        2 lower: bool = [bool],
        3 unit_diagonal: bool = [bool],
        4 transpose_a: i32 = [int32],
    }
    CholeskyOptions {
        1 lower: bool = [bool],
    }
    ParameterReplication {
        1 replicated_at_leaf_buffers: Vec<bool> = [bool, repeated],
    }
    OutputOperandAliasing {
        1 output_shape_index: Vec<i64> = [int64, repeated],
        2 operand_index: i64 = [int64],
        3 operand_shape_index: Vec<i64> = [int64, repeated],
    }
    SparsityConfig {
        1 lhs: Option<TensorSparsityConfig> = [message, optional] of TensorSparsityConfig,
        2 rhs: Option<TensorSparsityConfig> = [message, optional] of TensorSparsityConfig,
    }
    TensorSparsityConfig {
        1 num_non_zero: i64 = [int64],
        2 block_size: i64 = [int64],
        3 dimension: i64 = [int64],
        4 stride: i64 = [int64],
        5 idx: i32 = [int32],
    }
    BlockScalingConfig {
        1 lhs: Option<TensorBlockScalingConfig> = [message, optional] of TensorBlockScalingConfig,
        2 rhs: Option<TensorBlockScalingConfig> = [message, optional] of TensorBlockScalingConfig,
    }
    TensorBlockScalingConfig {
        1 scale_idx: i32 = [int32],
        2 zero_idx: i32 = [int32],
        3 strides: Vec<i64> = [int64, repeated],
        4 steps: Vec<i64> = [int64, repeated],
    }
    ShuffleMode {
        1 rotate: Option<Rotate> = [message, optional] of Rotate,
    }
    Rotate {
        1 shifts: Vec<i64> = [int64, repeated],
    }
}
