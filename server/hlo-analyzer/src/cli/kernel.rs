//! `kernel FILE`: prints the code generated for a fusion, or for a function of StableHLO.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use ide::{
    AnalysisHost, ConfigChange, FusionError, FusionQuery, KernelDocument, KernelLanguage, KernelOrigin,
};

use super::input;
use super::terminal::print_code;
use super::tilings::{TilingArguments, print_tilings};
use crate::assembler::{Assembler, AssemblerPaths, note, note_beside, with_sass};
use crate::dumps::attach;

#[derive(clap::Args)]
pub struct KernelArguments {
    /// `-` is standard input; `.gz` is unpacked.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The fusion, or an instruction that XLA would wrap in one, with or without `%`. Default: the only
    /// fusion of the file, or the root of the entry. In StableHLO: a function that could be one fusion, or an
    /// op's result.
    #[arg(long, value_name = "NAME")]
    fusion: Option<String>,
    #[arg(long, value_enum, default_value_t = Emit::Ptx)]
    emit: Emit,
    /// With `--emit mlir`: print the module after this pass of XLA's pipeline, or after each pass with `all`.
    #[arg(long, value_name = "PASS")]
    after: Option<String>,
    #[command(flatten)]
    tilings: TilingArguments,
    /// Print grid, block and shared memory as comments above the code, and registers and spills if `ptxas` is
    /// on PATH.
    #[arg(long)]
    head: bool,
    /// The GPU that the kernel targets: by default that of the dump folder of FILE, else `h100-sxm`.
    #[arg(long, value_name = "NAME")]
    device: Option<String>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Emit {
    /// As XLA's emitters generate it, before lowering.
    Mlir,
    Ptx,
    /// Of a fusion for Triton: what one block does with its tiles, as XLA writes it before lowering.
    Xtile,
    /// Of a fusion for Triton: the same in Triton's operations, after XLA's simplification and lowering.
    Ttir,
    /// Of a fusion for Triton: other tile sizes and what they cost; see `--tiles`.
    Tilings,
    /// The output of `ptxas` as disassembled by `nvdisasm`: both must be on PATH.
    Sass,
    /// XLA's own code, from the dump folder of FILE; with `--head`, compared with ours.
    Xla,
}

pub fn run(arguments: &KernelArguments) -> Result<ExitCode> {
    let text = input::read(&arguments.file)?;
    let path = arguments.file.display();
    let mut host = AnalysisHost::new();
    host.choose_device(arguments.device.as_deref(), ide::DEFAULT_DEVICE).map_err(anyhow::Error::msg)?;
    let language = ide::language_of(&path.to_string(), &text);
    let file = host.open(&path.to_string(), language, &text);
    let is_xla = matches!(arguments.emit, Emit::Xla);
    let attached = attach(&mut host, &arguments.file, file);
    if is_xla {
        attached.map_err(anyhow::Error::msg)?;
    }
    let analysis = host.analysis();
    // There is no other writer, so the analysis cannot be cancelled.
    let uncancelled = "the analysis was cancelled";
    let instruction = match &arguments.fusion {
        Some(name) => name.trim_start_matches('%').to_owned(),
        None => match analysis.default_kernel(file).ok().context(uncancelled)? {
            Ok(name) => name,
            Err(why) => bail!("{path}: {why} with --fusion"),
        },
    };
    let query = FusionQuery { instruction, computation: None };
    let change = arguments.tilings.change()?;
    let is_changed = change != ConfigChange::default();
    match arguments.emit {
        Emit::Ptx if is_changed => return print_tilings(&analysis, file, &path, &query, &change),
        Emit::Tilings => return print_tilings(&analysis, file, &path, &query, &change),
        _ if is_changed => bail!("--tiles, --warps and --stages are of --emit tilings"),
        _ => {}
    }
    let emit = match (arguments.emit, &arguments.after) {
        (Emit::Mlir, None) => KernelLanguage::Mlir,
        (Emit::Mlir, Some(pass)) => {
            KernelLanguage::mlir_after(pass).map_err(|why| anyhow!("--after: {why}"))?
        }
        (Emit::Xtile, None) => KernelLanguage::Tiles,
        (Emit::Ttir, None) => KernelLanguage::Triton,
        (Emit::Tilings, None) => KernelLanguage::Tilings,
        (Emit::Ptx | Emit::Sass | Emit::Xla, None) => KernelLanguage::Ptx,
        (_, Some(_)) => {
            bail!("--after is of --emit mlir")
        }
    };
    let document = match is_xla {
        true => analysis.xla_kernel_document(file, &query),
        false => analysis.kernel_document(file, &query, emit),
    };
    let document = match document.ok().context(uncancelled)? {
        Ok(document) => document,
        Err(FusionError::NotFound(why)) => bail!("{path}: {why}"),
        Err(FusionError::NotEmitted(why)) => return Ok(no_kernel(&path, &query.instruction, &why)),
    };
    if arguments.head || matches!(arguments.emit, Emit::Sass) {
        let ptx = analysis.kernel_document(file, &query, KernelLanguage::Ptx).ok().context(uncancelled)?;
        let ptx = ptx.ok().filter(|ptx| !is_xla || ptx.code().is_some());
        let shown = assembled(arguments, document, ptx);
        print_code(&shown.map_err(|why| anyhow!("{path}: {why}"))?)?;
        return Ok(ExitCode::SUCCESS);
    }
    match &document.origin {
        KernelOrigin::Emitters(_) => {}
        KernelOrigin::Elsewhere(who) => {
            if !is_xla {
                print_code(&format!("// %{}: no kernel of XLA's emitters: {who}\n", query.instruction))?;
            }
        }
        KernelOrigin::Nowhere(FusionError::NotFound(why)) => bail!("{path}: {why}"),
        KernelOrigin::Nowhere(FusionError::NotEmitted(why)) => {
            return Ok(no_kernel(&path, &query.instruction, why));
        }
    }
    print_code(&document.body)?;
    Ok(ExitCode::SUCCESS)
}

/// The file was read but has no kernel: exit code 1, as for an incomplete conversion.
fn no_kernel(path: &dyn std::fmt::Display, instruction: &str, reason: &str) -> ExitCode {
    eprintln!("error: {path}: {instruction}: no kernel: {reason}");
    ExitCode::from(1)
}

/// The document with the assembler's notes, or with SASS as its body.
fn assembled(
    arguments: &KernelArguments,
    mut document: KernelDocument,
    ptx: Option<KernelDocument>,
) -> Result<String, String> {
    let assembler = Assembler::find(&AssemblerPaths::default());
    let ours = ptx.zip(assembler.as_ref()).map(|(ptx, assembler)| assembler.assemble(&ptx.body));
    let xla = assembler.filter(|_| matches!(arguments.emit, Emit::Xla) && document.code().is_some());
    let xla = xla.map(|assembler| assembler.assemble(&document.body));
    let assembled = xla.as_ref().or(ours.as_ref());
    let first = document.head.len() + 2;
    if matches!(arguments.emit, Emit::Sass) && document.code().is_some() {
        let Some(assembled) = assembled else { return Err("no SASS: ptxas is not on PATH".to_owned()) };
        let Some(sass) = &assembled.sass else {
            let fault = assembled.problem.is_some() || !assembled.errors.is_empty();
            return Err(match fault {
                true => note(assembled, 0),
                false => "no SASS: nvdisasm is not on PATH".to_owned(),
            });
        };
        document = with_sass(document, sass);
    }
    if !arguments.head {
        return Ok(document.body);
    }
    let said = assembled.map(|said| match xla.as_ref().and(ours.as_ref()) {
        Some(ours) => note_beside(said, ours, first),
        None => note(said, first),
    });
    let notes: Vec<String> = said.into_iter().collect();
    Ok(document.text(&notes).0)
}
