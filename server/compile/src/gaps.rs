//! Stages between which passes may have run that were not dumped.
//!
//! XLA dumps the module between two passes if `--xla_dump_hlo_pass_re` matches one of them. With `.*` it leaves out the passes that
//! changed nothing, so what differs between two stages is due to the pass of the later one. With other expressions it is so only if
//! that pass is the one which the earlier stage names as the next. Source: `HloPassPipeline::RunPassesInternal`
//! (`hlo/pass/hlo_pass_pipeline.cc`) and `DumpHloModuleBetweenPassesIfEnabled` (`service/dump.cc`).

use crate::flags::{Flag, flag_value};
use crate::folder::Compile;
use crate::stage::{Stage, StageKind};

const PIPELINE_END: &str = "pipeline-end";

impl Compile {
    /// Whether passes that changed the module may be missing from the dump. With the flags of the compile this is certain; without
    /// them it is told by pipelines that have stages and no start.
    pub fn is_filtered(&self, flags: &[Flag]) -> bool {
        let numbered = || self.stages.iter().filter(|stage| stage.number.is_some());
        if flags.is_empty() {
            let mut passes = numbered().filter(|stage| stage.kind == StageKind::Pass);
            let has_start = |pass: &Stage| {
                numbered()
                    .any(|stage| stage.kind == StageKind::PipelineStart && stage.pipeline == pass.pipeline)
            };
            return numbered().next().is_none() || passes.any(|pass| !has_start(pass));
        }
        let is_everything = flag_value(flags, "xla_dump_hlo_pass_re") == Some(".*");
        let is_of_all_pipelines =
            flag_value(flags, "xla_dump_hlo_pipeline_re").is_none_or(|re| matches!(re, "" | ".*"));
        !(is_everything && is_of_all_pipelines)
    }

    /// Whether several passes may have made what differs between two stages. Both are indices, and `earlier` is less than `later`.
    pub fn has_gap(&self, earlier: usize, later: usize, is_filtered: bool) -> bool {
        let (Some(one), Some(other)) = (self.stages.get(earlier), self.stages.get(later)) else {
            return true;
        };
        let is_next = earlier + 1 == later;
        let numbers = one.number.zip(other.number);
        let is_numbered_next = numbers.is_none_or(|(one, other)| other.saturating_sub(one) <= 1);
        !(is_next && (is_numbered_next && !is_filtered || follows(one, other)))
    }
}

/// Whether only the pass of `later` was between two stages.
fn follows(earlier: &Stage, later: &Stage) -> bool {
    let next = match (earlier.kind, later.kind) {
        (StageKind::Step, _) => Some(earlier.pipeline.as_str()),
        _ => earlier.before.as_deref(),
    };
    let done = match later.kind {
        StageKind::Pass => later.after.as_str(),
        StageKind::Step | StageKind::PipelineStart => later.pipeline.as_str(),
        _ => return false,
    };
    let is_end = next == Some(PIPELINE_END) && later.kind == StageKind::Pass;
    // A pipeline may be a pass of another one.
    next == Some(done) || is_end && earlier.pipeline == done
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::folder::Entry;
    use crate::group::group;

    fn compile(names: &[&str]) -> Compile {
        let entry = |name: &&str| Entry { path: format!("module_0001.f.{name}.txt"), size: 1 };
        group(&names.iter().map(entry).collect::<Vec<_>>()).compiles.remove(0)
    }

    fn gaps(compile: &Compile, flags: &[Flag]) -> Vec<bool> {
        let is_filtered = compile.is_filtered(flags);
        (1..compile.stages.len()).map(|later| compile.has_gap(later - 1, later, is_filtered)).collect()
    }

    fn dumped(passes: &str) -> Vec<Flag> {
        vec![Flag { name: "xla_dump_hlo_pass_re".to_owned(), value: passes.to_owned() }]
    }

    #[test]
    fn filtered_passes_leave_gaps() {
        let filtered = compile(&[
            "before_optimizations",
            "0000.layout_assignment.after_flatten.before_layout-assignment",
            "0001.layout_assignment.after_layout-assignment.before_setter",
            "0002.normalization.after_splitk.before_gemm",
            "0003.normalization.after_gemm.before_hoist",
            "0004.normalization.after_hoist.before_pipeline-end",
            "0005.outer.after_normalization.before_copies",
            "0006.copies.after_adding",
            "sm_9.0_gpu_after_optimizations",
        ]);
        let expected = [true, false, true, false, false, false, false, true];
        assert_eq!(gaps(&filtered, &[])[..6], expected[..6]);
        assert_eq!(gaps(&filtered, &dumped("^(gemm)$"))[..6], expected[..6]);
        assert!(gaps(&filtered, &dumped(".*")).iter().all(|gap| !gap));
    }

    #[test]
    fn all_passes_leave_none_unless_a_file_is_missing() {
        let names = [
            "before_optimizations",
            "0000.simplification.after_pipeline-start.before_algsimp",
            "0001.simplification.after_algsimp.before_dce",
            "0002.simplification.after_cse.before_pipeline-end",
            "0004.fusion.after_pipeline-start.before_dce",
            "sm_9.0_gpu_after_optimizations",
        ];
        let all = compile(&names);
        assert_eq!(gaps(&all, &[]), [false, false, false, true, false]);
        assert!(all.has_gap(1, 3, false), "a stage between them is not read");
        let ends = compile(&[names[0], names[5]]);
        assert_eq!(gaps(&ends, &[]), [true]);
        assert_eq!(gaps(&ends, &dumped("")), [true]);
        assert!(ends.has_gap(0, 7, false));
    }
}
