//! XLA's own passes: the stages of whole compiles, and the module before each by our pass of that name.

mod needs_shared {
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use equivalence::compare;
    use passes::Module;

    use crate::after;

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

    #[derive(Default)]
    struct Tally {
        rewrites: usize,
        equal: usize,
        compared: usize,
        elements: u64,
        open: BTreeMap<String, usize>,
        different: Vec<String>,
    }

    impl Tally {
        fn add(&mut self, what: &str, verdict: &equivalence::Verdict) {
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

        fn print(&self, whose: &str) {
            println!(
                "{whose}: {} rewrites, {} equal; {} instructions by {} elements",
                self.rewrites, self.equal, self.compared, self.elements
            );
            self.open.iter().for_each(|(reason, count)| println!("  open {count}: {reason}"));
            self.different.iter().for_each(|line| println!("  DIFFERENT {line}"));
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
        let (mut theirs, mut ours) = (Tally::default(), Tally::default());
        for archive in &archives {
            let model = archive.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if only.as_ref().is_some_and(|only| !model.contains(only)) {
                continue;
            }
            let stages = stages(archive);
            for [before, stage] in stages.array_windows() {
                if before.order.0 != stage.order.0 {
                    continue;
                }
                let read = |path| Module::from_text(&fs::read_to_string(path).expect("a text"));
                let (Some(before), Some(made)) = (read(&before.path), read(&stage.path)) else { continue };
                let what = format!("{model}/{}.{}.{}", stage.order.1, stage.pipeline, stage.pass);
                theirs.add(&what, &compare(&before, &made));
                if let Some((after, _)) = after(&before, &stage.pass, &stage.pipeline) {
                    ours.add(&what, &compare(&before, &after));
                }
            }
        }
        theirs.print("XLA's");
        ours.print("ours");
        assert!(ours.different.is_empty(), "{} differ", ours.different.len());
    }
}
