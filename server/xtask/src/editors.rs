//! `cargo xtask editors`: tests the clients for Neovim, Emacs and Helix in the editor versions that they
//! support. A stable system often lacks those, so they come from a newer Debian in a separate folder.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::commands::{cargo, command, root, run, target_dir};
use crate::tools::Tools;

/// This release has Neovim 0.10, Emacs 30 and Helix 25.
const DEBIAN: &str = "trixie";
const DEBOOTSTRAP: &str = "/usr/sbin/debootstrap";
/// Root's PATH: a user's may lack the `sbin` folders.
const SYSTEM_PATH: &str = "/usr/bin:/bin:/usr/sbin:/sbin";
const EDITORS: [&str; 5] = ["neovim", "emacs-nox", "hx", "gcc", "libc6-dev"];
/// The folders of the checkout that the checks read.
const NEEDED: [&str; 5] = [
    "editor-clients/neovim",
    "editor-clients/emacs",
    "editor-clients/helix",
    "grammar/tree-sitter",
    "tests/editors",
];

pub fn editors(tools: &Tools) -> Result<()> {
    run(&mut cargo(&["build", "--release"]))?;
    let debian = installed(tools)?;
    let work = debian.join("work");
    if work.exists() {
        std::fs::remove_dir_all(&work)?;
    }
    for part in NEEDED {
        copy(&root().join(part), &work.join(part))?;
    }
    std::fs::copy(target_dir().join("release/hlo-analyzer"), work.join("hlo-analyzer"))?;
    let config = debian.join("root/.config/helix");
    std::fs::create_dir_all(&config)?;
    std::fs::copy(work.join("editor-clients/helix/languages.toml"), config.join("languages.toml"))?;

    let neovim = [
        "nvim",
        "--headless",
        "-u",
        "NONE",
        "-i",
        "NONE",
        "-n",
        "-l",
        "/work/tests/editors/neovim/checks.lua",
    ];
    let emacs = ["emacs", "-q", "--batch", "-l", "/work/tests/editors/emacs/checks.el"];
    let mut failed = Vec::new();
    for (name, arguments) in [("Neovim", neovim.as_slice()), ("Emacs", emacs.as_slice())] {
        println!("\n── {name}");
        if let Err(why) = run(&mut inside(&debian, arguments)) {
            failed.push(format!("{name}: {why:#}"));
        }
    }
    println!("\n── Helix");
    if let Err(why) = run(&mut inside(&debian, &["sh", "/work/editor-clients/helix/install.sh"])) {
        failed.push(format!("Helix: {why:#}"));
    }
    for language in ["hlo", "mlir", "ptx"] {
        let said = with_proc(&debian, &["hx", "--health", language]).output()?;
        let health = String::from_utf8_lossy(&said.stdout);
        let has =
            |name: &str, value: &str| health.lines().any(|line| line.contains(name) && line.contains(value));
        // Helix has no server for PTX.
        let checks = [
            ("the server is found", language == "ptx" || has("hlo-analyzer", "/work/hlo-analyzer")),
            ("it has a grammar", has("parser", "✓")),
            ("it has colours", has("Highlight queries", "✓")),
        ];
        for (what, is_good) in checks {
            println!("  {}  {language}: {what}", if is_good { "ok    " } else { "FAILED" });
            if !is_good {
                failed.push(format!("Helix: {language}: {what}:\n{health}"));
            }
        }
    }
    match failed.as_slice() {
        [] => Ok(()),
        failed => bail!("{}", failed.join("\n")),
    }
}

/// A command in the other Debian, with our server on its PATH.
fn inside(debian: &Path, arguments: &[&str]) -> std::process::Command {
    let mut inside = command("/usr/sbin/chroot", &[]);
    inside.arg(debian).args(arguments);
    inside.env("PATH", format!("/work:{SYSTEM_PATH}")).env("HOME", "/root").env("TERM", "xterm");
    inside.env("LANG", "C.UTF-8").env("HLO_ANALYZER", "/work/hlo-analyzer").env_remove("TMPDIR");
    inside
}

/// Like [`inside`], with `/proc` mounted while the command runs, by which Helix finds its own folder.
fn with_proc(debian: &Path, arguments: &[&str]) -> std::process::Command {
    let plain = inside(debian, arguments);
    let script = "mount -t proc proc \"$0/proc\" && exec /usr/sbin/chroot \"$0\" \"$@\"";
    let mut inside = command("unshare", &["--mount", "--propagation", "private", "sh", "-c", script]);
    inside.arg(debian).args(arguments);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => inside.env(name, value),
            None => inside.env_remove(name),
        };
    }
    inside
}

/// The folder of the other Debian with the editors; takes about a minute and a gigabyte, once.
fn installed(tools: &Tools) -> Result<PathBuf> {
    let folder = tools.cache().join(DEBIAN);
    let complete = folder.join("installed");
    let wanted = EDITORS.join("\n");
    let is_there = complete.is_file();
    if is_there && std::fs::read_to_string(&complete)? == wanted {
        return Ok(folder);
    }
    if !Path::new(DEBOOTSTRAP).is_file() {
        bail!("no {DEBOOTSTRAP} (Debian: apt-get install debootstrap); it is run as root");
    }
    let where_to = folder.to_str().context("the path of the cache is not UTF-8")?;
    // An existing folder with fewer packages only gets the missing ones.
    if !is_there {
        let mut debootstrap =
            command(DEBOOTSTRAP, &["--variant=minbase", "--include=ca-certificates", DEBIAN, where_to]);
        run(debootstrap.env("PATH", SYSTEM_PATH))?;
    }
    let mut install = inside(&folder, &["apt-get", "install", "-q", "-y", "--no-install-recommends"]);
    run(install.args(EDITORS).env("DEBIAN_FRONTEND", "noninteractive"))?;
    std::fs::write(&complete, wanted)?;
    Ok(folder)
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()? {
            kind if kind.is_dir() && entry.file_name() != "node_modules" => copy(&entry.path(), &target)?,
            kind if kind.is_file() => _ = std::fs::copy(entry.path(), &target)?,
            _ => {}
        }
    }
    Ok(())
}
