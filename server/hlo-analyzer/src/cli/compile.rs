//! `compile FILE`: compiles a module with the XLA of a local Python and prints where the dump is.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use ide::Device;

use super::input;
use super::terminal::print_code;
use crate::xla_compiler::{Job, PATIENCE, cached_dump, compile};

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
    #[arg(long, value_name = "S", default_value_t = PATIENCE.as_secs())]
    timeout: u64,
}

/// Prints the path of the optimised module, whose folder is the dump.
pub fn run(arguments: &CompileArguments) -> Result<ExitCode> {
    let text = input::read(&arguments.file)?;
    let device = Device::find(&arguments.device).map_err(|error| anyhow::anyhow!("{error}"))?;
    let dump = match &arguments.out {
        Some(out) => empty(out)?,
        None => cached_dump(&arguments.file, &text, device)
            .map_err(|why| anyhow::anyhow!("{why}; or name a folder with --out"))?,
    };
    let language = ide::language_of(&arguments.file.display().to_string(), &text);
    let patience = Duration::from_secs(arguments.timeout);
    let job =
        Job { python: &arguments.python, text: &text, language, device, dump: &dump, patience, stop: None };
    match compile(&job) {
        Ok(module) => {
            print_code(&format!("{}\n", module.display()))?;
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => bail!("{}: {}", arguments.file.display(), failure.why),
    }
}

/// The folder that the user named, which has to be empty.
fn empty(out: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    if std::fs::read_dir(out).is_ok_and(|mut files| files.next().is_some()) {
        bail!("{} is not empty: a dump needs a folder of its own", out.display());
    }
    Ok(out.to_owned())
}
