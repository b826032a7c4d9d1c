//! Compiles a module with the XLA of a local Python that has jax and its CUDA plugin. No GPU is needed.
//!
//! Architecture Invariant: only a Python that the user names is started.

use std::path::{Path, PathBuf};
use std::time::Duration;

use compile::Entry;
use ide::{Device, Language};

use crate::assembler::{Ended, WorkFolder, run};
use crate::dumps;

/// The program that drives XLA, for Python 3.
const SCRIPT: &str = include_str!("xla_compiler/compile.py");
/// The output limit of the script.
const MAX_OUTPUT: usize = 1 << 20;
/// Lines of the script's output that tell why it failed start like this.
const PROBLEM: &str = "problem: ";

/// A module to compile.
pub struct Job<'a> {
    pub python: &'a Path,
    pub text: &'a str,
    pub language: Language,
    pub device: &'static Device,
    /// An empty folder.
    pub dump: &'a Path,
    pub patience: Duration,
}

/// Compiles a module and dumps every pass; a module with fusions is compiled as it is, without passes. Returns the path of the
/// optimised module.
///
/// # Errors
/// What is missing or what XLA says, in words.
pub fn compile(job: &Job<'_>) -> Result<PathBuf, String> {
    let Job { python, text, language, device, dump, patience } = *job;
    let config = device.target_config();
    let config =
        config.ok_or_else(|| format!("jax's plugin compiles for NVIDIA's GPUs, not for {}", device.name))?;
    let folder = WorkFolder::new().map_err(|error| format!("no folder to work in: {error}"))?;
    let kind = match language {
        Language::Mlir => "stablehlo",
        Language::Hlo if text.contains(" fusion(") => "optimized",
        Language::Hlo => "hlo",
    };
    for (name, text) in [("compile.py", SCRIPT), ("module", text), ("device.pbtxt", &config)] {
        let written = std::fs::write(folder.path().join(name), text);
        written.map_err(|error| format!("{name} cannot be written: {error}"))?;
    }
    let dump = dump.canonicalize().map_err(|error| format!("{}: {error}", dump.display()))?;
    let dump_argument = dump.to_str().ok_or_else(|| format!("{} is no UTF-8", dump.display()))?;
    let arguments = ["compile.py", "module", kind, "device.pbtxt", dump_argument];
    match run(python, &arguments, folder.path(), patience, MAX_OUTPUT) {
        Ended::NotStarted(error) => Err(format!("Python is not started: {}: {error}", python.display())),
        Ended::TookTooLong => Err(format!("XLA took more than {} s and was stopped", patience.as_secs())),
        Ended::Exited { success: false, stderr, .. } => Err(failure(&stderr)),
        Ended::Exited { .. } => {
            optimised(&dump).ok_or_else(|| "XLA ended without an optimised module".to_owned())
        }
    }
}

/// What a failed run said: its own line, or the last one that is not empty.
fn failure(stderr: &str) -> String {
    let own = stderr.lines().find_map(|line| line.strip_prefix(PROBLEM));
    let last = || stderr.lines().rev().find(|line| !line.trim().is_empty());
    own.or_else(last).unwrap_or("Python ended without a message: XLA may have crashed").to_owned()
}

/// The optimised module of a folder with one compile.
fn optimised(folder: &Path) -> Option<PathBuf> {
    let entries: Vec<Entry> = dumps::list(folder).ok()?.into_iter().map(|file| file.entry).collect();
    let compiles = compile::group(&entries).compiles;
    Some(folder.join(&compiles.iter().find_map(|compile| compile.after_optimizations())?.path))
}
