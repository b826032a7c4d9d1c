//! Compiles a module with the XLA of a local Python that has jax and its CUDA plugin. No GPU is needed.
//!
//! Architecture Invariant: only a Python that the user names is started.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use compile::Entry;
use ide::{Device, Language};

use crate::assembler::{Ended, Limits, WorkFolder, run};
use crate::dumps;

/// The program that drives XLA, for Python 3.
const SCRIPT: &str = include_str!("xla_compiler/compile.py");
/// The longest time of a compile, unless the user names another.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// The output limit of the script.
const MAX_OUTPUT: usize = 1 << 20;
/// How lines of the script's output start that tell why it failed, and that its Python lacks a package.
const PROBLEM: &str = "problem: ";
const MISSING: &str = "missing: ";

/// A module to compile.
pub struct Job<'a> {
    pub python: &'a Path,
    pub text: &'a str,
    pub language: Language,
    pub device: &'static Device,
    /// An empty folder.
    pub dump: &'a Path,
    pub patience: Duration,
    /// Stops the compile when it becomes true.
    pub stop: Option<&'a AtomicBool>,
}

/// Why a module is not compiled.
#[derive(Debug)]
pub struct Failure {
    /// In words.
    pub why: String,
    /// Whether another Python may do: this one does not start, or lacks a package.
    pub is_of_python: bool,
}

impl<T: Into<String>> From<T> for Failure {
    fn from(why: T) -> Failure {
        Failure { why: why.into(), is_of_python: false }
    }
}

/// Compiles a module and dumps every pass; a module with fusions is compiled as it is, without passes. Returns the path of the
/// optimised module.
///
/// # Errors
/// What is missing or what XLA says.
pub fn compile(job: &Job<'_>) -> Result<PathBuf, Failure> {
    let Job { python, text, language, device, dump, patience, stop } = *job;
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
    let limits = Limits { patience, output: MAX_OUTPUT, stop };
    match run(python, &arguments, folder.path(), &limits) {
        Ended::NotStarted(error) => {
            let why = format!("Python is not started: {}: {error}", python.display());
            Err(Failure { why, is_of_python: true })
        }
        Ended::Stopped => Err("the compile was cancelled".into()),
        Ended::TookTooLong => {
            Err(format!("XLA took more than {} s and was stopped", patience.as_secs()).into())
        }
        Ended::Exited { success: false, stderr, .. } => Err(failure(&stderr)),
        Ended::Exited { .. } => {
            optimised(&dump).ok_or_else(|| "XLA ended without an optimised module".into())
        }
    }
}

/// The folder in the user's cache for the dump of a module and a device, made and emptied:
/// `~/.cache/hlo-analyzer/compiles/NAME-HASH`.
///
/// # Errors
/// Why there is none, in words.
pub fn cached_dump(file: &Path, text: &str, device: &Device) -> Result<PathBuf, String> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || Some(variable("HOME")?.join(".cache"));
    let cache = variable("XDG_CACHE_HOME").or_else(|| variable("LOCALAPPDATA")).or_else(home);
    let cache = cache.ok_or("there is no folder for caches: set HOME or XDG_CACHE_HOME")?;
    let mut hasher = DefaultHasher::new();
    (text, device.name).hash(&mut hasher);
    let name = file.file_stem().map_or_else(|| "module".into(), |stem| stem.to_string_lossy().into_owned());
    let folder = cache.join("hlo-analyzer/compiles").join(format!("{name}-{:016x}", hasher.finish()));
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(format!("cannot empty {}: {error}", folder.display()));
        }
        _ => {}
    }
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    Ok(folder)
}

/// What a failed run said: its own line, or the last one that is not empty.
fn failure(stderr: &str) -> Failure {
    let starting_with = |start| stderr.lines().find_map(|line| line.strip_prefix(start));
    if let Some(why) = starting_with(MISSING) {
        return Failure { why: why.to_owned(), is_of_python: true };
    }
    let last = || stderr.lines().rev().find(|line| !line.trim().is_empty());
    starting_with(PROBLEM)
        .or_else(last)
        .unwrap_or("Python ended without a message: XLA may have crashed")
        .into()
}

/// The optimised module of a folder with one compile.
fn optimised(folder: &Path) -> Option<PathBuf> {
    let entries: Vec<Entry> = dumps::list(folder).ok()?.into_iter().map(|file| file.entry).collect();
    let compiles = compile::group(&entries).compiles;
    Some(folder.join(&compiles.iter().find_map(|compile| compile.after_optimizations())?.path))
}
