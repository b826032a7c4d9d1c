//! `mcp`: the server of the Model Context Protocol, for agents.

use std::process::ExitCode;

use anyhow::Result;

#[derive(clap::Args)]
pub struct McpArguments {
    /// The GPU that kernels target where neither a call nor a dump folder names one.
    #[arg(long, value_name = "NAME", default_value = ide::DEFAULT_DEVICE)]
    device: String,
}

pub fn run(arguments: &McpArguments) -> Result<ExitCode> {
    crate::mcp::serve_stdio(&arguments.device)?;
    Ok(ExitCode::SUCCESS)
}
