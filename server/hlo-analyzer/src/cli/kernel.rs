//! `kernel FILE`: the code that a fusion becomes, on standard output.

use std::io::{Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use ide::{AnalysisHost, FusionError, FusionQuery, KernelLanguage, Language};

use super::input;

#[derive(clap::Args)]
pub struct KernelArguments {
    /// `-` is standard input; `.gz` is unpacked.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The fusion, or an instruction that XLA would wrap into one, with or without `%`. Without it, the only fusion of the
    /// file, or the root of the entry.
    #[arg(long, value_name = "NAME")]
    fusion: Option<String>,
    #[arg(long, value_enum, default_value_t = Emit::Ptx)]
    emit: Emit,
    /// The GPU that the kernel is for.
    #[arg(long, value_name = "NAME", default_value = ide::DEFAULT_DEVICE)]
    device: String,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Emit {
    /// As XLA's emitters write it, before it is lowered.
    Mlir,
    Ptx,
}

pub fn run(arguments: &KernelArguments) -> Result<ExitCode> {
    let text = input::read(&arguments.file)?;
    let path = arguments.file.display();
    let mut host = AnalysisHost::new();
    host.set_device(&arguments.device).map_err(anyhow::Error::msg)?;
    let file = host.open(&path.to_string(), Language::Hlo, &text);
    let analysis = host.analysis();
    // Nobody else writes: the analysis cannot be cancelled.
    let uncancelled = "the analysis was cancelled";
    let instruction = match &arguments.fusion {
        Some(name) => name.trim_start_matches('%').to_owned(),
        None => match analysis.default_kernel(file).ok().context(uncancelled)? {
            Ok(name) => name,
            Err(why) => bail!("{path}: {why} with --fusion"),
        },
    };
    let query = FusionQuery { instruction, computation: None };
    let emit = match arguments.emit {
        Emit::Mlir => KernelLanguage::Mlir,
        Emit::Ptx => KernelLanguage::Ptx,
    };
    match analysis.kernel_preview(file, &query, emit).ok().context(uncancelled)? {
        Ok(preview) => {
            if let Some(who) = &preview.elsewhere {
                writeln!(stdout(), "// %{}: no kernel of XLA's emitters: {who}", preview.name)?;
            }
            stdout().write_all(preview.text.as_bytes())?;
        }
        Err(FusionError::NotFound(message)) => bail!("{path}: {message}"),
        Err(FusionError::NotEmitted(reason)) => bail!("{path}: {}: no kernel: {reason}", query.instruction),
    }
    Ok(ExitCode::SUCCESS)
}
