//! Previews of modules as XLA's pipeline makes them: from text, and after edits.

use std::path::Path;

use anyhow::{Context, Result};

use super::compiles::{archive, unpacked};
use super::{ROUNDS, number_after};
use crate::commands::{command, output};

/// The compile whose module is measured, the largest before optimization.
const COMPILE: &str = "gpt_train_unrolled";

pub fn optimizer(server: &Path) -> Result<()> {
    println!("\noptimizer: from text to the preview after the whole pipeline, and after an edit");
    match measured(server)? {
        None => println!("skipped: {COMPILE} is not beside this checkout"),
        Some(Times { instructions, cold, edited }) => println!(
            "{COMPILE}: {instructions} instructions in {:.1} ms (at most 250); after an edit {:.1} ms (at most 25)",
            cold * 1e3,
            edited * 1e3
        ),
    }
    Ok(())
}

/// In seconds.
pub(super) struct Times {
    pub(super) instructions: f64,
    pub(super) cold: f64,
    pub(super) edited: f64,
}

/// The round whose time from text to preview is the median; `None` without the module.
pub(super) fn measured(server: &Path) -> Result<Option<Times>> {
    let Some(archive) = archive(COMPILE) else { return Ok(None) };
    let mut files = unpacked(&archive)?.read_dir()?.filter_map(|entry| Some(entry.ok()?.path()));
    let file = files.find(|file| file.to_string_lossy().ends_with(".before_optimizations.txt"));
    let file = file.context("the compile has no module before optimizations")?;
    let round = || -> Result<Times> {
        let printed = output(command(server, &["analysis-stats", "--optimize", "--json"]).arg(&file))?;
        let number = |key: &str| {
            number_after(&printed, key)
                .with_context(|| format!("`analysis-stats --optimize` printed no {key}:\n{printed}"))
        };
        Ok(Times {
            instructions: number("instructions")?,
            cold: number("optimize_seconds")?,
            edited: number("optimize_edit_seconds")?,
        })
    };
    let mut rounds = (0..ROUNDS).map(|_| round()).collect::<Result<Vec<_>>>()?;
    rounds.sort_by(|a, b| a.cold.total_cmp(&b.cold));
    Ok(Some(rounds.swap_remove(ROUNDS / 2)))
}
