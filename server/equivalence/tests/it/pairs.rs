//! XLA's own passes: the stages of whole compiles, and the module before each by our pass of that name.

mod needs_shared {
    use std::collections::hash_map::DefaultHasher;
    use std::collections::{BTreeMap, HashMap, HashSet};
    use std::fs;
    use std::hash::{Hash, Hasher};
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use equivalence::{Verdict, compare};
    use generators::on_all_cores;
    use ir::{AttributeKey, decides_value};
    use passes::{InstructionId, Module, PASSES, optimize};

    use crate::{module, options, print};

    /// A stage of a compile: `0012`, `simplification`, `algsimp`.
    struct Stage {
        order: (String, String),
        pipeline: String,
        pass: String,
        path: PathBuf,
    }

    /// Unpacks the archive of a model, and returns its stages in order, module by module.
    fn stages(archive: &Path) -> Vec<Stage> {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(archive.file_name().expect("a name"));
        fs::create_dir_all(&folder).expect("a folder");
        let unpacked = Command::new("tar").arg("-xJf").arg(archive).arg("-C").arg(&folder).status();
        assert!(unpacked.expect("tar runs").success(), "{}", archive.display());
        let mut stages = Vec::new();
        let mut folders = vec![folder];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                // module_0001.jit_f.0012.simplification.after_algsimp.before_dce.txt
                let Some((before, pass)) = name.split_once(".after_") else { continue };
                let Some((pass, _)) = pass.split_once(".before_") else { continue };
                let mut parts = before.rsplitn(3, '.');
                let (Some(pipeline), Some(number), Some(module)) = (parts.next(), parts.next(), parts.next())
                else {
                    continue;
                };
                stages.push(Stage {
                    order: (module.to_owned(), number.to_owned()),
                    pipeline: pipeline.to_owned(),
                    pass: pass.to_owned(),
                    path,
                });
            }
        }
        stages.sort_by(|a, b| a.order.cmp(&b.order));
        stages
    }

    /// What was found of the pairs of one pass.
    #[derive(Default)]
    struct Tally {
        /// Pairs whose structure XLA changed, and those of them that ours changes in the same way, or does not support.
        changed: usize,
        reproduced: usize,
        unsupported: usize,
        /// Rewrites of XLA, and of ours that are others, whose values are the same, and that have values which are not evaluated.
        equal: usize,
        open: usize,
    }

    /// The rewrites of one side.
    #[derive(Default)]
    struct Sum {
        rewrites: usize,
        equal: usize,
        compared: usize,
        elements: u64,
        open: BTreeMap<String, usize>,
        different: Vec<String>,
    }

    impl Sum {
        fn add(&mut self, what: &str, verdict: &Verdict) {
            self.rewrites += 1;
            self.equal += usize::from(verdict.is_equal());
            self.compared += verdict.compared;
            self.elements += verdict.elements;
            if let Some(open) = verdict.open.first() {
                let reason = open.reason.split('[').next().unwrap_or_default().trim_end();
                let reason: String = reason.chars().filter(|c| !c.is_ascii_digit()).collect();
                *self.open.entry(reason).or_default() += 1;
            }
            let differences = verdict.differences.iter().take(2).map(|found| format!("{what}: {found}"));
            self.different.extend(differences);
        }

        fn merge(&mut self, other: Sum) {
            self.rewrites += other.rewrites;
            self.equal += other.equal;
            self.compared += other.compared;
            self.elements += other.elements;
            for (reason, count) in other.open {
                *self.open.entry(reason).or_default() += count;
            }
            self.different.extend(other.different);
        }

        fn print(&self, whose: &str) {
            println!(
                "{whose}: {} rewrites, {} equal; {} instructions by {} elements",
                self.rewrites, self.equal, self.compared, self.elements
            );
            self.open.iter().for_each(|(reason, count)| println!("  open {count}: {reason}"));
            self.different.iter().for_each(|line| println!("  DIFFERENT {line}"));
        }
    }

    /// What was found of some models.
    #[derive(Default)]
    struct Found {
        theirs: Sum,
        ours: Sum,
        of_pass: BTreeMap<String, Tally>,
    }

    impl Found {
        fn merge(&mut self, other: Found) {
            self.theirs.merge(other.theirs);
            self.ours.merge(other.ours);
            for (pass, of_other) in other.of_pass {
                let tally = self.of_pass.entry(pass).or_default();
                tally.changed += of_other.changed;
                tally.reproduced += of_other.reproduced;
                tally.unsupported += of_other.unsupported;
                tally.equal += of_other.equal;
                tally.open += of_other.open;
            }
        }
    }

    #[test]
    #[ignore = "needs ../shared: cargo xtask test"]
    fn rewrites_of_whole_compiles_compute_the_same() {
        let mut archives: Vec<PathBuf> = fs::read_dir(test_files::needs::shared("corpus/compiles"))
            .expect("a folder")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        archives.sort();
        let only = std::env::var("HLO_ANALYZER_MODEL").ok();
        archives.retain(|archive| {
            only.as_ref().is_none_or(|only| archive.to_string_lossy().contains(only.as_str()))
        });
        let mut all = Found::default();
        for found in on_all_cores(archives.len() as u64, |i| found(&archives[i as usize])) {
            all.merge(found);
        }
        let Found { theirs, ours, of_pass } = all;
        theirs.print("XLA's");
        ours.print("ours, where they are others");
        assert!(theirs.different.is_empty(), "{} of XLA's differ", theirs.different.len());
        assert!(ours.different.is_empty(), "{} of ours differ", ours.different.len());
        if only.is_none() {
            check_page(&of_pass);
        }
    }

    /// Compares the stages of a model.
    fn found(archive: &Path) -> Found {
        let Found { mut theirs, mut ours, mut of_pass } = Found::default();
        let model = archive.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let stages = stages(archive);
        for [before, stage] in stages.array_windows() {
            // Between two pipelines, no dump says which pass made a change.
            if before.order.0 != stage.order.0 || stage.pass == "pipeline-start" {
                continue;
            }
            let read = |path| Module::from_text(&fs::read_to_string(path).expect("a text"));
            let (Some(before), Some(made)) = (read(&before.path), read(&stage.path)) else { continue };
            let what = format!("{model}/{}.{}.{}", stage.order.1, stage.pipeline, stage.pass);
            let verdict = compare(&before, &made);
            theirs.add(&what, &verdict);
            let expected = structure(&made);
            let tally = of_pass.entry(stage.pass.clone()).or_default();
            let mut add = |verdict: &Verdict| {
                tally.equal += usize::from(verdict.is_equal());
                tally.open += usize::from(!verdict.is_equal());
            };
            add(&verdict);
            let is_changed = structure(&before) != expected;
            let mut after = before.clone();
            let is_known = optimize(&mut after, &[&stage.pass], &options(&stage.pipeline)).is_ok();
            // As a reader sees it: an attribute may be absent, or have its default value.
            let is_reproduced = is_known && structure(&module(&print(&after))) == expected;
            if is_known && !is_reproduced {
                let verdict = compare(&before, &after);
                ours.add(&what, &verdict);
                add(&verdict);
            }
            if is_changed {
                tally.changed += 1;
                tally.reproduced += usize::from(is_reproduced);
                tally.unsupported += usize::from(!is_known);
            }
        }
        Found { theirs, ours, of_pass }
    }

    /// The page has these figures. `UPDATE_EXPECT=1` writes it anew.
    fn check_page(of_pass: &BTreeMap<String, Tally>) {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/passes.md");
        let expected = page(of_pass);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(path, &expected).expect("the page is written");
        }
        let found = fs::read_to_string(path).expect("the page");
        assert!(found == expected, "{path} is out of date; UPDATE_EXPECT=1 writes it anew");
    }

    fn page(of_pass: &BTreeMap<String, Tally>) -> String {
        let mut names: Vec<&str> = of_pass.keys().map(String::as_str).collect();
        names.extend(PASSES.iter().map(|pass| pass.name));
        names.sort_unstable();
        names.dedup();
        let total = |of: fn(&Tally) -> usize| -> usize { of_pass.values().map(of).sum() };
        let mut page = format!(
            "# Passes\n\nThe passes of XLA's GPU compiler, by their names in its dumps. On this page, a pass is *reproduced* where it makes of a \
             module what XLA made of it,\nbut for names, metadata and `backend_config`: {} of {} pairs of modules before and after a pass, from \
             the compiles of 21 models. A rewrite is *equal* where\nthe reference interpreter computes the same values (crate `equivalence`), and \
             *open* where some value is not evaluated: {} equal, {} open,\nnone different. XLA's own rewrites are checked, and ours where they are \
             others.\n\nA pass that is not written stops previews and actions with its name, but only in modules that have what it rewrites.\n\n\
             | pass | what it does | reproduced | equal | open | preview and action |\n|---|---|---|---|---|---|\n",
            total(|tally| tally.reproduced),
            total(|tally| tally.changed),
            total(|tally| tally.equal),
            total(|tally| tally.open),
        );
        let none = Tally::default();
        for name in names {
            let tally = of_pass.get(name).unwrap_or(&none);
            let what = passes::pass(name).unwrap_or("–");
            let reproduced = match tally.changed {
                0 => "–".to_owned(),
                changed => format!("{} of {changed}", tally.reproduced),
            };
            let support = match PASSES.iter().find(|pass| pass.name == name) {
                None => "not written".to_owned(),
                Some(pass) => match pass.refuses() {
                    Some(subject) => format!("not of {subject}"),
                    None => "yes".to_owned(),
                },
            };
            page += &format!(
                "| `{name}` | {what} | {reproduced} | {} | {} | {support} |\n",
                figure(tally.equal),
                figure(tally.open)
            );
        }
        page
    }

    fn figure(count: usize) -> String {
        if count == 0 { "–".to_owned() } else { count.to_string() }
    }

    /// A number per instruction of the computations that the entry reaches, equal for equal instructions of equal operands, whatever
    /// the names: sorted, and the number of the entry's root last.
    fn structure(module: &Module) -> Vec<u64> {
        let mut of: HashMap<InstructionId, u64> = HashMap::new();
        let mut all = Vec::new();
        let mut is_reached = HashSet::from([module.entry()]);
        let mut open = vec![module.entry()];
        while let Some(computation) = open.pop() {
            let called = module.instructions(computation).into_iter().flat_map(|id| module[id].called());
            open.extend(called.filter(|callee| is_reached.insert(*callee)));
        }
        let order = module.computation_post_order().into_iter();
        for computation in order.filter(|computation| is_reached.contains(computation)) {
            for id in module.post_order(computation) {
                let instruction = &module[id];
                let mut hasher = DefaultHasher::new();
                (instruction.opcode().name(), instruction.shape().to_string()).hash(&mut hasher);
                (instruction.literal(), instruction.parameter_number()).hash(&mut hasher);
                let mut attributes: Vec<String> = instruction
                    .attributes()
                    .iter()
                    .filter(|(key, _)| is_structure(*key))
                    .map(|(key, value)| format!("{}={value:?}", key.name()))
                    .collect();
                attributes.sort_unstable();
                attributes.hash(&mut hasher);
                instruction.operands().iter().for_each(|operand| of[operand].hash(&mut hasher));
                instruction.control_predecessors().iter().for_each(|before| of[before].hash(&mut hasher));
                instruction.called().for_each(|callee| of.get(&module.root(callee)).hash(&mut hasher));
                let hash = hasher.finish();
                of.insert(id, hash);
                all.push(hash);
            }
        }
        all.sort_unstable();
        all.push(of[&module.root(module.entry())]);
        all
    }

    fn is_structure(key: AttributeKey) -> bool {
        decides_value(key) && key != AttributeKey::BackendConfig
    }
}
