//! `compile FILE`: compiles a module with the XLA of a local Python and prints where the dump is.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use ide::Device;

use super::input;
use super::terminal::print_code;
use crate::xla_compiler::{Job, compile};

#[derive(clap::Args)]
pub struct CompileArguments {
    /// HLO or StableHLO. `-` is standard input; `.gz` is unpacked. A module with fusions is compiled as it is, without passes.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// A Python 3 with jax and its CUDA plugin: `pip install 'jax[cuda12]'`. No GPU is needed.
    #[arg(long, value_name = "PATH")]
    python: PathBuf,
    /// The GPU to compile for.
    #[arg(long, value_name = "NAME", default_value = ide::DEFAULT_DEVICE)]
    device: String,
    /// An empty or new folder for the dump. Default: a folder in the user's cache, whose former contents are removed.
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// The longest time, in seconds.
    #[arg(long, value_name = "S", default_value_t = 300)]
    timeout: u64,
}

/// Prints the path of the optimised module, whose folder is the dump.
pub fn run(arguments: &CompileArguments) -> Result<ExitCode> {
    let text = input::read(&arguments.file)?;
    let device = Device::find(&arguments.device).map_err(|error| anyhow::anyhow!("{error}"))?;
    let dump = match &arguments.out {
        Some(out) => out.clone(),
        None => cached(&arguments.file, &text, device)?,
    };
    std::fs::create_dir_all(&dump).with_context(|| format!("cannot create {}", dump.display()))?;
    if std::fs::read_dir(&dump).is_ok_and(|mut files| files.next().is_some()) {
        bail!("{} is not empty: a dump needs a folder of its own", dump.display());
    }
    let language = ide::language_of(&arguments.file.display().to_string(), &text);
    let patience = Duration::from_secs(arguments.timeout);
    let job = Job { python: &arguments.python, text: &text, language, device, dump: &dump, patience };
    match compile(&job) {
        Ok(module) => {
            print_code(&format!("{}\n", module.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(why) => bail!("{}: {why}", arguments.file.display()),
    }
}

/// The folder in the user's cache for a module and a device, emptied.
fn cached(file: &Path, text: &str, device: &Device) -> Result<PathBuf> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let home = || Some(variable("HOME")?.join(".cache"));
    let cache = variable("XDG_CACHE_HOME").or_else(|| variable("LOCALAPPDATA")).or_else(home);
    let cache = cache.context("no cache folder: name one with --out")?;
    let mut hasher = DefaultHasher::new();
    (text, device.name).hash(&mut hasher);
    let name = file.file_stem().map_or_else(|| "module".into(), |stem| stem.to_string_lossy().into_owned());
    let folder = cache.join("hlo-analyzer/compiles").join(format!("{name}-{:016x}", hasher.finish()));
    match std::fs::remove_dir_all(&folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot empty {}", folder.display()))
        }
        _ => Ok(folder),
    }
}
