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
    /// The name that XLA's dumps give it.
    pub(super) of: &'static str,
    /// By name, pipelines too.
    pub(super) steps: &'static [&'static str],
    /// Whether they run until none changes the module.
    pub(super) is_fixpoint: bool,
}

/// The most rounds of a pass or pipeline that runs to a fixpoint. Source: XLA `HloPassFix`, `kLimit`.
pub(crate) const MAX_ROUNDS: usize = 25;

const PIPELINES: &[Pipeline] = &[Pipeline {
    name: "fusion-pipeline",
    of: "fusion",
    steps: &["variadic-op-splitter", "priority-fusion", "cse", "dce", "multi_output_fusion", "cse", "dce"],
    is_fixpoint: false,
}];

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
                        if find_step(step)?.run(module, &options, progress)?.is_break() {
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
