//! Hints: the type, `: index`, after results whose type is not written; the domain of its map after an op;
//! and values derived from lists: products of reassociations, weights of digits, numbers of tiles.

use db::MlirMaps;
use ir::Opcode;
use mlir::TypeRef;
use mlir_ops::Source;
use syntax::Span;

use crate::file_context::FileContext;
use crate::inlay_hints::{
    DomainHints, InlayHints, InlayHintsConfig, LIMIT, domain_hint, hinted_maps, in_brackets,
};
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::mlir::op_maps_hover::own_domain;
use crate::units::shorten;
use crate::{InlayHint, TextRange};

impl InlayHints for Mlir {
    /// The hints of the ops of a piece whose results are in `range`.
    fn inlay_hints_in(
        &self,
        context: &FileContext<'_>,
        piece: usize,
        range: &TextRange,
        config: &InlayHintsConfig,
    ) -> Vec<InlayHint> {
        let mut hints = Vec::new();
        if config.domains == DomainHints::Off {
            return hints;
        }
        let read = context.mlir_piece(piece);
        let of_ops = |source: &Source<'_>| of_ops(context, source, piece, range, config.domains, &mut hints);
        _ = db::with_mlir_source(context.db, context.view.file, piece, of_ops);
        for (id, value) in read.parse.values.iter().enumerate() {
            let name = context.range(piece, value.name);
            if name.end < range.start || name.start > range.end {
                continue;
            }
            let [ty] = read.parse.types(&value.types) else { continue };
            if matches!(ty, TypeRef::Written(_)) {
                continue;
            }
            if let Some(ty) = context.type_of_value(piece, id as u32, 0) {
                let label = format!(": {}", shorten(&ty, LIMIT));
                hints.push(InlayHint { offset: name.end, label, tooltip: None });
            }
        }
        hints
    }
}

/// Values derived from lists, and domains, of the ops in `range`.
fn of_ops(
    context: &FileContext<'_>,
    source: &Source<'_>,
    piece: usize,
    range: &TextRange,
    wanted: DomainHints,
    hints: &mut Vec<InlayHint>,
) {
    let start = context.range(piece, Span::default()).start;
    // Ops of other pieces that this piece uses follow its own.
    let own = context.mlir_piece(piece).parse.ops.len();
    for (id, op) in source.parse.ops.iter().enumerate().take(own) {
        let head = context.range(piece, op.head);
        if head.end < range.start || head.start > range.end {
            continue;
        }
        cancel::check();
        let at = OpRef { piece, id: id as u32 };
        for (behind, label) in mlir_indexing::op_hints(source, at.id) {
            let label = shorten(&label, LIMIT);
            hints.push(InlayHint { offset: start + behind as usize, label, tooltip: None });
        }
        let label = if op.results.is_empty() { None } else { domain(source, at, wanted) };
        if let Some(label) = label {
            let end = if op.location.is_empty() { op.span.end } else { op.location.start };
            let text = source.text.get(..end.min(op.head.end) as usize).unwrap_or_default();
            hints.push(InlayHint { offset: start + text.trim_end().len(), label, tooltip: None });
        }
    }
}

/// The domain hint of an op. `None` for ops that read no operand by index, and for single elements.
fn domain(source: &Source<'_>, at: OpRef, wanted: DomainHints) -> Option<String> {
    // Index values have no domain. Computing one would follow chains of sums.
    if mlir_indexing::is_index_value(source, at.id) {
        return None;
    }
    let hlo = match db::mlir_maps(source, at.id, 0)?.ok()? {
        MlirMaps::Hlo(op) => op,
        MlirMaps::Own(maps) => return Some(in_brackets(&own_domain(&maps, wanted)?)),
    };
    let op = hlo.op();
    if hlo.operands.is_empty() || matches!(op.opcode, Opcode::Tuple | Opcode::GetTupleElement) {
        return None;
    }
    domain_hint(op.opcode, &op.shape, &hinted_maps(op, |rules| db::hlo_op_maps(&hlo, 0, rules)), wanted)
}

#[cfg(test)]
mod tests {
    use crate::fixture::open_mlir;
    use crate::inlay_hints::{DomainHints, InlayHintsConfig};

    #[test]
    fn types_that_are_not_written_are_shown() {
        let (analysis, file, _) = open_mlir(
            "\
func.func @f(%a: tensor<4xi32>, %n: index) {
  %0 = arith.cmpi slt, %a, %a : tensor<4xi32>
  scf.for %i = %n to %n step %n {
  }
}
",
        );
        let text = analysis.text(file).to_string();
        let config = InlayHintsConfig { domains: DomainHints::All, splits: true, memory: false };
        let hints = analysis.inlay_hints(file, 0..text.len(), &config).expect("nobody cancels");
        let shown: Vec<_> = hints
            .iter()
            .map(|h| format!("{}{}", text[..h.offset].rsplit([' ', '(']).next().unwrap_or_default(), h.label))
            .collect();
        assert_eq!(shown, ["%0: tensor<4xi1>", "tensor<4xi32>⟨d0 ≤ 3⟩", "%i: index"]);
    }

    #[test]
    fn lists_come_to_numbers() {
        let (analysis, file, _) = open_mlir(
            "\
func.func @f(%a: tensor<3x5x7x4xf32>, %i: index, %j: index, %m: memref<1024x64xf32>) {
  %0 = tensor.collapse_shape %a [[0, 1, 2], [3]] : tensor<3x5x7x4xf32> into tensor<105x4xf32>
  %1:3 = affine.delinearize_index %i into (3, 5, 7) : index, index, index
  %2 = xtile.extract %m[%i, %j][10, 16][1, 1] : memref<1024x64xf32> -> tensor<10x16xf32>
}
",
        );
        let text = analysis.text(file).to_string();
        let config = InlayHintsConfig { domains: DomainHints::All, splits: true, memory: false };
        let hints = analysis.inlay_hints(file, 0..text.len(), &config).expect("nobody cancels");
        let shown: Vec<_> = hints
            .iter()
            .map(|h| format!("{} {}", text[..h.offset].rsplit(' ').next().unwrap_or_default(), h.label))
            .collect();
        assert_eq!(
            shown,
            [
                "[3]] [0,1,2] = 3*5*7 = 105",
                "tensor<105x4xf32> ⟨d0 ≤ 104, d1 ≤ 3⟩",
                "%1 : index",
                "7) weights 35, 7, 1",
                "16] 103 x 4 tiles",
                "tensor<10x16xf32> ⟨d0 ≤ 9, d1 ≤ 15, i ≤ 1023, j ≤ 63, d0 + i ≤ 1023, d1 + j ≤ 63⟩"
            ]
        );
    }

    /// The type before the hint of each op, and the hint.
    fn domains(ops: &str) -> Vec<String> {
        let (analysis, file, _) = open_mlir(ops);
        let text = analysis.text(file).to_string();
        let config = InlayHintsConfig { domains: DomainHints::All, splits: true, memory: false };
        let hints = analysis.inlay_hints(file, 0..text.len(), &config).expect("nobody cancels");
        let before = |offset: usize| text[..offset].rsplit(' ').next().unwrap_or_default();
        hints.iter().map(|h| format!("{} {}", before(h.offset), h.label)).collect()
    }

    #[test]
    fn domains_stand_behind_ops() {
        let transpose = "\
func.func @f(%a: tensor<4x8xf32>) {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32> loc(unknown)
}
";
        assert_eq!(domains(transpose), ["tensor<8x4xf32> ⟨d0 ≤ 7, d1 ≤ 3⟩"]);
    }

    #[test]
    fn ops_of_chlo_have_the_domains_of_their_instructions() {
        let top_k = "\
func.func @f(%t: tensor<4x16xf32>) {
  %0:2 = chlo.top_k(%t, k = 3) : tensor<4x16xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
}
";
        assert_eq!(domains(top_k), ["tensor<4x3xi32>) ⟨d0 ≤ 3, d1 ≤ 2, s0 ≤ 15⟩"]);
        let ragged_dot = r#"func.func @f(%a: tensor<11x5xf32>, %b: tensor<3x5x7xf32>, %g: tensor<3xi64>) {
  %0 = "chlo.ragged_dot"(%a, %b, %g) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<11x5xf32>, tensor<3x5x7xf32>, tensor<3xi64>) -> tensor<11x7xf32>
}
"#;
        assert_eq!(domains(ragged_dot), ["tensor<11x7xf32> ⟨d0 ≤ 10, d1 ≤ 6, s0 ≤ 4, s1 ≤ 2⟩"]);
    }
}
