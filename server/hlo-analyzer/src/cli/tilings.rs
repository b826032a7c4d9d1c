//! `kernel FILE --tiles 64x128`: other tile sizes for a fusion for Triton, and what they cost.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use ide::{Analysis, ConfigChange, FileId, FusionError, FusionQuery};

use super::terminal::print_code;

#[derive(clap::Args)]
pub struct TilingArguments {
    /// Of a fusion for Triton: what other tile sizes would cost, as a table with those in the text and the best
    /// of XLA's search. The sizes are those of the result; behind them may be those of the dimensions that
    /// dots contract.
    #[arg(long, value_name = "64x128")]
    tiles: Option<String>,
    /// With `--tiles`, or alone: another number of warps.
    #[arg(long, value_name = "N")]
    warps: Option<i64>,
    /// With `--tiles`, or alone: another number of loop steps in flight.
    #[arg(long, value_name = "N")]
    stages: Option<i64>,
}

impl TilingArguments {
    /// What is asked for; nothing without any of the arguments.
    pub fn change(&self) -> Result<ConfigChange> {
        let tiles = self.tiles.as_deref().map(ConfigChange::parse_tiles).transpose();
        let tiles = tiles.map_err(|why| anyhow!("--tiles: {why}"))?;
        Ok(ConfigChange { tiles, warps: self.warps, stages: self.stages })
    }
}

/// Prints the table of a fusion. Exit code 1 if it is none for Triton, or the change does not fit.
pub fn print_tilings(
    analysis: &Analysis,
    file: FileId,
    path: &dyn std::fmt::Display,
    query: &FusionQuery,
    change: &ConfigChange,
) -> Result<ExitCode> {
    let found = analysis.tilings(file, query, change).ok().context("the analysis was cancelled")?;
    match found {
        Ok(tilings) => print_code(&tilings.text())?,
        Err(FusionError::NotFound(why)) => bail!("{path}: {why}"),
        Err(FusionError::NotEmitted(why)) => {
            eprintln!("error: {path}: {}: {why}", query.instruction);
            return Ok(ExitCode::from(1));
        }
    }
    Ok(ExitCode::SUCCESS)
}
