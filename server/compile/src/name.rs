//! Names of dumped files.

use crate::{ArtefactKind, StageKind};

/// A path of XLA's form, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DumpName<'p> {
    pub(crate) folder: &'p str,
    pub(crate) timestamp: Option<u64>,
    pub(crate) id: Option<u64>,
    /// What follows the id: the module's name and the suffix, without `.gz`.
    pub(crate) rest: &'p str,
    pub(crate) is_compressed: bool,
}

/// A suffix of XLA's form, which says where the module's name ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Suffix<'p> {
    /// The name of the module, which may be empty.
    pub(crate) module: &'p str,
    pub(crate) what: What<'p>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What<'p> {
    Stage(StageName<'p>),
    Artefact(ArtefactKind),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StageName<'p> {
    pub(crate) number: Option<u32>,
    pub(crate) pipeline: &'p str,
    pub(crate) after: &'p str,
    pub(crate) before: Option<&'p str>,
    pub(crate) kind: StageKind,
}

/// Whether XLA and JAX give dumps such names: `module_0022.jit_f.before_optimizations.txt`. The path may have folders.
pub fn is_dump_name(path: &str) -> bool {
    DumpName::parse(path).is_some_and(|name| name.id.is_some()) || of_jax(path).is_some()
}

/// The folder and the module of a file that JAX writes with `JAX_DUMP_IR_TO`: `jax_ir0001_jit_f_compile.mlir`. The module's name is
/// followed by a stage of JAX.
pub(crate) fn of_jax(path: &str) -> Option<(&str, &str)> {
    let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
    let (number, rest) = file.strip_prefix("jax_ir")?.strip_suffix(".mlir")?.split_once('_')?;
    is_number(number).then_some((folder, rest))
}

impl<'p> DumpName<'p> {
    pub(crate) fn parse(path: &'p str) -> Option<DumpName<'p>> {
        let (folder, file) = path.rsplit_once('/').unwrap_or(("", path));
        let (file, is_compressed) = match file.strip_suffix(".gz") {
            Some(plain) => (plain, true),
            None => (file, false),
        };
        let (timestamp, named) = match file.split_once('.') {
            Some((front, behind)) if is_number(front) => (front.parse().ok(), behind),
            _ => (None, file),
        };
        let numbered = named.strip_prefix("module_")?;
        let digits = numbered.len() - numbered.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let (id, rest) = match numbered[digits..].strip_prefix('.') {
            Some(rest) if digits > 0 => (numbered[..digits].parse().ok(), rest),
            // Snapshots may have the name of the module instead of its id.
            _ => (None, numbered),
        };
        Some(DumpName { folder, timestamp, id, rest, is_compressed })
    }
}

impl<'p> Suffix<'p> {
    /// `None` where the name of the module could end in several places.
    pub(crate) fn parse(rest: &'p str) -> Option<Suffix<'p>> {
        Suffix::of_numbered(rest).or_else(|| Suffix::of_optimized(rest)).or_else(|| Suffix::of_fixed(rest))
    }

    /// `jit_f.0007.simplification.after_algsimp.before_dce.txt`, `jit_f.0091.copy-insertion.after_adding_copies.txt`
    fn of_numbered(rest: &'p str) -> Option<Suffix<'p>> {
        let (head, tail) = rest.split_once(".after_")?;
        // The last component of digits with a component behind it is the number.
        let (front, pipeline) = head.rsplit_once('.')?;
        let (module, number) = split_last(front);
        if number.len() < 4 || !is_number(number) {
            return None;
        }
        let kind = extension_kind(tail)?;
        let stem = &tail[..tail.len() - kind.0.len()];
        let Form::Text = kind.1 else {
            return Some(Suffix { module, what: What::Artefact(kind.1.artefact()) });
        };
        let (after, before) = match stem.split_once(".before_") {
            Some((after, before)) => (after, Some(before)),
            None => (stem, None),
        };
        let kind = match before {
            None => StageKind::Step,
            Some(_) if after == "pipeline-start" => StageKind::PipelineStart,
            Some(_) => StageKind::Pass,
        };
        // A step has the name that its pass gives it: "after adding special-case copies".
        let after = if before.is_none() {
            &rest[head.len() + 1..head.len() + ".after_".len() + stem.len()]
        } else {
            after
        };
        let number = number.parse().ok();
        Some(Suffix { module, what: What::Stage(StageName { number, pipeline, after, before, kind }) })
    }

    /// `jit_f.sm_9.0a_gpu_after_optimizations-live-range.txt`
    fn of_optimized(rest: &'p str) -> Option<Suffix<'p>> {
        let at = rest.rfind("after_optimization")?;
        let tail = rest[at + "after_optimization".len()..].trim_start_matches('s');
        let front = &rest[..at];
        let device = match front.strip_suffix("_gpu_") {
            Some(device) => ["sm_", "gfx"].iter().filter_map(|of| find_component(device, of)).max(),
            None if front.ends_with("cpu_") => Some(front.len() - "cpu_".len()),
            None => Some(front.len()),
        };
        // Devices of other vendors have no name here.
        let device = device.or_else(|| front.len().checked_sub("_gpu_".len()))?;
        let module = module_before(front, device)?;
        let kind = match tail {
            "-buffer-assignment.txt" => ArtefactKind::BufferAssignment,
            "-buffer-assignment-values.txt" => ArtefactKind::BufferValues,
            "-live-range.txt" => ArtefactKind::LiveRanges,
            "-memory-usage-report.txt" => ArtefactKind::MemoryUsage,
            "-memory-usage-report.pb" => ArtefactKind::Other,
            ".txt" => {
                let after = &rest[device..rest.len() - tail.len()];
                let kind = StageKind::AfterOptimizations;
                let stage = StageName { number: None, pipeline: "", after, before: None, kind };
                return Some(Suffix { module, what: What::Stage(stage) });
            }
            _ => match extension_kind(tail)? {
                (extension, form) if extension == tail => form.artefact(),
                _ => return None,
            },
        };
        Some(Suffix { module, what: What::Artefact(kind) })
    }

    fn of_fixed(rest: &'p str) -> Option<Suffix<'p>> {
        for (stem, kind) in POINTS {
            let Some((extension, form)) = extension_kind(rest) else { break };
            let front = &rest[..rest.len() - extension.len()];
            if let Some(front) = front.strip_suffix(stem)
                && let Some(module) = module_before(front, front.len())
            {
                let after = &rest[front.len()..front.len() + stem.len()];
                let stage = StageName { number: None, pipeline: "", after, before: None, kind: *kind };
                let what = match form {
                    Form::Text => What::Stage(stage),
                    other => What::Artefact(other.artefact()),
                };
                return Some(Suffix { module, what });
            }
        }
        for (end, kind) in FILES {
            if let Some(front) = rest.strip_suffix(end)
                && let Some(module) = module_before(front, front.len())
            {
                return Some(Suffix { module, what: What::Artefact(kind.clone()) });
            }
        }
        let (front, last) = rest.rsplit_once(".execution_")?;
        last.starts_with(|c: char| c.is_ascii_digit())
            .then_some(Suffix { module: front, what: What::Artefact(ArtefactKind::Snapshot) })
    }

    /// The suffix of a file whose module's name is known.
    pub(crate) fn of_kernel(suffix: &str) -> ArtefactKind {
        let kernel = |end: &str| Some(suffix.strip_suffix(end)?.to_owned());
        if suffix.starts_with("autotuner_") {
            ArtefactKind::Autotuned
        } else if let Some(kernel) = kernel(".before_validation.ttir.txt") {
            ArtefactKind::Xtile { kernel }
        } else if let Some(kernel) = kernel(".ttir.txt") {
            ArtefactKind::Ttir { kernel }
        } else if let Some(kernel) = kernel(".mlir-passes.log") {
            ArtefactKind::MlirPasses { kernel }
        } else if let Some(kernel) = kernel(".hlo") {
            ArtefactKind::FusionHlo { kernel }
        } else if suffix == "ptx" || suffix.ends_with(".ptx") {
            ArtefactKind::Ptx
        } else if suffix.ends_with(".ll") {
            ArtefactKind::LlvmIr { is_optimized: suffix.contains("ir-with-opt") }
        } else if suffix == "mlir" || suffix.ends_with(".mlir") {
            ArtefactKind::StableHlo
        } else {
            ArtefactKind::Other
        }
    }
}

/// Names of dumps outside of pipelines.
const POINTS: &[(&str, StageKind)] = &[
    ("before_optimizations", StageKind::BeforeOptimizations),
    ("before_optimization", StageKind::BeforeOptimizations),
    ("after_spmd_partitioner", StageKind::Point),
    ("before_config_assignment", StageKind::Point),
];

const FILES: &[(&str, ArtefactKind)] = &[
    ("gpu_target_config.pbtxt", ArtefactKind::GpuTarget),
    ("autotune_results.pbtxt", ArtefactKind::AutotuneResults),
    ("config.pbtxt", ArtefactKind::Config),
    ("debug_options", ArtefactKind::DebugOptions),
    ("thunk_sequence.txt", ArtefactKind::ThunkSequence { is_after_thunk_passes: false }),
    ("thunk_sequence_after_thunk_passes.txt", ArtefactKind::ThunkSequence { is_after_thunk_passes: true }),
    ("thunk_metadata.txt", ArtefactKind::ThunkMetadata),
    ("thunk_metadata.pb", ArtefactKind::Other),
    ("priority_fusion_dump.txt", ArtefactKind::FusionDump),
    ("priority_fusion_dump.pb", ArtefactKind::Other),
    ("gpu_executable.riegeli", ArtefactKind::Other),
];

/// The form in which a module is dumped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Proto,
    Graph,
    Other,
}

impl Form {
    fn artefact(self) -> ArtefactKind {
        match self {
            Form::Proto => ArtefactKind::Proto,
            Form::Graph => ArtefactKind::Graph,
            Form::Text | Form::Other => ArtefactKind::Other,
        }
    }
}

/// The end of the name of a dumped module.
fn extension_kind(name: &str) -> Option<(&'static str, Form)> {
    const EXTENSIONS: &[(&str, Form)] = &[
        (".txt", Form::Text),
        (".hlo.pb", Form::Proto),
        (".riegeli", Form::Proto),
        (".top_level.html", Form::Graph),
        (".html", Form::Graph),
        (".dot", Form::Graph),
        (".url", Form::Graph),
        (".fdo_profile", Form::Other),
    ];
    EXTENSIONS.iter().find(|(end, _)| name.ends_with(end)).copied()
}

/// The last component, and what is in front of it.
fn split_last(name: &str) -> (&str, &str) {
    name.rsplit_once('.').unwrap_or(("", name))
}

/// The last place where a component starts with `start`.
fn find_component(name: &str, start: &str) -> Option<usize> {
    let places = name.rmatch_indices(start).map(|(at, _)| at);
    places.into_iter().find(|&at| at == 0 || name[..at].ends_with('.'))
}

/// The name of the module in front of a suffix at `at`: nothing, or all in front of a point.
fn module_before(rest: &str, at: usize) -> Option<&str> {
    match &rest[..at] {
        "" => Some(""),
        front => front.strip_suffix('.'),
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage<'p>(rest: &'p str) -> (&'p str, StageName<'p>) {
        match Suffix::parse(rest) {
            Some(Suffix { module, what: What::Stage(stage) }) => (module, stage),
            other => panic!("{rest}: {other:?}"),
        }
    }

    fn artefact(rest: &str) -> (&str, ArtefactKind) {
        match Suffix::parse(rest) {
            Some(Suffix { module, what: What::Artefact(kind) }) => (module, kind),
            other => panic!("{rest}: {other:?}"),
        }
    }

    #[test]
    fn prefixes() {
        let name = DumpName::parse("jit_f/host_12/1700000000000000.module_0022.jit_f.ptx.gz").unwrap();
        assert_eq!(name.folder, "jit_f/host_12");
        assert_eq!((name.timestamp, name.id), (Some(1_700_000_000_000_000), Some(22)));
        assert_eq!((name.rest, name.is_compressed), ("jit_f.ptx", true));
        assert_eq!(DumpName::parse("module_jit_f.execution_0000.hlo_snapshot.pb").unwrap().id, None);
        assert_eq!(DumpName::parse("notes.txt"), None);
        assert!(is_dump_name("/tmp/d/module_0001.f.before_optimizations.txt"));
        assert!(is_dump_name("d/jax_ir0001_jit_f_compile.mlir") && !is_dump_name("jax_irs_f.mlir"));
        assert!(!is_dump_name("module.hlo") && !is_dump_name("module_1") && !is_dump_name(""));
    }

    #[test]
    fn names_of_modules_may_have_points_and_numbers() {
        let pass = |module, number, pipeline, after, before| {
            let kind = if after == "pipeline-start" { StageKind::PipelineStart } else { StageKind::Pass };
            (module, StageName { number: Some(number), pipeline, after, before: Some(before), kind })
        };
        let rest = "main.1234.0007.simplification-2.after_algsimp.before_apply-xla-transforms-37.txt";
        assert_eq!(
            stage(rest),
            pass("main.1234", 7, "simplification-2", "algsimp", "apply-xla-transforms-37")
        );
        let rest = "0007.fusion.after_pipeline-start.before_dce.txt";
        assert_eq!(stage(rest), pass("", 7, "fusion", "pipeline-start", "dce"));
        let (module, step) = stage("f.0091.copy-insertion.after_removing_unnecessary_copies.txt");
        assert_eq!((module, step.pipeline), ("f", "copy-insertion"));
        assert_eq!((step.after, step.kind), ("after_removing_unnecessary_copies", StageKind::Step));
        assert_eq!(stage("main.12.before_optimizations.txt").0, "main.12");
        assert_eq!(stage("after_spmd_partitioner.txt").1.kind, StageKind::Point);
    }

    #[test]
    fn optimized_modules_name_their_device() {
        for device in ["sm_9.0a_gpu_", "sm_8.0_gpu_", "gfx90a_gpu_", "cpu_", "_gpu_", ""] {
            let rest = format!("jit_f.1.{device}after_optimizations.txt");
            let (module, found) = stage(&rest);
            assert_eq!(module, "jit_f.1", "{rest}");
            assert_eq!(found.after, format!("{device}after_optimizations"));
            let rest = format!("jit_f.{device}after_optimizations-live-range.txt");
            assert_eq!(artefact(&rest), ("jit_f", ArtefactKind::LiveRanges));
        }
    }

    #[test]
    fn artefacts() {
        for (rest, module, kind) in [
            ("f.debug_options", "f", ArtefactKind::DebugOptions),
            ("f.1.gpu_target_config.pbtxt", "f.1", ArtefactKind::GpuTarget),
            ("f.execution_0000.hlo_snapshot.pb", "f", ArtefactKind::Snapshot),
            ("f.0001.fusion.after_a.before_b.hlo.pb", "f", ArtefactKind::Proto),
            ("f.before_optimizations.dot", "f", ArtefactKind::Graph),
        ] {
            assert_eq!(artefact(rest), (module, kind), "{rest}");
        }
        // The module's name may end in several places.
        for rest in ["jit_f.gemm_fusion_dot.3.ttir.txt", "jit_f.1.ptx", "jit_f.0.ir-no-opt.ll"] {
            assert_eq!(Suffix::parse(rest), None, "{rest}");
        }
        let optimized = ArtefactKind::LlvmIr { is_optimized: true };
        assert_eq!(Suffix::of_kernel("1.ir-with-opt.ll"), optimized);
        let ttir = ArtefactKind::Ttir { kernel: "gemm_fusion_dot.3".into() };
        assert_eq!(Suffix::of_kernel("gemm_fusion_dot.3.ttir.txt"), ttir);
        let tiled = ArtefactKind::Xtile { kernel: "a.1".into() };
        assert_eq!(Suffix::of_kernel("a.1.before_validation.ttir.txt"), tiled);
        assert_eq!(Suffix::of_kernel("0.ptx"), ArtefactKind::Ptx);
        assert_eq!(Suffix::of_kernel("autotuner_3.fusion.before.txt"), ArtefactKind::Autotuned);
    }
}
