//! The passes: one file each, named as XLA names the pass.

mod absent;
mod algsimp;
mod annotations;
mod associative_scan_rewriter;
mod backend_config;
mod batched_gather_scatter_normalizer;
mod call_inliner;
mod comparison_expander;
mod computation_deduplicator;
mod conditional_canonicalizer;
mod config_assigner;
mod constant_fill_copy_rewriter;
mod constant_folding;
mod conv_padding_legalization;
mod conv_rewriter;
mod convert_mover;
mod convert_triton_gemm_config;
mod copy_fusion;
mod copy_insertion;
mod cse;
mod cse_barrier_expander;
mod dce;
mod degenerate_dimension_rewriter;
mod dot_decomposer;
mod dot_dimension_merger;
mod dot_dimension_normalizer;
mod dot_dimension_sorter;
mod dot_merger;
mod dot_strength_reduction;
mod dynamic_dimension_simplifier;
mod dynamic_slice_annotator;
mod dynamic_slice_copy_fusion_async_wrapper;
mod every;
mod flatten_call_graph;
mod float_normalization;
mod fusing;
mod fusion_block_level_rewriter;
mod fusion_wrapper;
mod gates;
mod gather_simplifier;
mod gemm_fusion_swap_operands;
mod hoist_fused_bitcasts;
mod host_offloader;
mod index_shapes;
mod layout_assignment;
mod layout_normalization;
mod loop_schedule_linearizer;
mod loops;
mod move_copy_to_users;
mod moved_bitcasts;
mod multi_output_fusion;
mod pdl_launch_annotation;
mod priority_fusion;
mod reduce_decomposer;
mod reduce_window_rewriter;
mod reduction_dimension_grouper;
mod reduction_layouts;
mod reduction_splitter;
mod rematerialization;
mod rename_fusions;
mod rename_instructions;
mod reshape_decomposer;
mod reshape_mover;
mod rng_bit_generator_expander;
mod sanitize_constant_names;
mod scans_as_trees;
mod scatter_simplifier;
mod scatter_slice_simplifier;
mod schedule;
mod scheduling_instruction_annotator;
mod select_and_scatter_expander;
mod simplify_conditional;
mod simplify_fp_conversions;
mod simplify_sorts;
mod simplify_while_loops;
mod slice_sinker;
mod sort_iota_fusion;
mod splitk_rewriter;
mod stable_sort_expander;
mod sub_byte_size_setter;
mod topk_decomposer;
mod topk_rewriter;
mod topk_specializer;
mod transpose_folding;
mod tree_reduction_rewriter;
mod triangular_solve_rewriter;
mod triton_gemm_rewriter;
mod triton_softmax_rewriter;
mod tuple_simplifier;
mod variadic_op_splitter;
mod while_loop_constant_sinking;
mod while_loop_trip_count_annotator;
mod zero_sized_hlo_elimination;

pub(crate) use gates::GATES;

use crate::driver::{Pass, Rewrite};

/// All passes, by name.
#[rustfmt::skip] // A row is a line.
pub const PASSES: &[Pass] = &[
    Pass { name: "adding_copies_to_resolve_interference", run: copy_insertion::resolve },
    Pass { name: "adding_special-case_copies", run: copy_insertion::special },
    Pass { name: "algorithm-checker", run: absent::off },
    Pass { name: "algsimp", run: algsimp::run },
    Pass { name: "all-reduce-folder", run: absent::all_reduce_folder },
    Pass { name: "all-reduce-simplifier", run: absent::all_reduce_simplifier },
    Pass { name: "associative-scan-rewriter", run: associative_scan_rewriter::run },
    Pass { name: "async-collective-annotator", run: absent::async_collective_annotator },
    Pass { name: "async-collective-creator", run: absent::async_collective_creator },
    Pass { name: "async-collective-custom-call-rewriter", run: absent::async_collective_custom_call_rewriter },
    Pass { name: "batched_gather_scatter_normalizer", run: batched_gather_scatter_normalizer::run },
    Pass { name: "batchnorm_expander", run: absent::batchnorm_expander },
    Pass { name: "bitcast_dtypes_expander", run: absent::bitcast_dtypes_expander },
    Pass { name: "block-scaling-rewriter", run: absent::block_scaling_rewriter },
    Pass { name: "broadcast_canonicalizer", run: absent::broadcast_canonicalizer },
    Pass { name: "call-inliner", run: call_inliner::run },
    Pass { name: "cholesky_expander", run: absent::cholesky_expander },
    Pass { name: "collective-pipelining-analyzer", run: absent::collective_pipelining_analyzer },
    Pass { name: "collectives-schedule-linearizer", run: absent::off },
    Pass { name: "comparison-expander", run: comparison_expander::run },
    Pass { name: "computation-deduplicator", run: computation_deduplicator::run },
    Pass { name: "conditional-canonicalizer", run: conditional_canonicalizer::run },
    Pass { name: "config-assigner", run: config_assigner::run },
    Pass { name: "constant-fill-copy-rewriter", run: constant_fill_copy_rewriter::run },
    Pass { name: "constant_folding", run: constant_folding::run },
    Pass { name: "conv-fp8-fallback", run: absent::conv_fp8_fallback },
    Pass { name: "conv-padding-legalization", run: conv_padding_legalization::run },
    Pass { name: "conv-rewriter", run: conv_rewriter::run },
    Pass { name: "convert-mover", run: convert_mover::run },
    Pass { name: "convert_triton_gemm_config", run: convert_triton_gemm_config::run },
    Pass { name: "convolution-pred-expander", run: absent::convolution_pred_expander },
    Pass { name: "convolution_4d_expander", run: absent::convolution_4d_expander },
    Pass { name: "copy-insertion", run: copy_insertion::run },
    Pass { name: "copy_fusion", run: copy_fusion::run },
    Pass { name: "cse", run: cse::run },
    Pass { name: "cse_barrier_expander", run: cse_barrier_expander::run },
    Pass { name: "cublas-gemm-broadcast-folding-rewriter", run: absent::cublas_gemm_broadcast_folding_rewriter },
    Pass { name: "cublas-pad-for-gemms", run: absent::cublas_pad_for_gemms },
    Pass { name: "cudnn-custom-call-converter", run: absent::cudnn_custom_call_converter },
    Pass { name: "cudnn-fused-convolution-rewriter", run: absent::cudnn_fused_convolution_rewriter },
    Pass { name: "cudnn_pad_for_convolutions", run: absent::cudnn_pad_for_convolutions },
    Pass { name: "dce", run: dce::run },
    Pass { name: "degenerate-dimension-rewriter", run: degenerate_dimension_rewriter::run },
    Pass { name: "dot-merger", run: dot_merger::run },
    Pass { name: "dot-strength-reduction", run: dot_strength_reduction::run },
    Pass { name: "dot_decomposer", run: dot_decomposer::run },
    Pass { name: "dot_dimension_merger", run: dot_dimension_merger::run },
    Pass { name: "dot_dimension_normalizer", run: dot_dimension_normalizer::run },
    Pass { name: "dot_dimension_sorter", run: dot_dimension_sorter::run },
    Pass { name: "dus-accumulator-zero-init-elimination", run: absent::off },
    Pass { name: "dynamic-dimension-simplifier", run: dynamic_dimension_simplifier::run },
    Pass { name: "dynamic-index-splitter", run: absent::dynamic_index_splitter },
    Pass { name: "dynamic-slice-annotator", run: dynamic_slice_annotator::run },
    Pass { name: "dynamic-slice-copy-fusion-async-wrapper", run: dynamic_slice_copy_fusion_async_wrapper::run },
    Pass { name: "dynamic-slice-fusion-rewriter-v2", run: absent::dynamic_slice_fusion_rewriter_v2 },
    Pass { name: "dynamic_padder", run: absent::dynamic_padder },
    Pass { name: "eigh_expander", run: absent::eigh_expander },
    Pass { name: "flatten-call-graph", run: flatten_call_graph::run },
    Pass { name: "float-normalization-bf16", run: float_normalization::run },
    Pass { name: "float-normalization-f4e2m1fn", run: absent::float_normalization_4 },
    Pass { name: "float-normalization-f8e3m4", run: absent::float_normalization_f8 },
    Pass { name: "float-normalization-f8e4m3", run: absent::float_normalization_f8 },
    Pass { name: "float-normalization-f8e4m3b11fnuz", run: absent::float_normalization_f8 },
    Pass { name: "float-normalization-f8e4m3fn", run: absent::float_normalization_f8e4m3fn },
    Pass { name: "float-normalization-f8e4m3fnuz", run: absent::float_normalization_f8 },
    Pass { name: "float-normalization-f8e5m2", run: absent::float_normalization_f8e5m2 },
    Pass { name: "float-normalization-f8e5m2fnuz", run: absent::float_normalization_f8 },
    Pass { name: "float-normalization-f8e8m0fnu", run: absent::float_normalization_f8 },
    Pass { name: "float-normalization-s4", run: absent::float_normalization_4 },
    Pass { name: "float-normalization-u4", run: absent::float_normalization_4 },
    Pass { name: "fusion-block-level-rewriter", run: fusion_block_level_rewriter::run },
    Pass { name: "fusion-wrapper", run: fusion_wrapper::run },
    Pass { name: "gather_expander", run: absent::gather_expander },
    Pass { name: "gather_simplifier", run: gather_simplifier::run },
    Pass { name: "gemm-fusion-swap-operands", run: gemm_fusion_swap_operands::run },
    Pass { name: "gpu-convert-async-collectives-to-sync", run: absent::gpu_convert_async_collectives_to_sync },
    Pass { name: "gpu-copy-async-wrapper", run: absent::off },
    Pass { name: "hlo_host_device_type_call_wrapper", run: absent::host_compute },
    Pass { name: "hoist-fused-bitcasts", run: hoist_fused_bitcasts::run },
    Pass { name: "host-offloader", run: host_offloader::run },
    Pass { name: "host_compute_asyncifier", run: absent::host_compute },
    Pass { name: "layout-assignment", run: layout_assignment::run },
    Pass { name: "layout_normalization", run: layout_normalization::run },
    Pass { name: "legalize-collective-domain", run: absent::legalize_collective_domain },
    Pass { name: "legalize-scheduling-annotations", run: absent::legalize_scheduling_annotations },
    Pass { name: "logistic-expander", run: absent::logistic_expander },
    Pass { name: "loop-schedule-linearizer", run: loop_schedule_linearizer::run },
    Pass { name: "move_copy_to_users", run: move_copy_to_users::run },
    Pass { name: "multi_output_fusion", run: multi_output_fusion::run },
    Pass { name: "optimize_input_output_buffer_alias", run: absent::optimize_input_output_buffer_alias },
    Pass { name: "pdl-launch-annotation", run: pdl_launch_annotation::run },
    Pass { name: "permutation_sort_simplifier", run: absent::permutation_sort_simplifier },
    Pass { name: "priority-fusion", run: priority_fusion::run },
    Pass { name: "qr_expander", run: absent::qr_expander },
    Pass { name: "ragged_dot_rewriter", run: absent::ragged_dot_rewriter },
    Pass { name: "reduce-decomposer", run: reduce_decomposer::run },
    Pass { name: "reduce-window-resizer", run: reduce_window_rewriter::resize },
    Pass { name: "reduce-window-rewriter", run: reduce_window_rewriter::run },
    Pass { name: "reduction-degenerate-dim-remover", run: reduction_layouts::remove_units },
    Pass { name: "reduction-dimension-grouper", run: reduction_dimension_grouper::run },
    Pass { name: "reduction-layout-normalizer", run: reduction_layouts::normalize_layouts },
    Pass { name: "reduction-splitter", run: reduction_splitter::run },
    Pass { name: "rematerialization", run: rematerialization::run },
    Pass { name: "removing_unnecessary_copies", run: copy_insertion::unnecessary },
    Pass { name: "rename-instructions", run: rename_instructions::run },
    Pass { name: "rename_fusions", run: rename_fusions::run },
    Pass { name: "reshape-decomposer", run: reshape_decomposer::run },
    Pass { name: "reshape-mover", run: reshape_mover::run },
    Pass { name: "result_caster", run: absent::result_caster },
    Pass { name: "rng-bit-generator-expander", run: rng_bit_generator_expander::run },
    Pass { name: "rng-expander", run: absent::rng_expander },
    Pass { name: "sanitize-constant-names", run: sanitize_constant_names::run },
    Pass { name: "scan_expander", run: absent::scan_expander },
    Pass { name: "scatter-slice-simplifier", run: scatter_slice_simplifier::run },
    Pass { name: "scatter_expander", run: absent::scatter_expander },
    Pass { name: "scatter_simplifier", run: scatter_simplifier::run },
    Pass { name: "schedule", run: schedule::run },
    Pass { name: "scheduling-instruction-annotator", run: scheduling_instruction_annotator::run },
    Pass { name: "select_and_scatter_expander", run: select_and_scatter_expander::run },
    Pass { name: "sharding-remover", run: absent::sharding_remover },
    Pass { name: "simplify-conditional", run: simplify_conditional::run },
    Pass { name: "simplify-fp-conversions", run: simplify_fp_conversions::run },
    Pass { name: "simplify-sorts", run: simplify_sorts::run },
    Pass { name: "simplify-while-loops", run: simplify_while_loops::run },
    Pass { name: "slice-sinker", run: slice_sinker::run },
    Pass { name: "sort-iota-fusion", run: sort_iota_fusion::run },
    Pass { name: "splitk-rewriter", run: splitk_rewriter::run },
    Pass { name: "stable-sort-expander", run: stable_sort_expander::run },
    Pass { name: "stochastic_convert_decomposer", run: absent::stochastic_convert_decomposer },
    Pass { name: "stream-attribute-annotator", run: absent::stream_attribute_annotator },
    Pass { name: "sub-byte-collective-normalization", run: absent::sub_byte_collective_normalization },
    Pass { name: "sub-byte-size-setter", run: sub_byte_size_setter::run },
    Pass { name: "topk-decomposer", run: topk_decomposer::run },
    Pass { name: "topk-rewriter", run: topk_rewriter::run },
    Pass { name: "topk-specializer", run: topk_specializer::run },
    Pass { name: "transpose-folding", run: transpose_folding::run },
    Pass { name: "tree-reduction-rewriter", run: tree_reduction_rewriter::run },
    Pass { name: "triangular-solve-rewriter", run: triangular_solve_rewriter::run },
    Pass { name: "triton-gemm-rewriter", run: triton_gemm_rewriter::run },
    Pass { name: "triton-softmax-rewriter", run: triton_softmax_rewriter::run },
    Pass { name: "tuple-simplifier", run: tuple_simplifier::run },
    Pass { name: "variadic-op-splitter", run: variadic_op_splitter::run },
    Pass { name: "while-loop-constant-sinking", run: while_loop_constant_sinking::run },
    Pass { name: "while-loop-trip-count-annotator", run: while_loop_trip_count_annotator::run },
    Pass { name: "windowed-einsum-handler", run: absent::windowed_einsum_handler },
    Pass { name: "zero_sized_hlo_elimination", run: zero_sized_hlo_elimination::run },
];

/// What a pass that is not written would rewrite.
pub(crate) fn subject(pass: Rewrite) -> Option<&'static str> {
    let found = absent::SUBJECTS.iter().find(|(absent, _)| std::ptr::fn_addr_eq(*absent, pass));
    found.map(|(_, subject)| *subject)
}
