//! `explain --blame`: a table of instructions, the passes that introduced them, and the reasons.

use std::io::{BufWriter, Write, stdout};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use ide::{AnalysisHost, BlamedCompile, BlamedInstruction};
use text::visible;

use super::explain::ignore_closed_pipe;
use crate::dumps::{folder_and_name, list_for};

/// Wider columns are not aligned.
const MAX_WIDTH: usize = 40;

pub fn run(path: &Path) -> Result<ExitCode> {
    let mut host = AnalysisHost::new();
    let (folder, file) = match path.is_dir() {
        true => (path.to_owned(), None),
        false => {
            let (folder, name) = folder_and_name(path)
                .with_context(|| format!("{}: XLA gives no dump such a name", path.display()))?;
            (folder, Some(name))
        }
    };
    let folder = list_for(&mut host, &folder).map_err(anyhow::Error::msg)?;
    // There is no other writer, so the analysis cannot be cancelled.
    let compiles =
        host.analysis().blame(&folder, file.as_deref()).ok().context("the analysis was cancelled")?;
    if compiles.is_empty() {
        let what =
            if file.is_some() { "is no module of a compile" } else { "has no modules that XLA dumped" };
        bail!("{} {what}", path.display());
    }
    let mut out = BufWriter::new(stdout().lock());
    for (nth, compile) in compiles.iter().enumerate() {
        let space = if nth > 0 { "\n" } else { "" };
        ignore_closed_pipe(write!(out, "{space}{}", visible(&table(compile))))?;
    }
    ignore_closed_pipe(out.flush())?;
    Ok(ExitCode::SUCCESS)
}

fn table(compile: &BlamedCompile) -> String {
    let cells = |instruction: &BlamedInstruction| {
        let by = match &instruction.introducer {
            None => "the program".to_owned(),
            Some(introducer) if introducer.after.is_some() => introducer.text(),
            Some(introducer) => format!("{} (stage {})", introducer.pass, instruction.number),
        };
        [format!("%{}", instruction.name), instruction.opcode.clone(), by]
    };
    let rows: Vec<_> = compile.instructions.iter().map(|row| (cells(row), row.reason.as_deref())).collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|(cells, _)| cells[column].chars().count());
        widths.filter(|&width| width <= MAX_WIDTH).max().unwrap_or(0)
    };
    let widths = [0, 1, 2].map(width);
    let mut text = format!("{}\n", compile.title);
    for problem in &compile.problems {
        text += &format!("  not read: {problem}\n");
    }
    for (cells, reason) in &rows {
        let padded: Vec<_> = cells.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        let line = format!("  {}  {}", padded.join("  "), reason.unwrap_or_default().replace('`', ""));
        text += line.trim_end();
        text.push('\n');
    }
    text
}
