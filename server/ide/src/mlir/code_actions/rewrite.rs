//! Rewrites slices of reshapes as slices of the reshape's operand, where this is proven correct.

use mlir::{OpId, PieceState};
use mlir_ops::{Aliases, Source};
use mlir_rewrites::{Rewrite, rewrites};

use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::file_context::FileContext;
use crate::mlir::code_actions::aliases::value_of;
use crate::mlir::context::OpRef;
use crate::{TextEdit, TextRange};

pub(super) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let Some(at) = context.op_at(range.start) else { return };
    let (found, start) = found(context, at).unwrap_or_default();
    for rewrite in found {
        actions.offer(rewrite.id, rewrite.title, CodeActionKind::RefactorRewrite, || {
            let edit = |(span, insert): (syntax::Span, String)| TextEdit {
                range: start + span.start as usize..start + span.end as usize,
                insert,
            };
            Some(Change::Edits(rewrite.edits.into_iter().map(edit).collect()))
        });
    }
}

/// The rewrites of an op, and the offset of the text that their edits refer to.
fn found(context: &FileContext<'_>, at: OpRef) -> Option<(Vec<Rewrite>, usize)> {
    let read = context.mlir_piece(at.piece);
    if let Some(part) = read.part_around(at.id) {
        // New names must not clash in the whole function, and removed values must have no uses in it. The
        // whole function is checked only if the op and its operands match a rewrite, which is rare.
        let promises = db::with_mlir_operands(context.db, context.view.file, at.piece, at.id, |source| {
            !rewrites(source, at.id).is_empty()
        });
        return promises.filter(|&promises| promises).and_then(|_| in_function(context, at, part));
    }
    let part_at = |local: u32| context.part_at(at.piece, local);
    let outside = FileAliases { context, part_at: &part_at };
    let source = Source::new(&read.parse, &read.text, &outside);
    Some((rewrites(&source, at.id), context.view.starts[at.piece].offset))
}

/// The rewrites of an op of a cut function, with the text of the function's pieces.
fn in_function(context: &FileContext<'_>, at: OpRef, part: usize) -> Option<(Vec<Rewrite>, usize)> {
    let pieces = context.mlir_giants().pieces_of(at.piece, part);
    let (first, last) = (pieces.first()?.0, pieces.last()?.0);
    let start = context.view.starts[first].offset;
    let end = context.view.starts.get(last + 1).map_or(context.view.text.len_bytes(), |next| next.offset);
    let text = context.view.text.byte_slice(start..end).to_string();
    let parse = mlir::parse(&text, PieceState::from_u8(context.view.starts[first].state));
    let op = context.range(at.piece, context.mlir_piece(at.piece).parse.op(at.id).span).start - start;
    let id = parse.ops.partition_point(|other| (other.span.start as usize) < op) as OpId;
    let module = context.mlir_module();
    let part_at = |local: u32| module.part_at(first, &parse, local);
    let outside = FileAliases { context, part_at: &part_at };
    let source = Source::new(&parse, &text, &outside);
    let is_there = parse.ops.get(id as usize).is_some_and(|other| other.span.start as usize == op);
    Some((is_there.then(|| rewrites(&source, id))?, start))
}

/// The aliases of a file, for a text whose offsets lie in parts of the file.
struct FileAliases<'a> {
    context: &'a FileContext<'a>,
    part_at: &'a dyn Fn(u32) -> usize,
}

impl Aliases for FileAliases<'_> {
    fn value(&self, name: &str, at: u32) -> Option<&str> {
        value_of(self.context, (self.part_at)(at), name)
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

    /// The alias of a type is in a different piece from the slice.
    #[test]
    fn aliases_of_other_pieces_count() {
        let filler = "func.func @g(%a: f32) {\n  x.y %a : f32\n  return\n}\n".repeat(2000);
        let (alias, rest) = TEXT.split_once('\n').expect("it has lines");
        let text = format!("{alias}\n{filler}{rest}");
        assert_eq!(titles(&text), ["Replace by 1 slice"]);
        assert_eq!(titles(&text.replacen("!x =", "!y =", 1)), [""; 0]);
    }
}
