//! Ops whose answer is more than a map of one operand: replicas, several outputs, layouts, folded runtime
//! variables.

use std::collections::BTreeSet;

use indexing::{
    OpIndexing, Rules, in_graph, input_to_output_by, logical_to_linear, no_callees, output_to_input_by,
    physical,
};
use ir::Op;

use crate::{indices, position};

fn root(line: &str, parameters: &[&str]) -> Op {
    let mut text = "HloModule m\nENTRY e {\n".to_owned();
    for (i, shape) in parameters.iter().enumerate() {
        text += &format!("  p{i} = {shape} parameter({i})\n");
    }
    text += &format!("  ROOT x = {line}\n}}\n");
    let graph = crate::entry(&text);
    graph.ops[graph.root as usize].clone()
}

/// The positions of an operand that output element `output` reads.
fn read(answer: &OpIndexing, operand: usize, op: &Op, output: &[i64]) -> BTreeSet<i64> {
    let dims = op.operand_shapes[operand].dims();
    let mut got = BTreeSet::new();
    for access in &answer.operands[operand] {
        let sizes: Vec<i64> = access.map.ranges().iter().map(|v| v.bounds.size() as i64).collect();
        for ranges in indices(&sizes) {
            let point = [output, &ranges].concat();
            got.extend(access.map.evaluate(&point).map(|r| position(dims, &r).expect("inside the operand")));
        }
    }
    got
}

#[test]
fn all_gather_puts_replicas_one_behind_the_other() {
    let op = root("f32[3,8] all-gather(p0), replica_groups={{0,1,2,3}}, dimensions={1}", &["f32[3,2]"]);
    let access = &output_to_input_by(&op, 0, Rules::Xla).operands[0][0];
    for replica in 0..4 {
        for index in indices(&[3, 2]) {
            let output = [index[0], replica * 2 + index[1]];
            assert_eq!(access.map.evaluate(&output), Some(index));
            let replica_id_map = access.replica_id_map.as_ref().unwrap();
            assert_eq!(replica_id_map.evaluate(&output), Some(vec![replica]));
        }
    }
}

#[test]
fn a_scan_reads_the_prefix() {
    for is_reverse in [false, true] {
        let line = format!(
            "(f32[3,5], f32[3]) scan(p0, p1), dimensions={{1}}, num_carries=1, is_reverse={is_reverse}, to_apply=f"
        );
        let op = root(&line, &["f32[3,5]", "f32[3]"]);
        let scanned = output_to_input_by(&op, 0, Rules::Exact);
        for output in indices(&[3, 5]) {
            let expected = (0..5)
                .filter(|&k| if is_reverse { k >= output[1] } else { k <= output[1] })
                .map(|k| output[0] * 5 + k);
            assert_eq!(read(&scanned, 0, &op, &output), expected.collect());
            assert_eq!(read(&scanned, 1, &op, &output), BTreeSet::from([output[0]]));
        }
        let carry = output_to_input_by(&op, 1, Rules::Exact);
        assert_eq!(read(&carry, 0, &op, &[2]), (10..15).collect());
        // XLA's identity has the wrong rank for the inputs here.
        let xla = &output_to_input_by(&op, 1, Rules::Xla).operands[0][0];
        assert!(xla.map.is_undefined() && xla.note.is_some());
    }
}

#[test]
fn a_sort_reads_the_row() {
    let op = root("f32[3,4] sort(p0), dimensions={0}, to_apply=f", &["f32[3,4]"]);
    let exact = output_to_input_by(&op, 0, Rules::Exact);
    assert_eq!(read(&exact, 0, &op, &[1, 2]), BTreeSet::from([2, 6, 10]));
    assert!(output_to_input_by(&op, 0, Rules::Xla).operands[0][0].map.is_undefined());
}

/// No generator makes shuffles, because neither XLA's emitters nor the interpreter have them.
#[test]
fn a_shuffle_rotates_to_the_left() {
    let line = "f32[3,4,2] shuffle(p0), dimensions={1,0,2}, mode=rotate, shifts={-1,2,4}";
    let op = root(line, &["f32[3,4,2]"]);
    let forth = &output_to_input_by(&op, 0, Rules::Exact).operands[0][0].map;
    let back = &input_to_output_by(&op, 0, Rules::Exact).operands[0][0].map;
    for output in indices(&[3, 4, 2]) {
        let input = vec![(output[0] + 2) % 3, (output[1] + 3) % 4, output[2]];
        assert_eq!(forth.evaluate(&output).as_ref(), Some(&input));
        assert_eq!(back.evaluate(&input), Some(output));
    }
    // A whole turn is no rotation.
    assert_eq!(forth.results()[2].to_string(), "v2");
}

#[test]
fn bitcast_convert_between_widths() {
    let narrow = root("s8[3,4] bitcast-convert(p0)", &["s32[3]"]);
    assert_eq!(read(&output_to_input_by(&narrow, 0, Rules::Xla), 0, &narrow, &[2, 1]), BTreeSet::from([2]));
    let wide = root("s32[3] bitcast-convert(p0)", &["s8[3,4]"]);
    assert_eq!(read(&output_to_input_by(&wide, 0, Rules::Xla), 0, &wide, &[2]), (8..12).collect());
}

#[test]
fn an_element_of_a_tuple_is_one_operand() {
    let op = root("(f32[2], f32[3]) tuple(p0, p1)", &["f32[2]", "f32[3]"]);
    let answer = output_to_input_by(&op, 1, Rules::Exact);
    assert_eq!(read(&answer, 0, &op, &[2]), BTreeSet::new());
    assert_eq!(read(&answer, 1, &op, &[2]), BTreeSet::from([2]));
}

/// The maps reach the same element through memory and through indices.
#[test]
fn physical_maps_agree_with_memory() {
    let op = root("f32[4,2,3]{0,2,1} transpose(p0), dimensions={2,0,1}", &["f32[2,3,4]{1,0,2}"]);
    let logical = output_to_input_by(&op, 0, Rules::Xla);
    let moved = physical(&op, 0, &logical);
    let (of_output, of_input) = (logical_to_linear(&op.shape), logical_to_linear(&op.operand_shapes[0]));
    let flat = |dims: &[i64], index: &[i64]| position(dims, index).unwrap();
    for output in indices(&[4, 2, 3]) {
        let input = logical.operands[0][0].map.evaluate(&output).unwrap();
        let place = of_output.evaluate(&output).unwrap();
        // Physical sizes, slowest first: of the output [2, 3, 4], of the input [4, 2, 3].
        let from = indices(&[2, 3, 4]).into_iter().find(|i| flat(&[2, 3, 4], i) == place[0]).unwrap();
        let to = moved.operands[0][0].map.evaluate(&from).unwrap();
        assert_eq!(vec![flat(&[4, 2, 3], &to)], of_input.evaluate(&input).unwrap());
    }
}

#[track_caller]
fn check_folded(body: &str, rules: Rules, expect: &str) {
    let graph = crate::entry(&format!("HloModule m\nENTRY e {{\n{body}\n}}\n"));
    let answer = in_graph(&graph, graph.root, 0, rules, &no_callees);
    assert_eq!(answer.operands[0][0].map.to_string(), expect);
}

#[test]
fn constants_and_iotas_fold() {
    let slice = |offset: &str| {
        format!(
            "p = f32[100] parameter(0)\n c = s64[] constant({offset})\n ROOT x = f32[10] dynamic-slice(p, c), dynamic_slice_sizes={{10}}"
        )
    };
    check_folded(&slice("7"), Rules::Xla, "(d0) -> (d0 + 7), domain: d0 in [0, 9]");
    // Outside the feasible range XLA keeps the variable; the op clamps.
    let kept = "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 90]";
    check_folded(&slice("99"), Rules::Xla, kept);
    check_folded(&slice("99"), Rules::Exact, "(d0) -> (d0 + 90), domain: d0 in [0, 9]");
    let gather = "p = f32[33,76] parameter(0)
  i = s64[42,1] iota(), iota_dimension=1
  ROOT x = f32[42,1,1] gather(p, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0},
    index_vector_dim=1, slice_sizes={1,1}";
    let folded = "(d0, d1, d2) -> (d1, d2), domain: d0 in [0, 41], d1 in [0, 0], d2 in [0, 0]";
    check_folded(gather, Rules::Xla, folded);
}

/// The positions in `0..size` at which a map over one dimension and one runtime variable reads something.
fn places(map: &indexing::IndexingMap, size: i64, runtime: &[i64]) -> Vec<i64> {
    (0..size).filter(|&d| map.evaluate(&[&[d], runtime].concat()).is_some()).collect()
}

#[test]
fn the_padding_value_is_read_where_there_is_padding() {
    let op = root("f32[9] pad(p0, p1), padding=1_1_1", &["f32[4]", "f32[]"]);
    let value = |rules| output_to_input_by(&op, 0, rules).operands[1][0].clone();
    assert_eq!(places(&value(Rules::Exact).map, 9, &[]), [0, 2, 4, 6, 8]);
    assert_eq!(places(&value(Rules::Xla).map, 9, &[]).len(), 9);
    assert!(value(Rules::Xla).is_upper_bound && !value(Rules::Exact).is_upper_bound);
}

#[test]
fn an_update_hides_the_operand() {
    let op = root("f32[10] dynamic-update-slice(p0, p1, p2)", &["f32[10]", "f32[4]", "s32[]"]);
    let exact = output_to_input_by(&op, 0, Rules::Exact);
    assert_eq!(places(&exact.operands[0][0].map, 10, &[3]), [0, 1, 2, 7, 8, 9]);
    assert_eq!(places(&exact.operands[1][0].map, 10, &[3]), [3, 4, 5, 6]);
    let xla = output_to_input_by(&op, 0, Rules::Xla);
    assert!(xla.operands[0][0].map.is_identity() && xla.operands[0][0].is_upper_bound);
}

#[test]
fn an_element_feeds_what_the_runtime_values_say() {
    let slice = root("f32[4] dynamic-slice(p0, p1), dynamic_slice_sizes={4}", &["f32[10]", "s32[]"]);
    let fed = &input_to_output_by(&slice, 0, Rules::Exact).operands[0][0].map;
    assert_eq!(fed.evaluate(&[5, 3]), Some(vec![2]));
    assert_eq!(fed.evaluate(&[5, 6]), None);
    // Row 3 goes to each output row whose index is 3: the range variable is that row.
    let gather = root(
        "f32[5,4] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,4}",
        &["f32[10,4]", "s32[5,1]"],
    );
    let fed = &input_to_output_by(&gather, 0, Rules::Exact).operands[0][0].map;
    assert_eq!(fed.evaluate(&[3, 2, 1, 3]), Some(vec![1, 2]));
    assert_eq!(fed.evaluate(&[3, 2, 1, 4]), None);
}

#[test]
fn constants_fold_through_the_parameters_of_fusions() {
    let text = "HloModule m
f {
  p = f32[100] parameter(0)
  i = s32[] parameter(1)
  ROOT d = f32[10] dynamic-slice(p, i), dynamic_slice_sizes={10}
}
g {
  p = f32[100] parameter(0)
  i = s32[] parameter(1)
  ROOT y = f32[10] fusion(p, i), kind=kLoop, calls=f
}
ENTRY e {
  a = f32[100] parameter(0)
  c = s32[] constant(7)
  x = f32[10] fusion(a, c), kind=kLoop, calls=f
  ROOT z = f32[10] fusion(a, c), kind=kLoop, calls=g
}";
    let (graphs, entry) = crate::graphs(text);
    let callees = |name: &str| graphs.iter().find(|(own, _)| own == name).map(|(_, graph)| graph.clone());
    let graph = callees(&entry).unwrap();
    for name in ["x", "z"] {
        let map = |rules| {
            let answer = in_graph(&graph, graph.find(name).unwrap(), 0, rules, &callees);
            answer.operands[0][0].map.to_string()
        };
        assert_eq!(map(Rules::Exact), "(d0) -> (d0 + 7), domain: d0 in [0, 9]");
        assert_eq!(map(Rules::Xla), "(d0){rt0} -> (d0 + rt0), domain: d0 in [0, 9], rt0 in [0, 90]");
    }
}
