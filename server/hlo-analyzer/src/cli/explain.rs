//! `explain FILE`: prints the hover at a position, or without a position the whole file with its maps and
//! diagnostics. `explain --blame` prints which pass introduced each instruction of a compile, and why.

use std::io::{BufWriter, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use ide::AnalysisHost;
use text::position::{Position, offset};
use text::{PositionEncoding, visible};

use super::{blame, input};
use crate::dumps::attach;

#[derive(clap::Args)]
pub struct ExplainArguments {
    /// `-` is standard input; `.gz` is unpacked. With `--blame` also a folder that XLA dumped into.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The pass that introduced each instruction, and why: of FILE, one of the modules that XLA dumps after its passes, or of the
    /// last module of each compile in a folder.
    #[arg(long, conflicts_with_all = ["at", "instruction"])]
    blame: bool,
    /// A position: line and column, both from 1; columns count bytes.
    #[arg(long, value_name = "LINE:COL", conflicts_with = "instruction")]
    at: Option<String>,
    /// The instruction's name, with or without `%`.
    #[arg(long, value_name = "NAME")]
    instruction: Option<String>,
    /// The GPU that kernels target: by default that of the dump folder of FILE, else `h100-sxm`.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
}

pub fn run(arguments: &ExplainArguments) -> Result<ExitCode> {
    if arguments.blame {
        return blame::run(&arguments.file);
    }
    let text = input::read(&arguments.file)?;
    let mut host = AnalysisHost::new();
    host.choose_device(arguments.device.as_deref(), ide::DEFAULT_DEVICE).map_err(anyhow::Error::msg)?;
    let name = arguments.file.display().to_string();
    let file = host.open(&name, ide::language_of(&name, &text), &text);
    // A file that XLA did not dump has no origins, and no device of its own.
    let _ = attach(&mut host, &arguments.file, file);
    let analysis = host.analysis();
    // There is no other writer, so the analysis cannot be cancelled.
    let uncancelled = "the analysis was cancelled";
    let place = if let Some(name) = &arguments.instruction {
        let bare = name.trim_start_matches('%');
        let found = analysis.find_instruction(file, bare).ok().context(uncancelled)?;
        Some(found.with_context(|| format!("{}: no instruction named {bare}", arguments.file.display()))?)
    } else if let Some(at) = &arguments.at {
        Some(offset(analysis.text(file), line_and_column(at)?, PositionEncoding::Utf8))
    } else {
        None
    };
    let mut out = BufWriter::new(stdout().lock());
    match place {
        Some(place) => match analysis.hover(file, place).ok().context(uncancelled)? {
            Some(hover) => writeln!(out, "{}", visible(&hover.text.plain_text("    ")))?,
            None => bail!("{}: nothing to explain at that place", arguments.file.display()),
        },
        None => {
            let mut result = Ok(());
            analysis
                .annotate(file, &mut |chunk| {
                    if result.is_ok() {
                        result = out.write_all(visible(chunk).as_bytes());
                    }
                })
                .ok()
                .context(uncancelled)?;
            ignore_closed_pipe(result)?;
        }
    }
    ignore_closed_pipe(out.flush())?;
    Ok(ExitCode::SUCCESS)
}

/// A closed pipe, as in `explain … | head`, is not an error.
pub(super) fn ignore_closed_pipe(result: std::io::Result<()>) -> Result<()> {
    match result {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

fn line_and_column(text: &str) -> Result<Position> {
    let (line, column) = text.split_once(':').with_context(|| format!("{text}: a place is LINE:COL"))?;
    let number = |text: &str| {
        let number: usize = text.parse().with_context(|| format!("{text} is no line or column"))?;
        number.checked_sub(1).context("lines and columns count from 1")
    };
    Ok(Position::new(number(line)?, number(column)?))
}
