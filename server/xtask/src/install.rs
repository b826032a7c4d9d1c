//! `cargo xtask install`: installs the server in cargo's bin folder and the extension in VS Code.

use anyhow::Result;

use crate::commands::{cargo, command, on_path, run};
use crate::dist;
use crate::tools::Tools;

pub fn install(tools: &Tools) -> Result<()> {
    run(&mut cargo(&[
        "install",
        "--locked",
        "--force",
        "--profile",
        "dist",
        "--path",
        "server/hlo-analyzer",
    ]))?;

    let Some(code) = on_path(&["code", "code.cmd"]) else {
        println!(
            "`code` is not on PATH, so the VS Code extension was not installed. In VS Code run \
             “Shell Command: Install 'code' command in PATH” and call this again, or build the package with \
             `cargo xtask dist` and choose “Install from VSIX…” in the Extensions view."
        );
        return Ok(());
    };
    let vsix = dist::dist(&dist::Options::default(), tools)?;
    run(command(code, &["--force", "--install-extension"]).arg(vsix))
}
