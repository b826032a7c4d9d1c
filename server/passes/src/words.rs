//! What each pass and pipeline of XLA does, in one sentence, by the name that XLA's dumps give it.
//!
//! A name without a row has no sentence: what is unknown is not guessed.

mod collectives;
mod gpu;
mod pipelines;
mod rewrites;

/// What a pass does, as a sentence.
///
/// ```
/// assert_eq!(passes::pass("cse"), Some("Merges instructions that compute the same value from the same operands."));
/// assert_eq!(passes::pass("apply-xla-transforms-127"), passes::pass("apply-xla-transforms"));
/// assert_eq!(passes::pass("no-such-pass"), None);
/// ```
pub fn pass(name: &str) -> Option<&'static str> {
    let tables = [rewrites::ROWS, gpu::ROWS, collectives::ROWS, pipelines::STEPS, FAMILIES];
    let find = |name: &str| tables.iter().find_map(|rows| row(rows, name));
    find(name).or_else(|| find(family(name)?)).or_else(|| pipeline(name))
}

/// What a pipeline is for, as a sentence.
///
/// ```
/// assert_eq!(passes::pipeline("fusion"), Some("Fuses instructions into kernels."));
/// ```
pub fn pipeline(name: &str) -> Option<&'static str> {
    row(pipelines::PIPELINES, name)
}

/// Passes whose names end in a number or an element type.
const FAMILIES: &[(&str, &str)] = &[
    ("apply-xla-transforms", "Runs transforms that the user registered."),
    ("float-normalization", "Inserts converts around instructions for which the GPU lacks this float type."),
];

fn family(name: &str) -> Option<&'static str> {
    let (start, end) = name.rsplit_once('-')?;
    let (found, _) = FAMILIES.iter().find(|(family, _)| *family == start)?;
    let is_member = match *found {
        "apply-xla-transforms" => !end.is_empty() && end.bytes().all(|byte| byte.is_ascii_digit()),
        _ => end.starts_with(['b', 'f', 's', 'u']) && end.bytes().all(|byte| byte.is_ascii_alphanumeric()),
    };
    is_member.then_some(found)
}

fn row(rows: &'static [(&str, &str)], name: &str) -> Option<&'static str> {
    rows.iter().find(|(row, _)| *row == name).map(|(_, sentence)| *sentence)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// The names that XLA wrote into the dumps of 21 models of JAX, compiled for an H100.
    const PASSES: &str = "\
        adding_copies_to_resolve_interference adding_special-case_copies algorithm-checker algsimp \
        apply-xla-transforms-127 associative-scan-rewriter async-collective-creator \
        async-collective-custom-call-rewriter async-to-sync-converter batched_gather_scatter_normalizer \
        bitcast_dtypes_expander block-scaling-rewriter broadcast_canonicalizer call-inliner \
        cholesky_expander collective-pipelining-analyzer collectives-schedule-linearizer \
        computation-deduplicator conditional-canonicalizer config-assigner constant-fill-copy-rewriter \
        constant_folding conv-fp8-fallback conv-padding-legalization conv-rewriter convert-mover \
        convert_triton_gemm_config copy-insertion copy_fusion cse cse_barrier_expander \
        cublas-gemm-broadcast-folding-rewriter cublas-pad-for-gemms cudnn-custom-call-converter \
        cudnn-fused-convolution-rewriter cudnn_pad_for_convolutions dce degenerate-dimension-rewriter \
        dot-merger dot-strength-reduction dot_decomposer dot_dimension_merger \
        dus-accumulator-zero-init-elimination dynamic-dimension-simplifier dynamic-slice-annotator \
        dynamic-slice-copy-fusion-async-wrapper dynamic-slice-fusion-rewriter-v2 flatten-call-graph \
        float-normalization-bf16 float-normalization-f8e5m2 float_normalization \
        fusion-block-level-rewriter fusion-dispatch-pipeline fusion-wrapper gather_expander \
        gather_simplifier gemm-fusion-swap-operands gpu-convert-async-collectives-to-sync \
        gpu-copy-async-wrapper hlo_host_device_type_call_wrapper hoist-fused-bitcasts host-offloader \
        host_compute_asyncifier latency-hiding-scheduler layout-assignment layout_normalization \
        legalize-collective-domain legalize-scheduling-annotations loop-schedule-linearizer \
        move_copy_to_users multi_output_fusion optimize_input_output_buffer_alias pdl-launch-annotation \
        permutation_sort_simplifier pipeline-end pipeline-start priority-fusion propagate-call-metadata \
        ragged_dot_rewriter reduce-decomposer reduction-degenerate-dim-remover \
        reduction-dimension-grouper reduction-layout-normalizer reduction-splitter remat-pipeline \
        rematerialization removing_unnecessary_copies rename-instructions rename_fusions \
        reshape-decomposer reshape-mover reshape_mover_after_conv_canonicalization result_caster \
        rng-bit-generator-expander rng-expander sanitize-constant-names scatter-slice-simplifier \
        scatter_expander scatter_simplifier scheduling-instruction-annotator select_and_scatter_expander \
        sharding-remover simplification simplification-2 simplify-conditional simplify-fp-conversions \
        simplify-sorts simplify_after_conv_canonicalization slice-sinker splitk-rewriter \
        stream-attribute-annotator sub-byte-collective-normalization sub-byte-size-setter \
        topk-decomposer transpose-folding tree-reduction-rewriter triangular-solve-rewriter \
        triton-gemm-rewriter triton-softmax-rewriter tuple-simplifier variadic-op-splitter \
        while-loop-constant-sinking while-loop-trip-count-annotator windowed-einsum-handler \
        zero_sized_hlo_elimination";
    const PIPELINES: &str = "\
        annotate-host-compute async-collective-conversion async-to-sync-converter async-wrapper \
        collective-optimizations collective-schedule-linearizer config-assigner conv_canonicalization \
        copy-insertion dynamic-slice float_normalization fusion fusion-dispatch-pipeline fusion-wrapper \
        hlo_normalization host-compute invariant-checkers latency-hiding-scheduler layout_assignment \
        layout_normalization nvptx_post-layout_assignment_part_1 nvptx_post-layout_assignment_part_2 \
        optimization pdl-launch-annotation post-fusion-simplification-pipeline_optimization \
        post-fusion-verification-pipeline_optimization post-fusion_optimization post-layout_assignment \
        post-scheduler-xla-transforms post-scheduling-passes pre-fusion pre-scheduling-copy-insertion \
        pre-scheduling-passes pre-spmd-partitioner propagate-call-metadata remat-pipeline \
        remove-no-op-reduce-precision-algebraic-simplifier reshape_mover_after_conv_canonicalization \
        sanitize-constant-names scheduled-gpu-module sharding-removal simplification simplification-2 \
        simplify_after_conv_canonicalization";

    #[test]
    fn what_xla_dumps_for_models_is_explained() {
        // The source of these two is not public.
        let unknown = ["constant-fill-copy-rewriter", "degenerate-dimension-rewriter"];
        for name in PASSES.split_whitespace() {
            assert_eq!(pass(name).is_none(), unknown.contains(&name), "{name}");
        }
        for name in PIPELINES.split_whitespace() {
            assert!(pipeline(name).is_some(), "{name}");
        }
    }

    #[test]
    fn each_row_is_one_sentence_and_the_only_one_of_its_name() {
        for tables in [
            &[rewrites::ROWS, gpu::ROWS, collectives::ROWS, pipelines::STEPS, FAMILIES][..],
            &[pipelines::PIPELINES],
        ] {
            let mut names = HashSet::new();
            for (name, sentence) in tables.iter().copied().flatten() {
                assert!(names.insert(*name), "{name} has two rows");
                assert!(sentence.ends_with('.') && !sentence.contains(". "), "{name}: {sentence}");
                assert!(
                    sentence.starts_with(|c: char| c.is_ascii_uppercase()) && sentence.len() < 140,
                    "{name}: {sentence}"
                );
            }
        }
    }

    #[test]
    fn families_are_told_from_names_that_only_look_like_them() {
        assert!(pass("float-normalization-f8e5m2").is_some());
        for name in
            ["", "-", "float-normalization-", "apply-xla-transforms-x", "cse-1", "float-normalization-9"]
        {
            assert_eq!(pass(name), None, "{name}");
        }
    }
}
