//! `optimize FILE`: applies passes of XLA's optimizer.

mod line_diff;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow, bail};
use ide::{AnalysisHost, NotOptimized, OpenValue, OptimizeRequest, Verdict};

use super::input;
use super::terminal::{complain, print_code, write_json};
use crate::api;

/// Exit codes: 0 the passes ran, whether they changed anything or not; 1 a pass is not implemented or cannot rewrite the module, or with
/// --check a value differs; 2 the file could not be read or has errors.
#[derive(clap::Args)]
pub struct OptimizeArguments {
    /// A module as HLO. `-` is standard input; `.gz` is unpacked.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Passes in order, separated by commas, by their names in XLA's dumps.
    #[arg(long, value_name = "PASS,…", value_delimiter = ',', required_unless_present = "pipeline")]
    passes: Vec<String>,
    /// With --passes: the pipeline that they run in, by its name in XLA's dumps; it decides the options of some passes.
    /// Alone: the pipeline that runs; `gpu` is all up to scheduling.
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,
    /// Stop after the first run of this pass.
    #[arg(long, value_name = "PASS")]
    until: Option<String>,
    /// Print what changed line by line, instead of the module.
    #[arg(long, conflicts_with = "json")]
    diff: bool,
    /// Compare what the modules before and after compute, by the reference interpreter on a sample of elements.
    #[arg(long)]
    check: bool,
    /// Print the module and what each pass did where, as `query` answers it.
    #[arg(long)]
    json: bool,
    /// The GPU that the module is optimized for.
    #[arg(long, value_name = "NAME", default_value = ide::DEFAULT_DEVICE)]
    device: String,
}

pub fn run(arguments: &OptimizeArguments) -> Result<ExitCode> {
    let text = input::read(&arguments.file)?;
    let path = arguments.file.display();
    let mut host = AnalysisHost::new();
    host.force_device(&arguments.device).map_err(|unknown| anyhow!(unknown))?;
    let file = host.open(&path.to_string(), ide::language_of(&path.to_string(), &text), &text);
    let request = request(arguments);
    let analysis = host.analysis();
    // There is no other writer, so the analysis cannot be cancelled.
    let optimized = analysis.optimize(file, &request).ok().context("the analysis was cancelled")?;
    let optimized = match optimized {
        Ok(optimized) => optimized,
        Err(NotOptimized::Stopped(why)) => {
            complain(format_args!("error: {path}: {why}"));
            return Ok(ExitCode::from(1));
        }
        Err(reason) => {
            let error = api::optimizer_refusal(&reason, host.text(file));
            match (error.line, error.column) {
                (Some(line), Some(column)) => bail!("{path}:{line}:{column}: {}", error.message),
                _ => bail!("{path}: {}", error.message),
            }
        }
    };
    if arguments.json {
        let mut answer = serde_json::json!({
            "hlo": optimized.text,
            "applied": api::optimizer_changes(&optimized.applied),
        });
        if let Some(verdict) = &optimized.verdict {
            answer["check"] = api::optimizer_check(verdict);
        }
        write_json(std::io::stdout().lock(), &answer)?;
        print_code("\n")?;
    } else if arguments.diff {
        let plain = OptimizeRequest::default();
        let before = analysis.optimize(file, &plain).ok().and_then(Result::ok);
        let before = before.context("the analysis was cancelled")?;
        print_code(&line_diff::unified(&before.text, &optimized.text))?;
    } else {
        print_code(&optimized.text)?;
    }
    for applied in &optimized.applied {
        let plural = if applied.changes.len() == 1 { "" } else { "s" };
        complain(format_args!("{}: {} change{plural}", applied.pass, applied.changes.len()));
    }
    let Some(verdict) = &optimized.verdict else { return Ok(ExitCode::SUCCESS) };
    complain_about(verdict);
    Ok(if verdict.differences.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

/// Says whether the module computes the same.
fn complain_about(verdict: &Verdict) {
    let Verdict { compared, elements, open, differences } = verdict;
    for difference in differences {
        complain(format_args!("error: {difference}"));
    }
    for OpenValue { instruction, reason } in open {
        complain(format_args!("not checked: %{instruction}: {reason}"));
    }
    let result = match (differences.is_empty(), open.is_empty()) {
        (false, _) => "values differ",
        (true, false) => "no value differs of those that were compared",
        (true, true) => "all values are equal",
    };
    let number = ide::counted(*compared as u64, "instruction");
    complain(format_args!("check: {result}; compared {elements} elements of {number}"));
}

fn request(arguments: &OptimizeArguments) -> OptimizeRequest {
    let until = arguments.until.clone();
    match (&arguments.pipeline, arguments.passes.is_empty()) {
        (Some(pipeline), true) => {
            let name = if pipeline == "gpu" { "pipeline" } else { pipeline };
            OptimizeRequest {
                passes: vec![name.to_owned()],
                pipeline: String::new(),
                until,
                check: arguments.check,
            }
        }
        (pipeline, _) => OptimizeRequest {
            passes: arguments.passes.clone(),
            pipeline: pipeline.clone().unwrap_or_default(),
            until,
            check: arguments.check,
        },
    }
}
