//! `cargo xtask counts`: how many processor instructions twelve operations take, held against the recorded numbers.
//!
//! Callgrind counts the same on a busy machine as on an idle one, so a change that makes an operation slower shows in a test
//! run, which times would not. The numbers are of the release profile, with one thread, on x86-64.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use crate::bench::{generated_hlo, generated_mlir};
use crate::commands::{command, on_path, root, show, target_dir};
use crate::tools::Absent;

/// The recorded numbers, newest last, each with the reason why it changed.
const HISTORY: &str = "server/xtask/instruction_counts.json";
/// The part by which a number may differ from the recorded one.
const TOLERANCE: f64 = 0.03;

/// A command line of the program, in words of [`Inputs`].
struct Operation {
    name: &'static str,
    arguments: &'static [&'static str],
}

const OPERATIONS: [Operation; 12] = [
    Operation { name: "check HLO of 160 kB", arguments: &["check", "HLO"] },
    Operation { name: "check MLIR of 100 kB", arguments: &["check", "MLIR"] },
    Operation { name: "explain all instructions", arguments: &["explain", "SMALL"] },
    Operation {
        name: "all analyses, and 20 edits",
        arguments: &["analysis-stats", "--edits", "20", "SMALL"],
    },
    Operation {
        name: "PTX of a reduction",
        arguments: &["kernel", "KERNELS", "--fusion", "input_multiply_reduce_fusion", "--emit", "ptx"],
    },
    Operation {
        name: "MLIR of a loop",
        arguments: &["kernel", "KERNELS", "--fusion", "loop_tanh_fusion", "--emit", "mlir"],
    },
    Operation {
        name: "tile program of a dot",
        arguments: &["kernel", "KERNELS", "--fusion", "gemm_fusion_dot", "--emit", "ttir"],
    },
    Operation { name: "findings of all kernels", arguments: &["check", "KERNELS"] },
    Operation { name: "the whole optimizer", arguments: &["optimize", "UNOPTIMIZED", "--pipeline", "gpu"] },
    Operation { name: "plan of memory", arguments: &["memory", "KERNELS"] },
    Operation { name: "HLO as StableHLO", arguments: &["convert", "SMALL", "--to", "stablehlo"] },
    Operation { name: "report of a compile", arguments: &["report", "DUMP", "-o", "PAGE"] },
];

/// The files that the operations read and write.
struct Inputs {
    folder: PathBuf,
}

impl Inputs {
    fn write() -> Result<Inputs> {
        let folder = target_dir().join("counts");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("hlo.hlo"), generated_hlo(8))?;
        fs::write(folder.join("small.hlo"), generated_hlo(1))?;
        fs::write(folder.join("mlir.mlir"), generated_mlir(100_000))?;
        Ok(Inputs { folder })
    }

    fn argument(&self, word: &str) -> PathBuf {
        let dump = root().join("server/test-files/dump");
        match word {
            "HLO" => self.folder.join("hlo.hlo"),
            "SMALL" => self.folder.join("small.hlo"),
            "MLIR" => self.folder.join("mlir.mlir"),
            "PAGE" => self.folder.join("report.html"),
            "DUMP" => dump,
            "KERNELS" => dump.join("module_0001.jit_step.sm_9.0a_gpu_after_optimizations.txt"),
            "UNOPTIMIZED" => dump.join("module_0001.jit_step.before_optimizations.txt"),
            word => PathBuf::from(word),
        }
    }
}

/// `--record WHY` adds the numbers of this tree to the history; otherwise they are held against the newest ones there.
pub fn counts(options: &[&str]) -> Result<()> {
    let why = match options {
        [] => None,
        ["--record", why] => Some(*why),
        _ => bail!("counts takes --record WHY, or nothing"),
    };
    match measured() {
        Ok(numbers) => match why {
            Some(why) => record(why, &numbers?),
            None => compare(&numbers?),
        },
        Err(Absent(reason)) => bail!("{reason}"),
    }
}

/// A step of `cargo xtask test`: skipped without valgrind.
pub fn check() -> Result<Result<()>, Absent> {
    Ok(measured()?.and_then(|numbers| compare(&numbers)))
}

type Numbers = Vec<(&'static str, u64)>;

fn measured() -> Result<Result<Numbers>, Absent> {
    let valgrind = on_path(&["valgrind"]).ok_or_else(|| Absent("no valgrind on PATH".into()))?;
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        return Err(Absent("the recorded numbers are of x86-64 and Linux".into()));
    }
    Ok(Inputs::write().and_then(|inputs| {
        let count = |operation: &Operation| Ok((operation.name, count(&valgrind, &inputs, operation)?));
        OPERATIONS.iter().map(count).collect()
    }))
}

fn count(valgrind: &Path, inputs: &Inputs, operation: &Operation) -> Result<u64> {
    let mut run = Command::new(valgrind);
    run.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    run.arg(target_dir().join("release/hlo-analyzer"));
    run.args(operation.arguments.iter().map(|word| inputs.argument(word)));
    run.env("RAYON_NUM_THREADS", "1").current_dir(root()).stdin(Stdio::null());
    let done = run.output().with_context(|| format!("cannot start `{}`", show(&run)))?;
    let log = String::from_utf8_lossy(&done.stderr);
    // `check` ends with 1 where it finds something.
    if done.status.code().is_none_or(|code| code > 1) {
        bail!("`{}` failed: {}\n{log}", show(&run), done.status);
    }
    let collected = log.lines().rev().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    collected.with_context(|| format!("callgrind printed no number:\n{log}"))
}

fn history() -> Result<Value> {
    let file = root().join(HISTORY);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", file.display()))
}

/// The compiler, whose code the numbers are of.
fn compiler() -> Result<String> {
    let printed = crate::commands::output(&mut command("rustc", &["--version"]))?;
    Ok(printed.trim().to_owned())
}

fn record(why: &str, numbers: &Numbers) -> Result<()> {
    let mut history = history()?;
    let counts: Value = numbers.iter().map(|&(name, count)| (name.to_owned(), json!(count))).collect();
    let records = history.as_array_mut().context("the history is no list")?;
    records.push(json!({"why": why, "compiler": compiler()?, "counts": counts}));
    fs::write(root().join(HISTORY), serde_json::to_string_pretty(&history)? + "\n")?;
    numbers.iter().for_each(|(name, count)| println!("{name:28} {:10.1} million", *count as f64 / 1e6));
    Ok(())
}

fn compare(numbers: &Numbers) -> Result<()> {
    let history = history()?;
    let newest = history.as_array().and_then(|records| records.last()).context("no numbers are recorded")?;
    let same_compiler = newest["compiler"] == json!(compiler()?);
    let mut worse = Vec::new();
    for &(name, count) in numbers {
        let recorded =
            newest["counts"][name].as_u64().with_context(|| format!("{name} has no recorded number"))?;
        let part = count as f64 / recorded as f64 - 1.0;
        println!("{name:28} {:10.1} million {:+6.1} %", count as f64 / 1e6, part * 100.0);
        if part.abs() > TOLERANCE {
            worse.push(format!("{name} {:+.1} %", part * 100.0));
        }
    }
    if !worse.is_empty() && same_compiler {
        bail!(
            "other numbers than recorded: {}; if that is meant, `cargo xtask counts --record WHY` records them",
            worse.join(", ")
        );
    }
    if !same_compiler {
        println!("not judged: the recorded numbers are of {}", newest["compiler"]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{OPERATIONS, history};

    #[test]
    fn every_operation_has_a_recorded_number() {
        let history = history().expect("it is there");
        let newest = history.as_array().and_then(|records| records.last()).expect("it has a record");
        for operation in &OPERATIONS {
            assert!(newest["counts"][operation.name].as_u64() > Some(1_000_000), "{}", operation.name);
        }
        assert_eq!(newest["counts"].as_object().map(serde_json::Map::len), Some(OPERATIONS.len()));
    }
}
