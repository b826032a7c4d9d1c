//! How the time of every command, `query` method and request grows with the text, as exponents.

use std::path::Path;
use std::process::Stdio;

use anyhow::{Result, bail};

use crate::commands::cargo;

/// The largest text, in KiB.
const LARGEST: &str = "1024";

/// Runs `tests/linearity`, which prints a row per shape of text and subject that takes long or grows faster than the text.
/// `HLO_ANALYZER_LINEARITY` sets another size in KiB, `HLO_ANALYZER_LINEARITY_SHAPE` a part of the names of
/// shapes, `HLO_ANALYZER_LINEARITY_SUBJECT` one of commands, methods and requests.
pub fn linearity(server: &Path, profile: &str) -> Result<()> {
    println!("\nlinearity: processor time grows with the size of the text to the power of the first number");
    let test =
        ["test", "--quiet", "--profile", profile, "--package", "hlo-analyzer-tests", "--test", "linearity"];
    let mut test = cargo(&[&test[..], &["--", "--nocapture", "everything_answers"]].concat());
    if std::env::var_os("HLO_ANALYZER_LINEARITY").is_none() {
        test.env("HLO_ANALYZER_LINEARITY", LARGEST);
    }
    let status = test.env("HLO_ANALYZER_BIN", server).stdin(Stdio::null()).status()?;
    match status.success() {
        true => Ok(()),
        false => bail!("some times grow faster than the text"),
    }
}
