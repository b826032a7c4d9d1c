//! The value of an instruction or a computation of HLO, by the reference interpreter.

use crate::evaluate::{EvaluationQuery, Value, Values, Wanted};
use crate::file_context::FileContext;
use crate::hlo::Hlo;
use crate::indexing_queries::QueryError;

impl Values for Hlo {
    fn value_named<'a>(&self, context: &'a FileContext<'_>, query: &EvaluationQuery) -> Wanted<'a> {
        let (computation, instruction) = (query.computation.as_deref(), query.instruction.as_deref());
        let name = instruction.or(computation);
        match computation_of(context, computation, instruction) {
            Ok(own) => Wanted {
                name: name.unwrap_or(&context.module().computations[own].name).to_owned(),
                value: Ok(value(context, own, instruction)),
            },
            Err(why) => Wanted { name: name.unwrap_or_default().to_owned(), value: Err(why) },
        }
    }

    fn value_at<'a>(&self, context: &'a FileContext<'_>, offset: usize) -> Option<Wanted<'a>> {
        let at = context.instruction_at(offset)?;
        let name = context.block(at.piece).name(at.id).to_owned();
        let own = context.computation_index(at)?;
        let value = value(context, own, Some(&name));
        Some(Wanted { name, value: Ok(value) })
    }

    fn has_value(&self, context: &FileContext<'_>, offset: usize) -> bool {
        context.instruction_at(offset).is_some_and(|at| context.computation_index(at).is_some())
    }
}

fn computation_of(
    context: &FileContext<'_>,
    computation: Option<&str>,
    instruction: Option<&str>,
) -> Result<usize, QueryError> {
    let module = context.module();
    match (computation, instruction) {
        (Some(name), _) => {
            module.find(name).ok_or_else(|| QueryError(format!("no computation named {name}")))
        }
        (None, Some(name)) => {
            let at = context.find_instruction(None, name);
            let own = at.and_then(|at| context.computation_index(at));
            own.ok_or_else(|| QueryError(format!("no instruction named {name}")))
        }
        (None, None) => module.entry.ok_or_else(|| QueryError("the module has no entry".to_owned())),
    }
}

fn value<'a>(context: &'a FileContext<'_>, own: usize, instruction: Option<&str>) -> Value<'a> {
    let module = context.module();
    let settings = module.settings(module.computations[own].section);
    Value {
        computation: module.computations[own].name.to_string(),
        instruction: instruction.map(str::to_owned),
        devices: settings.map_or(1, |s| s.replica_count.saturating_mul(s.num_partitions)),
        graph: context.graph(own),
        graphs: Box::new(move || {
            let graphs = module.computations.iter().enumerate();
            graphs.filter_map(|(i, c)| Some((c.name.to_string(), context.graph(i)?))).collect()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{literals, values_of};
    use crate::{AnalysisHost, Arguments, Form, Language};

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

    /// `ask` is `computation`, `instruction`, literals.
    #[track_caller]
    fn check(ask: (Option<&str>, Option<&str>, &[&str]), expect: &str) {
        let mut host = AnalysisHost::default();
        let file = host.open("", Language::Hlo, &MODULE.replace("$0", ""));
        let query =
            EvaluationQuery { computation: ask.0.map(str::to_owned), instruction: ask.1.map(str::to_owned) };
        let answer = host.analysis().evaluate(file, &query, &literals(ask.2), Form::Literal);
        assert_eq!(values_of(answer.expect("not cancelled")), expect);
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
        let analysis = host.analysis();
        let at = |offset| {
            let answer = analysis.evaluate_at(file, offset, &Arguments::default(), Form::Literal);
            answer.expect("not cancelled")
        };
        let evaluated = at(offset).expect("an instruction");
        assert_eq!((evaluated.name.clone(), values_of(evaluated).as_str()), ("s".to_owned(), "{0, 2}"));
        assert!(at(0).is_none());
    }
}
