//! Asynchronous ops, converted and converted back.

use ir::AttributeKey as K;
use mlir::PieceState;

use crate::graphs::{Graphs, is_bookkeeping};
use crate::{faults, to_hlo, to_stablehlo};

const ADD: &str = "\
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}

";

/// A module of these lines comes back with the same opcodes, shapes and attributes.
#[track_caller]
fn check(lines: &str) {
    let lines: String = lines.lines().map(|line| format!("  {}\n", line.trim())).collect();
    let text = format!(
        "\
HloModule m

{ADD}ENTRY e {{
  a = f32[4,8]{{1,0}} parameter(0)
{lines}}}
"
    );
    assert_eq!(faults(&text), [] as [&str; 0], "{text}");
    let stablehlo = to_stablehlo(&text);
    assert_eq!(stablehlo.incomplete, [], "{text}");
    let parse = mlir::parse(&stablehlo.text, PieceState::default());
    let findings = mlir::check(&parse, &stablehlo.text);
    assert!(parse.errors.is_empty() && findings.is_empty(), "{findings:?}\n{}", stablehlo.text);
    let back = to_hlo(&stablehlo.text);
    let context = format!("{text}\n{}\n{}", stablehlo.text, back.text);
    assert_eq!((back.incomplete.len(), faults(&back.text)), (0, Vec::new()), "{context}");
    let told = |text: &str| {
        let graphs = Graphs::of(text);
        let ops = graphs.entry().ops.iter().filter(|op| !is_bookkeeping(op.opcode));
        let lists = [K::Dimensions, K::ReplicaGroups, K::SourceTargetPairs, K::NumCarries, K::IsReverse];
        let told = |op: &ir::Op| {
            let said: Vec<_> = lists
                .iter()
                .map(|&key| format!("{:?} {:?}", op.attributes.ints(key), op.attributes.text(key)))
                .collect();
            format!("{} {} {said:?}", op.opcode, op.shape.to_string().split(", u32[]").next().unwrap_or(""))
        };
        ops.map(told).map(|line| line.replace("{1,0}", "")).collect::<Vec<_>>()
    };
    assert_eq!(told(&text), told(&back.text), "{context}");
}

#[test]
fn exchanges_of_their_own() {
    check(
        "s = f32[4,8]{1,0} all-reduce-start(a), replica_groups={{0,1}}, to_apply=add
         ROOT r = f32[4,8]{1,0} all-reduce-done(s)",
    );
    check(
        "s = (f32[4,8]{1,0}, f32[8,8]{1,0}) all-gather-start(a), replica_groups={{0,1}}, dimensions={0}
         ROOT r = f32[8,8]{1,0} all-gather-done(s)",
    );
    check(
        "s = (f32[4,8]{1,0}, f32[4,8]{1,0}, u32[], u32[]) collective-permute-start(a), source_target_pairs={{0,1},{1,0}}
         ROOT r = f32[4,8]{1,0} collective-permute-done(s)",
    );
}

#[test]
fn exchanges_of_each_operand_with_one_device() {
    check("ROOT r = (f32[4,8]{1,0}, f32[4,8]{1,0}) all-to-all(a, a), replica_groups={{0,1}}");
}

/// What a computation holds is not the caller's: the opcodes around it come back.
#[track_caller]
fn check_wrapped(opcode: &str, attributes: &str, result: &str) {
    let bundle = match opcode {
        "copy" => format!("({result}, {result}, u32[])"),
        _ => format!("((f32[4,8]{{1,0}}), {result})"),
    };
    let text = format!(
        "\
HloModule m

{ADD}ENTRY e {{
  a = f32[4,8]{{1,0}} parameter(0)
  s = {bundle} {opcode}-start(a){attributes}
  ROOT r = {result} {opcode}-done(s)
}}
"
    );
    let stablehlo = to_stablehlo(&text);
    assert_eq!(stablehlo.incomplete, [], "{text}");
    let back = to_hlo(&stablehlo.text);
    let context = format!("{text}\n{}\n{}", stablehlo.text, back.text);
    assert_eq!((back.incomplete.len(), faults(&back.text)), (0, Vec::new()), "{context}");
    let graphs = Graphs::of(&back.text);
    let opcodes: Vec<_> = graphs.entry().ops.iter().map(|op| op.opcode.name()).collect();
    assert_eq!(opcodes, ["parameter", "async-start", "async-done"], "{context}");
    let start = &graphs.entry().ops[1];
    let called = &graphs.all[start.attributes.computation(K::Calls).expect("it calls one")];
    assert_eq!(called.ops[called.root as usize].opcode.name(), opcode, "{context}");
}

#[test]
fn what_has_no_start_of_its_own_is_wrapped() {
    let groups = ", replica_groups={{0,1}}";
    check_wrapped("all-to-all", &format!("{groups}, dimensions={{0}}"), "f32[4,8]{1,0}");
    check_wrapped("reduce-scatter", &format!("{groups}, dimensions={{0}}, to_apply=add"), "f32[2,8]{1,0}");
    check_wrapped("collective-broadcast", groups, "f32[4,8]{1,0}");
    check_wrapped("reverse", ", dimensions={0}", "f32[4,8]{1,0}");
    check_wrapped("copy", "", "f32[4,8]{1,0}");
}

#[test]
fn several_arrays_are_told() {
    let text = format!(
        "\
HloModule m

{ADD}ENTRY e {{
  a = f32[4] parameter(0)
  s = (f32[4], f32[4]) all-reduce-start(a, a), replica_groups={{{{0,1}}}}, to_apply=add
  ROOT r = (f32[4], f32[4]) all-reduce-done(s)
}}
"
    );
    let told: Vec<_> = to_stablehlo(&text).incomplete.into_iter().map(|m| m.what).collect();
    assert_eq!(
        told,
        [
            "all-reduce-start: StableHLO and MHLO start what answers one array",
            "all-reduce-done: nothing starts it"
        ]
    );
}

/// What the instructions of two computations by one name start is not mixed up, nor with functions that are there.
#[test]
fn starts_are_told_apart_by_their_computations() {
    let start = |opcode: &str| {
        format!("  s = ((f32[8]), f32[8], u32[]) {opcode}-start(x)\n  d = f32[8] {opcode}-done(s)\n")
    };
    let text = format!(
        "\
HloModule m

async.s {{
  x = f32[8] parameter(0)
{}  ROOT r = f32[8] sine(d)
}}

ENTRY e {{
  x = f32[8] parameter(0)
{}  ROOT c = f32[8] call(d), to_apply=async.s
}}
",
        start("negate"),
        start("abs")
    );
    let stablehlo = to_stablehlo(&text);
    assert_eq!(stablehlo.incomplete, []);
    let back = to_hlo(&stablehlo.text);
    let context = format!("{}\n{}", stablehlo.text, back.text);
    assert_eq!((back.incomplete.len(), faults(&back.text)), (0, Vec::new()), "{context}");
    let graphs = Graphs::of(&back.text);
    let started = |graph: &ir::Graph| {
        let start = graph.ops.iter().find(|op| op.opcode == ir::Opcode::AsyncStart).expect("it starts one");
        let called = &graphs.all[start.attributes.computation(K::Calls).expect("it calls one")];
        called.ops[called.root as usize].opcode.name()
    };
    let call = graphs.entry().ops.iter().find(|op| op.opcode == ir::Opcode::Call).expect("it calls one");
    let called = &graphs.all[call.attributes.computation(K::ToApply).expect("it names one")];
    assert_eq!((started(graphs.entry()), started(called)), ("abs", "negate"), "{context}");
}

/// An annotation of both the region and the op in it is written once, as on the outer op.
#[test]
fn annotations_of_an_exchange_are_said_once() {
    let text = r#"func.func public @main(%a: tensor<4xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.async_start"(%a) ({
  ^bb0(%b: tensor<4xf32>):
    %1 = "stablehlo.all_gather"(%b) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> {mhlo.sharding = "{replicated}", mhlo.frontend_attributes = {a = "1", b = "2"}} : (tensor<4xf32>) -> tensor<8xf32> loc("inner")
    stablehlo.return %1 : tensor<8xf32>
  }) {mhlo.sharding = "{manual}", mhlo.frontend_attributes = {a = "3"}} : (tensor<4xf32>) -> !stablehlo.future<tensor<8xf32>> loc("outer")
  %2 = "stablehlo.async_done"(%0) : (!stablehlo.future<tensor<8xf32>>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
"#;
    let hlo = to_hlo(text);
    let line = hlo.text.lines().find(|line| line.contains("all-gather-start(")).expect("it is started");
    let end = ", sharding={manual}, frontend_attributes={a=\"3\",b=\"2\"}, metadata={op_name=\"outer\"}";
    assert!(line.ends_with(end) && hlo.incomplete.is_empty(), "{}", hlo.text);
}
