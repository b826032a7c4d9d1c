//! `completions SHELL`: what a shell reads to complete commands and options.

use std::io::{Write as _, stdout};
use std::process::ExitCode;

use anyhow::Result;
use clap::Command;
use clap_complete::{Shell, generate};

#[derive(clap::Args)]
pub struct CompletionsArguments {
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub fn run(arguments: &CompletionsArguments, mut command: Command) -> Result<ExitCode> {
    let name = command.get_name().to_owned();
    // The generator panics where the reader is gone.
    let mut script = Vec::new();
    generate(arguments.shell, &mut command, name, &mut script);
    stdout().lock().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
