//! `cargo xtask editors`: tests the clients for Neovim, Emacs and Helix in the editor versions that they
//! support, and compiles the one for Zed. A stable system often lacks those, so they come from newer Debians in folders of the cache.

mod debian;
pub mod zed;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use self::debian::{CHECKOUT, Debian};
use crate::commands::{cargo, command, output, root, run, target_dir};
use crate::tools::{Absent, Tools};
use crate::wheel::PACKAGE;

/// Neovim 0.10, Emacs 30 and Helix 25.
const STABLE: &str = "trixie";
const STABLE_PACKAGES: [&str; 7] = ["neovim", "emacs-nox", "elpa-lsp-mode", "hx", "tmux", "gcc", "libc6-dev"];
/// Neovim 0.12, which starts servers by `vim.lsp.config`.
const TESTING: &str = "forky";
const TESTING_PACKAGES: [&str; 1] = ["neovim"];

const NEOVIM: [&str; 8] =
    ["--headless", "-u", "NONE", "-i", "NONE", "-n", "-l", "tests/editors/neovim/checks.lua"];
const EMACS: [&str; 4] = ["-q", "--batch", "-l", "tests/editors/emacs/checks.el"];
const HELIX: &str = "tests/editors/helix/checks.sh";
const FIRST_FINDING_SCRIPT: &str = "tests/editors/first_finding.sh";
/// The script's argument, and the editor.
const FIRST_FINDING: [(&str, &str); 2] = [("neovim", "Neovim"), ("helix", "Helix")];

/// Without a server, one is built.
pub fn editors(tools: &Tools, server: Option<&str>) -> Result<()> {
    let server = match server {
        Some(server) => PathBuf::from(server),
        None => {
            run(&mut cargo(&["build", "--release"]))?;
            target_dir().join("release/hlo-analyzer")
        }
    };
    let stable = Debian::installed(tools, STABLE, &STABLE_PACKAGES)?;
    let testing = Debian::installed(tools, TESTING, &TESTING_PACKAGES)?;
    for debian in [&stable, &testing] {
        debian.install_server(&server)?;
    }
    let mut failed = Vec::new();
    let mut check = |name: &str, debian: &Debian, program: &str, arguments: &[&str]| {
        println!("\n── {name}");
        let script = format!("cd {CHECKOUT} && exec \"$0\" \"$@\"");
        let mut words = vec!["sh", "-c", &script, program];
        words.extend(arguments);
        if let Err(why) = run(&mut debian.inside(&words)) {
            failed.push(format!("{name}: {why:#}"));
        }
    };
    check("Neovim of Debian stable", &stable, "nvim", &NEOVIM);
    let grammars = "sh editor-clients/neovim/install.sh && exec nvim --headless -u NONE -i NONE -n -l \
                    tests/editors/neovim/grammars.lua";
    check("Neovim with the grammars", &stable, "sh", &["-c", grammars]);
    check("Neovim of Debian testing", &testing, "nvim", &NEOVIM);
    check("Emacs with eglot", &stable, "emacs", &EMACS);
    let under_lsp_mode: Vec<_> = ["LSP_MODE=1", "emacs"].into_iter().chain(EMACS).collect();
    check("Emacs with lsp-mode", &stable, "env", &under_lsp_mode);
    // As a user would: the languages, then the grammars.
    let config = stable.path("/root/.config/helix");
    std::fs::create_dir_all(&config)?;
    std::fs::copy(root().join("editor-clients/helix/languages.toml"), config.join("languages.toml"))?;
    check("Helix", &stable, "sh", &[HELIX]);
    for (editor, _) in FIRST_FINDING {
        check(&format!("{editor}, never started"), &stable, "sh", &[FIRST_FINDING_SCRIPT, editor]);
    }
    println!("\n── Zed");
    if let Err(Absent(why)) = zed::check(tools) {
        failed.push(format!("Zed: {why}"));
    }
    println!("\n── Ray");
    if let Err(why) = ray(tools, &server) {
        failed.push(format!("Ray: {why:#}"));
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => bail!("{}", failed.join("\n")),
    }
}

/// The dumps of a fleet as tasks of Ray, which is too large for every test run.
fn ray(tools: &Tools, server: &Path) -> Result<()> {
    let packages = ["ray[data]==2.60.0", "pyarrow==26.0.1", "pytest==9.2.0"];
    let python = tools.venv(&target_dir().join("ray"), &packages);
    let python = python.map_err(|Absent(reason)| anyhow::anyhow!("Ray cannot be installed: {reason}"))?;
    let package = root().join(PACKAGE);
    let mut tests = command(python, &["-m", "pytest", "--quiet", "-rs", "tests/test_dataset.py"]);
    tests.env("HLO_ANALYZER", root().join(server)).env("PYTHONPATH", package.join("src"));
    run(tests.current_dir(package))
}

/// The seconds from an editor that was never started to the first warning, by the editor's README, in a Debian of the cache.
pub fn first_findings(tools: &Tools, server: &Path) -> Vec<(&'static str, Result<f64>)> {
    let measured = |editor: &str| {
        let debian = Debian::installed(tools, STABLE, &STABLE_PACKAGES)?;
        debian.install_server(server)?;
        let script = format!("{CHECKOUT}/{FIRST_FINDING_SCRIPT}");
        let printed = output(&mut debian.inside(&["sh", &script, editor]))?;
        seconds_to_first_finding(&printed).with_context(|| format!("no finding: {printed}"))
    };
    FIRST_FINDING.map(|(editor, name)| (name, measured(editor))).into()
}

/// What a script says after the first finding.
pub fn seconds_to_first_finding(printed: &str) -> Option<f64> {
    let line = printed.lines().find_map(|line| line.strip_prefix("first finding after "))?;
    line.strip_suffix(" s")?.parse().ok()
}

/// The checks of Neovim for an installed one; the reason if it is too old.
pub fn neovim(program: &Path, server: &Path) -> Result<Result<Command, String>> {
    let version = output(&mut command(program, &["--version"]))?;
    let named = version.lines().next().unwrap_or_default();
    Ok(is_at_least(named, "NVIM v", (0, 10))
        .then(|| with_server(program, &NEOVIM, server))
        .ok_or_else(|| format!("{named}: the plugin needs Neovim 0.10 or newer")))
}

/// The checks of Emacs for an installed one; the reason if it is too old.
pub fn emacs(program: &Path, server: &Path) -> Result<Result<Command, String>> {
    let version = output(&mut command(program, &["--version"]))?;
    let named = version.lines().next().unwrap_or_default();
    Ok(is_at_least(named, "GNU Emacs ", (29, 0))
        .then(|| with_server(program, &EMACS, server))
        .ok_or_else(|| format!("{named}: the package needs Emacs 29 or newer")))
}

fn with_server(program: &Path, arguments: &[&str], server: &Path) -> Command {
    let mut checks = command(program, arguments);
    checks.env("HLO_ANALYZER", server);
    checks
}

/// Whether the version after `prefix` is at least (major, minor). A version that cannot be read is not.
fn is_at_least(named: &str, prefix: &str, least: (u32, u32)) -> bool {
    let mut parts = named.strip_prefix(prefix).unwrap_or_default().split(['.', '-']).map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => (major, minor) >= least,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::{is_at_least, seconds_to_first_finding};

    #[test]
    fn seconds_are_read() {
        assert_eq!(seconds_to_first_finding("a\nfirst finding after 1.25 s\n"), Some(1.25));
        assert_eq!(seconds_to_first_finding("nothing"), None);
    }

    #[test]
    fn versions_are_compared_by_number() {
        let neovim = |named| is_at_least(named, "NVIM v", (0, 10));
        assert!(neovim("NVIM v0.10.4") && neovim("NVIM v0.12.0-dev") && neovim("NVIM v1.0.0"));
        assert!(!neovim("NVIM v0.7.2") && !neovim("NVIM") && !neovim(""));
        let emacs = |named| is_at_least(named, "GNU Emacs ", (29, 0));
        assert!(emacs("GNU Emacs 30.1") && !emacs("GNU Emacs 28.2"));
    }
}
