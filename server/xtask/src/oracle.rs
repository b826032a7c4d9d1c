//! `cargo xtask oracle`: random modules, computed by XLA on the processor and by the interpreter.

use std::fs::File;
use std::process::Stdio;

use anyhow::{Context as _, Result, bail};

use crate::commands::{cargo, command, root, run, show, target_dir};
use crate::tools::{Absent, Tools};

const SCRIPT: &str = "server/eval/examples/oracle.py";
const JAX: &str = "jax==0.10.2";
const CASES: u64 = 100_000;

struct Options {
    first: u64,
    cases: u64,
}

impl Options {
    fn parse(mut options: &[&str]) -> Result<Options> {
        let mut parsed = Options { first: 0, cases: CASES };
        let number = |text: &str| text.parse().with_context(|| format!("{text} is no number"));
        while let [option, value, rest @ ..] = options {
            match *option {
                "--first" => parsed.first = number(value)?,
                "--cases" => parsed.cases = number(value)?,
                other => bail!("oracle takes --first N and --cases N, not {other}"),
            }
            options = rest;
        }
        match options {
            [] => Ok(parsed),
            [rest, ..] => bail!("oracle takes --first N and --cases N, not {rest}"),
        }
    }
}

/// Writes the modules, XLA's answers and the disagreements to `target/oracle`.
pub fn oracle(options: &[&str], tools: &Tools) -> Result<()> {
    let Options { first, cases } = Options::parse(options)?;
    let python = match std::env::var_os("HLO_ANALYZER_PYTHON") {
        Some(python) => python.into(),
        None => tools
            .venv(&target_dir().join("python"), &[JAX])
            .map_err(|Absent(why)| anyhow::anyhow!("{why}"))?,
    };
    run(&mut cargo(&["build", "--release", "--package", "eval", "--example", "oracle"]))?;
    let program = target_dir().join("release/examples/oracle");
    let folder = target_dir().join("oracle");
    std::fs::create_dir_all(&folder)?;
    let [asked, answered, judged] =
        ["asked.jsonl", "answered.jsonl", "different.jsonl"].map(|name| folder.join(name));
    let (first, cases) = (first.to_string(), cases.to_string());
    let stages = [
        (command(&program, &["ask", &first, &cases]), None, &asked),
        (command(&python, &[SCRIPT]), Some(&asked), &answered),
        (command(&program, &["judge"]), Some(&answered), &judged),
    ];
    for (mut stage, from, to) in stages {
        let create = File::create(to).with_context(|| format!("cannot write {}", to.display()))?;
        let input = from.map_or(Ok(Stdio::null()), |file| File::open(file).map(Stdio::from))?;
        println!("$ {}", show(&stage));
        let status = stage.current_dir(root()).stdin(input).stdout(create).status()?;
        if !status.success() {
            bail!("`{}` failed: {status}", show(&stage));
        }
    }
    let judgement = std::fs::read_to_string(&judged)?;
    let counts = judgement.lines().last().unwrap_or_default();
    println!("{counts}");
    if counts.contains("different") {
        bail!("XLA and the interpreter differ: see {}", judged.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn options_are_read() {
        let options = Options::parse(&["--cases", "10", "--first", "5"]).expect("they are options");
        assert_eq!((options.first, options.cases), (5, 10));
        assert!(Options::parse(&["--cases"]).is_err() && Options::parse(&["all", "1"]).is_err());
    }
}
