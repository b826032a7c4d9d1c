//! `convert FILE`: the module in the other language, or in the other form, text or message.

use std::io::{IsTerminal as _, Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use hlo_proto::messages::encoded;
use ide::{AnalysisHost, Language};

use super::input::{self, Source};
use super::terminal::{complain, print_code};

#[derive(clap::Args)]
pub struct ConvertArguments {
    /// HLO, StableHLO or MHLO, or a message of XLA's with a module (`.pb`). `-` is standard input; `.gz` is unpacked.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Default: the language that the file is not written in.
    #[arg(long, value_enum)]
    to: Option<To>,
    /// Where to write; `.gz` is packed. Default: standard output.
    #[arg(short, long, value_name = "OUT")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum To {
    /// The text of HLO.
    Hlo,
    /// The text of StableHLO.
    Stablehlo,
    /// XLA's HloProto, as `--xla_dump_hlo_as_proto` writes it.
    Proto,
    /// XLA's HloModuleProto, which JAX exchanges with XLA.
    ModuleProto,
}

/// Constructs that cannot be converted are reported on standard error, and the exit code is 1.
pub fn run(arguments: &ConvertArguments) -> Result<ExitCode> {
    let Source { text, is_message } = input::read_source(&arguments.file)?;
    let path = arguments.file.display().to_string();
    let language = ide::language_of(&path, &text);
    let to = arguments.to.unwrap_or(match language {
        Language::Hlo => To::Stablehlo,
        Language::Mlir => To::Hlo,
    });
    let out = arguments.out.as_deref();
    let is_complete = match (to, language) {
        (To::Hlo, Language::Hlo) if is_message => {
            write_text(out, &text)?;
            true
        }
        (To::Hlo, Language::Hlo) => bail!("{path} is HLO already"),
        (To::Stablehlo, Language::Mlir) => bail!("{path} is MLIR already"),
        (To::Hlo | To::Stablehlo, _) => {
            let (text, is_complete) = converted(&path, language, &text)?;
            write_text(out, &text)?;
            is_complete
        }
        (To::Proto | To::ModuleProto, Language::Hlo) => {
            write_message(out, &path, &text, to)?;
            true
        }
        (To::Proto | To::ModuleProto, Language::Mlir) => {
            let (text, is_complete) = converted(&path, language, &text)?;
            if is_complete {
                write_message(out, &path, &text, to)?;
            }
            is_complete
        }
    };
    Ok(if is_complete { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// The module in the other language, and whether that has all of it.
fn converted(path: &str, language: Language, text: &str) -> Result<(String, bool)> {
    let mut host = AnalysisHost::new();
    let file = host.open(path, language, text);
    // There is no other writer, so the analysis cannot be cancelled.
    let conversion = host.analysis().convert(file).ok().context("the analysis was cancelled")?;
    for missing in &conversion.incomplete {
        let line = missing.range.as_ref().map(|range| host.text(file).byte_to_line(range.start) + 1);
        match line {
            Some(line) => complain(format_args!("{path}:{line}: not converted: {}", missing.what)),
            None => complain(format_args!("{path}: not converted: {}", missing.what)),
        }
    }
    let is_complete = conversion.incomplete.is_empty();
    Ok((conversion.text, is_complete))
}

fn write_message(out: Option<&Path>, path: &str, text: &str, to: To) -> Result<()> {
    let message = hlo_proto::module_proto(text).map_err(|why| anyhow!("{path}: {why}"))?;
    for note in &message.notes {
        complain(format_args!("note: {path}: {note}"));
    }
    let bytes = match to {
        To::ModuleProto => {
            if message.config.is_some() {
                complain(format_args!(
                    "note: {path}: an HloModuleProto has no place for replica_count, num_partitions and the like: \
                     `--to proto` keeps them"
                ));
            }
            encoded(&message.module)
        }
        _ => encoded(&message.into_hlo()),
    };
    write(out, &bytes)
}

fn write_text(out: Option<&Path>, text: &str) -> Result<()> {
    match out.filter(|out| *out != Path::new("-")) {
        Some(_) => write(out, text.as_bytes()),
        None => Ok(print_code(text)?),
    }
}

fn write(out: Option<&Path>, bytes: &[u8]) -> Result<()> {
    let Some(out) = out.filter(|out| *out != Path::new("-")) else {
        if stdout().is_terminal() {
            bail!("a message is binary: name a file with `-o`");
        }
        stdout().lock().write_all(bytes)?;
        return Ok(());
    };
    let context = || format!("cannot write {}", out.display());
    let mut file = std::fs::File::create(out).with_context(context)?;
    if out.extension().is_some_and(|extension| extension == "gz") {
        let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::default());
        packer.write_all(bytes).with_context(context)?;
        packer.finish().with_context(context)?;
    } else {
        file.write_all(bytes).with_context(context)?;
    }
    Ok(())
}
