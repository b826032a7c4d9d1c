//! The attributes of each op in the order in which its properties are written: that of their names.
//!
//! An encoding of properties has no names, so an op that is not here cannot be read, unless its writer did not know it either.

use crate::native_properties;

/// Ops, and their attributes. Those with `?` are optional. Sources: StableHLO's `VhloOps.td`, MLIR's `BuiltinOps.td` and `FuncOps.td`,
/// Shardy's `ops.td`.
const LAYOUTS: &[(&str, &str)] = &[
    ("builtin.module", "sym_name? sym_visibility?"),
    ("func.func", "arg_attrs? function_type no_inline? res_attrs? sym_name sym_visibility?"),
    ("func.call", "arg_attrs? callee no_inline? res_attrs?"),
    ("func.return", ""),
    ("sdy.mesh", "mesh sym_name"),
    ("sdy.sharding_constraint", "sharding"),
    ("sdy.reshard", "sharding"),
    ("sdy.return", ""),
    ("sdy.manual_computation", "in_shardings manual_axes out_shardings"),
    ("sdy.named_computation", "in_shardings? name out_shardings?"),
    ("vhlo.all_gather_v1", "all_gather_dim channel_id replica_groups use_global_device_ids"),
    ("vhlo.all_gather_v2", "all_gather_dim channel_id replica_groups use_global_device_ids"),
    ("vhlo.all_reduce_v1", "channel_id replica_groups use_global_device_ids"),
    ("vhlo.all_reduce_v2", "channel_id replica_groups use_global_device_ids"),
    ("vhlo.all_to_all_v1", "channel_id concat_dimension replica_groups split_count split_dimension"),
    ("vhlo.all_to_all_v2", "channel_id concat_dimension replica_groups split_count split_dimension"),
    ("vhlo.batch_norm_grad_v1", "epsilon feature_index"),
    ("vhlo.batch_norm_inference_v1", "epsilon feature_index"),
    ("vhlo.batch_norm_training_v1", "epsilon feature_index"),
    ("vhlo.broadcast_in_dim_v1", "broadcast_dimensions"),
    ("vhlo.broadcast_v1", "broadcast_sizes"),
    ("vhlo.call_v1", "callee"),
    ("vhlo.cbrt_v2", "result_accuracy"),
    ("vhlo.cholesky_v1", "lower"),
    ("vhlo.collective_broadcast_v1", "channel_id replica_groups"),
    ("vhlo.collective_broadcast_v2", "channel_id has_dynamic_root replica_groups"),
    ("vhlo.collective_reduce_v1", "channel_id has_dynamic_root replica_groups use_global_device_ids"),
    ("vhlo.collective_permute_v1", "channel_id source_target_pairs"),
    ("vhlo.compare_v1", "compare_type comparison_direction"),
    ("vhlo.composite_v1", "composite_attributes decomposition name version"),
    ("vhlo.composite_v2", "composite_attributes decomposition name version"),
    ("vhlo.concatenate_v1", "dimension"),
    ("vhlo.constant_v1", "value"),
    (
        "vhlo.convolution_v1",
        "batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides",
    ),
    ("vhlo.cosine_v2", "result_accuracy"),
    (
        "vhlo.custom_call_v1",
        "api_version backend_config call_target_name called_computations has_side_effect operand_layouts output_operand_aliases result_layouts",
    ),
    (
        "vhlo.custom_call_v2",
        "api_version backend_config call_target_name called_computations has_side_effect operand_layouts output_operand_aliases result_layouts result_tilings",
    ),
    (
        "vhlo.dot_general_v1",
        "lhs_batching_dimensions lhs_contracting_dimensions precision_config rhs_batching_dimensions rhs_contracting_dimensions",
    ),
    (
        "vhlo.dot_general_v2",
        "accumulation_type allow_imprecise_accumulation lhs_batching_dimensions lhs_component_count lhs_contracting_dimensions lhs_precision_type num_primitive_operations precision_config rhs_batching_dimensions rhs_component_count rhs_contracting_dimensions rhs_precision_type",
    ),
    ("vhlo.dot_v1", "precision_config"),
    (
        "vhlo.dynamic_broadcast_in_dim_v1",
        "broadcast_dimensions known_expanding_dimensions known_nonexpanding_dimensions",
    ),
    (
        "vhlo.dynamic_conv_v1",
        "batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions padding precision_config rhs_dilation window_reversal window_strides",
    ),
    (
        "vhlo.dynamic_conv_v2",
        "batch_group_count feature_group_count input_batch_dimension input_feature_dimension input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension kernel_spatial_dimensions lhs_dilation output_batch_dimension output_feature_dimension output_spatial_dimensions precision_config rhs_dilation window_reversal window_strides",
    ),
    (
        "vhlo.dynamic_gather_v1",
        "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims start_index_map",
    ),
    (
        "vhlo.dynamic_gather_v2",
        "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims start_index_map start_indices_batching_dims",
    ),
    ("vhlo.dynamic_iota_v1", "iota_dimension"),
    ("vhlo.dynamic_slice_v1", "slice_sizes"),
    ("vhlo.einsum_v1", "einsum_config"),
    ("vhlo.exponential_minus_one_v2", "result_accuracy"),
    ("vhlo.exponential_v2", "result_accuracy"),
    ("vhlo.fft_v1", "fft_length fft_type"),
    ("vhlo.func_v1", "arg_attrs function_type res_attrs sym_name sym_visibility"),
    (
        "vhlo.gather_v1",
        "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims slice_sizes start_index_map",
    ),
    (
        "vhlo.gather_v2",
        "collapsed_slice_dims index_vector_dim indices_are_sorted offset_dims operand_batching_dims slice_sizes start_index_map start_indices_batching_dims",
    ),
    ("vhlo.get_dimension_size_v1", "dimension"),
    ("vhlo.get_tuple_element_v1", "index"),
    ("vhlo.infeed_v1", "infeed_config layout"),
    ("vhlo.iota_v1", "iota_dimension"),
    ("vhlo.log_plus_one_v2", "result_accuracy"),
    ("vhlo.logistic_v2", "result_accuracy"),
    ("vhlo.log_v2", "result_accuracy"),
    ("vhlo.map_v1", "dimensions"),
    ("vhlo.outfeed_v1", "outfeed_config"),
    ("vhlo.pad_v1", "edge_padding_high edge_padding_low interior_padding"),
    ("vhlo.recv_v1", "channel_id channel_type is_host_transfer"),
    ("vhlo.recv_v2", "channel_id channel_type is_host_transfer source_target_pairs"),
    ("vhlo.reduce_v1", "dimensions"),
    ("vhlo.reduce_precision_v1", "exponent_bits mantissa_bits"),
    ("vhlo.reduce_scatter_v1", "channel_id replica_groups scatter_dimension use_global_device_ids"),
    ("vhlo.reduce_window_v1", "base_dilations padding window_dilations window_dimensions window_strides"),
    ("vhlo.reverse_v1", "dimensions"),
    ("vhlo.rng_bit_generator_v1", "rng_algorithm"),
    ("vhlo.rng_v1", "rng_distribution"),
    ("vhlo.rsqrt_v2", "result_accuracy"),
    (
        "vhlo.scatter_v1",
        "index_vector_dim indices_are_sorted inserted_window_dims scatter_dims_to_operand_dims unique_indices update_window_dims",
    ),
    (
        "vhlo.scatter_v2",
        "index_vector_dim indices_are_sorted input_batching_dims inserted_window_dims scatter_dims_to_operand_dims scatter_indices_batching_dims unique_indices update_window_dims",
    ),
    ("vhlo.select_and_scatter_v1", "padding window_dimensions window_strides"),
    ("vhlo.send_v1", "channel_id channel_type is_host_transfer"),
    ("vhlo.send_v2", "channel_id channel_type is_host_transfer source_target_pairs"),
    ("vhlo.set_dimension_size_v1", "dimension"),
    ("vhlo.sine_v2", "result_accuracy"),
    ("vhlo.slice_v1", "limit_indices start_indices strides"),
    ("vhlo.sort_v1", "dimension is_stable"),
    ("vhlo.sqrt_v2", "result_accuracy"),
    ("vhlo.tan_v2", "result_accuracy"),
    ("vhlo.tanh_v2", "result_accuracy"),
    ("vhlo.torch_index_select_v1", "batch_dims dim"),
    ("vhlo.transpose_v1", "permutation"),
    ("vhlo.triangular_solve_v1", "left_side lower transpose_a unit_diagonal"),
    ("vhlo.unary_einsum_v1", "einsum_config"),
];

/// Ops of VHLO without attributes, without their version.
const WITHOUT: &[&str] = &[
    "abs_v1",
    "add_v1",
    "after_all_v1",
    "and_v1",
    "async_start_v1",
    "async_done_v1",
    "atan2_v1",
    "bitcast_convert_v1",
    "case_v1",
    "cbrt_v1",
    "ceil_v1",
    "clamp_v1",
    "count_leading_zeros_v1",
    "complex_v1",
    "convert_v1",
    "cosine_v1",
    "create_token_v1",
    "divide_v1",
    "dynamic_pad_v1",
    "dynamic_reshape_v1",
    "dynamic_update_slice_v1",
    "exponential_minus_one_v1",
    "exponential_v1",
    "floor_v1",
    "if_v1",
    "imag_v1",
    "is_finite_v1",
    "log_plus_one_v1",
    "logistic_v1",
    "log_v1",
    "maximum_v1",
    "minimum_v1",
    "multiply_v1",
    "negate_v1",
    "not_v1",
    "optimization_barrier_v1",
    "or_v1",
    "partition_id_v1",
    "popcnt_v1",
    "power_v1",
    "real_dynamic_slice_v1",
    "real_v1",
    "remainder_v1",
    "replica_id_v1",
    "reshape_v1",
    "return_v1",
    "round_nearest_even_v1",
    "round_nearest_afz_v1",
    "rsqrt_v1",
    "select_v1",
    "shift_left_v1",
    "shift_right_arithmetic_v1",
    "shift_right_logical_v1",
    "sign_v1",
    "sine_v1",
    "sqrt_v1",
    "subtract_v1",
    "tan_v1",
    "tanh_v1",
    "tuple_v1",
    "uniform_dequantize_v1",
    "uniform_quantize_v1",
    "while_v1",
    "xor_v1",
];

/// A property of an op: its name, and whether it may be missing.
#[derive(Clone, Copy)]
pub(crate) struct Property {
    pub(crate) name: &'static str,
    pub(crate) is_optional: bool,
}

/// The layouts of an op: more than one if releases of its dialect differ.
fn layouts(op: &str) -> impl Iterator<Item = &'static str> {
    let known = LAYOUTS.iter().chain(native_properties::LAYOUTS).filter(move |(name, _)| *name == op);
    let vhlo = op.strip_prefix("vhlo.").filter(|name| WITHOUT.contains(name));
    let stablehlo = op
        .strip_prefix("stablehlo.")
        .filter(|name| WITHOUT.iter().any(|versioned| versioned.strip_suffix("_v1") == Some(name)));
    let chlo = op.strip_prefix("chlo.").filter(|name| native_properties::CHLO_WITHOUT.contains(name));
    let without = vhlo.or(stablehlo).or(chlo).map(|_| "");
    known.map(|(_, layout)| *layout).chain(without)
}

fn properties(layout: &'static str) -> impl Iterator<Item = Property> + Clone {
    layout.split_ascii_whitespace().map(|name| match name.strip_suffix('?') {
        Some(name) => Property { name, is_optional: true },
        None => Property { name, is_optional: false },
    })
}

pub(crate) fn is_known(op: &str) -> bool {
    layouts(op).next().is_some()
}

/// The properties of an op that has this number of them; `None` if they are not known.
pub(crate) fn layout(op: &str, count: usize) -> Option<impl Iterator<Item = Property>> {
    layouts(op).map(properties).find(|properties| properties.clone().count() == count)
}

/// The names of all attributes that an op defines.
pub(crate) fn names(op: &str) -> impl Iterator<Item = &'static str> {
    layouts(op).flat_map(properties).map(|property| property.name)
}
