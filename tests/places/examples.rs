//! The examples of XLA's documentation of indexing maps, verbatim: maps of ops in both directions, in the
//! query, in the hover and in `explain`; maps as text; the attributes and ops of older MLIR dumps.

use ide::{
    Analysis, AnalysisHost, Direction, FileId, HoverConfig, IndexingKind, IndexingQuery, IndexingReply,
    Language, OperandIndexing, Rules,
};
use indexing_map::{PrintStyle, SimplifyMode, Verdict, parse_map, print_map, same_function};
use test_files::hlo::MAX;

const BUDGET: usize = 50_000;

fn accesses(
    analysis: &Analysis,
    file: FileId,
    direction: Direction,
    index: usize,
    rules: Rules,
) -> Vec<Vec<OperandIndexing>> {
    let query = IndexingQuery {
        instruction: "it".to_owned(),
        computation: None,
        kind: IndexingKind::One { direction, index, physical_layout: false },
        simplify: true,
        rules,
    };
    match analysis.indexing(file, &query).expect("nobody cancels") {
        Ok(IndexingReply::Operands(maps)) => maps.operands,
        other => panic!("{other:?}"),
    }
}

fn letters(text: &str) -> String {
    text.split_whitespace().collect::<String>().replace(",domain:", "domain:")
}

#[track_caller]
fn is_map(found: &[OperandIndexing], map: &str) {
    let [access] = found else { panic!("{} maps in place of {map}", found.len()) };
    let wanted = parse_map(map).unwrap_or_else(|error| panic!("{map}: {error}"));
    let shown = print_map(&access.map, PrintStyle::Floordiv);
    assert_eq!(same_function(&access.map, &wanted, BUDGET), Verdict::Yes, "{shown} in place of {map}");
}

/// The lines of an entry with the queried instruction `it`, and its maps to and from each operand; `-` where
/// the documentation has none.
#[track_caller]
fn check(lines: &str, to: &[&str], from: &[&str]) {
    let text = format!(
        "\
HloModule m

{MAX}
argmax {{
  a = f32[] parameter(0)
  i = s32[] parameter(1)
  b = f32[] parameter(2)
  j = s32[] parameter(3)
  m = f32[] maximum(a, b)
  k = s32[] add(i, j)
  ROOT t = (f32[], s32[]) tuple(m, k)
}}

ENTRY e {{
{lines}
}}
"
    );
    let mut host = AnalysisHost::new();
    let file = host.open("x.hlo", Language::Hlo, &text);
    let analysis = host.analysis();
    let found = accesses(&analysis, file, Direction::OutputToInput, 0, Rules::Xla);
    let mut shown: Vec<String> = Vec::new();
    for (number, map) in to.iter().enumerate().filter(|(_, map)| **map != "-") {
        is_map(&found[number], map);
        shown.push(print_map(&found[number][0].map, PrintStyle::Floordiv));
    }
    for (number, map) in from.iter().enumerate().filter(|(_, map)| **map != "-") {
        let found = &accesses(&analysis, file, Direction::InputToOutput, number, Rules::Exact)[0];
        is_map(found, map);
        // For other ops, hovers show only the output-to-input direction.
        if lines.contains(" dot(") || lines.contains(" iota(") {
            shown.push(print_map(&found[0].map, PrintStyle::Floordiv));
        }
    }
    let at = text.find("ROOT it = ").expect("it is there") + "ROOT ".len();
    let config = HoverConfig { readable_variables: false, ..HoverConfig::default() };
    let hover = analysis.hover_with(file, at, &config).expect("nobody cancels").expect("a popup").markdown();
    let mut explained = String::new();
    analysis.annotate(file, &mut |chunk| explained += chunk).expect("nobody cancels");
    for printed in shown {
        let map = parse_map(&printed).expect("it was printed above");
        let is_identity = map.is_identity() && map.num_dims() > 0;
        let is_scalar = map.results().is_empty() && !lines.contains(" iota(");
        let in_hover = match () {
            () if is_scalar => hover.contains("the scalar"),
            () if is_identity => hover.contains("identity"),
            () => letters(&hover).contains(&letters(&printed)),
        };
        assert!(in_hover, "{printed} is not in\n{hover}");
        let in_explain = match () {
            () if is_scalar => explained.contains(": the scalar"),
            () if is_identity => explained.contains(": identity"),
            () => letters(&explained).contains(&letters(&printed)),
        };
        assert!(in_explain, "{printed} is not in\n{explained}");
    }
}

#[test]
fn elementwise_broadcast_and_iota() {
    let same = "(d0, d1) -> (d0, d1),\ndomain:\nd0 in [0, 9],\nd1 in [0, 19]";
    check(
        "p0 = f32[10, 20] parameter(0)\np1 = f32[10, 20] parameter(1)\nROOT it = f32[10, 20] add(p0, p1)",
        &[same, same],
        &[same, same],
    );
    check(
        "p0 = f32[20] parameter(0)\nROOT it = f32[10, 20, 30] broadcast(p0), dimensions={1}",
        &["(d0, d1, d2) -> (d1),\ndomain:\nd0 in [0, 9],\nd1 in [0, 19],\nd2 in [0, 29]"],
        &["(d0)[s0, s1] -> (s0, d0, s1),\ndomain:\nd0 in [0, 19],\ns0 in [0, 9],\ns1 in [0, 29]"],
    );
    let lines = "ROOT it = f32[2,4] iota(), iota_dimension=1";
    check(lines, &[], &["()[s0, s1] -> (s0, s1)\ndomain:\ns0 in [0, 1]\ns1 in [0, 3]"]);
}

/// The hover and `explain` show both maps of an iota, as in the documentation.
#[test]
fn iota_has_both_maps() {
    let text = "HloModule m\n\nENTRY e {\n  ROOT it = f32[2,4] iota(), iota_dimension=1\n}\n";
    let mut host = AnalysisHost::new();
    let file = host.open("x.hlo", Language::Hlo, text);
    let analysis = host.analysis();
    let at = text.find("it = ").expect("it is there");
    let hover = analysis.hover(file, at).expect("nobody cancels").expect("a popup").markdown();
    let mut explained = String::new();
    analysis.annotate(file, &mut |chunk| explained += chunk).expect("nobody cancels");
    for (title, map) in [
        ("output → input", "(d0, d1) -> ()\ndomain:\nd0 in [0, 1]\nd1 in [0, 3]"),
        ("input → output", "()[s0, s1] -> (s0, s1)\ndomain:\ns0 in [0, 1]\ns1 in [0, 3]"),
    ] {
        let map = print_map(&parse_map(map).expect("a map"), PrintStyle::Floordiv);
        let block = letters(&format!("**{title}**\n```\n{map}\n```"));
        assert!(letters(&hover).contains(&block), "{map} is not in\n{hover}");
        let note = format!("//   {}: {map}\n", title.replace('→', "->"));
        assert!(explained.contains(&note), "{note} is not in\n{explained}");
    }
}

#[test]
fn dynamic_slices_and_gathers() {
    check(
        "\
src = s32[2, 2, 258] parameter(0)
of1 = s32[] parameter(1)
of2 = s32[] parameter(2)
of3 = s32[] parameter(3)
ROOT it = s32[1, 2, 32] dynamic-slice(src, of1, of2, of3), dynamic_slice_sizes={1, 2, 32}",
        &["-", "(d0, d1, d2) -> (),\ndomain:\nd0 in [0, 0],\nd1 in [0, 1],\nd2 in [0, 31]"],
        &[],
    );
    check(
        "\
src = s32[20,30] parameter(0)
upd = s32[5,10] parameter(1)
of1 = s32[] parameter(2)
of2 = s32[] parameter(3)
ROOT it = s32[20,30] dynamic-update-slice(
    s32[20,30] src, s32[5,10] upd, s32[] of1, s32[] of2)",
        &["-", "-", "(d0, d1) -> (),\ndomain:\nd0 in [0, 19],\nd1 in [0, 29]"],
        &[],
    );
    check(
        "operand = f32[33,76,70] parameter(0)\nindices = s32[1806,2] parameter(1)
ROOT it = f32[1806,7,8,4] gather(operand, indices),
  offset_dims={1,2,3},
  collapsed_slice_dims={},
  start_index_map={0,1},
  index_vector_dim=1,
  slice_sizes={7,8,4}",
        &[
            "\
(d0, d1, d2, d3){rt0, rt1} -> (d1 + rt0, d2 + rt1, d3),
domain:
d0 in [0, 1805],
d1 in [0, 6],
d2 in [0, 7],
d3 in [0, 3],
rt0 in [0, 26],
rt1 in [0, 68]",
            "(d0, d1, d2, d3)[s0] -> (d0, s0),\ndomain:\nd0 in [0, 1805],\nd1 in [0, 6],\nd2 in [0, 7],\nd3 in [0, 3],\ns0 in [0, 1]",
        ],
        &[],
    );
}

#[test]
fn permutations() {
    check(
        "p0 = f32[3, 12288, 6, 128] parameter(0)\nROOT it = f32[3, 6, 128, 12288] transpose(p0), dimensions={0, 2, 3, 1}",
        &[
            "(d0, d1, d2, d3) -> (d0, d3, d1, d2),\ndomain:\nd0 in [0, 2],\nd1 in [0, 5],\nd2 in [0, 127],\nd3 in [0, 12287],",
        ],
        &[
            "(d0, d1, d2, d3) -> (d0, d2, d3, d1),\ndomain:\nd0 in [0, 2],\nd1 in [0, 12287],\nd2 in [0, 5],\nd3 in [0, 127]",
        ],
    );
    let back = "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3),\ndomain:\nd0 in [0, 0],\nd1 in [0, 16],\nd2 in [0, 8],\nd3 in [0, 8]";
    check(
        "p0 = f32[1, 17, 9, 9] parameter(0)\nROOT it = f32[1, 17, 9, 9] reverse(p0), dimensions={1, 2}",
        &[back],
        &[back],
    );
}

#[test]
fn reductions_and_windows() {
    check(
        "\
p0 = f32[256,10] parameter(0)
p0_init = f32[] constant(-inf)
p1 = s32[256,10] parameter(1)
p1_init = s32[] constant(0)
ROOT it = (f32[10], s32[10]) reduce(p0, p1, p0_init, p1_init),
  dimensions={0}, to_apply=argmax",
        &[
            "(d0)[s0] -> (s0, d0),\ndomain:\nd0 in [0, 9],\ns0 in [0, 255]",
            "-",
            "(d0) -> (),\ndomain:\nd0 in [0, 9]",
        ],
        &[
            "(d0, d1) -> (d1),\ndomain:\nd0 in [0, 255],\nd1 in [0, 9]",
            "-",
            "()[s0] -> (s0),\ndomain:\ns0 in [0, 9]",
        ],
    );
    check(
        "\
c_inf = f32[] constant(-inf)
p0 = f32[1024, 514] parameter(0)
ROOT it = f32[1024, 3] reduce-window(p0, c_inf),
  window={size=1x512 pad=0_0x0_0}, to_apply=max",
        &[
            "(d0, d1)[s0] -> (d0, d1 + s0),\ndomain:\nd0 in [0, 1023],\nd1 in [0, 2],\ns0 in [0, 511]",
            "(d0, d1) -> (),\ndomain:\nd0 in [0, 1023],\nd1 in [0, 2]",
        ],
        &[],
    );
}

#[test]
fn slices_and_pads() {
    check(
        "p0 = f32[10, 20, 50] parameter(0)\nROOT it = f32[5, 3, 25] slice(f32[10, 20, 50] p0),\n  slice={[5:10:1], [3:20:7], [0:50:2]}",
        &[
            "(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2),\ndomain:\nd0 in [0, 4],\nd1 in [0, 2],\nd2 in [0, 24]",
        ],
        &[
            "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2),\ndomain:\nd0 in [5, 9],\nd1 in [3, 17],\nd2 in [0, 48],\n(d1 - 3) mod 7 in [0, 0],\nd2 mod 2 in [0, 0]",
        ],
    );
    let padded = "(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4),\ndomain:\nd0 in [1, 7],\nd1 in [4, 7],\n(d0 - 1) mod 2 in [0, 0]";
    let lines = "p0 = f32[4, 4] parameter(0)\np1 = f32[] parameter(1)\nROOT it = f32[12, 16] pad(p0, p1), padding=1_4_1x4_8_0";
    let mut host = AnalysisHost::new();
    let file = host.open("x.hlo", Language::Hlo, &format!("HloModule m\n\nENTRY e {{\n{lines}\n}}\n"));
    let found = accesses(&host.analysis(), file, Direction::OutputToInput, 0, Rules::Xla);
    is_map(&found[0], padded);
}

#[test]
fn reshapes() {
    check(
        "p0 = f32[4,8] parameter(0)\nROOT it = f32[32] reshape(p0)",
        &["(d0) -> (d0 floordiv 8, d0 mod 8),\ndomain:\nd0 in [0, 31]"],
        &["(d0, d1) -> (d0 * 8 + d1),\ndomain:\nd0 in [0, 3],\nd1 in [0, 7]"],
    );
    check(
        "p0 = f32[32] parameter(0)\nROOT it = f32[4, 8] reshape(p0)",
        &["(d0, d1) -> (d0 * 8 + d1),\ndomain:\nd0 in [0, 3],\nd1 in [0, 7]"],
        &["(d0) -> (d0 floordiv 8, d0 mod 8),\ndomain:\nd0 in [0, 31]"],
    );
    check(
        "p0 = f32[4,8] parameter(0)\nROOT it = f32[2, 4, 4] reshape(p0)",
        &[
            "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, d2 + (d1 mod 2) * 4),\ndomain:\nd0 in [0, 1],\nd1 in [0, 3],\nd2 in [0, 3]",
        ],
        &[
            "(d0, d1) -> (d0 floordiv 2, d1 floordiv 4 + (d0 mod 2) * 2, d1 mod 4),\ndomain:\nd0 in [0, 3],\nd1 in [0, 7]",
        ],
    );
    check(
        "p0 = f32[4, 8, 12] parameter(0)\nROOT it = f32[32, 3, 4] reshape(p0)",
        &[
            "(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2),\ndomain:\nd0 in [0, 31],\nd1 in [0, 2]\nd2 in [0, 3]",
        ],
        &[
            "(d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4),\ndomain:\nd0 in [0, 3],\nd1 in [0, 7],\nd2 in [0, 11]",
        ],
    );
}

#[test]
fn concatenates() {
    let map = |results: &str, middle: &str| {
        format!(
            "\
(d0, d1, d2) -> ({results}),
domain:
d0 in [0, 1],
d1 in {middle},
d2 in [0, 6]"
        )
    };
    let to =
        [map("d0, d1, d2", "[0, 4]"), map("d0, d1 - 5, d2", "[5, 15]"), map("d0, d1 - 16, d2", "[16, 32]")];
    let from =
        [map("d0, d1, d2", "[0, 4]"), map("d0, d1 + 5, d2", "[0, 10]"), map("d0, d1 + 16, d2", "[0, 16]")];
    check(
        "\
p0 = f32[2, 5, 7] parameter(0)
p1 = f32[2, 11, 7] parameter(1)
p2 = f32[2, 17, 7] parameter(2)
ROOT it = f32[2, 33, 7] concatenate(f32[2, 5, 7] p0, f32[2, 11, 7] p1, f32[2, 17, 7] p2), dimensions={1}",
        &to.each_ref().map(String::as_str),
        &from.each_ref().map(String::as_str),
    );
}

#[test]
fn dots_have_maps_in_both_directions() {
    check(
        "p0 = f32[4, 128, 256] parameter(0)\np1 = f32[4, 256, 64] parameter(1)
ROOT it = f32[4, 128, 64] dot(p0, p1),
  lhs_batch_dims={0}, rhs_batch_dims={0},
  lhs_contracting_dims={2}, rhs_contracting_dims={1}",
        &[
            "(d0, d1, d2)[s0] -> (d0, d1, s0),\ndomain:\nd0 in [0, 3],\nd1 in [0, 127],\nd2 in [0, 63],\ns0 in [0, 255]",
            "(d0, d1, d2)[s0] -> (d0, s0, d2),\ndomain:\nd0 in [0, 3],\nd1 in [0, 127],\nd2 in [0, 63],\ns0 in [0, 255]",
        ],
        &[
            "(d0, d1, d2)[s0] -> (d0, d1, s0),\ndomain:\nd0 in [0, 3],\nd1 in [0, 127],\nd2 in [0, 255],\ns0 in [0, 63]",
            // The documentation writes `(d0, s0, d1)`: element (b, k, n) of the right feeds (b, *, n).
            "(d0, d1, d2)[s0] -> (d0, s0, d2),\ndomain:\nd0 in [0, 3],\nd1 in [0, 255],\nd2 in [0, 63],\ns0 in [0, 127]",
        ],
    );
}

/// The maps of the talk, whose lines end without commas, whose runtime variables name their sources, and
/// which state whether they are simplified.
#[test]
fn maps_of_the_talk_are_read() {
    let read = |text: &str| {
        let map = parse_map(text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let again = print_map(&map, PrintStyle::Floordiv);
        assert_eq!(parse_map(&again).as_ref(), Ok(&map), "{again}");
        map
    };
    let simplified =
        |text: &str| print_map(&read(text).simplified(SimplifyMode::Replace), PrintStyle::Floordiv);
    let first = read(
        "(d0)[s0, s1] -> (s1 mod 3, 2 * d0, s1, s0),  \ndomain:  \nd0 in [0, 9],  \ns0 in [0, 69],  \ns1 in [0, 19],  \nd0 + s1 in [0, 20],  \nd0 mod 8 in [0, 0],  \ns0 mod 3 in [1, 1],  \nis_simplified: true",
    );
    assert_eq!((first.num_dims(), first.num_ranges(), first.constraints().len()), (1, 2, 3));
    assert_eq!(
        read("(d0, d1, d2) -> (d1)\ndomain:\nd0 in [0, 9]\nd1 in [0, 19]\nd2 in [0, 29]").num_dims(),
        3
    );
    assert_eq!(read("(d0)[s0] -> (s0, d0)\ndomain:\nd0 in [0, 9]\ns0 in [0, 255]").num_ranges(), 1);
    let sliced = read(
        "(d0)[s0] -> (d0 + s0)  \n  domain:  \n  d0 in [0, 15]  \n  s0 in [0, 47]  \n  hlo: %i = s32[] parameter(1)  \n  (d0) -> ()",
    );
    assert_eq!(sliced.result_ranges(), [indexing_map::Interval::new(0, 62)]);
    let added = read(
        "\
(d0)[s0] -> (d0, s0)
domain:
d0 in [0, 11]
s0 in [0, 47]
    hlo: %add = s64[12,13,24] add(s64[12,13,24] %broadcast,
                                         s64[12,13,24] %iota)
(d0) -> (d0, 7, 2 * d0)",
    );
    assert_eq!(added.num_ranges(), 1);
    assert_eq!(read("(d0) -> (d0, d0 * 2 + 42),\ndomain:\nd0 in [0, 11]").results().len(), 2);
    let padded = read(
        "(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4)\ndomain:\nd0 in [1, 7]\nd1 in [4, 7]\n(d0 - 1) mod 2 in [0, 0]",
    );
    assert_eq!(padded.constraints().len(), 1);
    assert_eq!(
        simplified(
            "(d0, d1) -> (((d0 * -11 - d1 + 109) floordiv 11) * -1 + 9, d0 * 11 + d1 + ((d0 * -11 - d1 + 109) floordiv 11) * 11 - 99)\ndomain:\n\nd0 in [0, 7]\nd1 in [0, 8]"
        ),
        "(d0, d1) -> (d0, d1), domain: d0 in [0, 7], d1 in [0, 8]"
    );
    let kernel = read(
        "(th_x, th_y, th_z, bl_x, bl_y, bl_z)[vector_elem] -> (
    (bl_x * 128 + th_x) floordiv 3000,
    ((bl_x * 128 + th_x) floordiv 75) mod 40,
    ((bl_x * 128 + th_x) mod 75) * 4 + vector_elem
),
domain:
    th_x in [0, 127], th_y in [0, 0], th_z in [0, 0],
    bl_x in [0, 468], bl_y in [0, 0], bl_z in [0, 0],
    vector_elem in [0, 3],
    bl_x * 128 + th_x in [0, 59999],
    is_simplified: true",
    );
    assert_eq!((kernel.num_dims(), kernel.num_ranges(), kernel.constraints().len()), (6, 1, 1));
    // Other malformed maps are still errors.
    for text in [
        "(d0) -> (d0), domain: d0 in [0, 1] d1 in [0, 1]",
        "(d0) -> (d0), domain: d0 in [0, 1], is_simplified: maybe",
        "(d0) -> (d0), domain: d0 in [0, 1], is_simplified: true, d0 in [0, 1]",
        "(d0) -> (d0) domain d0 in [0, 1]",
        "#xla_gpu.map<(d0) -> (d0), domain: d0 in [0, 1]",
    ] {
        assert!(parse_map(text).is_err(), "{text}");
    }
}

/// The MLIR of the talk: maps under their older names, and the ops that use them.
#[test]
fn older_mlir_is_read() {
    let module = |map: &str| {
        format!(
            "#map = {map}
func.func @f(%arg0: tensor<240000xf32>, %out: tensor<20x40x300xf32>, %thread_id_x: index, %block_id_x: index) -> tensor<20x40x300xf32> {{
  %c0 = arith.constant 0 : index
  %index = xla_gpu.apply_indexing #map(%thread_id_x, %block_id_x, %c0)
  %elem = tensor.extract %arg0[%index] : tensor<240000xf32>
  %loop = xla_gpu.loop (%thread_id_x, %block_id_x, %c0)[%i, %j] -> (%ra, %rb, %rc) in #indexing_map iter_args(%iter = %out) -> (tensor<20x40x300xf32>) {{
    %inserted = tensor.insert %elem into %iter[%ra, %rb, %rc] : tensor<20x40x300xf32>
    xla_gpu.yield %inserted : tensor<20x40x300xf32>
  }}
  return %loop : tensor<20x40x300xf32>
}}
#indexing_map = #xla_gpu.indexing_map<(d0, d1, d2)[s0, s1] -> (d0 mod 20, d1 mod 40, s0 * 2 + s1), domain: d0 in [0, 127], d1 in [0, 468], d2 in [0, 3], s0 in [0, 149], s1 in [0, 1], is_simplified: false>
"
        )
    };
    for map in [
        "#xla_gpu.indexing_map<(d0, d1, d2) -> (d0 * 4 + d1 * 512 + d2),\n    domain:\n    d0 in [0, 127],\n    d1 in [0, 468],\n    d2 in [0, 3],\n    is_simplified: true\n>",
        "#xla_gpu.map<(d0, d1, d2) -> (d0 * 4 + d1 * 512 + d2)  \n    domain: d0 in [0, 127], d1 in [0, 468], d2 in [0, 3]>",
        "#xla_gpu.indexing_map<\"(d0, d1, d2) -> (d0 * 4 + d1 * 512 + d2), domain: d0 in [0, 127], d1 in [0, 468], d2 in [0, 3], is_simplified: true\">",
        "#xla.indexing_map<\"(d0, d1, d2) -> (d0 * 4 + d1 * 512 + d2), domain: d0 in [0, 127], d1 in [0, 468], d2 in [0, 3]\">",
    ] {
        let text = module(map);
        let mut host = AnalysisHost::new();
        let file = host.open("x.mlir", Language::Mlir, &text);
        let analysis = host.analysis();
        let found = analysis.diagnostics(file, 10).expect("nobody cancels").shown;
        assert!(found.is_empty(), "{map}: {found:?}");
        let hover = |word: &str| {
            let at = text.find(word).unwrap_or_else(|| panic!("{word} is there"));
            let hover = analysis.hover(file, at).expect("nobody cancels");
            hover.unwrap_or_else(|| panic!("{word} has a popup")).markdown()
        };
        assert!(
            hover("#map = ").contains("(d0, d1, d2) -> (d0 * 4 + d1 * 512 + d2)"),
            "{}",
            hover("#map = ")
        );
        assert!(
            hover("#xla").contains("domain: d0 in [0, 127], d1 in [0, 468], d2 in [0, 3]"),
            "{}",
            hover("#xla")
        );
        let applied = hover("xla_gpu.apply_indexing");
        assert!(applied.contains("thread_id_x * 4"), "{applied}");
        let looped = hover("xla_gpu.loop");
        assert!(looped.contains("**points of the loop**"), "{looped}");
        let printed = hover("#indexing_map = ");
        assert!(printed.contains("s0 in [0, 149]"), "{printed}");
        let mut explained = String::new();
        analysis.annotate(file, &mut |chunk| explained += chunk).expect("nobody cancels");
        assert!(!explained.contains("no map: its map is not read"), "{explained}");
    }
}
