//! From the listing of a folder to its compiles.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::artefact::{Artefact, ArtefactKind};
use crate::folder::{Compile, Entry, Folder, Problem};
use crate::name::{DumpName, Suffix, What, of_jax};
use crate::problems;
use crate::stage::{Stage, StageKind};

/// A compile among those of a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Key<'p> {
    folder: &'p str,
    id: Option<u64>,
    module: &'p str,
    timestamp: Option<u64>,
}

#[derive(Default)]
struct Grouper<'p> {
    compiles: BTreeMap<Key<'p>, Compile>,
    /// All paths that are not compressed.
    plain: FxHashSet<&'p str>,
    /// Files whose module's name could end in several places.
    open: Vec<(DumpName<'p>, &'p Entry)>,
    /// Modules that JAX dumped.
    of_jax: Vec<&'p Entry>,
    /// Files of no compile.
    others: Vec<String>,
    /// What is wrong, and the compile that it concerns.
    problems: Vec<(Option<Key<'p>>, String)>,
}

/// Returns the compiles of a folder. Takes time linear in the listing, whose order does not matter.
pub fn group(listing: &[Entry]) -> Folder {
    let mut sorted: Vec<&Entry> = listing.iter().collect();
    sorted.sort_by(|a, b| a.path.cmp(&b.path));
    let plain = listing.iter().map(|entry| entry.path.as_str()).filter(|path| !path.ends_with(".gz"));
    let mut grouper = Grouper { plain: plain.collect(), ..Grouper::default() };
    for entry in sorted {
        grouper.take(entry);
    }
    grouper.merge_short_names();
    grouper.place_open();
    grouper.merge_timestamps();
    grouper.place_of_jax();
    grouper.finish()
}

impl<'p> Grouper<'p> {
    fn take(&mut self, entry: &'p Entry) {
        let Some(name) = DumpName::parse(&entry.path) else {
            return match of_jax(&entry.path) {
                Some(_) => self.of_jax.push(entry),
                None => self.others.push(entry.path.clone()),
            };
        };
        match Suffix::parse(name.rest) {
            Some(Suffix { module, what }) => {
                let DumpName { folder, id, timestamp, .. } = name;
                self.put(Key { folder, id, module, timestamp }, what, &name, entry);
            }
            None if name.id.is_some() => self.open.push((name, entry)),
            None => self.others.push(entry.path.clone()),
        }
    }

    fn put(&mut self, key: Key<'p>, what: What<'p>, name: &DumpName<'p>, entry: &'p Entry) {
        let (path, size) = (entry.path.clone(), entry.size);
        let compile = self.compiles.entry(key).or_insert_with(|| Compile {
            folder: key.folder.to_owned(),
            module: key.module.to_owned(),
            id: key.id,
            timestamp: key.timestamp,
            ..Compile::default()
        });
        match what {
            What::Artefact(kind) => compile.artefacts.push(Artefact { path, size, kind }),
            What::Stage(stage) => {
                let twin = path.strip_suffix(".gz").filter(|_| name.is_compressed);
                if twin.is_some_and(|twin| self.plain.contains(twin)) {
                    let message = format!("{path} is left out: the folder has the same name without .gz");
                    self.others.push(path);
                    return self.problems.push((Some(key), message));
                }
                compile.stages.push(Stage {
                    path,
                    size,
                    number: stage.number,
                    pipeline: stage.pipeline.to_owned(),
                    after: stage.after.to_owned(),
                    before: stage.before.map(str::to_owned),
                    kind: stage.kind,
                });
            }
        }
    }

    /// XLA leaves the module out of a name that would be too long.
    fn merge_short_names(&mut self) {
        let short: Vec<Key<'p>> = self.compiles.keys().filter(|key| key.module.is_empty()).copied().collect();
        for key in short {
            let full = self.named_like(key, |other| other.timestamp == key.timestamp);
            if let [full] = full[..]
                && let Some(files) = self.compiles.remove(&key)
            {
                self.add(full, files);
            }
        }
    }

    /// Keys with a module's name, of the folder and the id of `key`.
    fn named_like(&self, key: Key<'p>, is_meant: impl Fn(&Key<'p>) -> bool) -> Vec<Key<'p>> {
        let first = Key { module: "", timestamp: None, ..key };
        let alike = self.compiles.range(first..).map(|(other, _)| *other);
        alike
            .take_while(|other| (other.folder, other.id) == (key.folder, key.id))
            .filter(|other| !other.module.is_empty() && is_meant(other))
            .collect()
    }

    fn add(&mut self, key: Key<'p>, files: Compile) {
        let Some(compile) = self.compiles.get_mut(&key) else { return };
        compile.stages.extend(files.stages);
        compile.artefacts.extend(files.artefacts);
    }

    /// Files with names of kernels belong to the module whose name they start with.
    fn place_open(&mut self) {
        let mut modules: FxHashMap<(&str, Option<u64>), Vec<Key<'p>>> = FxHashMap::default();
        for key in self.compiles.keys() {
            modules.entry((key.folder, key.id)).or_default().push(*key);
        }
        for (name, entry) in std::mem::take(&mut self.open) {
            let DumpName { folder, id, timestamp, rest, .. } = name;
            let known = modules.get(&(folder, id)).map(Vec::as_slice).unwrap_or_default();
            let behind =
                |key: &Key<'p>| rest.strip_prefix(key.module).and_then(|behind| behind.strip_prefix('.'));
            let named = known.iter().filter(|key| !key.module.is_empty());
            let best = named.filter(|key| behind(key).is_some()).max_by_key(|key| key.module.len());
            let (module, suffix) = match (best, known) {
                (Some(key), _) => (key.module, behind(key).unwrap_or(rest)),
                // The module was left out of a name that would be too long.
                (None, [only]) => (only.module, rest),
                (None, _) => rest.split_once('.').unwrap_or(("", rest)),
            };
            let what = What::Artefact(Suffix::of_kernel(suffix));
            self.put(Key { folder, id, module, timestamp }, what, &name, entry);
        }
    }

    /// With `--xla_dump_include_timestamp` modules have a time in front of their names, and artefacts have none.
    fn merge_timestamps(&mut self) {
        let without: Vec<Key<'p>> = self
            .compiles
            .iter()
            .filter(|(key, compile)| key.timestamp.is_none() && compile.stages.is_empty())
            .map(|(key, _)| *key)
            .collect();
        for key in without {
            let timed = self.named_like(key, |other| other.module == key.module && other.timestamp.is_some());
            if timed.is_empty() {
                continue;
            }
            let Some(files) = self.compiles.remove(&key) else { continue };
            match timed[..] {
                [only] => self.add(only, files),
                _ => {
                    let (count, title) = (timed.len(), files.title());
                    let paths = files.artefacts.into_iter().map(|artefact| artefact.path);
                    let before = self.others.len();
                    self.others.extend(paths);
                    let files = self.others.len() - before;
                    let have = match files {
                        1 => format!("1 file of {title} has no time in its name"),
                        _ => format!("{files} files of {title} have no time in their names"),
                    };
                    let message = format!("{have} and may be of any of {count} compiles");
                    self.problems.push((None, message));
                }
            }
        }
    }

    /// JAX names the module, and neither its id nor its time.
    fn place_of_jax(&mut self) {
        let mut modules: FxHashMap<(&str, &str), Vec<Key<'p>>> = FxHashMap::default();
        for key in self.compiles.keys().filter(|key| !key.module.is_empty()) {
            modules.entry((key.folder, key.module)).or_default().push(*key);
        }
        for entry in std::mem::take(&mut self.of_jax) {
            let path = entry.path.clone();
            let of = of_jax(&entry.path).and_then(|(folder, rest)| {
                let ends = rest.rmatch_indices('_').map(|(at, _)| at);
                ends.into_iter().find_map(|end| modules.get(&(folder, &rest[..end])))
            });
            let compile = match of.map(Vec::as_slice) {
                Some([only]) => self.compiles.get_mut(only),
                _ => None,
            };
            match compile {
                Some(compile) => {
                    compile.artefacts.push(Artefact {
                        path,
                        size: entry.size,
                        kind: ArtefactKind::StableHlo,
                    });
                }
                None => self.others.push(path),
            }
        }
    }

    fn finish(mut self) -> Folder {
        let mut folder = Folder::default();
        for (index, (key, mut compile)) in self.compiles.into_iter().enumerate() {
            compile.artefacts.sort_by(|a, b| a.path.cmp(&b.path));
            compile.stages = in_order(std::mem::take(&mut compile.stages));
            let own = self.problems.extract_if(.., |(of, _)| *of == Some(key));
            folder.problems.extend(own.map(|(_, message)| Problem { compile: Some(index), message }));
            let found = problems::of_compile(&compile);
            folder
                .problems
                .extend(found.into_iter().map(|message| Problem { compile: Some(index), message }));
            folder.compiles.push(compile);
        }
        let left = self.problems.into_iter().map(|(_, message)| message);
        let left = left.chain(problems::of_folder(&folder.compiles));
        let left: Vec<Problem> = left.map(|message| Problem { compile: None, message }).collect();
        folder.problems.extend(left);
        self.others.sort();
        folder.others = self.others;
        folder
    }
}

/// Stages in the order of their numbers, with those that have none where XLA's pipeline reaches them.
fn in_order(stages: Vec<Stage>) -> Vec<Stage> {
    let (mut numbered, points): (Vec<Stage>, Vec<Stage>) =
        stages.into_iter().partition(|stage| stage.number.is_some());
    numbered.sort_by(|a, b| a.number.cmp(&b.number).then_with(|| a.path.cmp(&b.path)));
    // The first pipeline after partitioning, and the first one that autotunes.
    let partitioned = first_of(&numbered, &["optimization"]).unwrap_or(0);
    let assigned = first_of(&numbered, &["config-assigner", "autotuner"]).unwrap_or(numbered.len());
    let place = |point: &Stage| match (point.kind, point.after.as_str()) {
        (StageKind::BeforeOptimizations, _) => (0, 0),
        (StageKind::AfterOptimizations, _) => (numbered.len(), 3),
        (_, "after_spmd_partitioner") => (partitioned, 1),
        _ => (assigned, 1),
    };
    let mut placed: Vec<((usize, u8), Stage)> =
        points.into_iter().map(|point| (place(&point), point)).collect();
    placed.extend(numbered.into_iter().enumerate().map(|(at, stage)| ((at, 2), stage)));
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, stage)| stage).collect()
}

fn first_of(stages: &[Stage], pipelines: &[&str]) -> Option<usize> {
    stages.iter().position(|stage| stage.number.is_some() && pipelines.contains(&stage.pipeline.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(paths: &[&str]) -> Folder {
        let entry = |path: &&str| Entry { path: (*path).to_owned(), size: 1 };
        group(&paths.iter().map(entry).collect::<Vec<_>>())
    }

    fn names(compile: &Compile) -> Vec<String> {
        compile.stages.iter().map(Stage::name).collect()
    }

    fn messages(folder: &Folder) -> Vec<&str> {
        folder.problems.iter().map(|problem| problem.message.as_str()).collect()
    }

    const WHOLE: [&str; 8] = [
        "module_0022.f.sm_9.0a_gpu_after_optimizations.txt",
        "module_0022.f.before_config_assignment.txt",
        "module_0022.f.0002.config-assigner.after_pipeline-start.before_a.txt",
        "module_0022.f.after_spmd_partitioner.txt",
        "module_0022.f.0001.optimization.after_pipeline-start.before_a.txt",
        "module_0022.f.0000.spmd.after_pipeline-start.before_a.txt",
        "module_0022.f.before_optimizations.txt",
        "module_0022.f.gemm_fusion_dot.3.ttir.txt",
    ];

    #[test]
    fn stages_are_in_the_order_of_the_compiler() {
        let folder = listed(&WHOLE);
        assert_eq!(messages(&folder), Vec::<&str>::new());
        let [compile] = &folder.compiles[..] else { panic!("{folder:?}") };
        let expected = [
            "before_optimizations",
            "0000.spmd.after_pipeline-start",
            "after_spmd_partitioner",
            "0001.optimization.after_pipeline-start",
            "before_config_assignment",
            "0002.config-assigner.after_pipeline-start",
            "sm_9.0a_gpu_after_optimizations",
        ];
        assert_eq!(names(compile), expected);
        assert_eq!((compile.module.as_str(), compile.id), ("f", Some(22)));
        assert_eq!(compile.artefacts[0].kind.kernel(), Some("gemm_fusion_dot.3"));
    }

    #[test]
    fn half_a_compile_is_reported() {
        let folder = listed(&[
            "module_0022.f.0002.a.after_b.before_c.txt",
            "module_0022.f.0005.a.after_c.before_d.txt",
            "module_0022.f.0006.a.after_d.before_e.txt.gz",
        ]);
        assert_eq!(names(&folder.compiles[0]), ["0002.a.after_b", "0005.a.after_c", "0006.a.after_d"]);
        assert_eq!(
            messages(&folder),
            [
                "f has no module before optimizations: origins end at 0002.a.after_b",
                "f has no module after optimizations: the compile did not finish, or its last files are missing",
                "stages 0000 to 0001 of f are missing from the folder",
                "stages 0003 to 0004 of f are missing from the folder",
            ]
        );
        let folder = listed(&["module_0001.f.before_optimizations.hlo.pb", "module_0002.g.ptx"]);
        assert_eq!(
            messages(&folder),
            [
                "f has no stage to show: its modules are protocol buffers; dump them with --xla_dump_hlo_as_text",
                "g has no stage to show: no module of it is in the folder",
            ]
        );
    }

    #[test]
    fn two_compiles_with_one_id_are_two() {
        let mut paths = WHOLE.to_vec();
        let others: Vec<String> = WHOLE.iter().map(|path| path.replace(".f.", ".f.1.")).collect();
        paths.extend(others.iter().map(String::as_str));
        let folder = listed(&paths);
        assert_eq!(folder.compiles.len(), 2);
        assert_eq!(folder.compiles[0].stages.len(), folder.compiles[1].stages.len());
        assert_eq!(folder.compiles[1].artefacts.len(), 1);
        assert_eq!(
            messages(&folder),
            ["f and f.1 both have the module id 22: two processes dumped into the folder"]
        );
        // In folders of their own nothing collides.
        let others: Vec<String> = WHOLE.iter().map(|path| format!("f/host_12/{path}")).collect();
        let folder =
            listed(&WHOLE.iter().copied().chain(others.iter().map(String::as_str)).collect::<Vec<_>>());
        assert_eq!((folder.compiles.len(), messages(&folder)), (2, Vec::new()));
        assert_eq!(folder.compiles[1].folder, "f/host_12");
    }

    #[test]
    fn colliding_names_are_reported() {
        let mut paths = WHOLE.to_vec();
        paths.push("module_0022.f.0001.optimization.after_dce.before_cse.txt");
        paths.push("module_0022.f.before_optimizations.txt.gz");
        let folder = listed(&paths);
        assert_eq!(folder.compiles[0].stages.len(), 8);
        assert_eq!(folder.others, ["module_0022.f.before_optimizations.txt.gz"]);
        assert_eq!(
            messages(&folder),
            [
                "module_0022.f.before_optimizations.txt.gz is left out: the folder has the same name without .gz",
                "f has 1 stage numbers twice, the first is 0001: two compiles of one name and id share the folder; \
                 dump each into a folder of its own",
            ]
        );
    }

    #[test]
    fn artefacts_without_a_time_belong_to_the_one_compile_of_their_name() {
        let timed = |time: u64| {
            let modules = WHOLE.iter().filter(|path| !path.ends_with("ttir.txt"));
            modules.map(|path| format!("{time}.{path}")).collect::<Vec<_>>()
        };
        let mut paths = timed(17);
        paths.push(WHOLE[7].to_owned());
        let all = |paths: &[String]| listed(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        let folder = all(&paths);
        assert_eq!((folder.compiles.len(), folder.compiles[0].artefacts.len()), (1, 1));
        assert_eq!(folder.compiles[0].timestamp, Some(17));
        paths.extend(timed(18));
        let folder = all(&paths);
        assert_eq!((folder.compiles.len(), folder.others.len()), (2, 1));
        assert_eq!(
            messages(&folder),
            ["1 file of f has no time in its name and may be of any of 2 compiles"]
        );
    }

    #[test]
    fn long_names_lack_the_module() {
        let mut paths = WHOLE.to_vec();
        paths.push("module_0022.0003.a.after_b.before_c.txt");
        paths.push("module_0022.loop_fusion.1.ttir.txt");
        let folder = listed(&paths);
        assert_eq!(folder.compiles.len(), 1);
        assert_eq!(folder.compiles[0].stages.len(), 8);
        let kernels: Vec<_> =
            folder.compiles[0].artefacts.iter().filter_map(|artefact| artefact.kind.kernel()).collect();
        assert_eq!(kernels, ["gemm_fusion_dot.3", "loop_fusion.1"]);
    }

    #[test]
    fn modules_of_jax_belong_to_the_compile_of_their_name() {
        let mut paths = WHOLE.map(|path| path.replace(".f.", ".jit_f.")).to_vec();
        paths.push("jax_ir0003_jit_f_compile.mlir".to_owned());
        paths.push("jax_ir0004_jit_g_compile.mlir".to_owned());
        let folder = listed(&paths.iter().map(String::as_str).collect::<Vec<_>>());
        let first = &folder.compiles[0].artefacts[0];
        assert_eq!((first.path.as_str(), &first.kind), (paths[8].as_str(), &ArtefactKind::StableHlo));
        assert_eq!(folder.others, paths[9..]);
    }

    #[test]
    fn other_files_are_no_problem() {
        let folder = listed(&["README", "module.hlo", "", "a/b/notes.txt", "module_x"]);
        assert_eq!((folder.compiles.len(), folder.problems.len(), folder.others.len()), (0, 0, 5));
    }
}
