//! `algsimp`: algebraic simplifications, rule by rule as XLA has them.
//!
//! Source: XLA `hlo/transforms/simplifiers/algebraic_simplifier.cc`, and its subclass for GPUs.

mod bitcasts;
mod broadcasts;
mod chains;
mod concatenations;
mod constants;
mod control;
mod converts;
mod dots;
mod dynamic_slices;
mod extremes;
mod functions;
mod logic;
mod products;
mod reduces;
mod reshapes;
mod rewriter;
mod rules;
mod slices;
mod sums;
mod transposes;
mod windows;

use super::every::visit;
use crate::driver::{MAX_ROUNDS, Run, Stop};
use rewriter::Rewriter;

pub(super) fn run(run: &mut Run<'_>) -> Result<(), Stop> {
    let options = AlgsimpOptions::of_pipeline(&run.options.pipeline);
    for _ in 0..MAX_ROUNDS {
        let before = run.changes();
        for computation in run.module.non_fusion_computations() {
            visit(run, computation, |run, id, _| {
                rules::simplify(&mut Rewriter::new(run, computation, options), id);
            });
        }
        if !options.is_repeated || run.changes() == before {
            break;
        }
    }
    Ok(())
}

/// What the pipelines of the GPU compiler turn on and off. Source: `GpuCompiler::GetAlgebraicSimplifierOptions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct AlgsimpOptions {
    /// Layouts are assigned, and are kept.
    is_layout_sensitive: bool,
    /// `max(NaN, x)` is NaN.
    minmax_propagates_nan: bool,
    /// Reduces before a transpose or reshape even where the result has other users.
    reduces_before_moves: bool,
    /// Joins dimensions before a transpose instead of behind it.
    hoists_transposes: bool,
    /// Removes `reduce-precision` that keeps all bits.
    removes_whole_precision: bool,
    /// The pass runs again until it changes nothing; else once.
    is_repeated: bool,
}

impl AlgsimpOptions {
    /// The options of the pass in a pipeline of XLA's GPU compiler, by the name in its dumps.
    fn of_pipeline(pipeline: &str) -> AlgsimpOptions {
        let before = AlgsimpOptions {
            is_layout_sensitive: false,
            minmax_propagates_nan: true,
            reduces_before_moves: true,
            hoists_transposes: true,
            removes_whole_precision: false,
            is_repeated: false,
        };
        let after = AlgsimpOptions {
            is_layout_sensitive: true,
            reduces_before_moves: false,
            hoists_transposes: false,
            is_repeated: true,
            ..before
        };
        let in_convolutions = AlgsimpOptions {
            is_layout_sensitive: false,
            minmax_propagates_nan: false,
            reduces_before_moves: false,
            hoists_transposes: false,
            ..before
        };
        match pipeline {
            "layout_normalization" | "hlo_normalization" | "post-layout_assignment" => after,
            "nvptx_post-layout_assignment_part_1" | "nvptx_post-layout_assignment_part_2" => after,
            "remove-no-op-reduce-precision-algebraic-simplifier" => {
                AlgsimpOptions { removes_whole_precision: true, ..after }
            }
            "post-fusion-simplification-pipeline_optimization" => {
                AlgsimpOptions { is_layout_sensitive: true, ..before }
            }
            "conv_canonicalization" => AlgsimpOptions { is_repeated: true, ..in_convolutions },
            "reshape_mover_after_conv_canonicalization" | "simplify_after_conv_canonicalization" => {
                in_convolutions
            }
            _ => before,
        }
    }
}
