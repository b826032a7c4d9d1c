//! Plans of the memory of modules: from text, after edits, and how the time grows with the number of instructions.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::{ROUNDS, generate, number_after};
use crate::commands::{command, output, target_dir};

/// Layers of the smallest generated module.
const LAYERS: usize = 25;
/// How many times as many the others have.
const FACTORS: [usize; 3] = [1, 4, 16];

/// Seconds for the plan of one file.
#[derive(Clone, Copy)]
pub(super) struct Times {
    instructions: f64,
    pub(super) cold: f64,
    open: f64,
    pub(super) same: f64,
    pub(super) moved: f64,
}

pub fn memory(server: &Path, files: &[PathBuf]) -> Result<()> {
    println!("\nmemory: from text to plan, after an edit that moves no byte, and after one that does");
    for file in files {
        let Ok(Times { instructions, cold, same, moved, .. }) = times(server, file) else {
            println!("{}: no plan", name(file));
            continue;
        };
        println!(
            "{}: {instructions} instructions in {:.1} ms (at most 1500 for 18 MB); after an edit {:.2} ms, {:.1} ms (at most 50)",
            name(file),
            cold * 1e3,
            same * 1e3,
            moved * 1e3
        );
    }
    let out = target_dir().join("bench");
    fs::create_dir_all(&out)?;
    let mut first = None;
    for factor in FACTORS {
        let file = out.join(format!("training_step_of_{}_layers.hlo", LAYERS * factor));
        fs::write(&file, generate::training_step(LAYERS * factor))?;
        let Times { instructions, cold, open, .. } = times(server, &file)?;
        let each = (cold - open) / instructions;
        let &mut base = first.get_or_insert(each);
        println!(
            "{factor:>2} times the layers: {instructions} instructions, {:.2} µs each for the plan, {:.2} times the first (1 is linear)",
            each * 1e6,
            each / base
        );
    }
    Ok(())
}

fn name(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The round whose time from text to plan is the median.
pub(super) fn times(server: &Path, file: &Path) -> Result<Times> {
    let round = || -> Result<Times> {
        let printed = output(command(server, &["analysis-stats", "--memory", "--json"]).arg(file))?;
        let number = |key: &str| {
            number_after(&printed, key)
                .with_context(|| format!("`analysis-stats --memory` printed no {key}:\n{printed}"))
        };
        Ok(Times {
            instructions: number("instructions")?,
            cold: number("memory_seconds")?,
            open: number("memory_open_seconds")?,
            same: number("memory_edit_seconds")?,
            moved: number("memory_move_seconds")?,
        })
    };
    let mut rounds = (0..ROUNDS).map(|_| round()).collect::<Result<Vec<Times>>>()?;
    rounds.sort_by(|a, b| a.cold.total_cmp(&b.cold));
    Ok(rounds[ROUNDS / 2])
}
