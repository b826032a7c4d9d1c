//! The extension for Zed: compiled as Zed does. Zed itself needs a screen and a graphics card, so no test starts it.

use anyhow::Result;

use crate::commands::{cargo, command, on_path, output, root, run, target_dir};
use crate::tools::{Absent, Tools};

const MANIFEST: &str = "editor-clients/zed/Cargo.toml";
/// The target that Zed compiles extensions for.
const TARGET: &str = "wasm32-wasip1";

/// Tests the extension's own code, then compiles it to WebAssembly; without that target, its types are checked alone.
pub fn check(tools: &Tools) -> Result<(), Absent> {
    let own = |arguments: &[&str]| {
        let mut own = cargo(arguments);
        // The crates of the server have other features.
        own.args(["--locked", "--manifest-path"]).arg(root().join(MANIFEST));
        own.env("CARGO_TARGET_DIR", target_dir().join("zed"));
        own
    };
    if let Err(why) = run(&mut own(&["fetch"])) {
        return Err(Absent(format!("the crates of Zed's extensions cannot be downloaded: {why:#}")));
    }
    run(&mut own(&["test"]))?;
    run(own(&["clippy", "--all-targets"]).args(["--", "-D", "warnings"]))?;
    match has_target(tools)? {
        true => run(&mut own(&["build", "--release", "--target", TARGET]))?,
        false => println!("not compiled to WebAssembly: `rustup target add {TARGET}` installs the target"),
    }
    Ok(())
}

fn has_target(tools: &Tools) -> Result<bool> {
    if on_path(&["rustup"]).is_none() {
        return Ok(false);
    }
    let is_installed = || -> Result<bool> {
        let installed = output(&mut command("rustup", &["target", "list", "--installed"]))?;
        Ok(installed.lines().any(|line| line == TARGET))
    };
    if !is_installed()? && tools.is_ci() {
        run(&mut command("rustup", &["target", "add", TARGET]))?;
    }
    is_installed()
}
