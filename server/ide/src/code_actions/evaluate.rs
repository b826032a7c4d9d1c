//! "Evaluate": the value of an HLO instruction or MLIR op. A client with the command asks for the parameters;
//! other clients have one action per fill of the parameters, which opens a new document with the value.

use eval::{Arguments, Fill, Form};

use super::{Actions, Change, CodeActionKind};
use crate::TextRange;
use crate::evaluated_page::evaluated_page;
use crate::file_context::FileContext;

/// The id of the only action for a client with its own command. Ids of the others start with it.
pub const ID: &str = "evaluate";

const ACTIONS: [(&str, &str, Fill); 3] = [
    (ID, "Evaluate", Fill::Iota),
    ("evaluate-random", "Evaluate with random parameters", Fill::Random { seed: 0 }),
    ("evaluate-zeros", "Evaluate with zeros", Fill::Zeros),
];

pub(crate) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let offset = range.start;
    // The graph and the value are computed on demand, so that moving the cursor stays cheap.
    if !context.semantics().has_value(context, offset) {
        return;
    }
    // A client that needs changes with the titles gets one value, for small parameters.
    let is_eager = actions.makes_all_changes();
    for (id, title, fill) in ACTIONS.into_iter().filter(|&(id, ..)| !is_eager || id == ID) {
        actions.offer(id, title, CodeActionKind::Show, || {
            if is_eager && !has_small_parameters(context, offset) {
                return None;
            }
            let arguments = Arguments { literals: Vec::new(), fill: Some(fill) };
            let evaluated = crate::evaluate::evaluate_at(context, offset, &arguments, Form::Summary)?;
            let name = format!("{}.value", evaluated.name);
            let text = evaluated_page(&evaluated, &arguments);
            Some(Change::NewDocument { name, extension: Some("txt"), text })
        });
    }
}

fn has_small_parameters(context: &FileContext<'_>, offset: usize) -> bool {
    let parameters = crate::evaluate::evaluation_parameters(context, offset);
    parameters.iter().all(|parameter| parameter.sample.is_some())
}

#[cfg(test)]
mod tests {
    use crate::code_actions::tests::{apply, apply_in};
    use crate::fixture::open_mlir;

    #[test]
    fn the_value_and_its_parameters_are_a_new_document() {
        let module = "\
HloModule m

ENTRY e {
  p = f32[3] parameter(0)
  ROOT $0a = f32[3] add(p, p)
}
";
        let shown = apply(module, "evaluate").expect("it is offered");
        assert_eq!(shown, "%a: f32[3]\n0  2  4\n\nParameters (iota)\n\n%p: f32[3]\n0  1  2\n");
        let shown = apply(module, "evaluate-zeros").expect("it is offered");
        assert!(shown.starts_with("%a: f32[3]\n0  0  0\n"), "{shown}");
        let shown = apply(module, "evaluate-random").expect("it is offered");
        assert!(shown.contains("Parameters (random, seed 0)\n"), "{shown}");
        let text = "\
func.func @f(%a: tensor<3xf32>) -> tensor<3xf32> {
  %0 = $0stablehlo.add %a, %a : tensor<3xf32>
  return %0 : tensor<3xf32>
}
";
        let shown = apply_in(open_mlir(text), "evaluate").expect("it is offered in MLIR, too");
        assert!(shown.starts_with("%add.0: f32[3]\n0  2  4\n"), "{shown}");
    }

    #[test]
    fn it_is_offered_where_there_is_something_to_evaluate() {
        for id in ["evaluate", "evaluate-random", "evaluate-zeros"] {
            assert_eq!(apply("HloModule $0m\n\nENTRY e {\n  ROOT p = f32[3] parameter(0)\n}\n", id), None);
        }
        let text = "\
func.func @f(%a: memref<3xf32>) {
  $0memref.dealloc %a : memref<3xf32>
  return
}
";
        assert_eq!(apply_in(open_mlir(text), "evaluate"), None);
    }
}
