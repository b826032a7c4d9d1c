//! The fusions of XLA's documentation of indexing maps: their maps in the query, in the hover and in
//! `explain`. The documentation's statements about HLO also hold for StableHLO.

use ide::{
    AnalysisHost, Direction, HoverConfig, IndexingKind, IndexingQuery, IndexingReply, Language, Rules,
};
use indexing_map::{PrintStyle, Verdict, parse_map, print_map, same_function};
use test_files::hlo::{ADD, MAX};

const BUDGET: usize = 50_000;
const SAID: &str = "nobody cancels";

/// Checks the maps of a fusion `it` of `callee` to its only operand, in any order. The module also defines
/// `max` and `add`.
#[track_caller]
fn check(operand: &str, callee: &str, maps: &[&str]) {
    let result = callee.split("ROOT").nth(1).and_then(|root| root.split_whitespace().nth(2)).expect("a root");
    let text = format!(
        "\
HloModule m

{MAX}
{ADD}
f {{
{callee}
}}

ENTRY e {{
  x = {operand} parameter(0)
  ROOT it = {result} fusion(x), kind=kLoop, calls=f
}}
"
    );
    let mut host = AnalysisHost::new();
    let file = host.open("x.hlo", Language::Hlo, &text);
    let analysis = host.analysis();
    assert_eq!(analysis.diagnostics(file, 9).expect(SAID).shown, [], "{text}");
    let wanted: Vec<_> = maps.iter().map(|map| parse_map(map).expect("a map")).collect();
    let mut shown = Vec::new();
    for rules in [Rules::Xla, Rules::Exact] {
        let query = IndexingQuery {
            instruction: "it".to_owned(),
            computation: Some("e".to_owned()),
            kind: IndexingKind::One { direction: Direction::OutputToInput, index: 0, physical_layout: false },
            simplify: true,
            rules,
        };
        let Ok(IndexingReply::Operands(found)) = analysis.indexing(file, &query).expect(SAID) else {
            panic!("it has maps")
        };
        shown = found.operands[0].iter().map(|access| access.map.clone()).collect();
        let is_found = |map| shown.iter().any(|own| same_function(own, map, BUDGET) == Verdict::Yes);
        let printed: Vec<_> = shown.iter().map(|map| print_map(map, PrintStyle::Floordiv)).collect();
        assert!(wanted.iter().all(is_found) && shown.len() == wanted.len(), "{maps:?}, found {printed:#?}");
    }
    let at = text.find("ROOT it").expect("it is there") + "ROOT ".len();
    let config = HoverConfig { readable_variables: false, ..HoverConfig::default() };
    let hover = analysis.hover_with(file, at, &config).expect(SAID).expect("a popup").markdown();
    let mut explained = String::new();
    analysis.annotate(file, &mut |chunk| explained += chunk).expect(SAID);
    let letters = |text: &str| text.split_whitespace().collect::<String>().replace(",domain:", "domain:");
    for map in &shown {
        let printed = print_map(map, PrintStyle::Floordiv);
        let is_shown =
            letters(&hover).contains(&letters(&printed)) || map.is_identity() && hover.contains("identity");
        assert!(is_shown, "{printed} is not in\n{hover}");
        let line = if map.is_identity() { "identity" } else { &printed };
        assert!(explained.contains(&format!("//   output -> %x: {line}\n")), "{line} is not in\n{explained}");
    }
}

#[test]
fn an_input_with_several_maps() {
    check(
        "f32[1000,1000]",
        "  p0 = f32[1000, 1000] parameter(0)
  transpose_p0 = f32[1000, 1000]{0, 1} transpose(p0), dimensions={1, 0}
  ROOT a0 = f32[1000,1000] add(p0, transpose_p0)",
        &[
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 999], d1 in [0, 999]",
            "(d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 999]",
        ],
    );
}

#[test]
fn an_input_whose_maps_are_equal() {
    check(
        "f32[20,10,50]",
        "  p0 = f32[20, 10, 50] parameter(0)
  lhs_transpose_1 = f32[10, 20, 50] transpose(p0), dimensions={1, 0, 2}
  lhs_e = f32[10, 20, 50] exponential(lhs_transpose_1)
  lhs_transpose_2 = f32[10, 50, 20] transpose(lhs_e), dimensions={0, 2, 1}
  rhs_transpose_1 = f32[50, 10, 20] transpose(p0), dimensions={2, 1, 0}
  rhs_log = f32[50, 10, 20] exponential(rhs_transpose_1)
  rhs_transpose_2 = f32[10, 50, 20] transpose(rhs_log), dimensions={1, 0, 2}
  ROOT output = f32[10,50,20] add(lhs_transpose_2, rhs_transpose_2)",
        &["(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]"],
    );
}

#[test]
fn softmax() {
    check(
        "f32[2,65,125]",
        "  p = f32[2,65,125] parameter(0)
  low = f32[] constant(-inf)
  zero = f32[] constant(0)
  highest = f32[2,65] reduce(p, low), dimensions={2}, to_apply=max
  spread = f32[2,65,125] broadcast(highest), dimensions={0,1}
  shifted = f32[2,65,125] subtract(p, spread)
  powers = f32[2,65,125] exponential(shifted)
  sums = f32[2,65] reduce(powers, zero), dimensions={2}, to_apply=add
  all = f32[2,65,125] broadcast(sums), dimensions={0,1}
  ROOT s = f32[2,65,125] divide(powers, all)",
        &[
            "(d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124], s0 in [0, 124]",
            "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]",
        ],
    );
}

#[test]
fn reshapes_that_cancel_each_other() {
    check(
        "f32[10,10,10]",
        "  p0 = f32[10, 10, 10] parameter(0)
  reshape1 = f32[50, 20] reshape(p0)
  ROOT reshape2 = f32[10,10,10] reshape(reshape1)",
        &["(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]"],
    );
}

/// Both maps of an iota, and those from a dot's operands to its output, in StableHLO.
#[test]
fn stablehlo_has_maps_in_both_directions() {
    let text = "func.func @f(%a: tensor<4x128x256xf32>, %b: tensor<4x256x64xf32>) -> tensor<4x128x64xf32> {
  %0 = stablehlo.iota dim = 1 : tensor<2x4xf32>
  %1 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x128x256xf32>, tensor<4x256x64xf32>) -> tensor<4x128x64xf32>
  return %1 : tensor<4x128x64xf32>
}
";
    let mut host = AnalysisHost::new();
    let file = host.open("x.mlir", Language::Mlir, text);
    let analysis = host.analysis();
    let mut explained = String::new();
    analysis.annotate(file, &mut |chunk| explained += chunk).expect(SAID);
    let blocks = [
        ("stablehlo.iota", "output", "input", "(d0, d1) -> ()", "d0 in [0, 1], d1 in [0, 3]"),
        ("stablehlo.iota", "input", "output", "()[s0, s1] -> (s0, s1)", "s0 in [0, 1], s1 in [0, 3]"),
        (
            "stablehlo.dot_general",
            "%a",
            "output",
            "(d0, d1, d2)[s0] -> (d0, d1, s0)",
            "d0 in [0, 3], d1 in [0, 127], d2 in [0, 255], s0 in [0, 63]",
        ),
        (
            "stablehlo.dot_general",
            "%b",
            "output",
            "(d0, d1, d2)[s0] -> (d0, s0, d2)",
            "d0 in [0, 3], d1 in [0, 255], d2 in [0, 63], s0 in [0, 127]",
        ),
    ];
    for (op, from, to, map, domain) in blocks {
        let config = HoverConfig { readable_variables: false, ..HoverConfig::default() };
        let at = text.find(op).expect("it is there");
        let hover = analysis.hover_with(file, at, &config).expect(SAID).expect("a popup").markdown();
        let end = |name: &str| if name.starts_with('%') { format!("`{name}`") } else { name.to_owned() };
        let block = format!("**{} → {}**\n```\n{map}\ndomain: {domain}\n```\n", end(from), end(to));
        assert!(hover.contains(&block), "{block} is not in\n{hover}");
        let note = format!("//   {from} -> {to}: {map}, domain: {domain}\n");
        assert!(explained.contains(&note), "{note} is not in\n{explained}");
    }
}
