//! `cargo xtask dist`: builds one .vsix with the extension and the server, and writes the completions of shells and the manual.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::commands::{cargo, command, root, run, target_dir};
use crate::release::{self, Platform};
use crate::tools::{self, Absent, Tools};

pub const EXTENSION: &str = "editor-clients/vscode";

pub struct Options {
    /// The cargo profile of the server: `dist` for users, `release` with assertions.
    pub profile: String,
    pub out: PathBuf,
    /// The version of a pre-release in VS Code's marketplaces.
    pub pre_release: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options { profile: "dist".into(), out: target_dir().join("dist"), pre_release: None }
    }
}

impl Options {
    pub fn parse(args: &[&str]) -> Result<Options> {
        let mut options = Options::default();
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let value = args.next().with_context(|| format!("{arg} needs a value"))?;
            match *arg {
                "--profile" if ["dist", "release"].contains(value) => options.profile = value.to_string(),
                "--profile" => bail!("--profile is dist or release, not {value}"),
                "--out" => options.out = root().join(value),
                _ => bail!("this takes --profile and --out, not {arg}"),
            }
        }
        Ok(options)
    }
}

/// Builds the package and returns its path.
pub fn dist(options: &Options, tools: &Tools) -> Result<PathBuf> {
    let server = build_server(&options.profile)?;
    let extension = root().join(EXTENSION);
    copy_server(&server, &extension.join("server"))?;
    tools.npm_packages(EXTENSION).or_else(|Absent(reason)| bail!("{reason}"))?;

    fs::create_dir_all(&options.out)?;
    write_shell_files(&server, &options.out)?;
    let vsix = options.out.join("hlo-analyzer.vsix");
    run(node_bin(&extension, "tsc").args(["--noEmit", "-p", "."]))?;
    // `vsce package` bundles through the `vscode:prepublish` script. The included server is for one platform.
    let mut vsce = node_bin(&extension, "vsce");
    vsce.arg("package");
    if let Some(version) = &options.pre_release {
        vsce.args([version, "--no-update-package-json", "--no-git-tag-version", "--pre-release"]);
    }
    // Pages of marketplaces have links to the state that was packaged.
    let state = if options.pre_release.is_some() { "main".to_owned() } else { release::tag()? };
    for (option, kind) in [("--baseContentUrl", "blob"), ("--baseImagesUrl", "raw")] {
        vsce.arg(option).arg(release::page(kind, &state, EXTENSION)?);
    }
    vsce.args(["--no-dependencies", "--target", Platform::here()?.vscode, "--out"]);
    run(vsce.arg(&vsix))?;
    let size = vsix.metadata().with_context(|| format!("vsce made no {}", vsix.display()))?.len();
    println!("{}: {:.1} MB", vsix.display(), size as f64 / 1e6);
    Ok(vsix)
}

/// Writes what shells and `man` read of the program: `completions/` and `man/`.
fn write_shell_files(server: &Path, out: &Path) -> Result<()> {
    let completions = out.join("completions");
    fs::create_dir_all(&completions)?;
    // By the names under which the shells look for them.
    for (shell, file) in [
        ("bash", "hlo-analyzer.bash"),
        ("zsh", "_hlo-analyzer"),
        ("fish", "hlo-analyzer.fish"),
        ("elvish", "hlo-analyzer.elv"),
        ("powershell", "_hlo-analyzer.ps1"),
    ] {
        let printed = command(server, &["completions", shell]).output()?;
        if !printed.status.success() || printed.stdout.is_empty() {
            bail!("{} prints no completions of {shell}", server.display());
        }
        fs::write(completions.join(file), printed.stdout)?;
    }
    run(command(server, &["man", "--out"]).arg(out.join("man")))
}

/// Builds the server and returns the path of the program.
pub fn build_server(profile: &str) -> Result<PathBuf> {
    run(&mut cargo(&["build", "--profile", profile, "--package", "hlo-analyzer"]))?;
    Ok(server(profile))
}

/// Where cargo puts the program.
pub fn server(profile: &str) -> PathBuf {
    let program = format!("hlo-analyzer{}", std::env::consts::EXE_SUFFIX);
    target_dir().join(profile).join(program)
}

/// Recreates the folder, so that it holds only this server, and none of another platform from an earlier
/// build.
fn copy_server(server: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let name = server.file_name().context("the server has no file name")?;
    fs::copy(server, folder.join(name)).with_context(|| format!("cannot copy {}", server.display()))?;
    Ok(())
}

/// A program from the extension's development packages, run in the extension's folder.
pub fn node_bin(extension: &Path, name: &str) -> std::process::Command {
    let program = tools::npm_program(name);
    let mut found = command(extension.join("node_modules/.bin").join(program), &[]);
    found.current_dir(extension);
    found
}
