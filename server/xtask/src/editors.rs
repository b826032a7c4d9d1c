//! `cargo xtask editors`: tests the clients for Neovim, Emacs and Helix in the editor versions that they
//! support. A stable system often lacks those, so they come from newer Debians in folders of the cache.

mod debian;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, bail};

use self::debian::{CHECKOUT, Debian};
use crate::commands::{cargo, command, output, root, run, target_dir};
use crate::tools::Tools;

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
    match failed.as_slice() {
        [] => Ok(()),
        failed => bail!("{}", failed.join("\n")),
    }
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
    use super::is_at_least;

    #[test]
    fn versions_are_compared_by_number() {
        let neovim = |named| is_at_least(named, "NVIM v", (0, 10));
        assert!(neovim("NVIM v0.10.4") && neovim("NVIM v0.12.0-dev") && neovim("NVIM v1.0.0"));
        assert!(!neovim("NVIM v0.7.2") && !neovim("NVIM") && !neovim(""));
        let emacs = |named| is_at_least(named, "GNU Emacs ", (29, 0));
        assert!(emacs("GNU Emacs 30.1") && !emacs("GNU Emacs 28.2"));
    }
}
