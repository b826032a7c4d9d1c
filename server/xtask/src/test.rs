//! `cargo xtask test`: all checks of the project, step by step, with a summary.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::codegen;
use crate::commands::{cargo, command, on_path, root, run, target_dir};
use crate::counts;
use crate::dist::{self, EXTENSION};
use crate::docs;
use crate::editors;
use crate::needs;
use crate::release;
use crate::tools::{Absent, Tools};
use crate::wheel::{self, PACKAGE};

const EDITOR_TEST: &str = "tests/editors/vscode";
const PROTOCOL_TEST: &str = "tests/editors/pytest_lsp";
const AGENTS_TEST: &str = "tests/agents";

enum Outcome {
    Passed,
    Failed(String),
    /// Skipped, with the reason: a missing tool, or a failed earlier step that this one needs.
    Skipped(String),
}

struct Run {
    /// Parts of the names of the steps that run; all without any.
    only: Vec<String>,
    steps: Vec<(&'static str, Outcome, Duration)>,
}

impl Run {
    fn is_chosen(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }

    /// Whether the step passed. One that is not chosen counts as passed, for the steps that need it.
    fn step(&mut self, name: &'static str, body: impl FnOnce() -> Result<(), Stop>) -> bool {
        if !self.is_chosen(name) {
            return true;
        }
        println!("\n── {name}");
        let start = Instant::now();
        let outcome = match body() {
            Ok(()) => Outcome::Passed,
            Err(Stop::Failed(error)) => Outcome::Failed(format!("{error:#}")),
            Err(Stop::Skipped(reason)) => Outcome::Skipped(reason),
        };
        let took = start.elapsed();
        println!("── {name}: {} in {:.1} s", word(&outcome), took.as_secs_f64());
        let passed = matches!(outcome, Outcome::Passed);
        self.steps.push((name, outcome, took));
        passed
    }

    /// Prints which steps ran and which did not, and which tests were left out. The last line has the form that
    /// test harnesses read.
    fn summary(&self, left_out: &[String]) -> Result<()> {
        println!("\n── summary");
        let (mut passed, mut failed, mut skipped) = (0, 0, 0);
        for (name, outcome, took) in &self.steps {
            println!("{:>8} {:7.1} s  {name}", word(outcome), took.as_secs_f64());
            match outcome {
                Outcome::Passed => passed += 1,
                Outcome::Failed(error) => {
                    failed += 1;
                    println!("{}", indented(error));
                }
                Outcome::Skipped(reason) => {
                    skipped += 1;
                    println!("{}", indented(reason));
                }
            }
        }
        left_out.iter().for_each(|line| println!("{line}"));
        println!("{passed} passed, {failed} failed, {skipped} skipped");
        if self.steps.is_empty() {
            bail!("no step has {} in its name", self.only.join(" or "));
        }
        if failed > 0 {
            bail!("the test run failed");
        }
        Ok(())
    }
}

enum Stop {
    Failed(anyhow::Error),
    Skipped(String),
}

impl From<anyhow::Error> for Stop {
    fn from(error: anyhow::Error) -> Stop {
        Stop::Failed(error)
    }
}

impl From<Absent> for Stop {
    fn from(Absent(reason): Absent) -> Stop {
        Stop::Skipped(reason)
    }
}

/// Runs all steps, or those with one of `only` in their names.
pub fn test(tools: &Tools, only: &[&str]) -> Result<()> {
    let mut all = Run { only: only.iter().map(|part| part.to_string()).collect(), steps: Vec::new() };
    all.step("format", || Ok(run(&mut cargo(&["fmt", "--all", "--check"]))?));
    let built =
        all.step("build", || Ok(run(&mut cargo(&["build", "--release", "--workspace", "--all-targets"]))?));
    let needs_build = |body: &dyn Fn() -> Result<(), Stop>| {
        if built { body() } else { Err(Stop::Skipped("the build failed".into())) }
    };
    // The same profile as the build, so that only the workspace members are checked again.
    all.step("lints", || {
        needs_build(&|| {
            let clippy = ["clippy", "--release", "--workspace", "--all-targets", "--", "-D", "warnings"];
            Ok(run(&mut cargo(&clippy))?)
        })
    });
    let mut left_out = Vec::new();
    all.step("tests", || {
        // The same random cases in every run: new failing cases are for the fuzzing runs to find, not for an
        // unrelated commit.
        let mut tests = cargo(&["test", "--release", "--workspace", "--no-fail-fast"]);
        if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
            tests.env("PROPTEST_RNG_SEED", "1");
        }
        let nvidia = needs::nvidia(tools);
        for (name, program) in &nvidia {
            tests.env(name, program);
        }
        tests.arg("--").arg("--include-ignored");
        for (module, reason) in needs::unmet(tools, &nvidia) {
            tests.args(["--skip", module]);
            left_out.push((module, reason));
        }
        let tests = std::cell::RefCell::new(tests);
        needs_build(&|| Ok(run(&mut tests.borrow_mut())?))
    });
    all.step("instruction counts", || needs_build(&|| Ok(counts::check()??)));
    let left_out = if built { needs::counted(&left_out)? } else { Vec::new() };
    all.step("protocol, with a client of others", || {
        needs_build(&|| with_client(tools, PROTOCOL_TEST, "pytest-lsp"))
    });
    all.step("agents, with a client of others", || needs_build(&|| with_client(tools, AGENTS_TEST, "mcp")));
    all.step("Python package", || needs_build(&|| python_package(tools)));
    all.step("Neovim", || needs_build(&|| editor("nvim", editors::neovim)));
    all.step("Emacs", || needs_build(&|| editor("emacs", editors::emacs)));
    all.step("Zed", || Ok(editors::zed::check(tools)?));
    all.step("documentation", || needs_build(&|| Ok(docs::check()?)));
    all.step("generated parts", || Ok(codegen::codegen(codegen::Mode::Check)?));
    all.step("release", || Ok(release::check(tools)?));
    all.step("VS Code grammar", || {
        tools.npm_packages(EXTENSION)?;
        Ok(run(command("npm", &["run", "--silent", "test-grammar"]).current_dir(root().join(EXTENSION)))?)
    });
    let mut vsix = None;
    all.step("VS Code package", || {
        needs_build(&|| Ok(()))?;
        tools.npm_packages(EXTENSION)?;
        let options = dist::Options { profile: "release".into(), ..dist::Options::default() };
        vsix = Some(dist::dist(&options, tools)?);
        Ok(())
    });
    all.step("VS Code, end to end", || {
        let vsix = vsix.ok_or_else(|| Stop::Skipped("there is no package to test".into()))?;
        vscode_end_to_end(tools, vsix)
    });
    all.summary(&left_out)
}

/// The server under a client from the Python package index, in an environment inside the target folder.
fn with_client(tools: &Tools, folder: &str, client: &str) -> Result<(), Stop> {
    let folder = root().join(folder);
    let requirements = folder.join("requirements.txt");
    let requirements = requirements.to_str().context("the path of the checkout is not UTF-8")?;
    let installed = tools.venv(&target_dir().join(client), &["--requirement", requirements]);
    let python = installed.map_err(|Absent(reason)| match tools.is_ci() {
        // In CI the tool must be available.
        true => Stop::Failed(anyhow::anyhow!("{reason}")),
        false => Stop::Skipped(format!("{client} cannot be installed: {reason}")),
    })?;
    let server = target_dir().join("release/hlo-analyzer");
    Ok(run(command(python, &["-m", "pytest"]).env("HLO_ANALYZER", server).current_dir(folder))?)
}

/// The wheel, installed in an environment with nothing but jax and pytest.
fn python_package(tools: &Tools) -> Result<(), Stop> {
    let options = dist::Options { profile: "release".into(), ..dist::Options::default() };
    let wheel = wheel::wheel(&options, tools)?;
    let wheel = wheel.to_str().context("the path of the checkout is not UTF-8")?;
    let folder = root().join(PACKAGE);
    let requirements = folder.join("tests/requirements.txt");
    let requirements = requirements.to_str().context("the path of the checkout is not UTF-8")?;
    let environment = target_dir().join("python");
    let python = tools.venv(&environment, &["--requirement", requirements])?;
    // The version stays the same while the project is developed.
    run(command(&python, &["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"]).arg(wheel))?;
    Ok(run(command(python, &["-m", "pytest", "--quiet"]).current_dir(folder))?)
}

/// Runs the checks of a client in a real editor, if a recent enough one is on PATH.
fn editor(name: &str, checks: Checks) -> Result<(), Stop> {
    let program = on_path(&[name])
        .ok_or_else(|| Stop::Skipped(format!("no {name} on PATH; `cargo xtask editors` brings its own")))?;
    let server = target_dir().join("release/hlo-analyzer");
    Ok(run(&mut checks(&program, &server)?.map_err(Stop::Skipped)?)?)
}

/// The command that checks a client in an editor with a server, or the reason why it cannot.
type Checks = fn(&Path, &Path) -> Result<Result<Command, String>>;

fn vscode_end_to_end(tools: &Tools, vsix: PathBuf) -> Result<(), Stop> {
    let mut driver = vscode_driver("run.ts", tools)?;
    let folder = root().join(EDITOR_TEST);
    run(dist::node_bin(&root().join(EXTENSION), "tsc").args(["-p"]).arg(&folder))?;

    let out = target_dir().join("editors");
    run(vscode_driver("web.ts", tools)?.arg("--out").arg(&out))?;
    driver.arg("--vsix").arg(vsix).arg("--out").arg(&out);
    if let Some(dump) = real_dump(&out)? {
        driver.arg("--real-dump").arg(dump);
    }
    Ok(run(&mut driver)?)
}

/// A script that drives a real VS Code, without its own options.
pub fn vscode_driver(script: &str, tools: &Tools) -> Result<Command, Absent> {
    let chromium = tools.chromium()?;
    let code_server = tools.code_server()?;
    tools.npm_packages(EDITOR_TEST)?;
    let mut driver = command(&code_server.node, &[]);
    driver.arg(root().join(EDITOR_TEST).join(script));
    driver.arg("--code-server").arg(&code_server.package).arg("--chromium").arg(chromium);
    Ok(driver)
}

/// A dump of a real program from the corpus beside the checkout, if available.
fn real_dump(out: &Path) -> Result<Option<PathBuf>> {
    let corpus = root().join("../shared/corpus/jax-dev.tar.gz");
    let member = "jax/modules/softmax_fwd.gpu_opt.hlo";
    if !corpus.is_file() {
        println!("without a dump of a real program: there is no corpus beside this checkout");
        return Ok(None);
    }
    std::fs::create_dir_all(out)?;
    run(Command::new("tar").arg("-xzf").arg(&corpus).arg("-C").arg(out).arg(member).stdin(Stdio::null()))
        .context("unpacking the dump of a real program")?;
    Ok(Some(out.join(member)))
}

fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed(_) => "FAILED",
        Outcome::Skipped(_) => "skipped",
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("{:20}{line}", "")).collect::<Vec<_>>().join("\n")
}
