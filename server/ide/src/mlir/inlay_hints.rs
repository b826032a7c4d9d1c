//! Behind results whose type is not written, their type: `: index`.

use mlir::TypeRef;

use crate::inlay_hints::InlayHintsConfig;
use crate::locate::FileContext;
use crate::markdown::shorten;
use crate::{InlayHint, TextRange};

/// Characters of a hint.
const LIMIT: usize = 80;

/// Of the ops whose results stand in `range`.
pub(crate) fn inlay_hints(
    context: &FileContext<'_>,
    range: TextRange,
    config: &InlayHintsConfig,
) -> Vec<InlayHint> {
    let mut hints = Vec::new();
    if !config.domains {
        return hints;
    }
    for piece in context.pieces_in(&range) {
        crate::analysis::check_cancelled(context.db);
        let read = context.mlir_piece(piece);
        for (id, value) in read.parse.values.iter().enumerate() {
            let name = context.range(piece, value.name);
            if name.end < range.start || name.start > range.end {
                continue;
            }
            let [ty] = read.parse.types(&value.types) else { continue };
            if matches!(ty, TypeRef::Written(_)) {
                continue;
            }
            if let Some(ty) = read.parse.type_of(id as u32, 0, &read.text) {
                let label = format!(": {}", shorten(&ty, LIMIT));
                hints.push(InlayHint { offset: name.end, label, tooltip: None });
            }
        }
    }
    hints.sort_by_key(|h| h.offset);
    hints
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;
    use crate::inlay_hints::InlayHintsConfig;

    #[test]
    fn types_that_are_not_written_are_shown() {
        let (analysis, file, _) = open_mlir(
            "func.func @f(%a: tensor<4xi32>, %n: index) {\n  %0 = arith.cmpi slt, %a, %a : tensor<4xi32>\n  scf.for %i = %n to %n step %n {\n  }\n}\n",
        );
        let text = analysis.rope(file).to_string();
        let config = InlayHintsConfig { domains: true, splits: true };
        let hints = analysis.inlay_hints(file, 0..text.len(), &config).expect("nobody cancels");
        let shown: Vec<_> = hints
            .iter()
            .map(|h| format!("{}{}", text[..h.offset].rsplit([' ', '(']).next().unwrap_or_default(), h.label))
            .collect();
        assert_eq!(shown, ["%0: tensor<4xi1>", "%i: index"]);
    }
}
