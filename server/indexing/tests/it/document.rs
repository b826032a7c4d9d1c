//! The founding document's examples, with the maps it prints. `floordiv` and the order of terms are the
//! printer's.

use indexing::{OpIndexing, Rules, in_graph, in_graph_input_to_output};
use indexing_map::parse_map;

fn answer(text: &str, name: &str, operand: Option<usize>, rules: Rules) -> OpIndexing {
    let text = format!("HloModule m\n{text}");
    let (graphs, _) = crate::graphs(&text);
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
    let (graph, id) = graphs.iter().find_map(|(_, g)| Some((g, g.find(name)?))).expect(name);
    match operand {
        Some(operand) => in_graph_input_to_output(graph, id, operand, rules),
        None => in_graph(graph, id, 0, rules, &callee),
    }
}

#[track_caller]
fn compare(answer: &OpIndexing, expect: &[&str]) {
    let got: Vec<String> = answer.operands.iter().flatten().map(|a| a.map.to_string()).collect();
    assert_eq!(got, expect);
}

/// Checks the maps from output to input of all operands.
#[track_caller]
fn check(text: &str, name: &str, expect: &[&str]) {
    compare(&answer(text, name, None, Rules::Xla).simplified(), expect);
}

/// Checks the map from input to output of one operand.
#[track_caller]
fn check_back(text: &str, name: &str, operand: usize, expect: &[&str]) {
    compare(&answer(text, name, Some(operand), Rules::Xla).simplified(), expect);
}

const BROADCAST: &str = "ENTRY e {
  p0 = f32[20] parameter(0)
  bc0 = f32[10, 20, 30] broadcast(p0), dimensions={1}
}";

#[test]
fn broadcast() {
    check(BROADCAST, "bc0", &["(d0, d1, d2) -> (d1), domain: d0 in [0, 9], d1 in [0, 19], d2 in [0, 29]"]);
    check_back(
        BROADCAST,
        "bc0",
        0,
        &["(d0)[s0, s1] -> (s0, d0, s1), domain: d0 in [0, 19], s0 in [0, 9], s1 in [0, 29]"],
    );
}

/// The introduction says `i in [0, 10], j in [0, 20], k in [0, 30]`: there is no element 10, 20 or 30.
#[test]
fn the_introduction_counts_one_too_far() {
    let document =
        parse_map("(d0, d1, d2) -> (d1), domain: d0 in [0, 10], d1 in [0, 20], d2 in [0, 30]").unwrap();
    let ours = answer(BROADCAST, "bc0", None, Rules::Xla).operands[0][0].map.clone();
    for (dim, size) in [10, 20, 30].into_iter().enumerate() {
        let mut beyond = [0; 3];
        beyond[dim] = size;
        assert!(document.contains(&beyond));
        assert!(!ours.contains(&beyond));
    }
    // In dimension 1 the document's map would even leave p0, which has 20 elements.
    assert_eq!(document.evaluate(&[0, 20, 0]), Some(vec![20]));
}

#[test]
fn elementwise() {
    let text = "ENTRY e {
  p0 = f32[10, 20] parameter(0)
  p1 = f32[10, 20] parameter(1)
  output = f32[10, 20] add(p0, p1)
}";
    let identity = "(d0, d1) -> (d0, d1), domain: d0 in [0, 9], d1 in [0, 19]";
    check(text, "output", &[identity, identity]);
    check_back(text, "output", 0, &[identity]);
    assert!(answer(text, "output", None, Rules::Xla).is_identity());
}

/// The document prints maps with no results for an op without operands; XLA has no such maps, and neither do
/// we.
#[test]
fn iota() {
    check("ENTRY e { iota = f32[2,4] iota(), iota_dimension=1 }", "iota", &[]);
}

const DYNAMIC_SLICE: &str = "ENTRY e {
  src = s32[2, 2, 258] parameter(0)
  of1 = s32[] parameter(1)
  of2 = s32[] parameter(2)
  of3 = s32[] parameter(3)
  ds = s32[1, 2, 32] dynamic-slice(src, of1, of2, of3), dynamic_slice_sizes={1, 2, 32}
}";

#[test]
fn dynamic_slice() {
    let scalar = "(d0, d1, d2) -> (), domain: d0 in [0, 0], d1 in [0, 1], d2 in [0, 31]";
    let operand = "(d0, d1, d2){rt0, rt1, rt2} -> (d0 + rt0, d1 + rt1, d2 + rt2), domain: d0 in [0, 0], d1 in [0, 1], \
                   d2 in [0, 31], rt0 in [0, 1], rt1 in [0, 0], rt2 in [0, 226]";
    compare(&answer(DYNAMIC_SLICE, "ds", None, Rules::Xla), &[operand, scalar, scalar, scalar]);
}

/// The text says "between 0 and tensor_size - slice_size - 1"; its own example, 226 = 258 - 32, and the op
/// say tensor_size - slice_size: with that offset the slice ends at the last element.
#[test]
fn the_last_offset_is_feasible() {
    let map = &answer(DYNAMIC_SLICE, "ds", None, Rules::Xla).operands[0][0].map;
    let document_text = 258 - 32 - 1;
    assert_eq!(map.evaluate(&[0, 0, 31, 0, 0, document_text]), Some(vec![0, 0, 256]));
    assert_eq!(map.evaluate(&[0, 0, 31, 0, 0, 258 - 32]), Some(vec![0, 0, 257]));
    assert_eq!(map.evaluate(&[0, 0, 31, 0, 0, 258 - 32 + 1]), None);
}

#[test]
fn dynamic_update_slice() {
    let text = "ENTRY e {
  src = s32[20,30] parameter(0)
  upd = s32[5,10] parameter(1)
  of1 = s32[] parameter(2)
  of2 = s32[] parameter(3)
  dus = s32[20,30] dynamic-update-slice(s32[20,30] src, s32[5,10] upd, s32[] of1, s32[] of2)
}";
    let scalar = "(d0, d1) -> (), domain: d0 in [0, 19], d1 in [0, 29]";
    let update = "(d0, d1){rt0, rt1} -> (d0 - rt0, d1 - rt1), domain: d0 in [0, 19], d1 in [0, 29], rt0 in [0, 15], rt1 in [0, 20]";
    let operand = "(d0, d1) -> (d0, d1), domain: d0 in [0, 19], d1 in [0, 29]";
    compare(&answer(text, "dus", None, Rules::Xla), &[operand, update, scalar, scalar]);
    // The document's map reads the update outside its 5 x 10 elements; the exact one does not.
    let point = [19, 0, 0, 0];
    assert_eq!(answer(text, "dus", None, Rules::Xla).operands[1][0].map.evaluate(&point), Some(vec![19, 0]));
    assert_eq!(answer(text, "dus", None, Rules::Exact).operands[1][0].map.evaluate(&point), None);
}

#[test]
fn gather() {
    let text = "ENTRY e {
  operand = f32[33,76,70] parameter(0)
  indices = s32[1806,2] parameter(1)
  gather = f32[1806,7,8,4] gather(operand, indices), offset_dims={1,2,3}, collapsed_slice_dims={},
    start_index_map={0,1}, index_vector_dim=1, slice_sizes={7,8,4}
}";
    let domain = "domain: d0 in [0, 1805], d1 in [0, 6], d2 in [0, 7], d3 in [0, 3]";
    let operand = format!(
        "(d0, d1, d2, d3){{rt0, rt1}} -> (d1 + rt0, d2 + rt1, d3), {domain}, rt0 in [0, 26], rt1 in [0, 68]"
    );
    let indices = format!("(d0, d1, d2, d3)[s0] -> (d0, s0), {domain}, s0 in [0, 1]");
    check(text, "gather", &[&operand, &indices]);
}

#[test]
fn transpose() {
    let text = "ENTRY e {
  p0 = f32[3, 12288, 6, 128] parameter(0)
  transpose = f32[3, 6, 128, 12288] transpose(p0), dimensions={0, 2, 3, 1}
}";
    check(
        text,
        "transpose",
        &[
            "(d0, d1, d2, d3) -> (d0, d3, d1, d2), domain: d0 in [0, 2], d1 in [0, 5], d2 in [0, 127], d3 in [0, 12287]",
        ],
    );
    check_back(
        text,
        "transpose",
        0,
        &[
            "(d0, d1, d2, d3) -> (d0, d2, d3, d1), domain: d0 in [0, 2], d1 in [0, 12287], d2 in [0, 5], d3 in [0, 127]",
        ],
    );
}

#[test]
fn reverse() {
    let text = "ENTRY e {
  p0 = f32[1, 17, 9, 9] parameter(0)
  reverse = f32[1, 17, 9, 9] reverse(p0), dimensions={1, 2}
}";
    let map = "(d0, d1, d2, d3) -> (d0, -d1 + 16, -d2 + 8, d3), domain: d0 in [0, 0], d1 in [0, 16], d2 in [0, 8], d3 in [0, 8]";
    compare(&answer(text, "reverse", None, Rules::Xla), &[map]);
    compare(&answer(text, "reverse", Some(0), Rules::Xla), &[map]);
}

#[test]
fn variadic_reduce() {
    let text = "ENTRY e {
  p0 = f32[256,10] parameter(0)
  p0_init = f32[] constant(-inf)
  p1 = s32[256,10] parameter(1)
  p1_init = s32[] constant(0)
  out = (f32[10], s32[10]) reduce(p0, p1, p0_init, p1_init), dimensions={0}, to_apply=max
}";
    let input = "(d0)[s0] -> (s0, d0), domain: d0 in [0, 9], s0 in [0, 255]";
    let init = "(d0) -> (), domain: d0 in [0, 9]";
    check(text, "out", &[input, input, init, init]);
    // One list per output.
    check_back(text, "out", 0, &["(d0, d1) -> (d1), domain: d0 in [0, 255], d1 in [0, 9]"; 2]);
    check_back(text, "out", 2, &["()[s0] -> (s0), domain: s0 in [0, 9]"; 2]);
}

#[test]
fn slice() {
    let text = "ENTRY e {
  p0 = f32[10, 20, 50] parameter(0)
  slice = f32[5, 3, 25] slice(f32[10, 20, 50] p0), slice={[5:10:1], [3:20:7], [0:50:2]}
}";
    check(
        text,
        "slice",
        &["(d0, d1, d2) -> (d0 + 5, d1 * 7 + 3, d2 * 2), domain: d0 in [0, 4], d1 in [0, 2], d2 in [0, 24]"],
    );
    compare(
        &answer(text, "slice", Some(0), Rules::Xla),
        &[
            "(d0, d1, d2) -> (d0 - 5, (d1 - 3) floordiv 7, d2 floordiv 2), domain: d0 in [5, 9], d1 in [3, 17], \
           d2 in [0, 48], (d1 - 3) mod 7 in [0, 0], d2 mod 2 in [0, 0]",
        ],
    );
}

#[track_caller]
fn check_reshape(from: &str, to: &str, forth: &str, back: &str) {
    let text = format!(
        "\
ENTRY e {{
  p0 = f32[{from}] parameter(0)
  reshape = f32[{to}] reshape(p0)
}}"
    );
    check(&text, "reshape", &[forth]);
    check_back(&text, "reshape", 0, &[back]);
}

#[test]
fn reshapes() {
    let collapse = "(d0) -> (d0 floordiv 8, d0 mod 8), domain: d0 in [0, 31]";
    let expand = "(d0, d1) -> (d0 * 8 + d1), domain: d0 in [0, 3], d1 in [0, 7]";
    check_reshape("4,8", "32", collapse, expand);
    check_reshape("32", "4,8", expand, collapse);
    check_reshape(
        "4,8",
        "2,4,4",
        "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 2, (d1 mod 2) * 4 + d2), domain: d0 in [0, 1], d1 in [0, 3], d2 in [0, 3]",
        "(d0, d1) -> (d0 floordiv 2, (d0 mod 2) * 2 + d1 floordiv 4, d1 mod 4), domain: d0 in [0, 3], d1 in [0, 7]",
    );
    check_reshape(
        "4,8,12",
        "32,3,4",
        "(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d1 * 4 + d2), domain: d0 in [0, 31], d1 in [0, 2], d2 in [0, 3]",
        "(d0, d1, d2) -> (d0 * 8 + d1, d2 floordiv 4, d2 mod 4), domain: d0 in [0, 3], d1 in [0, 7], d2 in [0, 11]",
    );
}

#[test]
fn concatenate() {
    let text = "ENTRY e {
  p0 = f32[2, 5, 7] parameter(0)
  p1 = f32[2, 11, 7] parameter(1)
  p2 = f32[2, 17, 7] parameter(2)
  ROOT output = f32[2, 33, 7] concatenate(f32[2, 5, 7] p0, f32[2, 11, 7] p1, f32[2, 17, 7] p2), dimensions={1}
}";
    check(
        text,
        "output",
        &[
            "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 6]",
            "(d0, d1, d2) -> (d0, d1 - 5, d2), domain: d0 in [0, 1], d1 in [5, 15], d2 in [0, 6]",
            "(d0, d1, d2) -> (d0, d1 - 16, d2), domain: d0 in [0, 1], d1 in [16, 32], d2 in [0, 6]",
        ],
    );
    for (operand, map) in [
        "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 4], d2 in [0, 6]",
        "(d0, d1, d2) -> (d0, d1 + 5, d2), domain: d0 in [0, 1], d1 in [0, 10], d2 in [0, 6]",
        "(d0, d1, d2) -> (d0, d1 + 16, d2), domain: d0 in [0, 1], d1 in [0, 16], d2 in [0, 6]",
    ]
    .into_iter()
    .enumerate()
    {
        check_back(text, "output", operand, &[map]);
    }
}

const DOT: &str = "ENTRY e {
  p0 = f32[4, 128, 256] parameter(0)
  p1 = f32[4, 256, 64] parameter(1)
  output = f32[4, 128, 64] dot(p0, p1), lhs_batch_dims={0}, rhs_batch_dims={0},
    lhs_contracting_dims={2}, rhs_contracting_dims={1}
}";

#[test]
fn dot() {
    let domain = "domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 63], s0 in [0, 255]";
    check(
        DOT,
        "output",
        &[
            &format!("(d0, d1, d2)[s0] -> (d0, d1, s0), {domain}"),
            &format!("(d0, d1, d2)[s0] -> (d0, s0, d2), {domain}"),
        ],
    );
    // XLA has no map in this direction.
    check_back(DOT, "output", 0, &["unknown indexing"]);
    compare(
        &answer(DOT, "output", Some(0), Rules::Exact),
        &[
            "(d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 3], d1 in [0, 127], d2 in [0, 255], s0 in [0, 63]",
        ],
    );
}

/// The document prints `(d0, s0, d1)` from p1 to the output: d1 is p1's contracted dimension, of size 256,
/// which the output lacks; its last dimension, of size 64, is d2.
#[test]
fn the_last_map_of_dot_leaves_the_output() {
    let domain = "domain: d0 in [0, 3], d1 in [0, 255], d2 in [0, 63], s0 in [0, 127]";
    let document = parse_map(&format!("(d0, d1, d2)[s0] -> (d0, s0, d1), {domain}")).unwrap();
    let ours = answer(DOT, "output", Some(1), Rules::Exact);
    compare(&ours, &[&format!("(d0, d1, d2)[s0] -> (d0, s0, d2), {domain}")]);
    let point = [0, 255, 63, 127];
    assert_eq!(document.evaluate(&point), Some(vec![0, 127, 255]));
    assert_eq!(ours.operands[0][0].map.evaluate(&point), Some(vec![0, 127, 63]));
}

#[test]
fn pad() {
    let text = "ENTRY e {
  p0 = f32[4, 4] parameter(0)
  p1 = f32[] parameter(1)
  pad = f32[12, 16] pad(p0, p1), padding=1_4_1x4_8_0
}";
    compare(
        &answer(text, "pad", None, Rules::Xla),
        &[
            "(d0, d1) -> ((d0 - 1) floordiv 2, d1 - 4), domain: d0 in [1, 7], d1 in [4, 7], (d0 - 1) mod 2 in [0, 0]",
            "(d0, d1) -> (), domain: d0 in [0, 11], d1 in [0, 15]",
        ],
    );
}

#[test]
fn reduce_window() {
    let text = "ENTRY e {
  c_inf = f32[] constant(-inf)
  p0 = f32[1024, 514] parameter(0)
  output = f32[1024, 3] reduce-window(p0, c_inf), window={size=1x512 pad=0_0x0_0}, to_apply=max
}";
    check(
        text,
        "output",
        &[
            "(d0, d1)[s0] -> (d0, d1 + s0), domain: d0 in [0, 1023], d1 in [0, 2], s0 in [0, 511]",
            "(d0, d1) -> (), domain: d0 in [0, 1023], d1 in [0, 2]",
        ],
    );
}

#[track_caller]
fn check_fusion(body: &str, shape: &str, expect: &[&str]) {
    let text = format!(
        "\
f {{
{body}
}}
ENTRY e {{
  p = {shape} parameter(0)
  ROOT fused = {shape} fusion(p), kind=kLoop, calls=f
}}"
    );
    let answer = answer(&text, "fused", None, Rules::Xla);
    // The accesses of one operand are a set.
    let mut got: Vec<String> = answer.operands[0].iter().map(|a| a.map.to_string()).collect();
    got.sort();
    assert_eq!(got, expect);
}

#[test]
fn one_input_read_twice() {
    check_fusion(
        "p0 = f32[1000, 1000] parameter(0)
  transpose_p0 = f32[1000, 1000]{0, 1} transpose(p0), dimensions={1, 0}
  ROOT a0 = f32[1000, 1000] add(p0, transpose_p0)",
        "f32[1000,1000]",
        &[
            "(d0, d1) -> (d0, d1), domain: d0 in [0, 999], d1 in [0, 999]",
            "(d0, d1) -> (d1, d0), domain: d0 in [0, 999], d1 in [0, 999]",
        ],
    );
}

#[test]
fn one_input_deduplicated() {
    check_fusion(
        "p0 = f32[20, 10, 50] parameter(0)
  lhs_transpose_1 = f32[10, 20, 50] transpose(p0), dimensions={1, 0, 2}
  lhs_e = f32[10, 20, 50] exponential(lhs_transpose_1)
  lhs_transpose_2 = f32[10, 50, 20] transpose(lhs_e), dimensions={0, 2, 1}
  rhs_transpose_1 = f32[50, 10, 20] transpose(p0), dimensions={2, 1, 0}
  rhs_log = f32[50, 10, 20] exponential(rhs_transpose_1)
  rhs_transpose_2 = f32[10, 50, 20] transpose(rhs_log), dimensions={1, 0, 2}
  ROOT output = f32[10, 50, 20] add(lhs_transpose_2, rhs_transpose_2)",
        "f32[20,10,50]",
        &["(d0, d1, d2) -> (d2, d0, d1), domain: d0 in [0, 9], d1 in [0, 49], d2 in [0, 19]"],
    );
}

#[test]
fn softmax() {
    check_fusion(
        "p0 = f32[2,65,125] parameter(0)
  inf = f32[] constant(-inf)
  max = f32[2,65] reduce(p0, inf), dimensions={2}, to_apply=max
  max_b = f32[2,65,125] broadcast(max), dimensions={0,1}
  sub = f32[2,65,125] subtract(p0, max_b)
  exp = f32[2,65,125] exponential(sub)
  zero = f32[] constant(0)
  sum = f32[2,65] reduce(exp, zero), dimensions={2}, to_apply=add
  sum_b = f32[2,65,125] broadcast(sum), dimensions={0,1}
  ROOT divide = f32[2,65,125] divide(exp, sum_b)",
        "f32[2,65,125]",
        &[
            "(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124]",
            "(d0, d1, d2)[s0] -> (d0, d1, s0), domain: d0 in [0, 1], d1 in [0, 64], d2 in [0, 124], s0 in [0, 124]",
        ],
    );
}

#[test]
fn reshapes_cancel() {
    check_fusion(
        "p0 = f32[10, 10, 10] parameter(0)
  reshape1 = f32[50, 20] reshape(p0)
  ROOT reshape2 = f32[10, 10, 10] reshape(reshape1)",
        "f32[10,10,10]",
        &["(d0, d1, d2) -> (d0, d1, d2), domain: d0 in [0, 9], d1 in [0, 9], d2 in [0, 9]"],
    );
}
