//! `report FILE|FOLDER -o PAGE`: all that is known of a module or a compile, on one page.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use ide::CoalescingConfig;

use super::diff::source;
use super::dump_folders;
use super::terminal::{complain, print_code};
use crate::report::{Options, compiles, module, page};

/// Exit codes: 0 the page is written; 2 a file could not be read or is no module, or there is no page.
#[derive(clap::Args)]
pub struct ReportArguments {
    /// A module as HLO or MLIR, or a folder that XLA dumped; `-` is standard input; `.gz` is unpacked.
    #[arg(value_name = "FILE|FOLDER")]
    input: PathBuf,
    /// Where to write the page: HTML that needs no other file. Default: standard output.
    #[arg(short, long, value_name = "PAGE")]
    out: Option<PathBuf>,
    /// The GPU that kernels target, where a dumped folder does not tell.
    #[arg(long, value_name = "NAME", default_value = ide::DEFAULT_DEVICE)]
    device: String,
    /// List at most this many kernels and values per module; the rest are counted.
    #[arg(long, value_name = "N", default_value_t = 20)]
    top: usize,
    /// List at most this many findings per module; the rest are counted.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    /// Warn about kernels that transfer at least this many times the sectors they need.
    #[arg(long, value_name = "TIMES", default_value_t = CoalescingConfig::default().threshold)]
    coalescing_threshold: f64,
}

pub fn run(arguments: &ReportArguments) -> Result<ExitCode> {
    let device = ide::Device::find(&arguments.device).map_err(|unknown| anyhow!("{unknown}"))?;
    let (sources, compiles) = match arguments.input.is_dir() {
        true => {
            let sources = dump_folders::optimised_sources(&arguments.input, device)?;
            (sources, compiles(&arguments.input).map_err(anyhow::Error::msg)?)
        }
        false => (vec![source(&arguments.input, device)], Vec::new()),
    };
    let options = Options {
        top: arguments.top,
        findings: arguments.limit,
        coalescing_threshold: arguments.coalescing_threshold,
    };
    let (mut sections, mut has_errors) = (Vec::new(), false);
    for source in sources {
        match source {
            Ok(source) => sections.push(module(&source, &options)),
            Err(error) => {
                complain(format_args!("error: {error}"));
                has_errors = true;
            }
        }
    }
    if sections.is_empty() {
        return Ok(ExitCode::from(2));
    }
    sections.extend(compiles);
    let page = page(&arguments.input.display().to_string(), &sections);
    match arguments.out.as_deref().filter(|out| *out != Path::new("-")) {
        Some(out) => {
            std::fs::write(out, page).with_context(|| format!("cannot write {}", out.display()))?;
        }
        None => print_code(&page)?,
    }
    Ok(ExitCode::from(if has_errors { 2 } else { 0 }))
}
