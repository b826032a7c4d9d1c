//! The maps of an op, one per line, for terminals.

use db::MlirMaps;
use indexing::{MapBeside, Rules};
use indexing_map::IndexingMap;
use mlir::OpId;
use mlir_ops::Source;

use crate::annotate::Notes;
use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::mlir::map_text::map_text;
use crate::mlir::op_maps_hover::{RESULT_LIMIT, title};
use crate::rich_text::Inline;

/// The maps of results, stores and index values; empty if nothing is read by index.
pub(crate) fn map_notes(source: &Source<'_>, id: OpId) -> Vec<String> {
    let results = source.result_count(id).clamp(1, RESULT_LIMIT);
    let mut notes: Vec<String> = Vec::new();
    let mut push = |note: String| {
        if !notes.contains(&note) {
            notes.push(note);
        }
    };
    for result in 0..results {
        match db::mlir_maps(source, id, result) {
            Some(Ok(MlirMaps::Hlo(op))) => {
                let from = if results > 1 { format!("output {result}") } else { "output".to_owned() };
                let maps = db::hlo_op_maps(&op, result, Rules::Exact);
                for (name, accesses) in op.operands.iter().zip(&maps.operands) {
                    for access in accesses {
                        let text = line(&access.map, access.is_identity(), access.note.as_deref());
                        push(format!("{from} -> {name}: {text}"));
                    }
                }
                for MapBeside { from, to, access } in db::hlo_maps_beside(&op) {
                    push(format!("{from} -> {to}: {}", map_text(&access.map)));
                }
            }
            Some(Ok(MlirMaps::Own(maps))) => {
                for access in &maps.accesses {
                    let operand = Inline::Words(access.operand.clone());
                    let title = title(&maps.space, operand.into(), access.role, results);
                    let title = title.plain_text().replace('→', "->");
                    let is_identity = access.map.is_identity() && access.symbols.is_empty();
                    let remark = access.note.as_ref().filter(|_| access.map.is_mapped());
                    let remark = remark.map(|note| format!(" ({note})")).unwrap_or_default();
                    let text = line(&access.map, is_identity, access.note.as_deref());
                    push(format!("{title}: {text}{remark}"));
                }
            }
            Some(Err(reason)) if source.parse.operands_of(id).next().is_some() => {
                push(format!("no map: {reason}"));
            }
            _ => {}
        }
    }
    notes
}

fn line(map: &IndexingMap, is_identity: bool, note: Option<&str>) -> String {
    match () {
        () if map.is_undefined() => format!("no map: {}", note.unwrap_or("not known")),
        () if map.results().is_empty() && map.constraints().is_empty() => "the scalar".to_owned(),
        () if is_identity => "identity".to_owned(),
        () => map_text(map),
    }
}

impl Notes for Mlir {
    /// The maps of the ops of a piece: after an op, or before its regions.
    fn notes_in(&self, context: &FileContext<'_>, piece: usize) -> Vec<(usize, String)> {
        let rope = &context.view.text;
        let ops = context.mlir_piece(piece).parse.ops.len() as mlir::OpId;
        let of_all = |source: &mlir_ops::Source<'_>| {
            let mut notes = Vec::new();
            for id in (0..ops).filter(|&id| !source.parse.is_continued(id)) {
                let end = context.range(piece, source.parse.op(id).head).end;
                let line = rope.byte_to_line(end.min(rope.len_bytes()));
                let of_op = map_notes(source, id).into_iter();
                notes.extend(of_op.map(|note| (line, format!("  //   {note}\n"))));
            }
            notes
        };
        db::with_mlir_source(context.db, context.view.file, piece, of_all).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use crate::fixture::open_mlir;

    fn check(text: &str, expect: Expect) {
        let (analysis, file, _) = open_mlir(text);
        let mut out = String::new();
        analysis.annotate(file, &mut |chunk| out += chunk).expect("nobody cancels");
        let notes: Vec<_> = out.lines().filter_map(|line| line.strip_prefix("  //   ")).collect();
        expect.assert_eq(&format!("{}\n", notes.join("\n")));
    }

    /// Both maps of an iota, and those from a dot's operands to its output, as for HLO.
    #[test]
    fn maps_in_both_directions() {
        check(
            "func.func @f(%a: tensor<4x6xf32>, %b: tensor<6x3xf32>) -> tensor<4x3xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<2x4xf32>
  %1 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}
",
            expect![[r#"
                output -> input: (d0, d1) -> (), domain: d0 in [0, 1], d1 in [0, 3]
                input -> output: ()[s0, s1] -> (s0, s1), domain: s0 in [0, 1], s1 in [0, 3]
                output -> %a: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 5]
                output -> %b: (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 3], d1 in [0, 2], s0 in [0, 5]
                %a -> output: (d0, d1)[s0] -> (d0, s0), domain: d0 in [0, 3], d1 in [0, 5], s0 in [0, 2]
                %b -> output: (d0, d1)[s0] -> (s0, d1), domain: d0 in [0, 5], d1 in [0, 2], s0 in [0, 3]
            "#]],
        );
    }

    /// An unknown extent is not printed as a bound of 2^63.
    #[test]
    fn unbounded_variables_have_no_numbers() {
        check(
            "func.func @f(%a: tensor<?x6xf32>, %i: index) -> tensor<?x6xf32> {
  %c = arith.constant 0 : index
  %d = tensor.dim %a, %c : tensor<?x6xf32>
  %0 = tensor.extract_slice %a[%i, 0] [%d, 6] [1, 1] : tensor<?x6xf32> to tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
",
            expect![[r#"
                %d is: (){a_dim0} -> (a_dim0), domain: 0 ≤ a_dim0
                output -> %a: (d0, d1){i, a_dim0} -> (d0 + i, d1), domain: 0 ≤ d0 < a_dim0, 0 ≤ d1 ≤ 5, 0 ≤ i, 0 ≤ a_dim0
            "#]],
        );
    }

    #[test]
    fn maps_stand_behind_ops() {
        check(
            "func.func @f(%a: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = tensor.extract_slice %0[1, 0] [2, 4] [1, 1] : tensor<6x4xf32> to tensor<2x4xf32>
  return %0 : tensor<6x4xf32>
}
",
            expect![[r#"
                output -> %a: (d0, d1) -> (d1, d0), domain: d0 in [0, 5], d1 in [0, 3]
                output -> %0: (d0, d1) -> (d0 + 1, d1), domain: d0 in [0, 1], d1 in [0, 3]
            "#]],
        );
    }
}
