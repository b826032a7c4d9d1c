//! `evaluate FILE`: prints the value of an instruction or a function.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use ide::{AnalysisHost, Arguments, EvaluationQuery, Fill, Form, evaluated_page};

use super::input;
use super::terminal::{complain, print_code};

#[derive(clap::Args)]
pub struct EvaluateArguments {
    /// HLO, StableHLO or MHLO. `-` is standard input; `.gz` is unpacked.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The instruction's name, with or without `%`; in StableHLO the name of an op's result. Default: the
    /// computation's root.
    #[arg(long, value_name = "NAME")]
    instruction: Option<String>,
    /// The computation or function. Default: the instruction's own, the entry, or `@main`.
    #[arg(long, value_name = "NAME")]
    computation: Option<String>,
    /// The literal of a parameter, such as `{{1, 2}, {3, 4}}`; once per parameter, in order, blank where one
    /// is not needed.
    #[arg(long = "input", value_name = "LITERAL", allow_hyphen_values = true)]
    inputs: Vec<String>,
    /// The values of parameters without a literal. `random`: numbers in [-1, 1] or of one digit. `iota`: 0,
    /// 1, 2, … in row-major order.
    #[arg(long, value_name = "VALUES", value_parser = clap::builder::PossibleValuesParser::new(Fill::NAMES))]
    fill: Option<String>,
    /// Seed of `--fill random`: equal seeds give equal numbers.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Prints every element, one literal per array, at most 65,536 elements each. By default the middle of
    /// long rows and of many rows is omitted and not computed.
    #[arg(long)]
    literals: bool,
}

/// Exits with 1 if the file was read but has no value to print.
pub fn run(arguments: &EvaluateArguments) -> Result<ExitCode> {
    let text = input::read(&arguments.file)?;
    let path = arguments.file.display();
    let mut host = AnalysisHost::new();
    let file = host.open(&path.to_string(), ide::language_of(&path.to_string(), &text), &text);
    let bare = |name: &String| name.trim_start_matches('%').to_owned();
    let query = EvaluationQuery {
        computation: arguments.computation.as_ref().map(bare),
        instruction: arguments.instruction.as_ref().map(bare),
    };
    let fill = arguments.fill.as_deref().and_then(|name| Fill::from_name(name, arguments.seed));
    let values = Arguments { literals: arguments.inputs.clone(), fill };
    let form = if arguments.literals { Form::Literal } else { Form::Summary };
    // There is no other writer, so the analysis cannot be cancelled.
    let evaluated =
        host.analysis().evaluate(file, &query, &values, form).ok().context("the analysis was cancelled")?;
    let evaluation = match &evaluated.answer {
        Ok(evaluation) => evaluation,
        Err(why) if why.0.starts_with("no ") => return Err(anyhow!("{path}: {}", why.0)),
        Err(why) => {
            let advice = match why.0.contains("is not given") {
                true => "; give --input or --fill",
                false => "",
            };
            complain(format_args!("error: {path}: {}: {}{advice}", evaluated.name, why.0));
            return Ok(ExitCode::from(1));
        }
    };
    match form {
        Form::Summary => print_code(&evaluated_page(&evaluated, &values))?,
        Form::Literal => {
            for note in &evaluation.notes {
                complain(format_args!("note: {path}: {note}"));
            }
            for literal in evaluation.arrays.iter().filter_map(|array| array.values.as_ref().ok()) {
                print_code(&format!("{literal}\n"))?;
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
