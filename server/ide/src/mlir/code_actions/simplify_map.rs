//! Replaces a map in the text with its simplified form, if that is shorter and proven equal.

use indexing_map::{
    IndexingMap, MapAttribute, PrintStyle, SimplifyMode, Verdict, parse_map, print_map, same_function,
};
use mlir_ops::AffineMap;
use mlir_rewrites::affine_map_text;

use crate::code_actions::{Actions, Change, CodeActionKind};
use crate::file_context::FileContext;
use crate::mlir::code_actions::map_texts::{MapKind, map_texts};
use crate::{TextEdit, TextRange};

/// The number of points and boxes that a proof may examine.
const BUDGET: usize = 10_000;
/// The largest size in bytes of a map that is parsed.
const MAX_BYTES: usize = 64 << 10;

pub(super) fn offer(context: &FileContext<'_>, range: &TextRange, actions: &mut Actions<'_>) {
    let Some(at) = context.op_at(range.start) else { return };
    let read = context.mlir_piece(at.piece);
    let op = read.parse.op(at.id);
    let local = range.start - context.range(at.piece, syntax::Span::default()).start;
    let Some(map) = map_texts(&read.text, op.head).into_iter().find(|m| m.span.contains(local)) else {
        return;
    };
    let written = map.span.of(&read.text);
    if written.len() > MAX_BYTES {
        return;
    }
    let simplified = match map.kind {
        MapKind::Affine => simplified_affine_map(written),
        MapKind::Indexing => simplified_indexing_map(written),
    };
    if let Some(insert) = simplified {
        actions.offer("simplify-map", "Simplify this map", CodeActionKind::RefactorRewrite, || {
            Some(Change::Edits(vec![TextEdit { range: context.range(at.piece, map.span), insert }]))
        });
    }
}

/// The simplified map, if it has fewer operators or constraints and is the same function.
fn simplified(map: &IndexingMap) -> Option<IndexingMap> {
    let simple = map.clone().simplified(SimplifyMode::Replace);
    // Uses pass a map's variables by position.
    let counts = |m: &IndexingMap| (m.num_dims(), m.num_ranges(), m.num_runtime(), m.results().len());
    let size =
        |m: &IndexingMap| (m.node_count() + m.constraints().len(), print_map(m, PrintStyle::Floordiv).len());
    let is_new = simple.is_mapped() && counts(&simple) == counts(map) && size(&simple) < size(map);
    (is_new && same_function(map, &simple, BUDGET) == Verdict::Yes).then_some(simple)
}

fn simplified_affine_map(written: &str) -> Option<String> {
    let map = AffineMap::parse(written).ok()?;
    let simple = simplified(&map.unbounded())?;
    affine_map_text(&AffineMap { results: simple.results().to_vec(), ..map })
}

fn simplified_indexing_map(written: &str) -> Option<String> {
    let map = parse_map(written).ok()?;
    Some(MapAttribute::read(written)?.with_map(&simplified(&map)?))
}

#[cfg(test)]
mod tests {
    use crate::mlir::code_actions::tests::apply;

    #[track_caller]
    fn check(map: &str, expect: Option<&str>) {
        let line = |map: &str| format!("#map = {map}\nx.y %a {{m = {map}}}\n");
        let text = line(map).replacen("x.y %a {m = ", "x.y %a {m = $0", 1);
        let expect = expect.map(|new| format!("#map = {map}\nx.y %a {{m = {new}}}\n"));
        assert_eq!(apply(&text, "simplify-map"), expect);
    }

    #[test]
    fn affine_maps_become_shorter() {
        check(
            "affine_map<(i, j)[n] -> ((i * 4 + j * 8) floordiv 4, (n * 2 + 1) mod 2, i + j - i)>",
            Some("affine_map<(i, j)[n] -> (j * 2 + i, 1, j)>"),
        );
        check("affine_map<(d0, d1) -> (d1, d0)>", None);
        check("affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>", None);
        check("affine_map<(d0) -> (d0 floordiv)>", None);
    }

    #[test]
    fn indexing_maps_become_shorter_within_their_domains() {
        check(
            "#xla.indexing_map<\"(d0)[s0] -> (d0 mod 16 + s0 floorDiv 4), \" \"domain: d0 in [0, 9], s0 in [0, 7]\">",
            Some(
                "#xla.indexing_map<\"(d0)[s0] -> (s0 floorDiv 4 + d0), domain: d0 in [0, 9], s0 in [0, 7]\">",
            ),
        );
        check(
            "#xla_gpu.indexing_map<(d0) -> (d0 mod 16), domain: d0 in [0, 9], is_simplified: false>",
            Some("#xla_gpu.indexing_map<(d0) -> (d0), domain: d0 in [0, 9], is_simplified: true>"),
        );
        check(
            "#xla_gpu.map<(d0) -> (d0 mod 16) domain: d0 in [0, 9]>",
            Some("#xla_gpu.map<(d0) -> (d0), domain: d0 in [0, 9]>"),
        );
        check("#xla.indexing_map<\"(d0) -> (d0), domain: d0 in [0, 9]\">", None);
        check("#xla.indexing_map<\"(d0) -> (d0), domain: d0 in [0, -1]\">", None);
        check("#xla.indexing_map<\"nothing\">", None);
    }
}
