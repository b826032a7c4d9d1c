//! `cargo xtask …`: the project's own tasks. Each file is a task or a helper of tasks.

#![allow(clippy::print_stdout, reason = "a task talks to the person who started it")]

mod bench;
mod codegen;
mod commands;
mod counts;
mod coverage;
mod dist;
mod docs;
mod editors;
mod fuzz;
mod install;
mod kernels;
mod mutants;
mod needs;
mod oracle;
mod release;
mod reproducible;
mod soak;
mod test;
mod tools;
mod wheel;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::tools::{Absent, Tools};

const USAGE: &str = "\
usage: cargo xtask TASK

  test [STEP…]            everything: format, build, lints, tests, documentation, the VS Code package, a real VS Code;
                          with words, only the steps with one of them in their names: test release documentation
  install                 the server into cargo's bin folder and, where `code` is on PATH, the VS Code extension
  dist [--profile dist|release] [--out DIR]
                          the VS Code extension with the server inside, as DIR/hlo-analyzer.vsix
  wheel [--profile dist|release] [--out DIR]
                          the Python package with the program inside, as a wheel for this platform in DIR
  release [--profile dist|release] [--out DIR] [--tag vVERSION] [--pre-release DAY] [--only build|assemble]
                          all packages of the version in DIR: archive, extension, wheel, bills of materials, formula, flake,
                          checksums and notes; it uploads nothing. --pre-release 20260131 builds one for VS Code
  bench [--with-jaxlib] [FILE…]
                          our parse rate, beside XLA's own parser where jaxlib can be imported; maps; kernels as text, beside
                          XLA's compiler where its plugin can be imported; PTX instructions run
  bench --page            all figures of server/docs/performance.md in one run, which it writes
  bench --against BINARY  this server and another one in turns: a ratio per row, and how many rows are slower
  bench --previews        kernels as text alone; --release measures the build with assertions
  bench --mlir            the server on MLIR alone, beside mlir-lsp-server where it is installed
  bench --freezes         edits and cancellations while requests run, alone
  bench --compiles        a dump folder: matching its stages, and hovers with origins, alone
  bench --install         the size of the wheel, and steps and seconds to the first finding in Python, VS Code, Neovim and Helix
  bench --memory          plans of memory, alone
  bench --linearity       how the time of every command, query and request grows with texts of many shapes, alone
  bench --optimizer       previews after XLA's pipeline, from text and after edits, alone
  kernels [--all | PART]  XLA's kernels and ours run and held against the interpreter: a sample, all, or those with PART in their name
  soak [differential|simulation|changing-files|queries|small-stack] [--minutes N] [--seed N|--first-seed N]
                          random edits compared with analysis from scratch, and random requests to `query`: deaths, panics,
                          hangs and differences, shrunk, in target/soak; --seed runs one case again; small-stack asks
                          everything about deep inputs once
  oracle [--cases N] [--first N]
                          random modules, computed by XLA on the processor and by the interpreter: what differs is in target/oracle
  counts [--record WHY]   processor instructions of twelve operations, held against the recorded ones; with WHY, records them
  reproducible            builds the program of what is committed in two folders, and compares the bytes
  fuzz [TARGET…] [--minutes N]
                          searches for inputs that break a property of `server/fuzzing`, an hour for each target; failures and
                          what was found on the way are kept in target/fuzz
  coverage [CRATE…]       the lines of each crate of the server that its tests run, in percent; less than 90 % of all is an error.
                          Of some crates, what their own tests run, in less time
  mutants [CRATE…] [--sample N] [--seed N]
                          changes the code of indexing-map, indexing, gpu and passes in one place at a time, 100 places of each:
                          which changes no test notices; less than 85 % noticed is an error
  codegen [--check]       the parts of this tree that are made from others; --check only compares
  editors [--server FILE] Neovim, Emacs and Helix of newer Debians, which it puts into the cache (as root), with the clients here, and the extension for Zed
                          and a server of the release build or FILE
  tools                   installs what `test` needs to drive a real VS Code and to verify MLIR (else it skips that)
";

/// The names of the tasks in [`USAGE`], for those who call them.
const TASKS: [&str; 17] = [
    "test",
    "install",
    "dist",
    "wheel",
    "release",
    "bench",
    "kernels",
    "soak",
    "oracle",
    "counts",
    "reproducible",
    "fuzz",
    "coverage",
    "mutants",
    "codegen",
    "editors",
    "tools",
];

fn main() -> ExitCode {
    match task() {
        Ok(()) => ExitCode::SUCCESS,
        // Not returned from `main`: with backtraces enabled one would be printed, which does not help the
        // user.
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn task() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let tools = Tools::from_env();
    match args.as_slice() {
        [] | ["-h" | "--help" | "help", ..] | [.., "-h" | "--help"] => {
            print!("{USAGE}");
            Ok(())
        }
        ["test", only @ ..] => test::test(&tools, only),
        ["install"] => install::install(&tools),
        ["dist", options @ ..] => dist::dist(&dist::Options::parse(options)?, &tools).map(drop),
        ["wheel", options @ ..] => match wheel::wheel(&dist::Options::parse(options)?, &tools) {
            Ok(_) => Ok(()),
            Err(Absent(reason)) => bail!("{reason}"),
        },
        ["release", options @ ..] => release::release(&release::Options::parse(options)?, &tools),
        ["bench", options @ ..] => bench::bench(options, &tools),
        ["kernels", options @ ..] => kernels::kernels(options),
        ["soak", options @ ..] => soak::soak(options),
        ["oracle", options @ ..] => oracle::oracle(options, &tools),
        ["counts", options @ ..] => counts::counts(options),
        ["reproducible"] => reproducible::reproducible(),
        ["coverage", crates @ ..] => coverage::coverage(crates),
        ["mutants", options @ ..] => mutants::mutants(options),
        ["fuzz", options @ ..] => fuzz::fuzz(options),
        ["codegen"] => codegen::codegen(codegen::Mode::Write),
        ["codegen", "--check"] => codegen::codegen(codegen::Mode::Check),
        ["editors"] => editors::editors(&tools, None),
        ["editors", "--server", server] => editors::editors(&tools, Some(server)),
        ["tools"] => install_tools(),
        [task, ..] => bail!("no such task, or it takes other arguments: {task}; see `cargo xtask --help`"),
    }
}

fn install_tools() -> Result<()> {
    let tools = Tools::installing();
    let install = || -> Result<(), Absent> {
        println!("chromium: {}", tools.chromium()?.display());
        println!("VS Code:  {}", tools.code_server()?.package.display());
        println!("mlir-opt: {}", tools.mlir_opt()?.display());
        Ok(())
    };
    install().or_else(|Absent(reason)| bail!("{reason}"))
}

#[cfg(test)]
mod tests {
    use super::{TASKS, USAGE};

    #[test]
    fn the_usage_names_every_task() {
        let mut named: Vec<&str> = USAGE
            .lines()
            .filter_map(|line| {
                line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '))?.split(' ').next()
            })
            .collect();
        named.dedup();
        assert_eq!(named, TASKS);
    }
}
