//! Slices of reshapes as slices of what was reshaped, where that is proven.

use mlir_indexing::Source;
use mlir_rewrites::rewrites;

use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::locate::FileContext;
use crate::mlir::code_actions::aliases::value_of;
use crate::{TextEdit, TextRange};

pub(super) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let Some(at) = context.op_at(range.start) else { return };
    let read = context.mlir_piece(at.piece);
    let outside = |name: &str, local: u32| value_of(context, context.part_at(at.piece, local), name);
    let source = Source::new(&read.parse, &read.text, &outside);
    for rewrite in rewrites(&source, at.id) {
        actions.offer(rewrite.id, rewrite.title, CodeActionKind::RefactorRewrite, || {
            let edit = |(span, insert)| TextEdit { range: context.range(at.piece, span), insert };
            Some(Change::Edits(rewrite.edits.into_iter().map(edit).collect()))
        });
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;
    use crate::mlir::code_actions::tests::{apply, titles};

    const TEXT: &str = "!x = tensor<10x10x100xf32>
func.func @f(%1: !x, %c0: index, %c100: index) {
  %2 = tensor.collapse_shape %1 [[0, 1], [2]] : !x into tensor<100x100xf32>
  %s = tensor.extract_slice %2[20, 0] [10, $0100] [1, 1] : tensor<100x100xf32> to tensor<10x100xf32>
  x.y %s : tensor<10x100xf32>
}
";

    #[test]
    fn a_slice_of_a_reshape_is_one_of_its_source() {
        assert_eq!(titles(TEXT), ["Replace by 1 slice"]);
        let text = apply(TEXT, "slices").expect("it is offered");
        assert_eq!(
            text,
            "!x = tensor<10x10x100xf32>
func.func @f(%1: !x, %c0: index, %c100: index) {
  %s = tensor.extract_slice %1[2, 0, 0] [1, 10, 100] [1, 1, 1] : !x to tensor<10x100xf32>
  x.y %s : tensor<10x100xf32>
}
"
        );
        let (analysis, file, _) = open_mlir(&text);
        assert_eq!(analysis.diagnostics(file, 10).expect("nobody cancels").shown, []);
    }

    /// The alias of a type is in another piece than the slice.
    #[test]
    fn aliases_of_other_pieces_count() {
        let filler = "func.func @g(%a: f32) {\n  x.y %a : f32\n  return\n}\n".repeat(2000);
        let (alias, rest) = TEXT.split_once('\n').expect("it has lines");
        let text = format!("{alias}\n{filler}{rest}");
        assert_eq!(titles(&text), ["Replace by 1 slice"]);
        assert_eq!(titles(&text.replacen("!x =", "!y =", 1)), [""; 0]);
    }
}
