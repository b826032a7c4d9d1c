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
    let Some(archive) = archive(COMPILE) else {
        println!("skipped: {COMPILE} is not beside this checkout");
        return Ok(());
    };
    let folder = unpacked(&archive)?;
    for entry in folder.read_dir()? {
        let file = entry?.path();
        if file.to_string_lossy().ends_with(".before_optimizations.txt") {
            report(server, &file)?;
        }
    }
    Ok(())
}

fn report(server: &Path, file: &Path) -> Result<()> {
    let round = || -> Result<[f64; 3]> {
        let printed = output(command(server, &["analysis-stats", "--optimize", "--json"]).arg(file))?;
        let number = |key: &str| {
            number_after(&printed, key)
                .with_context(|| format!("`analysis-stats --optimize` printed no {key}:\n{printed}"))
        };
        Ok([number("instructions")?, number("optimize_seconds")?, number("optimize_edit_seconds")?])
    };
    let mut rounds = (0..ROUNDS).map(|_| round()).collect::<Result<Vec<_>>>()?;
    rounds.sort_by(|a, b| a[1].total_cmp(&b[1]));
    let [instructions, cold, edited] = rounds[ROUNDS / 2];
    println!(
        "{COMPILE}: {instructions} instructions in {:.1} ms (at most 250); after an edit {:.1} ms (at most 25)",
        cold * 1e3,
        edited * 1e3
    );
    Ok(())
}
