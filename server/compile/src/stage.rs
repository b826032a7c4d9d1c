//! A module at one point of its compile.

/// A dumped module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// The path of its text, relative to the folder of the listing.
    pub path: String,
    /// In bytes.
    pub size: u64,
    /// XLA numbers the dumps between passes.
    pub number: Option<u32>,
    /// The pipeline, for a step the pass; empty outside of pipelines.
    pub pipeline: String,
    /// What was done last: a pass, `pipeline-start`, or the step of a pass. For other stages the name that XLA gives the dump.
    pub after: String,
    /// The pass that runs next, or `pipeline-end`.
    pub before: Option<String>,
    pub kind: StageKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StageKind {
    BeforeOptimizations,
    /// At the start of a pipeline: nothing of it was done yet.
    PipelineStart,
    /// After a pass, or after a pipeline within another one.
    Pass,
    /// Within a pass.
    Step,
    /// Between pipelines, under a name of its own: `after_spmd_partitioner`, `before_config_assignment`.
    Point,
    AfterOptimizations,
}

impl Stage {
    /// A name that is unique in its compile if the numbers are: `0007.simplification.after_algsimp`.
    pub fn name(&self) -> String {
        match self.number {
            Some(number) if self.kind == StageKind::Step => {
                format!("{number:04}.{}.{}", self.pipeline, self.after)
            }
            Some(number) => format!("{number:04}.{}.after_{}", self.pipeline, self.after),
            None => self.after.clone(),
        }
    }

    /// The pass to which its changes are due, in words: `algsimp`, `start of fusion`, `before optimizations`.
    pub fn title(&self) -> String {
        match self.kind {
            StageKind::PipelineStart => format!("start of {}", self.pipeline),
            StageKind::Pass => self.after.clone(),
            StageKind::Step => format!("{}, {}", self.pipeline, self.after.replace('_', " ")),
            StageKind::BeforeOptimizations => "before optimizations".to_owned(),
            StageKind::AfterOptimizations => "after optimizations".to_owned(),
            StageKind::Point => self.after.replace('_', " "),
        }
    }
}
