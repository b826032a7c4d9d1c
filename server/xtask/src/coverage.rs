//! `cargo xtask coverage`: which lines of the server's crates its tests run.
//!
//! The crates are those that the program is made of; the ones that only tests use are not counted. A line counts where the
//! compiler says that it has code, outside of test modules.
//!
//! A run over all crates builds the whole workspace with its tests. A run over chosen ones builds and runs their own tests alone, so that lines
//! which only the tests of other crates run do not count: the result is a lower bound.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::commands::{cargo, output, root, run, target_dir};

/// The part of the lines in percent that tests must run.
const LEAST: f64 = 90.0;
/// How many files with lines that no test runs are printed.
const SHOWN_FILES: usize = 40;

/// Builds the tests of all crates, or of the chosen ones, with counters, runs them, and prints the lines of each crate.
pub fn coverage(chosen: &[&str]) -> Result<()> {
    let mut crates = crates_of_the_program()?;
    if let Some(unknown) = chosen.iter().find(|&&name| !crates.contains(name)) {
        bail!("{unknown} is no crate of the program; these are: {}", Vec::from_iter(crates).join(", "));
    }
    if !chosen.is_empty() {
        crates.retain(|name| chosen.contains(&name.as_str()));
    }
    let build = Instrumented::new()?;
    build.remove_counts()?;
    let mut tests = build.cargo("test");
    if chosen.is_empty() {
        // Of the whole workspace, because its crates have other features one by one, and would be built twice.
        run(build.cargo("build").args(["--workspace", "--bin", "hlo-analyzer"]))?;
        tests.arg("--workspace");
    } else {
        tests.args(chosen.iter().flat_map(|name| ["--package", name]));
    }
    tests.args(["--no-fail-fast", "--lib", "--bins", "--tests"]);
    let program = format!("coverage/hlo-analyzer{}", std::env::consts::EXE_SUFFIX);
    tests.env("HLO_ANALYZER_BIN", build.folder.join(program)).env("PROPTEST_RNG_SEED", "1");
    // Counting takes time, so that a test of times may fail. The lines that the others run are printed all the same.
    let tested = run(&mut tests);
    let report = build.report();
    build.remove_counts()?;
    let all = Shares::read(&report?, crates)?.print();
    tested?;
    if all.percent() < LEAST {
        bail!("tests run {:.1} % of the lines; {LEAST} % are asked for", all.percent());
    }
    Ok(())
}

/// How to build with counters, in a folder of its own.
struct Instrumented {
    folder: PathBuf,
    environment: Vec<(String, String)>,
}

impl Instrumented {
    fn new() -> Result<Instrumented> {
        let folder = target_dir().join("coverage");
        let mut ask = cargo(&["llvm-cov", "show-env", "--no-cfg-coverage"]);
        let Ok(text) = output(ask.env("CARGO_TARGET_DIR", &folder)) else {
            bail!(
                "no cargo-llvm-cov; `cargo install cargo-llvm-cov` and `rustup component add llvm-tools` install it"
            );
        };
        let mut environment: Vec<(String, String)> = text.lines().filter_map(assignment).collect();
        environment.push(("CARGO_TARGET_DIR".to_owned(), folder.display().to_string()));
        // Processes share a few files, to which each adds its counts: tests start thousands of processes.
        environment.push(("LLVM_PROFILE_FILE".to_owned(), folder.join("%4m.profraw").display().to_string()));
        Ok(Instrumented { folder, environment })
    }

    fn cargo(&self, task: &str) -> Command {
        let mut command = cargo(&[task, "--profile", "coverage"]);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command
    }

    /// The lines of all files and how often each ran, in the format of `lcov`.
    fn report(&self) -> Result<String> {
        let file = self.folder.join("lines.lcov");
        let mut report = cargo(&["llvm-cov", "report", "--profile", "coverage", "--lcov", "--output-path"]);
        report.arg(&file).envs(self.environment.iter().map(|(name, value)| (name, value)));
        run(&mut report)?;
        fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))
    }

    fn remove_counts(&self) -> Result<()> {
        let Ok(entries) = fs::read_dir(&self.folder) else { return Ok(()) };
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "profraw" || extension == "profdata") {
                fs::remove_file(&path)?;
            }
        }
        Ok(())
    }
}

/// A line as `NAME='value'` or `NAME=value`.
fn assignment(line: &str) -> Option<(String, String)> {
    let (name, value) = line.split_once('=')?;
    Some((name.to_owned(), value.trim_matches('\'').to_owned()))
}

/// Lines with code, and how many of them ran.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Share {
    lines: usize,
    ran: usize,
}

impl Share {
    fn percent(self) -> f64 {
        100.0 * self.ran as f64 / self.lines.max(1) as f64
    }

    fn add(&mut self, other: Share) {
        self.lines += other.lines;
        self.ran += other.ran;
    }
}

/// The share of each file of each crate.
struct Shares {
    crates: BTreeMap<String, BTreeMap<String, Share>>,
}

impl Shares {
    fn read(lcov: &str, crates: BTreeSet<String>) -> Result<Shares> {
        let mut crates: BTreeMap<String, BTreeMap<String, Share>> =
            crates.into_iter().map(|name| (name, BTreeMap::new())).collect();
        let mut test_files = BTreeSet::new();
        let mut files = Vec::new();
        for record in lcov.split("end_of_record") {
            let Some(path) = record.lines().find_map(|line| line.strip_prefix("SF:")) else { continue };
            let Ok(path) = Path::new(path).strip_prefix(root()).map(Path::to_path_buf) else { continue };
            let Some(name) = member(&path).filter(|&name| crates.contains_key(name)) else { continue };
            let source = fs::read_to_string(root().join(&path))?;
            let tests = TestModules::of(&source, &path);
            files.push((name.to_owned(), path.clone(), share(record, &tests)));
            test_files.extend(tests.files);
        }
        for (name, path, share) in files {
            let is_test = path.ancestors().any(|part| test_files.contains(part));
            if let (false, Some(shares)) = (is_test, crates.get_mut(&name)) {
                shares.insert(path.display().to_string(), share);
            }
        }
        Ok(Shares { crates })
    }

    /// Prints the files that need tests most, and a row for each crate; returns the sum.
    fn print(&self) -> Share {
        let mut files: Vec<(&String, Share)> =
            self.crates.values().flatten().map(|(path, &share)| (path, share)).collect();
        files.sort_by_key(|(_, share)| std::cmp::Reverse(share.lines - share.ran));
        println!("\nthe files with most lines that no test runs");
        for (path, share) in files.iter().take(SHOWN_FILES) {
            println!("{:6} of {:6}  {path}", share.lines - share.ran, share.lines);
        }
        println!("\n{:16} {:>8} {:>8} {:>8}", "crate", "lines", "run", "%");
        let mut all = Share::default();
        for (name, files) in &self.crates {
            let mut of_crate = Share::default();
            files.values().for_each(|&share| of_crate.add(share));
            println!("{name:16} {:8} {:8} {:8.1}", of_crate.lines, of_crate.ran, of_crate.percent());
            all.add(of_crate);
        }
        println!("{:16} {:8} {:8} {:8.1}", "all", all.lines, all.ran, all.percent());
        all
    }
}

/// The names of the crates that the program is made of.
fn crates_of_the_program() -> Result<BTreeSet<String>> {
    let tree =
        ["tree", "--package", "hlo-analyzer", "--edges", "normal", "--prefix", "none", "--format", "{p}"];
    let server = root().join("server").display().to_string();
    let printed = output(&mut cargo(&tree))?;
    let members = printed.lines().filter(|line| line.contains(&server));
    Ok(members.filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect())
}

/// The crate of a file of `server/CRATE/src`.
fn member(path: &Path) -> Option<&str> {
    let mut parts = path.iter().map(|part| part.to_str());
    let is_server = parts.next()? == Some("server");
    let name = parts.next()??;
    (is_server && parts.next()? == Some("src")).then_some(name)
}

/// The lines of a record of `lcov` outside of tests: each line that has code is a `DA:LINE,COUNT`.
fn share(record: &str, tests: &TestModules) -> Share {
    let mut share = Share::default();
    for entry in record.lines().filter_map(|line| line.strip_prefix("DA:")) {
        let mut numbers = entry.split(',');
        let line: Option<usize> = numbers.next().and_then(|number| number.parse().ok());
        if line.is_some_and(|line| tests.first_line.is_none_or(|first| line < first)) {
            share.lines += 1;
            share.ran += usize::from(numbers.next().is_some_and(|count| count != "0"));
        }
    }
    share
}

/// What of a file is only compiled for tests. The project has test modules at the end of a file, or in a file of their own.
#[derive(Debug, Default, PartialEq)]
struct TestModules {
    first_line: Option<usize>,
    /// Files and folders.
    files: Vec<PathBuf>,
}

impl TestModules {
    fn of(source: &str, path: &Path) -> TestModules {
        let mut tests = TestModules::default();
        let lines: Vec<&str> = source.lines().collect();
        for (number, pair) in lines.windows(2).enumerate().filter(|(_, pair)| pair[0] == "#[cfg(test)]") {
            let Some((_, module)) = pair[1].split_once("mod ") else { continue };
            match module.strip_suffix(';') {
                Some(name) => {
                    let is_root = path.file_name().is_some_and(|name| name == "lib.rs" || name == "main.rs");
                    let folder = if is_root { path.with_file_name("") } else { path.with_extension("") };
                    tests.files.extend([folder.join(name), folder.join(format!("{name}.rs"))]);
                }
                None => tests.first_line = tests.first_line.or(Some(number + 1)),
            }
        }
        tests
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_not_counted() {
        let source =
            "fn f() {}\n#[cfg(test)]\nmod against_xla;\n\n#[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        let tests = TestModules::of(source, Path::new("server/gpu/src/cost.rs"));
        let files =
            ["server/gpu/src/cost/against_xla", "server/gpu/src/cost/against_xla.rs"].map(PathBuf::from);
        assert_eq!(tests, TestModules { first_line: Some(5), files: files.to_vec() });
        let record = "SF:/a.rs\nDA:1,3\nDA:2,0\nDA:7,9\n";
        assert_eq!(share(record, &tests), Share { lines: 2, ran: 1 });
    }

    #[test]
    fn the_program_is_made_of_crates_that_are_not_for_tests() {
        let crates = crates_of_the_program().expect("cargo lists them");
        assert!(crates.contains("ide") && crates.contains("hlo-analyzer"), "{crates:?}");
        assert!(!crates.contains("fuzzing") && !crates.contains("xtask"), "{crates:?}");
        assert_eq!(member(Path::new("server/ir/src/op.rs")), Some("ir"));
        assert_eq!(member(Path::new("server/ir/tests/it/main.rs")), None);
    }

    #[test]
    fn environments_are_read() {
        let pair = |name: &str, value: &str| Some((name.to_owned(), value.to_owned()));
        assert_eq!(assignment("A='b=c'"), pair("A", "b=c"));
        assert_eq!(assignment("A=1"), pair("A", "1"));
        assert_eq!(assignment("no variable"), None);
    }
}
