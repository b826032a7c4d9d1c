//! Compares our server with upstream's `mlir-lsp-server` on the same files of upstream dialects, in one run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{generate_mlir, number_after};
use crate::commands::{command, on_path, output, target_dir};

const SCRIPT: &str = include_str!("lsp_server.py");
/// The number of rounds. The servers alternate; the medians are reported.
const ROUNDS: usize = 3;
/// Bytes of the files, and the number of edits of each per round: an edit of the large one takes upstream's
/// server seconds.
const SIZES: [(usize, usize); 2] = [(5_000_000, 7), (25_000_000, 2)];

/// The times of one server on one file.
#[derive(Clone, Copy, Default)]
pub(super) struct Times {
    pub(super) open_ms: f64,
    pub(super) edit_ms: f64,
    pub(super) hover_ms: f64,
    pub(super) resident_mb: f64,
}

impl Times {
    fn median(rounds: &[Times]) -> Times {
        let of = |field: fn(&Times) -> f64| {
            let mut values: Vec<f64> = rounds.iter().map(field).collect();
            values.sort_by(f64::total_cmp);
            values.get(values.len() / 2).copied().unwrap_or_default()
        };
        Times {
            open_ms: of(|t| t.open_ms),
            edit_ms: of(|t| t.edit_ms),
            hover_ms: of(|t| t.hover_ms),
            resident_mb: of(|t| t.resident_mb),
        }
    }
}

pub fn mlir_servers(server: &Path) -> Result<()> {
    println!("\nMLIR: the language server, from a message to its answer; medians of {ROUNDS} rounds");
    let compared = compared(server)?;
    if compared.is_empty() {
        println!("skipped: there is no python3 to speak to the servers");
    } else if upstream().is_none() {
        println!("ours alone: no mlir-lsp-server here (Debian: apt-get install mlir-19-tools)");
    }
    for Compared { megabytes, ours, theirs } in compared {
        print(&format!("{megabytes} MB, ours"), ours);
        let Some(theirs) = theirs else { continue };
        print(&format!("{megabytes} MB, mlir-lsp-server"), theirs);
        println!(
            "  ours is faster: open {:.1} times (at least 6), edit {:.0} times (at least 100), hover after an edit {:.0} \
             times (at least 100); it is resident with {:.2} of the memory (less than 1)",
            theirs.open_ms / ours.open_ms.max(1e-6),
            theirs.edit_ms / ours.edit_ms.max(1e-6),
            theirs.hover_ms / ours.hover_ms.max(1e-6),
            ours.resident_mb / theirs.resident_mb.max(1e-6)
        );
    }
    Ok(())
}

/// Both servers on one file.
pub(super) struct Compared {
    pub(super) megabytes: usize,
    pub(super) ours: Times,
    pub(super) theirs: Option<Times>,
}

/// Medians per file, the servers in turns; empty without python3.
pub(super) fn compared(server: &Path) -> Result<Vec<Compared>> {
    let Some(python) = on_path(&["python3"]) else { return Ok(Vec::new()) };
    let peer = upstream();
    let mut found = Vec::new();
    for (size, edits) in SIZES {
        let file = generated(size)?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            ours.push(times(&python, &file, edits, server)?);
            if let Some(peer) = &peer {
                theirs.push(times(&python, &file, edits, peer)?);
            }
        }
        found.push(Compared {
            megabytes: size / 1_000_000,
            ours: Times::median(&ours),
            theirs: (!theirs.is_empty()).then(|| Times::median(&theirs)),
        });
    }
    Ok(found)
}

/// One round of one server, a row per figure.
pub(super) fn figures(server: &Path) -> Result<Vec<(String, f64)>> {
    let Some(python) = on_path(&["python3"]) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for (size, edits) in SIZES {
        let Times { open_ms, edit_ms, hover_ms, resident_mb } =
            times(&python, &generated(size)?, edits, server)?;
        let row = |what: &str, value| (format!("MLIR of {} MB: {what}", size / 1_000_000), value);
        found.extend([
            row("open", open_ms),
            row("edit", edit_ms),
            row("hover after an edit", hover_ms),
            row("memory", resident_mb),
        ]);
    }
    Ok(found)
}

/// A module of upstream's dialects of about so many bytes.
fn generated(size: usize) -> Result<PathBuf> {
    let folder = target_dir().join("bench");
    fs::create_dir_all(&folder)?;
    let file = folder.join(format!("upstream_{}.mlir", size / 1_000_000));
    fs::write(&file, generate_mlir::module(size))?;
    Ok(file)
}

/// Upstream's server: on PATH, or in the folder of Debian's package.
fn upstream() -> Option<PathBuf> {
    let debian = Path::new("/usr/lib/llvm-19/bin/mlir-lsp-server").to_path_buf();
    on_path(&["mlir-lsp-server-19", "mlir-lsp-server"]).or_else(|| debian.is_file().then_some(debian))
}

fn times(python: &Path, file: &Path, edits: usize, server: &Path) -> Result<Times> {
    let printed = output(command(python, &["-c", SCRIPT]).arg(file).arg(edits.to_string()).arg(server))?;
    let number = |key| number_after(&printed, key).with_context(|| format!("no {key} in {printed}"));
    Ok(Times {
        open_ms: number("open_ms")?,
        edit_ms: number("edit_ms")?,
        hover_ms: number("hover_ms")?,
        resident_mb: number("resident_mb")?,
    })
}

fn print(name: &str, times: Times) {
    println!(
        "  {name:<28} open {:>9.2} ms   edit {:>9.3} ms   hover after an edit {:>9.3} ms   {:>7.1} MB",
        times.open_ms, times.edit_ms, times.hover_ms, times.resident_mb
    );
}

#[cfg(test)]
mod tests {
    use super::Times;

    #[test]
    fn each_figure_is_a_median_of_its_own() {
        let round = |open_ms, edit_ms| Times { open_ms, edit_ms, ..Times::default() };
        let median = Times::median(&[round(1.0, 9.0), round(3.0, 2.0), round(2.0, 5.0)]);
        assert_eq!((median.open_ms, median.edit_ms), (2.0, 5.0));
    }
}
