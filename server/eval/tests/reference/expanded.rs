//! Ops that expand to several others, ops across devices, and values that XLA leaves open.

use std::collections::HashMap;
use std::sync::Arc;

use eval::{Arguments, Evaluation, Evaluator, Fill, Form, Target};
use ir::{Graph, Op, Shape};
use syntax::hlo::{ElementType, Opcode};

use crate::{check, check_op, graphs};

/// Evaluates the last computation, with literal or filled parameters.
fn evaluate(text: &str, literals: &[&str], devices: i64) -> Result<Evaluation, String> {
    let (graphs, last): (HashMap<String, Arc<ir::Graph>>, String) = graphs(&format!("HloModule m\n{text}"));
    let target = Target { graphs: &graphs, computation: &last, op: None, devices };
    let literals = literals.iter().map(|&text| text.to_owned()).collect();
    let arguments = Arguments { literals, fill: Some(Fill::Iota) };
    eval::evaluate(target, &arguments, Form::Literal).map_err(|why| why.into_owned())
}

#[track_caller]
fn check_text(text: &str, literals: &[&str], devices: i64, expect: &str) {
    let shown = match evaluate(text, literals, devices) {
        Ok(evaluation) => {
            let values = evaluation.arrays.into_iter().map(|array| array.values.expect("a literal"));
            values.collect::<Vec<_>>().join(" ")
        }
        Err(why) => why,
    };
    assert_eq!(shown, expect);
}

#[test]
fn upper_halves_of_products() {
    let mulhi = |ty: &str, a: &str, b: &str, expect: &str| {
        let shape = format!("{ty}[3]");
        check_op(&shape, "mulhi(a, b)", &[(&shape, a), (&shape, b)], expect);
    };
    mulhi("s32", "{1073741824, -5, -2147483648}", "{8, 1, -2147483648}", "[2, -1, 1073741824]");
    mulhi("u8", "{255, 16, 15}", "{255, 16, 17}", "[254, 1, 0]");
    mulhi("s64", "{-9223372036854775808, 9223372036854775807, -1}", "{2, 4, 1}", "[-1, 1, -1]");
    // As bits: 2^64 - 2, the high half of the largest number squared.
    mulhi(
        "u64",
        "{18446744073709551615, 4294967296, 1}",
        "{18446744073709551615, 4294967296, 1}",
        "[-2, 1, 0]",
    );
}

#[test]
fn scaled_dots_take_a_scale_per_block() {
    let text = |scales: &str, factor: &str| {
        format!(
            "e {{
  a = f8e4m3fn[1,4] parameter(0)
  b = f8e4m3fn[4,1] parameter(1)
  s = f8e8m0fnu[{scales}] parameter(2)
  t = f8e8m0fnu[{factor}] parameter(3)
  ROOT r = f32[1,1] scaled-dot(a, b, s, t), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
}}
"
        )
    };
    let literals = ["{{1, 2, 3, 4}}", "{{1}, {1}, {1}, {1}}", "{{2, 0.5}}", "{{4}, {1}}"];
    // 2 * 4 * (1 + 2) + 0.5 * 1 * (3 + 4)
    check_text(&text("1,2", "2,1"), &literals, 1, "{{27.5}}");
    // Scalar scales have no effect.
    check_text(&text("", ""), &["{{1, 2, 3, 4}}", "{{1}, {1}, {1}, {1}}", "2", "2"], 1, "{{10}}");
}

#[test]
fn batches_behind_the_groups_of_a_ragged_dot_are_zero() {
    let text = "e {
  a = s32[3,1,2] parameter(0)
  b = s32[3,2,1] parameter(1)
  n = s32[2] parameter(2)
  ROOT r = s32[3,1,1] ragged-dot(a, b, n), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={0}
}
";
    check_text(text, &["", "", "{1, 1}"], 1, "{{{1}}, {{13}}, {{0}}}");
}

#[test]
fn one_device_is_alone() {
    let of = |op: &str| {
        format!(
            "\
add {{
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}}
e {{
  a = f32[2] parameter(0)
  ROOT r = {op}
}}
"
        )
    };
    let all_reduce =
        |groups: &str| of(&format!("f32[2] all-reduce(a), replica_groups={groups}, to_apply=add"));
    check_text(&all_reduce("{}"), &[], 1, "{0, 1}");
    check_text(
        &all_reduce("{}"),
        &[],
        8,
        "all-reduce among 8 devices is not evaluated: the values of one are known [r]",
    );
    check_text(
        &all_reduce("{{0,1}}"),
        &[],
        1,
        "all-reduce among {{0,1}} is not evaluated: the values of one are known [r]",
    );
    check_text(&all_reduce("{{0},{1}}"), &[], 2, "{0, 1}");
    check_text(&of("f32[2] collective-permute(a), source_target_pairs={{0,0}}"), &[], 1, "{0, 1}");
    check_text(&of("f32[2] collective-permute(a), source_target_pairs={}"), &[], 1, "{0, 0}");
    check_text(&of("f32[2] all-gather(a), replica_groups={{0}}, dimensions={0}"), &[], 1, "{0, 1}");
    for id in ["partition-id", "replica-id"] {
        check_text(&format!("e {{\n  ROOT r = u32[] {id}()\n}}\n"), &[], 1, "0");
        let why = format!("{id} is not evaluated: it differs between 4 devices [r]");
        check_text(&format!("e {{\n  ROOT r = u32[] {id}()\n}}\n"), &[], 4, &why);
    }
}

#[test]
fn starts_and_ends() {
    check_text(
        "e {
  a = f32[2] parameter(0)
  s = (f32[2], f32[2]) all-gather-start(a), replica_groups={{0}}, dimensions={0}
  d = f32[2] all-gather-done(s)
  c = (f32[2], f32[2], u32[]) copy-start(d)
  ROOT r = f32[2] copy-done(c)
}
",
        &[],
        1,
        "{0, 1}",
    );
    check_text(
        "f {
  p = f32[2] parameter(0)
  ROOT n = f32[2] negate(p)
}
e {
  a = f32[2] parameter(0)
  s = ((f32[2]), f32[2], u32[]) async-start(a), calls=f
  u = ((f32[2]), f32[2], u32[]) async-update(s)
  ROOT d = f32[2] async-done(u)
}
",
        &[],
        1,
        "{-0, -1}",
    );
}

#[test]
fn numbers_that_xla_does_not_define_carry_a_note() {
    let text = |ty: &str, distribution: &str| {
        format!(
            "\
e {{
  a = {ty}[] parameter(0)
  b = {ty}[] parameter(1)
  ROOT r = {ty}[500] rng(a, b), distribution={distribution}
}}
"
        )
    };
    let numbers = |ty: &str, distribution: &str, literals: [&str; 2]| {
        let evaluation = evaluate(&text(ty, distribution), &literals, 1).expect("it is evaluated");
        assert!(evaluation.notes.iter().any(|note| note.contains("XLA does not define")), "{evaluation:?}");
        let values = evaluation.arrays[0].values.clone().expect("a literal");
        let values = values.trim_matches(['{', '}']).split(", ").map(|word| word.parse().expect("a number"));
        values.collect::<Vec<f64>>()
    };
    let uniform = numbers("f32", "rng_uniform", ["2", "5"]);
    assert!(uniform.iter().all(|x| (2.0..5.0).contains(x)), "{uniform:?}");
    assert_eq!(uniform, numbers("f32", "rng_uniform", ["2", "5"]));
    let whole = numbers("s32", "rng_uniform", ["-2", "2"]);
    assert!([-2.0, -1.0, 0.0, 1.0].iter().all(|x| whole.contains(x)) && !whole.contains(&2.0), "{whole:?}");
    let normal = numbers("f64", "rng_normal", ["10", "2"]);
    let mean = normal.iter().sum::<f64>() / 500.0;
    let deviation = (normal.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 500.0).sqrt();
    assert!((mean - 10.0).abs() < 0.5 && (deviation - 2.0).abs() < 0.5, "{mean} {deviation}");
    // No random values, no note.
    let plain = evaluate("e {\n  ROOT i = f32[3] iota(), iota_dimension=0\n}\n", &[], 1);
    assert_eq!(plain.expect("it is evaluated").notes, Vec::<String>::new());
}

#[test]
fn sizes_that_are_given_as_the_program_runs() {
    let reshape = "e {
  a = f32[6] parameter(0)
  m = s32[] parameter(1)
  n = s32[] parameter(2)
  ROOT r = f32[<=2,<=3] dynamic-reshape(a, m, n)
}
";
    check_text(reshape, &["", "2", "3"], 1, "{{0, 1, 2}, {3, 4, 5}}");
    check_text(reshape, &["", "2", "2"], 1, "6 elements become 4 [r]");
    check_text(reshape, &["", "3", "2"], 1, "size 3 is outside of the bound 2 [r]");
    check_text(
        "e {
  a = f32[2,3] parameter(0)
  m = s32[] parameter(1)
  s = f32[2,<=3] set-dimension-size(a, m), dimensions={1}
  t = s32[] constant(2)
  ROOT r = f32[<=3,<=2] dynamic-reshape(s, m, t)
}
",
        &["", "2"],
        1,
        "{{0, 1}, {3, 4}, {0, 0}}",
    );
}

#[test]
fn scans_carry_values_along() {
    check(
        "sum {
  x = s32[] parameter(0)
  c = s32[] parameter(1)
  n = s32[] add(x, c)
  ROOT t = (s32[], s32[]) tuple(n, n)
}
e {
  x = s32[4] parameter(0)
  z = s32[] parameter(1)
  ROOT r = (s32[4], s32[]) scan(x, z), dimensions={0}, num_carries=1, is_reverse=true, to_apply=sum
}
",
        &["{1, 2, 3, 4}", "10"],
        "[20, 19, 17, 14] [20]",
    );
}

#[test]
fn what_is_not_evaluated_is_listed() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = std::fs::read_to_string(readme).expect("the README");
    let statement = readme.split("Not evaluated:").nth(1).and_then(|rest| rest.split("\n- ").next());
    let statement = statement.expect("a statement").to_owned();
    for &opcode in Opcode::ALL {
        let mut graph = Graph::default();
        let op = Op { opcode, ..Op::leaf(Shape::array(ElementType::F32, &[2])) };
        graph.push(op, Vec::new(), "x".to_owned());
        let nothing = |_: u32, _: usize, _: &[i64]| Err("no inputs".into());
        let mut evaluator = Evaluator::new(Arc::new(graph), &eval::no_callees, &nothing);
        let answer = evaluator.elements(0, 0, &[0]);
        let is_refused = answer.is_err_and(|why| why.starts_with(&format!("{opcode} is not evaluated")));
        let is_named = statement.contains(&format!("`{opcode}`"));
        assert_eq!(is_named, is_refused, "the README on {opcode}");
    }
}
