//! What an instruction or a computation answers, by the reference interpreter.

use std::collections::HashMap;
use std::sync::Arc;

use ir::Graph;

use crate::indexing_queries::QueryError;
use crate::locate::FileContext;

/// The name of an instruction, and its arrays as literals.
pub type Evaluated = (String, Result<Vec<String>, QueryError>);

/// The arrays that a computation's root answers, as literals, from the literals of its parameters. Without a name: the entry's.
/// `instruction` asks for another of its instructions than the root.
pub(crate) fn evaluate(
    context: &FileContext<'_>,
    computation: Option<&str>,
    instruction: Option<&str>,
    inputs: &[String],
) -> Result<Vec<String>, QueryError> {
    let module = context.module();
    let own = match (computation, instruction) {
        (Some(name), _) => {
            module.find(name).ok_or_else(|| QueryError(format!("no computation named {name}")))?
        }
        (None, Some(name)) => {
            let at = context.find_instruction(None, name);
            let own = at.and_then(|at| context.computation_index(at));
            own.ok_or_else(|| QueryError(format!("no instruction named {name}")))?
        }
        (None, None) => module.entry.ok_or_else(|| QueryError("the module has no entry".to_owned()))?,
    };
    answer(context, own, instruction, inputs)
}

/// The same of the instruction at `offset`, with its name in front. Nothing where there is none.
pub(crate) fn evaluate_at(context: &FileContext<'_>, offset: usize, inputs: &[String]) -> Option<Evaluated> {
    let at = context.instruction_at(offset)?;
    let name = context.block(at.piece).name(at.id).to_owned();
    let own = context.computation_index(at)?;
    let answer = answer(context, own, Some(&name), inputs);
    Some((name, answer))
}

fn answer(
    context: &FileContext<'_>,
    own: usize,
    instruction: Option<&str>,
    inputs: &[String],
) -> Result<Vec<String>, QueryError> {
    let module = context.module();
    let graphs: HashMap<String, Arc<Graph>> = (0..module.computations.len())
        .filter_map(|i| Some((module.computations[i].name.to_string(), context.graph(i)?)))
        .collect();
    answer_of(&graphs, &module.computations[own].name, instruction, inputs)
}

/// The arrays of an instruction (without one: of the root) of the computation `name`, as literals.
pub(crate) fn answer_of(
    graphs: &HashMap<String, Arc<Graph>>,
    name: &str,
    instruction: Option<&str>,
    inputs: &[String],
) -> Result<Vec<String>, QueryError> {
    let op = match instruction {
        Some(instruction) => {
            let found = graphs.get(name).and_then(|graph| graph.find(instruction));
            Some(found.ok_or_else(|| QueryError(format!("no instruction named {instruction}")))?)
        }
        None => None,
    };
    eval::reference::evaluate(graphs, name, op, inputs).map_err(|why| QueryError(why.into_owned()))
}

#[cfg(test)]
mod tests {
    use crate::{AnalysisHost, Language};

    const MODULE: &str = "HloModule m
double {
  x = f32[] parameter(0)
  ROOT y = f32[] add(x, x)
}
ENTRY e {
  p = f32[2] parameter(0)
  i = f32[2] iota(), iota_dimension=0
  s = f32[2] a$0dd(i, i)
  ROOT r = f32[2] map(p), dimensions={0}, to_apply=double
}
";

    /// `ask` is `computation`, `instruction`, inputs.
    #[track_caller]
    fn check(ask: (Option<&str>, Option<&str>, &[&str]), expect: &str) {
        let mut host = AnalysisHost::default();
        let file = host.open("", Language::Hlo, &MODULE.replace("$0", ""));
        let inputs: Vec<String> = ask.2.iter().map(|&text| text.to_owned()).collect();
        let answer = host.analysis().evaluate(file, ask.0, ask.1, &inputs).expect("not cancelled");
        let shown = match answer {
            Ok(outputs) => outputs.join(" "),
            Err(why) => why.0,
        };
        assert_eq!(shown, expect);
    }

    #[test]
    fn computations_and_instructions() {
        check((None, None, &["{1, 2.5}"]), "{2, 5}");
        check((Some("double"), None, &["-inf"]), "-inf");
        check((None, Some("s"), &[]), "{0, 2}");
        check((None, None, &[]), "the value of parameter 0 is not given [r]");
        check((None, None, &["{1}"]), "input 0: the constant has 1 elements of 2");
        check((Some("none"), None, &[]), "no computation named none");
    }

    #[test]
    fn at_the_cursor() {
        let offset = MODULE.find("$0").expect("a cursor");
        let mut host = AnalysisHost::default();
        let file = host.open("", Language::Hlo, &MODULE.replace("$0", ""));
        let answer = host.analysis().evaluate_at(file, offset, &[]).expect("not cancelled");
        let (name, outputs) = answer.expect("an instruction");
        assert_eq!((name.as_str(), outputs.ok()), ("s", Some(vec!["{0, 2}".to_owned()])));
        assert!(host.analysis().evaluate_at(file, 0, &[]).expect("not cancelled").is_none());
    }
}
