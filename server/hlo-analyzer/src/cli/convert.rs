//! `convert FILE`: converts the module to the other language, on standard output.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use ide::{AnalysisHost, Language};

use super::input;
use super::terminal::{complain, print_code};

#[derive(clap::Args)]
pub struct ConvertArguments {
    /// HLO, StableHLO or MHLO. `-` is standard input; `.gz` is unpacked.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Default: the language that the file is not written in.
    #[arg(long, value_enum)]
    to: Option<To>,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum To {
    Hlo,
    Stablehlo,
}

/// Constructs that cannot be converted are reported on standard error, and the exit code is 1.
pub fn run(arguments: &ConvertArguments) -> Result<ExitCode> {
    let text = input::read(&arguments.file)?;
    let path = arguments.file.display();
    let language = ide::language_of(&path.to_string(), &text);
    match (arguments.to, language) {
        (Some(To::Hlo), Language::Hlo) => bail!("{path} is HLO already"),
        (Some(To::Stablehlo), Language::Mlir) => bail!("{path} is MLIR already"),
        _ => {}
    }
    let mut host = AnalysisHost::new();
    let file = host.open(&path.to_string(), language, &text);
    // There is no other writer, so the analysis cannot be cancelled.
    let conversion = host.analysis().convert(file).ok().context("the analysis was cancelled")?;
    print_code(&conversion.text)?;
    for missing in &conversion.incomplete {
        let line = missing.range.as_ref().map(|range| host.rope(file).byte_to_line(range.start) + 1);
        match line {
            Some(line) => complain(format_args!("{path}:{line}: not converted: {}", missing.what)),
            None => complain(format_args!("{path}: not converted: {}", missing.what)),
        }
    }
    Ok(if conversion.incomplete.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}
