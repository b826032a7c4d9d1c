//! Ops defined by another computation, ops that pass values on, and folding.

use indexing::{Rules, in_graph, no_callees};

/// Maps from an op's output to its operands, each with the tuple element that it reads.
fn maps(text: &str, name: &str, output: usize) -> Vec<Vec<String>> {
    let text = format!("HloModule m\n{text}");
    let (graphs, _) = crate::graphs(&text);
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
    let (graph, id) = graphs.iter().find_map(|(_, g)| Some((g, g.find(name)?))).expect(name);
    let mut answer = in_graph(graph, id, output, Rules::Exact, &callee);
    answer.simplify_by(Rules::Exact);
    let printed = |a: &indexing::OperandIndexing| {
        let element = a.element.map_or(String::new(), |k| format!(" of {k}"));
        let bound = if a.is_upper_bound { " at most" } else { "" };
        let (map, _) = a
            .map
            .to_string()
            .split_once(", domain")
            .map_or((a.map.to_string(), ()), |(m, _)| (m.to_owned(), ()));
        format!("{map}{element}{bound}")
    };
    answer.operands.iter().map(|list| list.iter().map(printed).collect()).collect()
}

const COMPUTATIONS: &str = "
back {
  a = f32[8] parameter(0)
  ROOT r = f32[8] reverse(a), dimensions={0}
}
same {
  b = f32[8] parameter(0)
  ROOT n = f32[8] negate(b)
}
pair {
  c = (f32[8], f32[4]) parameter(0)
  d = f32[8] get-tuple-element(c), index=0
  e = f32[4] get-tuple-element(c), index=1
  ROOT g = f32[8] concatenate(e, e), dimensions={0}
}
";

#[test]
fn calls_and_conditionals() {
    let text = format!(
        "{COMPUTATIONS}ENTRY e {{
  p = pred[] parameter(0)
  x = f32[8] parameter(1)
  y = f32[8] parameter(2)
  z = (f32[8], f32[4]) parameter(3)
  called = f32[8] call(x), to_apply=back
  either = f32[8] conditional(p, x, y), true_computation=back, false_computation=same
  third = s32[] parameter(4)
  of = f32[8] conditional(third, x, y, z), branch_computations={{back, same, pair}}
  ROOT all = f32[8] add(called, either)
}}"
    );
    assert_eq!(maps(&text, "called", 0), [["(d0) -> (-d0 + 7)"]]);
    assert_eq!(maps(&text, "either", 0), [["(d0) -> ()"], ["(d0) -> (-d0 + 7)"], ["(d0) -> (d0)"]]);
    let of = maps(&text, "of", 0);
    assert_eq!(of[3], ["(d0) -> (d0) of 1", "(d0) -> (d0 - 4) of 1"]);
    // Through the whole entry computation: x is read by the call and by a branch, y by the other.
    let (graphs, entry) = crate::graphs(&format!("HloModule m\n{text}"));
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
    let answer = indexing::fusion(&callee(&entry).unwrap(), 0, 5, Rules::Exact, &callee);
    let printed: Vec<Vec<String>> =
        answer.operands.iter().map(|list| list.iter().map(|a| a.map.to_string()).collect()).collect();
    assert_eq!(printed[1], ["(d0) -> (-d0 + 7), domain: d0 in [0, 7]"]);
    assert_eq!(printed[2], ["(d0) -> (d0), domain: d0 in [0, 7]"]);
    assert_eq!(printed[0], ["(d0) -> (), domain: d0 in [0, 7]"]);
    let back = indexing::fusion_input_to_output(&callee(&entry).unwrap(), 1, Rules::Exact, &callee);
    assert_eq!(back.operands[0][0].map.to_string(), "(d0) -> (-d0 + 7), domain: d0 in [0, 7]");
}

/// Each element of the tuple has the maps of its own elements of the branches.
#[test]
fn a_conditional_with_two_results() {
    let text = "HloModule m
first {
  a = f32[8] parameter(0)
  r = f32[8] reverse(a), dimensions={0}
  s = f32[4] slice(a), slice={[4:8]}
  ROOT t = (f32[8], f32[4]) tuple(r, s)
}
second {
  b = f32[8] parameter(0)
  n = f32[8] negate(b)
  o = f32[4] slice(b), slice={[1:8:2]}
  ROOT u = (f32[8], f32[4]) tuple(n, o)
}
ENTRY e {
  p = pred[] parameter(0)
  x = f32[8] parameter(1)
  y = f32[8] parameter(2)
  c = (f32[8], f32[4]) conditional(p, x, y), true_computation=first, false_computation=second
  g = f32[8] get-tuple-element(c), index=0
  h = f32[4] get-tuple-element(c), index=1
  ROOT w = (f32[8], f32[4]) tuple(g, h)
}";
    let (graphs, entry) = crate::graphs(text);
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
    for (output, of_x, of_y) in [(0, "-d0 + 7", "d0"), (1, "d0 + 4", "d0 * 2 + 1")] {
        let answer = indexing::fusion(&callee(&entry).unwrap(), output, 3, Rules::Exact, &callee);
        let printed = |operand: usize| -> Vec<String> {
            answer.operands[operand].iter().map(|access| access.map.to_string()).collect()
        };
        let last = [7, 3][output];
        assert_eq!(printed(1), [format!("(d0) -> ({of_x}), domain: d0 in [0, {last}]")]);
        assert_eq!(printed(2), [format!("(d0) -> ({of_y}), domain: d0 in [0, {last}]")]);
    }
}

#[test]
fn loops() {
    let text = "body {
  s = (s32[], f32[4], f32[2], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  kept = f32[4] get-tuple-element(s), index=1
  sum = f32[2] get-tuple-element(s), index=2
  part = f32[2] slice(kept), slice={[0:2]}
  more = f32[2] add(sum, part)
  other = f32[3] get-tuple-element(s), index=3
  changed = f32[3] negate(other)
  ROOT t = (s32[], f32[4], f32[2], f32[3]) tuple(next, kept, more, changed)
}
condition {
  q = (s32[], f32[4], f32[2], f32[3]) parameter(0)
  j = s32[] get-tuple-element(q), index=0
  end = s32[] constant(5)
  ROOT less = pred[] compare(j, end), direction=LT
}
ENTRY e {
  p = (s32[], f32[4], f32[2], f32[3]) parameter(0)
  ROOT w = (s32[], f32[4], f32[2], f32[3]) while(p), condition=condition, body=body
}";
    assert_eq!(maps(text, "w", 1), [["(d0) -> (d0) of 1"]]);
    let sum = ["(d0) -> () of 0 at most", "(d0)[s0] -> (s0) of 1 at most", "(d0)[s0] -> (s0) of 2 at most"];
    assert_eq!(maps(text, "w", 2), [sum]);
    assert_eq!(maps(text, "w", 0), [["() -> () of 0 at most"]]);
}

#[test]
fn what_is_handed_on() {
    let text = "wrapped {
  a = f32[8] parameter(0)
  ROOT r = f32[8] reverse(a), dimensions={0}
}
ENTRY e {
  p = f32[8] parameter(0)
  q = f32[4] parameter(1)
  t = (f32[8], f32[4]) tuple(p, q)
  barrier = (f32[8], f32[4]) opt-barrier(t)
  element = f32[4] get-tuple-element(barrier), index=1
  start = ((f32[8]), f32[8], u32[]) async-start(p), calls=wrapped
  done = f32[8] async-done(start)
  copying = (f32[8], f32[8], u32[]) copy-start(p)
  copied = f32[8] copy-done(copying)
  marked = f32[8] custom-call(p), custom_call_target=\"Sharding\"
  whole = f32[8] custom-call(p, t), custom_call_target=\"mine\"
  nested = ((f32[8], f32[4]), f32[4]) tuple(t, q)
  size = s32[] get-dimension-size(p), dimensions={0}
  ROOT random = f32[3] rng(size, size), distribution=rng_uniform
}";
    let empty = "KNOWN EMPTY".to_owned();
    assert_eq!(maps(text, "barrier", 1), [["(d0) -> (d0) of 1"]]);
    assert_eq!(maps(text, "element", 0), [["(d0) -> (d0) of 1"]]);
    assert_eq!(maps(text, "start", 0), [["(d0) -> (d0)"]]);
    assert_eq!(maps(text, "start", 1), [["(d0) -> (-d0 + 7)"]]);
    assert_eq!(maps(text, "start", 2), [[empty.as_str()]]);
    assert_eq!(maps(text, "done", 0), [["(d0) -> (d0) of 1"]]);
    assert_eq!(maps(text, "copying", 1), [["(d0) -> (d0)"]]);
    assert_eq!(maps(text, "copied", 0), [["(d0) -> (d0) of 0"]]);
    assert_eq!(maps(text, "marked", 0), [["(d0) -> (d0)"]]);
    let whole = ["(d0)[s0] -> (s0) of 0 at most", "(d0)[s0] -> (s0) of 1 at most"];
    assert_eq!(maps(text, "whole", 0), [vec!["(d0)[s0] -> (s0) at most"], whole.to_vec()]);
    assert_eq!(maps(text, "nested", 1)[0], ["(d0) -> (d0) of 1"]);
    assert_eq!(maps(text, "nested", 2)[1], ["(d0) -> (d0)"]);
    assert_eq!(maps(text, "size", 0), [[empty.as_str()]]);
    assert_eq!(maps(text, "random", 0), [["(d0) -> ()"], ["(d0) -> ()"]]);
    // Through the whole computation.
    let (graphs, _) = crate::graphs(&format!(
        "HloModule m\n{}",
        text.replace("ROOT random", "random").replace("  done =", "  ROOT done =")
    ));
    let callee = |name: &str| graphs.iter().find(|(n, _)| n == name).map(|(_, graph)| graph.clone());
    let answer = indexing::fusion(&callee("e").unwrap(), 0, 2, Rules::Exact, &callee);
    assert_eq!(answer.operands[0][0].map.to_string(), "(d0) -> (-d0 + 7), domain: d0 in [0, 7]");
}

/// The map of operand 0 of the entry's root.
#[track_caller]
fn check_folded(body: &str, rules: Rules, expect: &str) {
    let graph = crate::entry(&format!("HloModule m\nENTRY e {{\n{body}\n}}\n"));
    let mut answer = in_graph(&graph, graph.root, 0, rules, &no_callees);
    answer.simplify_by(rules);
    assert_eq!(answer.operands[0][0].map.to_string(), expect);
}

/// The slides' example (see the unit test of folding), through a slice and a reshape.
#[test]
fn arithmetic_on_an_iota_folds() {
    let text = |size: i64| {
        format!(
            "  c = s64[] constant(42)
  broadcast = s64[12,13,24] broadcast(c), dimensions={{}}
  iota = s64[12,13,24] iota(), iota_dimension=2
  add = s64[12,13,24] add(broadcast, iota)
  part = s64[12,1,12] slice(add), slice={{[0:12], [7:8], [0:24:2]}}
  table = s64[12,12] reshape(part)
  p = f32[12,{size}] parameter(0)
  ROOT x = f32[12,12] gather(p, table), offset_dims={{}}, collapsed_slice_dims={{1}}, start_index_map={{1}},
    operand_batching_dims={{0}}, start_indices_batching_dims={{0}}, index_vector_dim=2, slice_sizes={{1,1}}"
        )
    };
    let domain = "domain: d0 in [0, 11], d1 in [0, 11]";
    check_folded(&text(100), Rules::Exact, &format!("(d0, d1) -> (d0, d1 * 2 + 42), {domain}"));
    check_folded(&text(48), Rules::Exact, &format!("(d0, d1) -> (d0, min(d1 * 2 + 42, 47)), {domain}"));
    let kept = format!("(d0, d1){{rt0}} -> (d0, rt0), {domain}, rt0 in [0, 47]");
    check_folded(&text(48), Rules::Xla, &kept);
}

#[test]
fn values_that_may_wrap_do_not_fold() {
    let text = |element: &str, by: i64| {
        format!(
            "  i = {element}[4] iota(), iota_dimension=0
  c = {element}[] constant({by})
  b = {element}[4] broadcast(c), dimensions={{}}
  m = {element}[4] multiply(i, b)
  s = {element}[4,1] reshape(m)
  p = f32[1000] parameter(0)
  ROOT x = f32[4] gather(p, s), offset_dims={{}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, index_vector_dim=1, slice_sizes={{1}}"
        )
    };
    check_folded(&text("s8", 40), Rules::Exact, "(d0) -> (d0 * 40), domain: d0 in [0, 3]");
    let kept = "(d0){rt0} -> (rt0), domain: d0 in [0, 3], rt0 in [0, 999]";
    check_folded(&text("s8", 50), Rules::Exact, kept);
    check_folded(&text("s16", 50), Rules::Exact, "(d0) -> (d0 * 50), domain: d0 in [0, 3]");
}
