//! The command line of hlo-analyzer, and the parts of it that tests run in their own process: [`Session`] and [`serve`].

mod api;
mod assembler;
mod budget;
mod cli;
mod diff;
mod dumps;
mod findings;
mod limits;
mod lsp;
mod mcp;
mod memory;
mod process_memory;
mod report;
mod values;
mod xla_compiler;

pub use api::Session;
pub use lsp::serve;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Language server and command line for XLA HLO and MLIR.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    /// Default: the language server, as with `lsp`.
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    limits: limits::Limits,
}

#[derive(Subcommand)]
enum Command {
    /// Run the language server on standard input and output.
    Lsp(LspArguments),
    /// Print all diagnostics of HLO files, as a compiler does.
    Check(cli::check::CheckArguments),
    /// Print the hover at a position, or the whole file annotated with its maps and diagnostics.
    Explain(cli::explain::ExplainArguments),
    /// Print the code generated for a fusion: PTX, or MLIR before lowering.
    Kernel(cli::kernel::KernelArguments),
    /// Print the value of an instruction, computed by a reference interpreter.
    Evaluate(cli::evaluate::EvaluateArguments),
    /// Convert between HLO and StableHLO, and between text and XLA's messages.
    Convert(cli::convert::ConvertArguments),
    /// Compile a module with the XLA of a local Python, without a GPU, and print where the dump is.
    Compile(cli::compile::CompileArguments),
    /// Compare two compiles of a module: kernels, instructions, bytes and estimated time.
    Diff(cli::diff::DiffArguments),
    /// Print where the memory of a module goes: the peak, what is alive there, and until which use.
    Memory(cli::memory::MemoryArguments),
    /// Write all that is known of a module or a dump folder on one page of HTML.
    Report(cli::report::ReportArguments),
    /// Apply passes of XLA's optimizer to a module, and print the module or what changed.
    Optimize(cli::optimize::OptimizeArguments),
    /// Answer JSON Lines requests on standard input.
    Query(cli::query::QueryArguments),
    /// Answer an agent on standard input and output, by the Model Context Protocol.
    Mcp(cli::mcp::McpArguments),
    /// Print the completions of a shell.
    Completions(cli::completions::CompletionsArguments),
    /// Print the manual page, or write those of all commands.
    Man(cli::man::ManArguments),
    /// Load files, run every analysis, print time and memory.
    AnalysisStats(cli::analysis_stats::StatsArguments),
}

#[derive(clap::Args, Default)]
struct LspArguments {
    /// Use this Unix socket, on which the client listens, instead of standard input and output.
    #[arg(long, value_name = "PATH")]
    pipe: Option<PathBuf>,
    /// Use standard input and output. This is the default; some clients pass it explicitly.
    #[arg(long, conflicts_with = "pipe")]
    stdio: bool,
}

/// Runs the program with the arguments of the process.
pub fn main() -> ExitCode {
    log_to_stderr();
    let Arguments { command, limits } = Arguments::parse();
    limits.set();
    let outcome = match command.unwrap_or_else(|| Command::Lsp(LspArguments::default())) {
        Command::Lsp(LspArguments { pipe: Some(path), .. }) => lsp::serve_pipe(&path),
        Command::Lsp(LspArguments { pipe: None, .. }) => lsp::serve_stdio(),
        Command::Check(arguments) => cli::check::run(&arguments),
        Command::Explain(arguments) => cli::explain::run(&arguments),
        Command::Kernel(arguments) => cli::kernel::run(&arguments),
        Command::Evaluate(arguments) => cli::evaluate::run(&arguments),
        Command::Convert(arguments) => cli::convert::run(&arguments),
        Command::Compile(arguments) => cli::compile::run(&arguments),
        Command::Diff(arguments) => cli::diff::run(&arguments),
        Command::Memory(arguments) => cli::memory::run(&arguments),
        Command::Report(arguments) => cli::report::run(&arguments),
        Command::Optimize(arguments) => cli::optimize::run(&arguments),
        Command::Query(arguments) => cli::query::run(&arguments),
        Command::Mcp(arguments) => cli::mcp::run(&arguments),
        Command::Completions(arguments) => cli::completions::run(&arguments, Arguments::command()),
        Command::Man(arguments) => cli::man::run(&arguments, Arguments::command()),
        Command::AnalysisStats(arguments) => cli::analysis_stats::run(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        if is_broken_pipe(&error) {
            return ExitCode::SUCCESS;
        }
        cli::terminal::complain(format_args!("error: {error:#}"));
        ExitCode::from(2)
    })
}

/// The reader of the output has closed the pipe, as `head` does.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let is_it = |e: &std::io::Error| e.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().any(|cause| cause.downcast_ref::<std::io::Error>().is_some_and(is_it))
}

/// Logs to standard error. The environment variable `HLO_ANALYZER_LOG` sets the filter, for example `debug`
/// or `warn,hlo_analyzer=trace`. If unset or invalid: warnings and errors.
fn log_to_stderr() {
    let targets = std::env::var("HLO_ANALYZER_LOG").ok().and_then(|text| text.parse::<Targets>().ok());
    let targets = targets.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    tracing_subscriber::registry().with(lines).with(targets).init();
}
