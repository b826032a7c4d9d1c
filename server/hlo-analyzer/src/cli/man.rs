//! `man`: the manual page of the program, or one page per command in a folder.

use std::io::{Write as _, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::{Man, generate_to};

#[derive(clap::Args)]
pub struct ManArguments {
    /// Write a page for the program and for each command into this folder, which is created. Default: the page of the
    /// program, on standard output.
    #[arg(short, long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

pub fn run(arguments: &ManArguments, command: Command) -> Result<ExitCode> {
    match &arguments.out {
        Some(folder) => {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
            generate_to(command, folder).with_context(|| format!("cannot write to {}", folder.display()))?;
        }
        None => {
            let mut page = Vec::new();
            Man::new(command).render(&mut page)?;
            stdout().lock().write_all(&page)?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
