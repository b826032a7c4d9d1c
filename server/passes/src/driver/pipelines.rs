//! Pipelines: which passes run in which order, and which until nothing changes.
//!
//! Source: XLA `gpu_compiler.cc`, `fusion_pipeline.cc`.

use std::ops::ControlFlow;

use super::{Applied, Options, Pass, Progress, Run, Stop};
use crate::module::Module;

/// A part of a pipeline.
pub(super) enum Step {
    Pass(&'static Pass),
    /// Runs its passes in order, by their names.
    Pipeline(&'static Pipeline),
}

/// Passes that run one after the other.
pub(super) struct Pipeline {
    pub(super) name: &'static str,
    /// The name that XLA's dumps give it; empty for what has no dump of its own.
    pub(super) of: &'static str,
    /// By name, pipelines too.
    pub(super) steps: &'static [&'static str],
    /// Whether they run until none changes the module.
    pub(super) is_fixpoint: bool,
}

/// The most rounds of a pass or pipeline that runs to a fixpoint. Source: XLA `HloPassFix`, `kLimit`.
pub(crate) const MAX_ROUNDS: usize = 25;

/// All pipelines. `pipeline` is everything up to scheduling.
const PIPELINES: &[Pipeline] = &[
    Pipeline {
        name: "pipeline",
        of: "",
        is_fixpoint: false,
        steps: &[
            "pre-spmd-partitioner",
            "sharding-removal",
            "annotate-host-compute",
            "optimization",
            "collective-optimizations",
            "conv_canonicalization",
            "layout_assignment",
            "layout_normalization",
            "nvptx-part-1",
            "hlo_normalization",
            "post-layout_assignment",
            "nvptx-part-2",
            "dynamic-slice",
            "pre-fusion",
            "fusion-pipeline",
            "post-fusion_optimization",
            "async-collective-conversion",
            "post-fusion-simplification-pipeline_optimization",
            "collective-schedule-linearizer",
            "fusion-wrapper-pipeline",
            "config-assigner-pipeline",
        ],
    },
    Pipeline {
        name: "annotate-host-compute",
        of: "annotate-host-compute",
        is_fixpoint: false,
        steps: &["hlo_host_device_type_call_wrapper"],
    },
    Pipeline {
        name: "pre-spmd-partitioner",
        of: "pre-spmd-partitioner",
        is_fixpoint: false,
        steps: &[
            "cudnn-custom-call-converter",
            "flatten-call-graph",
            "call-inliner",
            "zero_sized_hlo_elimination",
            "algsimp",
            "conditional-canonicalizer",
            "topk-decomposer",
            "topk-rewriter",
        ],
    },
    Pipeline {
        name: "sharding-removal",
        of: "sharding-removal",
        is_fixpoint: false,
        steps: &["sharding-remover", "dce"],
    },
    Pipeline {
        name: "optimization",
        of: "optimization",
        is_fixpoint: false,
        steps: &[
            "host_compute_asyncifier",
            "ragged_dot_rewriter",
            "batched_gather_scatter_normalizer",
            "windowed-einsum-handler",
            "topk-specializer",
            "topk-decomposer",
            "dot_dimension_sorter",
            "dot_decomposer",
            "result_caster",
            "operand_upcaster",
            "sub-byte-size-setter",
            "rng-expander",
            "rng-bit-generator-expander",
            "permutation_sort_simplifier",
            "sort-rewriter",
            "comparison-expander",
            "zero_sized_hlo_elimination",
            "select_and_scatter_expander",
            "cholesky_expander",
            "gpu_scatter_expander",
            "qr_expander",
            "eigh_expander",
            "dynamic-index-splitter",
            "call-inliner",
            "stochastic-convert-decomposer",
            "batchnorm_expander",
            "logistic-expander",
            "conditional-canonicalizer",
            "dynamic-dimension-simplifier",
            "associative-scan-rewriter",
            "reduce-window-rewriter",
            "reduce-window-resizer",
            "scan-expander",
            "dynamic_padder",
            "stable-sort-expander",
            "simplification",
            "dot-merger",
            "dot_dimension_normalizer",
            "transpose-folding",
            "simplification-2",
            "computation-deduplicator",
        ],
    },
    Pipeline {
        name: "simplification",
        of: "simplification",
        is_fixpoint: true,
        steps: &[
            "zero_sized_hlo_elimination",
            "gather_simplifier",
            "gather_expander",
            "scatter_simplifier",
            "scatter_expander",
            "scatter-slice-simplifier",
            "dot-strength-reduction",
            "degenerate-dimension-rewriter",
            "algsimp",
            "simplify-sorts",
            "tuple-simplifier",
            "while-loop-constant-sinking",
            "simplify-while-loops",
            "slice-sinker",
            "reshape-mover",
            "constant_folding",
            "simplify-conditional",
            "transpose-folding",
            "cse",
            "dce",
        ],
    },
    Pipeline {
        name: "simplification-2",
        of: "simplification-2",
        is_fixpoint: true,
        steps: &["convert-mover", "algsimp"],
    },
    Pipeline {
        name: "collective-optimizations",
        of: "collective-optimizations",
        is_fixpoint: false,
        steps: &[
            "legalize-collective-domain",
            "dce",
            "collective-pipelining-analyzer",
            "dce",
            "while-loop-trip-count-annotator",
        ],
    },
    Pipeline {
        name: "conv_canonicalization",
        of: "conv_canonicalization",
        is_fixpoint: false,
        steps: &[
            "float-normalization-bf16",
            "conv-rewriter",
            "cudnn-fused-convolution-rewriter",
            "conv-padding-legalization",
            "cudnn_pad_for_convolutions",
            "call-inliner",
            "tuple-simplifier",
            "algsimp",
            "reshape_mover_after_conv_canonicalization",
            "simplify_after_conv_canonicalization",
            "constant_folding",
        ],
    },
    Pipeline {
        name: "reshape_mover_after_conv_canonicalization",
        of: "reshape_mover_after_conv_canonicalization",
        is_fixpoint: true,
        steps: &["reshape-mover", "algsimp"],
    },
    Pipeline {
        name: "simplify_after_conv_canonicalization",
        of: "simplify_after_conv_canonicalization",
        is_fixpoint: true,
        steps: &["convert-mover", "algsimp"],
    },
    Pipeline {
        name: "layout_assignment",
        of: "layout_assignment",
        is_fixpoint: false,
        steps: &[
            "flatten-call-graph",
            "layout-assignment",
            "sub-byte-size-setter",
            "optimize_input_output_buffer_alias",
        ],
    },
    Pipeline {
        name: "layout_normalization",
        of: "layout_normalization",
        is_fixpoint: false,
        steps: &[
            "reshape-decomposer",
            "move_copy_to_users",
            "layout_normalization",
            "algsimp",
            "broadcast_canonicalizer",
            "scatter_simplifier",
        ],
    },
    Pipeline {
        name: "nvptx-part-1",
        of: "nvptx_post-layout_assignment_part_1",
        is_fixpoint: false,
        steps: &["block-scaling-rewriter", "dot_dimension_merger"],
    },
    Pipeline {
        name: "hlo_normalization",
        of: "hlo_normalization",
        is_fixpoint: false,
        steps: &[
            "algsimp",
            "bitcast_dtypes_expander",
            "transpose-folding",
            "reshape-decomposer",
            "reduce-decomposer",
            "algorithm-checker",
            "dot_normalizer",
            "gemv-rewriter",
            "splitk-rewriter",
            "triton-gemm-rewriter",
            "hoist-fused-bitcasts",
            "gemm-fusion-swap-operands",
            "cublas-pad-for-gemms",
            "cublas-gemm-rewriter",
            "cublas-gemm-broadcast-folding-rewriter",
            "reshape-decomposer",
            "layout_normalization",
            "algsimp",
            "scatter_simplifier",
            "broadcast_canonicalizer",
            "reduction-degenerate-dim-remover",
            "reduction-layout-normalizer",
            "algsimp",
            "cse",
            "constant_folding",
            "dce",
            "triton-softmax-rewriter",
            "reduction-dimension-grouper",
            "reduction-splitter",
            "tree-reduction-rewriter",
            "sub-byte-size-setter",
        ],
    },
    Pipeline {
        name: "post-layout_assignment",
        of: "post-layout_assignment",
        is_fixpoint: false,
        steps: &[
            "sub-byte-collective-normalization",
            "float_normalization",
            "cublas-gemm-broadcast-folding-rewriter",
            "reshape-decomposer",
            "layout_normalization",
            "scatter_simplifier",
            "host-offloader",
            "float_normalization",
            "tuple-simplifier",
            "algsimp",
            "simplify-fp-conversions",
            "remove-no-op-reduce-precision-algebraic-simplifier",
            "cse",
        ],
    },
    Pipeline {
        name: "float_normalization",
        of: "float_normalization",
        is_fixpoint: false,
        steps: &[
            "float-normalization-bf16",
            "float-normalization-f8e5m2",
            "float-normalization-f8e4m3",
            "float-normalization-f8e4m3fn",
            "float-normalization-f8e4m3b11fnuz",
            "float-normalization-f8e5m2fnuz",
            "float-normalization-f8e4m3fnuz",
            "float-normalization-f8e3m4",
            "float-normalization-s4",
            "float-normalization-u4",
            "float-normalization-f4e2m1fn",
            "float-normalization-f8e8m0fnu",
            "simplify-fp-conversions",
        ],
    },
    Pipeline {
        name: "remove-no-op-reduce-precision-algebraic-simplifier",
        of: "remove-no-op-reduce-precision-algebraic-simplifier",
        is_fixpoint: false,
        steps: &["algsimp"],
    },
    Pipeline {
        name: "nvptx-part-2",
        of: "nvptx_post-layout_assignment_part_2",
        is_fixpoint: false,
        steps: &["triangular-solve-rewriter"],
    },
    Pipeline {
        name: "dynamic-slice",
        of: "dynamic-slice",
        is_fixpoint: false,
        steps: &["dynamic-slice-annotator", "dynamic-slice-fusion-rewriter-v2"],
    },
    Pipeline { name: "pre-fusion", of: "pre-fusion", is_fixpoint: false, steps: &["rename-instructions"] },
    Pipeline {
        name: "fusion-pipeline",
        of: "fusion",
        is_fixpoint: false,
        steps: &[
            "variadic-op-splitter",
            "priority-fusion",
            "cse",
            "dce",
            "multi_output_fusion",
            "cse",
            "dce",
        ],
    },
    Pipeline {
        name: "post-fusion_optimization",
        of: "post-fusion_optimization",
        is_fixpoint: false,
        steps: &["rename_fusions", "dus-accumulator-zero-init-elimination", "dce", "tuple-simplifier"],
    },
    Pipeline {
        name: "async-collective-conversion",
        of: "async-collective-conversion",
        is_fixpoint: false,
        steps: &["async-collective-creator"],
    },
    Pipeline {
        name: "post-fusion-simplification-pipeline_optimization",
        of: "post-fusion-simplification-pipeline_optimization",
        is_fixpoint: false,
        steps: &["algsimp", "computation-deduplicator", "stream-attribute-annotator"],
    },
    Pipeline {
        name: "collective-schedule-linearizer",
        of: "collective-schedule-linearizer",
        is_fixpoint: false,
        steps: &["collectives-schedule-linearizer"],
    },
    Pipeline {
        name: "fusion-wrapper-pipeline",
        of: "fusion-wrapper",
        is_fixpoint: false,
        steps: &["fusion-wrapper"],
    },
    Pipeline {
        name: "config-assigner-pipeline",
        of: "config-assigner",
        is_fixpoint: false,
        steps: &["conv-fp8-fallback", "config-assigner", "convert_triton_gemm_config"],
    },
];

/// Pipelines of XLA in whose passes layouts count.
const AFTER_LAYOUT_ASSIGNMENT: &[&str] = &[
    "layout_normalization",
    "hlo_normalization",
    "nvptx_post-layout_assignment_part_1",
    "nvptx_post-layout_assignment_part_2",
    "post-layout_assignment",
    "pre-fusion",
    "fusion",
    "post-fusion_optimization",
    "post-fusion-simplification-pipeline_optimization",
    "remove-no-op-reduce-precision-algebraic-simplifier",
];

pub(super) fn is_after_layout_assignment(pipeline: &str) -> bool {
    AFTER_LAYOUT_ASSIGNMENT.contains(&pipeline)
}

/// Those that can be run by name.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    PIPELINES.iter().map(|pipeline| pipeline.name)
}

/// The pass or pipeline of this name.
pub(super) fn find(name: &str) -> Result<Step, Stop> {
    let found = find_step(name)?;
    if let Step::Pipeline(pipeline) = &found {
        for step in pipeline.steps {
            find(step)?;
        }
    }
    Ok(found)
}

/// As [`find`]; passes of a pipeline may be unknown.
pub(super) fn find_step(name: &str) -> Result<Step, Stop> {
    if let Some(pass) = super::find(name) {
        return Ok(Step::Pass(pass));
    }
    let pipeline = PIPELINES.iter().find(|pipeline| pipeline.name == name);
    pipeline.map(Step::Pipeline).ok_or_else(|| Stop::Unknown(name.to_owned()))
}

impl Step {
    /// Says which pass of a pipeline stopped.
    fn named(&self, stop: Stop) -> Stop {
        match (self, stop) {
            (Step::Pass(pass), Stop::Unsupported(what)) => {
                Stop::Unsupported(format!("{} stops: {what}", pass.name))
            }
            (_, stop) => stop,
        }
    }

    /// Breaks after the pass at which the options stop.
    pub(super) fn run(
        &self,
        module: &mut Module,
        options: &Options,
        progress: &mut Progress<'_>,
    ) -> Result<ControlFlow<()>, Stop> {
        match self {
            Step::Pass(pass) => {
                if progress.limit.is_some_and(|limit| progress.applied.len() >= limit) {
                    return Ok(ControlFlow::Break(()));
                }
                progress.pass = pass.name;
                let mut run = Run::new(module, options);
                (pass.run)(&mut run)?;
                progress.applied.push(Applied { pass: pass.name.to_owned(), changes: run.changes });
                if options.until.as_deref() == Some(pass.name) {
                    return Ok(ControlFlow::Break(()));
                }
            }
            Step::Pipeline(pipeline) => {
                for _ in 0..MAX_ROUNDS {
                    let before = progress.applied.len();
                    let options = Options { pipeline: pipeline.of.to_owned(), ..options.clone() };
                    for step in pipeline.steps {
                        let step = find_step(step)?;
                        let flow = step.run(module, &options, progress).map_err(|stop| step.named(stop))?;
                        if flow.is_break() {
                            return Ok(ControlFlow::Break(()));
                        }
                    }
                    let is_changed =
                        progress.applied[before..].iter().any(|applied| !applied.changes.is_empty());
                    if !pipeline.is_fixpoint || !is_changed {
                        break;
                    }
                }
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}
