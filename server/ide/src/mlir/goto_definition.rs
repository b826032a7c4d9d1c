//! Go to definition for MLIR.

use mlir::Definition;

use crate::locate::FileContext;
use crate::mlir::context::OpRef;
use crate::mlir::occurrences::{Occurrence, Symbol, definitions, occurrence_at};
use crate::{NavigationTarget, TextRange};

/// The definitions of the name at `offset`; several if several modules define a symbol.
pub(crate) fn goto_definition(context: &FileContext<'_>, offset: usize) -> Vec<NavigationTarget> {
    let Some((asked, symbol)) = occurrence_at(context, offset) else { return Vec::new() };
    let found = definitions(context, &symbol);
    let target = |o: &Occurrence| NavigationTarget {
        origin: context.range(asked.piece, asked.span),
        range: whole(context, o, &symbol),
        selection_range: context.range(o.piece, o.span),
    };
    found.iter().map(target).collect()
}

/// The range of the whole definition: the op, or the name alone.
fn whole(context: &FileContext<'_>, at: &Occurrence, symbol: &Symbol) -> TextRange {
    let parse = &context.mlir_piece(at.piece).parse;
    let op = match symbol {
        Symbol::Value { value, .. } => match parse.values[*value as usize].definition {
            Definition::Result(op) => Some(op),
            Definition::BlockArgument(_) | Definition::Binder(_) => None,
        },
        Symbol::Block { .. } => None,
        Symbol::Global { .. } | Symbol::Alias { .. } => parse.op_at(at.span.start as usize),
    };
    let name = context.range(at.piece, at.span);
    let range = op.map_or(name.clone(), |id| context.whole_op(OpRef { piece: at.piece, id }));
    // In an invalid text, a name may be outside its op.
    if range.start <= name.start && name.end <= range.end { range } else { name }
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;

    fn check(text: &str, expect: &str) {
        let (analysis, file, offset) = open_mlir(text);
        let text = analysis.rope(file).to_string();
        let targets = analysis.goto_definition(file, offset).expect("nobody cancels");
        let line = |t: &crate::NavigationTarget| {
            assert!(t.range.start <= t.selection_range.start && t.selection_range.end <= t.range.end);
            format!(
                "{} in {}",
                &text[t.selection_range.clone()],
                text[t.range.start..].lines().next().unwrap_or_default()
            )
        };
        assert_eq!(targets.iter().map(line).collect::<Vec<_>>().join("; "), expect);
    }

    const TEXT: &str = "#map = affine_map<(d0) -> (d0)>
module @m {
  func.func @f(%a: f32) -> f32 {
    %0:2 = x.y %a {m = #map} : f32, f32
    cf.br ^bb1(%0#1 : f32)
  ^bb1(%b: f32):
    %1 = func.call @g(%b) : (f32) -> f32
    return %1 : f32
  }
  func.func private @g(f32) -> f32
}
// -----
func.func private @g(f32) -> f32
";

    #[test]
    fn names_lead_to_what_has_them() {
        check(&TEXT.replace("x.y %a", "x.y $0%a"), "%a in %a: f32) -> f32 {");
        check(&TEXT.replace("%0#1 :", "%0#$01 :"), "%0 in %0:2 = x.y %a {m = #map} : f32, f32");
        check(&TEXT.replace("br ^bb1", "br ^$0bb1"), "^bb1 in ^bb1(%b: f32):");
        check(&TEXT.replace("@g(%b)", "@$0g(%b)"), "@g in func.func private @g(f32) -> f32");
        check(&TEXT.replace("= #map}", "= $0#map}"), "#map in #map = affine_map<(d0) -> (d0)>");
        check(&TEXT.replace("return %1", "return %1$0"), "%1 in %1 = func.call @g(%b) : (f32) -> f32");
        check(&TEXT.replace("x.y", "x.$0y"), "");
    }
}
