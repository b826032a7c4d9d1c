//! "Convert to StableHLO": the module in the other language, as a new document.

use super::{Actions, Change, CodeActionKind};
use crate::TextRange;
use crate::file_context::FileContext;

/// The id of the action; a client that shows conversions itself has a command for it.
pub const ID: &str = "convert";

pub(crate) fn offer(context: &FileContext<'_>, _: &TextRange, actions: &mut Actions<'_>) {
    let Some(to) = context.semantics().converts_to(context) else { return };
    actions.offer(ID, to.title, CodeActionKind::Source, || {
        let text = context.semantics().convert(context).document();
        Some(Change::NewDocument { name: to.name.to_owned(), extension: Some(to.extension), text })
    });
}

/// The result of converting a file.
pub(crate) struct Target {
    title: &'static str,
    /// The name of the new file, and its extension.
    name: &'static str,
    extension: &'static str,
}

pub(crate) const STABLEHLO: Target =
    Target { title: "Convert to StableHLO", name: "stablehlo", extension: "mlir" };
pub(crate) const HLO: Target = Target { title: "Convert to HLO", name: "converted", extension: "hlo" };

/// Whether some op has an HLO equivalent.
pub(crate) fn holds_hlo_ops(context: &FileContext<'_>) -> bool {
    let mut pieces = context.view.file.pieces(context.db).iter();
    pieces.any(|&piece| db::mlir_holds_hlo_ops(context.db, piece))
}

#[cfg(test)]
mod tests {
    use crate::code_actions::tests::{apply, apply_in};
    use crate::fixture::open_mlir;

    #[test]
    fn the_other_language_is_a_new_document() {
        let shown = apply("HloModule m\n\nENTRY e {\n  $0ROOT p = f32[4]{0} parameter(0)\n}\n", "convert");
        assert!(shown.is_some_and(|text| text.contains("func.func public @main(%p: tensor<4xf32>)")));
        let text = "\
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  $0%0 = stablehlo.abs %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
";
        let shown = apply_in(open_mlir(text), "convert");
        assert!(shown.is_some_and(|text| text.contains(" abs(")));
        // HLO has no equivalents for other dialects.
        assert_eq!(apply_in(open_mlir(&text.replace("stablehlo.abs", "math.absf")), "convert"), None);
    }
}
