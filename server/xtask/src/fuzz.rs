//! `cargo xtask fuzz`: searches with libFuzzer for inputs that break the properties of the crate `fuzzing`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use crate::commands::{cargo, output, root, run, show, target_dir};

const CRATE: &str = "server/fuzzing";

/// Has the compiler count which edges of the code an input runs through, as libFuzzer reads it. `cargo fuzz` sets the same.
const COVERAGE: [&str; 6] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Ccodegen-units=16",
];

/// Longer inputs are cut, so that some hundred run in a second.
const MAX_BYTES: usize = 8192;
/// Seconds after which an input is a hang.
const PATIENCE: u64 = 60;
const MEMORY_MB: u64 = 4096;

struct Options<'a> {
    targets: Vec<&'a str>,
    seconds: u64,
}

impl<'a> Options<'a> {
    fn parse(mut options: &[&'a str], known: &[String]) -> Result<Options<'a>> {
        let mut parsed = Options { targets: Vec::new(), seconds: 60 * 60 };
        while let [option, rest @ ..] = options {
            options = match (*option, rest) {
                ("--minutes", [value, rest @ ..]) => {
                    let minutes: u64 = value.parse().with_context(|| format!("{value} is no number"))?;
                    parsed.seconds = minutes.saturating_mul(60);
                    rest
                }
                (target, rest) if known.iter().any(|name| name == target) => {
                    parsed.targets.push(target);
                    rest
                }
                (other, _) => bail!("fuzz takes --minutes N and {}, not {other}", known.join(", ")),
            };
        }
        Ok(parsed)
    }
}

/// Runs the chosen targets one after the other, each for the time.
pub fn fuzz(options: &[&str]) -> Result<()> {
    let known = targets()?;
    let options = Options::parse(options, &known)?;
    let program = build()?;
    let mut rows = Vec::new();
    for name in
        known.iter().filter(|name| options.targets.is_empty() || options.targets.contains(&name.as_str()))
    {
        rows.push(search(&program, name, options.seconds)?);
    }
    println!("\n{:12} {:>12} {:>10} {:>10}", "target", "inputs", "edges", "failures");
    rows.iter().for_each(|row| {
        println!("{:12} {:>12} {:>10} {:>10}", row.name, row.inputs, row.edges, row.failures)
    });
    let failures: usize = rows.iter().map(|row| row.failures).sum();
    if failures > 0 {
        bail!("{failures} inputs break a property: see {}", target_dir().join("fuzz").display());
    }
    Ok(())
}

/// The names of the targets: each has a row in `targets.rs`.
pub fn targets() -> Result<Vec<String>> {
    let text = fs::read_to_string(root().join(CRATE).join("src/targets.rs"))?;
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("name: \"")?.strip_suffix("\","));
    Ok(names.map(str::to_owned).collect())
}

/// The fuzzer, in a folder of its own: its code is another one.
fn build() -> Result<PathBuf> {
    let about = output(&mut rustc(&["-vV"]))?;
    let host =
        about.lines().find_map(|line| line.strip_prefix("host: ")).context("rustc does not name its host")?;
    let folder = target_dir().join("fuzz/build");
    let folder_text = folder.to_str().context("the path of the checkout is not UTF-8")?;
    let mut build = cargo(&[
        "build",
        "--release",
        "--package",
        "fuzzing",
        "--features",
        "libfuzzer",
        "--bin",
        "fuzz",
        "--target",
        host,
        "--target-dir",
        folder_text,
    ]);
    run(build.env("RUSTFLAGS", COVERAGE.join(" ")))?;
    Ok(folder.join(host).join("release/fuzz"))
}

fn rustc(args: &[&str]) -> Command {
    let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
    rustc.args(args);
    rustc
}

struct Row {
    name: String,
    inputs: u64,
    edges: u64,
    failures: usize,
}

/// Searches from the seeds, the files of tests that are seeds, and what earlier searches found.
fn search(program: &Path, name: &str, seconds: u64) -> Result<Row> {
    let folder = target_dir().join("fuzz").join(name);
    let [found, failures, seeds] = ["found", "failures", "seeds"].map(|name| folder.join(name));
    for folder in [&found, &failures, &seeds] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    let mut command = Command::new(program);
    command.env("HLO_ANALYZER_FUZZ", name).env("HLO_ANALYZER_FUZZ_SEEDS", &seeds).args([&found, &seeds]);
    let words = root().join(CRATE).join("words").join(format!("{name}.dict"));
    if words.is_file() {
        command.arg(format!("-dict={}", words.display()));
    }
    // Each failure is kept, and the search goes on.
    command.args(["-fork=1", "-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1"]);
    // For libFuzzer 0 seconds are no limit.
    command.arg(format!("-max_total_time={}", seconds.max(1))).arg(format!("-max_len={MAX_BYTES}"));
    command.arg(format!("-timeout={PATIENCE}")).arg(format!("-rss_limit_mb={MEMORY_MB}"));
    command.arg(format!("-artifact_prefix={}/", failures.display()));
    println!("$ {}", show(&command));
    let log = folder.join("log");
    let output = fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
    let status = command.status().with_context(|| format!("cannot start {}", program.display()))?;
    let log = fs::read(&log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())?;
    let Some((inputs, edges)) = log.lines().rev().find_map(progress) else {
        let end: Vec<&str> = log.lines().rev().take(20).collect();
        bail!("{name} did not start ({status}):\n{}", end.into_iter().rev().collect::<Vec<_>>().join("\n"));
    };
    let failures = fs::read_dir(&failures)?.count();
    println!("{name}: {inputs} inputs, {edges} edges, {failures} failures");
    Ok(Row { name: name.to_owned(), inputs, edges, failures })
}

/// The inputs and the edges in a line as `#1234: cov: 56 ft: 78 …`.
fn progress(line: &str) -> Option<(u64, u64)> {
    let (inputs, rest) = line.strip_prefix('#')?.split_once(": cov: ")?;
    Some((inputs.parse().ok()?, rest.split(' ').next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::{Options, progress, targets};

    #[test]
    fn targets_are_known_by_name() {
        let known = targets().expect("the table is there");
        assert!(known.len() > 10 && known.iter().any(|name| name == "maps"), "{known:?}");
        let options = Options::parse(&["maps", "--minutes", "2", "ptx"], &known).expect("they are options");
        assert_eq!((options.targets, options.seconds), (vec!["maps", "ptx"], 120));
        assert!(Options::parse(&["nothing"], &known).is_err());
    }

    #[test]
    fn lines_of_progress_are_read() {
        let line = "#1523: cov: 4021 ft: 7000 corp: 310 exec/s 12 oom/timeout/crash: 0/0/0 time: 9s job: 3 dft_time: 0";
        assert_eq!(progress(line), Some((1523, 4021)));
        assert_eq!(progress("INFO: Seed: 1"), None);
    }
}
