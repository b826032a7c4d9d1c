//! `cargo xtask wheel`: builds the Python package with the program inside, as a wheel for this platform.

use std::fs;
use std::path::PathBuf;
use std::time::SystemTime;

use anyhow::{Context, Result};

use crate::commands::{command, leave_out_paths, root, run, target_dir};
use crate::dist;
use crate::tools::{Absent, Tools};

pub const PACKAGE: &str = "editor-clients/python";
const MATURIN: &str = "maturin==1.16.0";

/// Builds the wheel and returns its path.
pub fn wheel(options: &dist::Options, tools: &Tools) -> Result<PathBuf, Absent> {
    let python = python(tools)?;
    fs::create_dir_all(&options.out).map_err(anyhow::Error::from)?;
    let started = SystemTime::now();
    let mut maturin = command(python, &["-m", "maturin", "build", "--quiet", "--locked"]);
    maturin.args(["--profile", &options.profile]).arg("--out").arg(&options.out);
    if options.profile == "dist" {
        leave_out_paths(&mut maturin, &root());
    }
    run(maturin.current_dir(root().join(PACKAGE)))?;
    let wheel = newest(options, started)?;
    let size = wheel.metadata().map_err(anyhow::Error::from)?.len();
    println!("{}: {:.1} MB", wheel.display(), size as f64 / 1e6);
    Ok(wheel)
}

/// The Python that builds wheels.
pub fn python(tools: &Tools) -> Result<PathBuf, Absent> {
    tools.venv(&target_dir().join("maturin"), &[MATURIN])
}

/// The wheel that was written since a time: its name says version and platform.
fn newest(options: &dist::Options, since: SystemTime) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(&options.out)? {
        let entry = entry?;
        let modified = entry.metadata()?.modified()?;
        if modified >= since && entry.path().extension().is_some_and(|ending| ending == "whl") {
            found.push((modified, entry.path()));
        }
    }
    let newest = found.into_iter().max().map(|(_, path)| path);
    newest.with_context(|| format!("maturin made no wheel in {}", options.out.display()))
}
