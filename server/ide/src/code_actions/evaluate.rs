//! "Evaluate": the value of an instruction of HLO or an op of MLIR. A client with the command asks for the parameters; the others
//! get a new document with the value for sample parameters, which it states.

use super::{Actions, Change, CodeActionKind};
use crate::TextRange;
use crate::evaluate::{Evaluated, evaluate_at};
use crate::evaluation_parameters::{EvaluationParameter, evaluation_parameters};
use crate::locate::FileContext;
use crate::mlir;

/// The id of the action; a client that asks for parameters has a command for it.
pub const ID: &str = "evaluate";

pub(crate) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let offset = range.start;
    // The graph and the value are made when somebody wants them: a cursor that moves pays for neither.
    let is_offered = match context.is_mlir() {
        true => mlir::evaluate::has_value(context, offset),
        false => context.instruction_at(offset).is_some_and(|at| context.computation_index(at).is_some()),
    };
    if !is_offered {
        return;
    }
    actions.offer(ID, "Evaluate", CodeActionKind::Show, || {
        let parameters = match context.is_mlir() {
            true => mlir::evaluate::evaluation_parameters(context, offset),
            false => evaluation_parameters(context, offset),
        };
        let inputs = samples(&parameters)?;
        let evaluated = match context.is_mlir() {
            true => mlir::evaluate::evaluate_at(context, offset, &inputs)?,
            false => evaluate_at(context, offset, &inputs)?,
        };
        let name = format!("{}.value", evaluated.0);
        Some(Change::NewDocument { name, extension: Some("txt"), text: page(&evaluated, &parameters) })
    });
}

/// A literal per parameter, by number. Nothing where a parameter is too large to be sampled.
fn samples(parameters: &[EvaluationParameter]) -> Option<Vec<String>> {
    let count = parameters.iter().map(|parameter| parameter.number as usize + 1).max().unwrap_or(0);
    let mut inputs = vec![String::new(); count];
    for parameter in parameters {
        inputs[parameter.number as usize] = parameter.sample.clone()?;
    }
    Some(inputs)
}

fn page((name, answer): &Evaluated, parameters: &[EvaluationParameter]) -> String {
    let mut text = String::new();
    for parameter in parameters {
        let sample = parameter.sample.as_deref().unwrap_or_default();
        text += &format!("%{}: {} = {sample}\n", parameter.name, parameter.shape);
    }
    match answer {
        Ok(outputs) => text += &format!("%{name} = {}\n", outputs.join("\n")),
        Err(reason) => text += &format!("%{name} is not evaluated: {}\n", reason.0),
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::code_actions::tests::{apply, apply_in};
    use crate::fixture::open_mlir;

    #[test]
    fn sample_parameters_and_the_value_are_a_new_document() {
        let module =
            "HloModule m\n\nENTRY e {\n  p = f32[3] parameter(0)\n  ROOT $0a = f32[3] add(p, p)\n}\n";
        let shown = apply(module, "evaluate").expect("it is offered");
        assert!(shown.starts_with("%p: f32[3] = {0, 1, 2}\n"), "{shown}");
        assert!(shown.ends_with("%a = {0, 2, 4}\n"), "{shown}");
        let text = "func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {\n  %0 = $0stablehlo.add %a, %a : tensor<3xf32>\n  return %0 : tensor<3xf32>\n}\n";
        let shown = apply_in(open_mlir(text), "evaluate").expect("it is offered in MLIR, too");
        assert!(shown.ends_with("{0, 2, 4}\n"), "{shown}");
    }

    #[test]
    fn it_is_offered_where_there_is_something_to_evaluate() {
        assert_eq!(
            apply("HloModule $0m\n\nENTRY e {\n  ROOT p = f32[3] parameter(0)\n}\n", "evaluate"),
            None
        );
        let text = "func.func @f(%a: memref<3xf32>) {\n  $0memref.dealloc %a : memref<3xf32>\n  return\n}\n";
        assert_eq!(apply_in(open_mlir(text), "evaluate"), None);
    }
}
