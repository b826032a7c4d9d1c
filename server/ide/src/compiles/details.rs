//! What a compile was told and what it runs: its device, the flags that differ from XLA's defaults, and its thunks.

use compile::{LaunchedKernel, StageKind};
use db::Database;
use db::compiles::{DumpedCompile, compile_device, compile_flags};
use rustc_hash::FxHashMap;

use super::place::{ParsedStage, StagePlace};
use super::report::{ReportedThunk, thunks};

/// The device, flags and thunks of a compile.
pub struct CompileDetails {
    /// The device that it was compiled for, if the folder has its description.
    pub device: Option<&'static str>,
    /// Those that differ from XLA's defaults, in the order of the file; `None` without a file of flags.
    pub flags: Option<Vec<ChangedFlag>>,
    /// In the order of the sequence; empty without one.
    pub thunks: Vec<ListedThunk>,
}

pub struct ChangedFlag {
    pub name: String,
    pub value: String,
    /// XLA's default of today, which may not be that of the compile's version.
    pub default: Option<&'static str>,
}

/// A step of the executable.
pub struct ListedThunk {
    /// Without the `k` that XLA puts in front: `CustomKernel`, `While`.
    pub kind: String,
    /// The thunk that contains it: an index into the list.
    pub parent: Option<usize>,
    /// The instruction that it executes.
    pub instruction: Option<String>,
    pub launch: Option<ThunkLaunch>,
    /// The instruction in the module after optimizations.
    pub place: Option<StagePlace>,
}

/// A kernel as a thunk launches it.
pub struct ThunkLaunch {
    /// The name of its function in PTX.
    pub kernel: String,
    /// `grid 64 | block 128 | 768 B dynamic shared memory`
    pub text: String,
}

pub(crate) fn compile_details(db: &Database, compile: DumpedCompile) -> CompileDetails {
    let flags = compile_flags(db, compile).changed.clone();
    let flags = flags.map(|flags| flags.into_iter().map(changed_flag).collect());
    let reported = thunks(db, compile);
    let last = if reported.is_empty() { None } else { last_stage(db, compile) };
    let mut instructions: FxHashMap<&str, u32> = FxHashMap::default();
    if let Some(stage) = &last {
        // The last of a name is that of the entry, if a computation above has one of the same name.
        instructions.extend((0u32..).take(stage.parse.instructions.len()).map(|id| (stage.name(id), id)));
    }
    let place = |instruction: &str| {
        let found = instructions.get(instruction).copied()?;
        Some(last.as_ref()?.place(db, Some(found)))
    };
    let listed = |ReportedThunk { thunk, instruction }: ReportedThunk| ListedThunk {
        kind: thunk.kind.strip_prefix('k').unwrap_or(&thunk.kind).to_owned(),
        parent: thunk.parent,
        place: instruction.as_deref().and_then(place),
        instruction,
        launch: thunk.kernel.map(|kernel| ThunkLaunch { text: launch(&kernel), kernel: kernel.name }),
    };
    CompileDetails {
        device: compile_device(db, compile).map(|device| device.name),
        flags,
        thunks: reported.into_iter().map(listed).collect(),
    }
}

fn changed_flag(compile::Flag { name, value }: compile::Flag) -> ChangedFlag {
    ChangedFlag { default: compile::default_flag(&name), name, value }
}

/// The module after optimizations, whose instructions thunks name.
fn last_stage(db: &Database, compile: DumpedCompile) -> Option<ParsedStage> {
    let is_last = compile.description(db).stages.last()?.kind == StageKind::AfterOptimizations;
    ParsedStage::new(db, *compile.stages(db).last().filter(|_| is_last)?)
}

fn launch(kernel: &LaunchedKernel) -> String {
    let size = |[x, y, z]: [u64; 3]| match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x} × {y}"),
        _ => format!("{x} × {y} × {z}"),
    };
    let mut parts = vec![format!("grid {}", size(kernel.grid)), format!("block {}", size(kernel.block))];
    parts.extend(kernel.cluster.map(|cluster| format!("cluster {}", size(cluster))));
    let shared = kernel.shared_bytes.filter(|&bytes| bytes > 0);
    parts.extend(shared.map(|bytes| format!("{} dynamic shared memory", crate::units::bytes(bytes))));
    parts.join(" | ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_are_as_short_as_they_can_be() {
        let kernel = |grid, block, cluster, shared_bytes| {
            launch(&LaunchedKernel { name: "k".to_owned(), grid, block, cluster, shared_bytes })
        };
        assert_eq!(kernel([64, 1, 1], [128, 1, 1], None, Some(0)), "grid 64 | block 128");
        assert_eq!(
            kernel([64, 2, 1], [4, 5, 6], Some([2, 1, 1]), Some(768)),
            "grid 64 × 2 | block 4 × 5 × 6 | cluster 2 | 768 B dynamic shared memory"
        );
    }
}
