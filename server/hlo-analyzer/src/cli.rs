//! The subcommands other than the language server.

pub mod analysis_stats;
mod blame;
pub mod check;
pub mod compile;
mod compile_times;
pub mod completions;
pub mod convert;
pub mod diff;
mod dump_folders;
mod edit_times;
pub mod evaluate;
pub mod explain;
pub mod input;
pub mod kernel;
pub mod man;
pub mod mcp;
pub mod memory;
mod memory_times;
pub mod optimize;
mod optimize_times;
pub mod preview_times;
pub mod query;
pub mod report;
mod sarif;
pub mod terminal;
mod tilings;
