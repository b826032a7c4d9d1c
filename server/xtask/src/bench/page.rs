//! `cargo xtask bench --page`: writes `server/docs/performance.md`, all figures of one run.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use super::{Row, compiles, median_kernel_times, memory, mlir_servers, number_after, optimized, optimizer};
use super::{previews, sum, xla};
use crate::commands::{command, output, root};
use crate::tools::Tools;

const PAGE: &str = "server/docs/performance.md";
/// Random edits of the largest file.
const EDITS: &str = "200";

/// A line of a table.
struct Figure {
    operation: String,
    ours: String,
    /// The peer's figure, and how many times better ours is.
    peer: Option<(String, f64)>,
}

impl Figure {
    fn alone(operation: impl Into<String>, ours: String) -> Figure {
        Figure { operation: operation.into(), ours, peer: None }
    }

    /// Of seconds, less is better.
    fn seconds(operation: impl Into<String>, ours: f64, peer: Option<f64>) -> Figure {
        let peer = peer.map(|peer| (duration(peer), peer / ours.max(1e-9)));
        Figure { operation: operation.into(), ours: duration(ours), peer }
    }
}

/// `1.5 ms`, `12 ms`, `1.2 s`.
fn duration(seconds: f64) -> String {
    match seconds * 1e3 {
        ms if ms < 10.0 => format!("{ms:.2} ms"),
        ms if ms < 1000.0 => format!("{ms:.0} ms"),
        ms => format!("{:.2} s", ms / 1e3),
    }
}

/// Some figures that have one peer.
struct Table {
    heading: String,
    peer: &'static str,
    figures: Vec<Figure>,
}

impl Table {
    fn print(&self, page: &mut String) {
        _ = writeln!(page, "\n## {}\n", self.heading);
        let has_peer = self.figures.iter().any(|figure| figure.peer.is_some());
        _ = match has_peer {
            true => writeln!(page, "| operation | ours | {} | ratio |\n|---|---|---|---|", self.peer),
            false => writeln!(page, "| operation | ours |\n|---|---|"),
        };
        for Figure { operation, ours, peer } in &self.figures {
            _ = match peer {
                Some((theirs, ratio)) => {
                    let decimals = usize::from(*ratio < 20.0);
                    writeln!(page, "| {operation} | {ours} | {theirs} | {ratio:.decimals$} |")
                }
                None if has_peer => writeln!(page, "| {operation} | {ours} | | |"),
                None => writeln!(page, "| {operation} | {ours} |"),
            };
        }
    }
}

/// Measures what `rows` do not have yet, and writes the page. `largest` is the file of the last row.
pub(super) fn write(
    server: &Path,
    profile: &str,
    tools: &Tools,
    largest: &Path,
    rows: &[Row],
    parser: Option<&xla::Parser>,
) -> Result<()> {
    let mut tables = vec![texts(rows)];
    tables.extend(mlir_servers::compared(server)?.iter().map(mlir));
    tables.push(kernels(server, tools)?);
    tables.push(edits(server, largest)?);
    tables.push(modules(server, largest)?);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut page = format!(
        "# Performance\n\n`cargo xtask bench --page` wrote this page: all figures are of one run, in the profile `{profile}`, on {threads} \
         threads. Where a peer is named,\nboth read the same files in turns, and the ratio says how many times ours is better. Figures are \
         medians. XLA's parser ({})\nbuilds and verifies a module, XLA's compiler with its assembler makes a kernel for an H100, and \
         `mlir-lsp-server` is that of LLVM 19.\n\nInstruction counts of twelve operations are compared in every test run: \
         `cargo xtask counts`.\n",
        parser.map_or("not here", xla::Parser::version)
    );
    tables.iter().for_each(|table| table.print(&mut page));
    fs::write(root().join(PAGE), page).with_context(|| format!("cannot write {PAGE}"))?;
    println!("wrote {PAGE}");
    Ok(())
}

fn texts(rows: &[Row]) -> Table {
    let rate = |bytes: u64, seconds: f64| format!("{:.0} MB/s", bytes as f64 / 1e6 / seconds.max(1e-9));
    let row = |what: String, row: &Row, seconds: f64| Figure {
        operation: what,
        ours: rate(row.bytes, seconds),
        peer: row.xla.map(|xla| (rate(row.bytes, xla.seconds), xla.seconds / seconds)),
    };
    let megabytes = |row: &Row| row.bytes as f64 / 1e6;
    let mut figures = Vec::new();
    let all = sum(rows);
    for (name, of) in rows
        .last()
        .map(|row| (row.name.clone(), row))
        .into_iter()
        .chain([(format!("{} files", rows.len()), &all)])
    {
        figures.push(row(format!("{name}, {:.1} MB", megabytes(of)), of, of.ours.seconds));
        figures.push(row(format!("{name}, one thread"), of, of.alone.seconds));
    }
    Table { heading: "From a text of HLO to its findings".into(), peer: "XLA's parser", figures }
}

fn mlir(compared: &mlir_servers::Compared) -> Table {
    let mlir_servers::Compared { megabytes, ours, theirs } = compared;
    let row = |what: &str, of: fn(&mlir_servers::Times) -> f64| {
        Figure::seconds(what, of(ours) / 1e3, theirs.as_ref().map(|theirs| of(theirs) / 1e3))
    };
    let memory = Figure {
        operation: "resident memory".into(),
        ours: format!("{:.0} MB", ours.resident_mb),
        peer: theirs
            .map(|theirs| (format!("{:.0} MB", theirs.resident_mb), theirs.resident_mb / ours.resident_mb)),
    };
    let figures = vec![
        row("open, to the first findings", |t| t.open_ms),
        row("edit, to new findings", |t| t.edit_ms),
        row("hover behind an edit", |t| t.hover_ms),
        memory,
    ];
    Table {
        heading: format!("MLIR of {megabytes} MB in the language server"),
        peer: "`mlir-lsp-server`",
        figures,
    }
}

fn kernels(server: &Path, tools: &Tools) -> Result<Table> {
    let mut figures = Vec::new();
    if let Some(compared) = previews::compared(server, tools)? {
        let (ours, xla) = compared.seconds();
        figures.push(Figure::seconds("\"Show kernel\": from a text to MLIR and PTX", ours, Some(xla)));
    }
    if let Some(file) = optimized()? {
        let times = median_kernel_times(server, &file)?;
        let what = format!("all kernels of gpt_train_unrolled ({:.0})", times.count);
        figures.push(Figure::seconds(what, times.cold, None));
        figures.push(Figure::seconds("the same after an edit in one of them", times.edited, None));
    }
    if let Some(archive) = compiles::archive("gpt_train_unrolled") {
        let folder = compiles::unpacked(&archive)?;
        let bytes: u64 =
            modules_in(&folder)?.iter().filter_map(|file| Some(file.metadata().ok()?.len())).sum();
        let mut check = command(server, &["check", "--fail-on", "never", "--limit", "0"]);
        let started = Instant::now();
        output(check.env("RAYON_NUM_THREADS", "1").arg(&folder))?;
        let seconds = started.elapsed().as_secs_f64();
        let megabytes = bytes as f64 / 1e6;
        let what = format!("`check` of all stages of its compile ({megabytes:.0} MB), one thread");
        figures.push(Figure::alone(what, format!("{} ({:.0} MB/s)", duration(seconds), megabytes / seconds)));
    }
    Ok(Table { heading: "Kernels".into(), peer: "XLA's compiler", figures })
}

/// The files that `check` reads.
fn modules_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = folder.read_dir()?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    Ok(entries.into_iter().filter(|file| file.extension().is_some_and(|end| end == "txt")).collect())
}

fn edits(server: &Path, file: &Path) -> Result<Table> {
    let printed = output(command(server, &["analysis-stats", "--json", "--edits", EDITS]).arg(file))?;
    let mut figures = Vec::new();
    for (key, what) in [("hover_ms", "a hover behind an edit"), ("diagnostics_ms", "hover and all findings")]
    {
        let of = printed.split_once(&format!("\"{key}\"")).context("no times of edits")?.1;
        let number = |part| number_after(of, part).unwrap_or(0.0) / 1e3;
        let ours = format!("{}, {}", duration(number("p50")), duration(number("p99")));
        figures.push(Figure::alone(format!("{what}: median, 99 of 100"), ours));
    }
    let megabytes = file.metadata()?.len() as f64 / 1e6;
    let heading = format!("Random edits of one character in HLO of {megabytes:.0} MB");
    Ok(Table { heading, peer: "", figures })
}

fn modules(server: &Path, file: &Path) -> Result<Table> {
    let mut figures = Vec::new();
    let memory = memory::times(server, file)?;
    let megabytes = file.metadata()?.len() as f64 / 1e6;
    figures.push(Figure::seconds(format!("plan of the memory of {megabytes:.0} MB"), memory.cold, None));
    figures.push(Figure::seconds("the same after an edit that moves no byte", memory.same, None));
    figures.push(Figure::seconds("the same after an edit that moves bytes", memory.moved, None));
    if let Some(optimizer) = optimizer::measured(server)? {
        let what = format!("XLA's whole pipeline on {:.0} instructions", optimizer.instructions);
        figures.push(Figure::seconds(what, optimizer.cold, None));
        figures.push(Figure::seconds("the same after an edit", optimizer.edited, None));
    }
    Ok(Table { heading: "Whole modules".into(), peer: "", figures })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_stand_beside_the_peer() {
        let figures = vec![
            Figure::seconds("open", 0.002, Some(0.011)),
            Figure::seconds("edit", 0.001, Some(0.5)),
            Figure::alone("hover", "3 ms".into()),
        ];
        let mut page = String::new();
        Table { heading: "MLIR".into(), peer: "theirs", figures }.print(&mut page);
        assert_eq!(
            page,
            "\n## MLIR\n\n| operation | ours | theirs | ratio |\n|---|---|---|---|\n| open | 2.00 ms | 11 ms | 5.5 |\n\
             | edit | 1.00 ms | 500 ms | 500 |\n| hover | 3 ms | | |\n"
        );
    }

    #[test]
    fn durations_have_units() {
        assert_eq!([0.0015, 0.5, 2.0].map(duration), ["1.50 ms", "500 ms", "2.00 s"]);
    }
}
