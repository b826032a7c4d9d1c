//! Requests of `query` have bounds, and errors name them.

use hlo_analyzer_tests::sample;
use serde_json::{Value, json};

use super::{run_on, text};

/// The answer to one request, with options of `query`.
fn answer(options: &[&str], method: &str, params: &Value) -> Value {
    let request = json!({"id": 1, "method": method, "params": params});
    let answered = run_on(&[&["query"], options].concat(), &format!("{request}\n"));
    serde_json::from_slice(&answered.stdout).unwrap_or_else(|_| panic!("{}", text(&answered.stderr)))
}

#[test]
fn a_request_ends_at_the_time_limit() {
    let params = json!({"text": sample::slow(), "instruction": "k"});
    let error = json!({"kind": "limit", "message": "indexing took longer than 1 s; --max-time SECONDS raises the limit"});
    assert_eq!(answer(&["--max-time", "1"], "indexing", &params)["error"], error);
    // Both modules are opened apart from the session.
    let source = json!({"text": sample::slow()});
    let error = &answer(&["--max-time", "1"], "diff", &json!({"before": source, "after": source}))["error"];
    assert_eq!(error["message"], "diff took longer than 1 s; --max-time SECONDS raises the limit");
}

#[test]
fn a_request_ends_at_the_memory_limit() {
    // 64 MiB at a time.
    let shape = "f32[16777216]{0}";
    let sums: String = (0..10).map(|n| format!("  a{} = {shape} add(a{n}, a{n})\n", n + 1)).collect();
    let text = format!(
        "HloModule m\n\nadd {{\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n  ROOT s = f32[] add(x, y)\n}}\n\n\
         ENTRY e {{\n  z = f32[] constant(0)\n  a0 = {shape} iota(), iota_dimension=0\n{sums}\
         \x20 ROOT r = f32[] reduce(a10, z), dimensions={{0}}, to_apply=add\n}}\n"
    );
    let params = json!({"text": text});
    let error = json!({"kind": "limit", "message": "evaluate took more than 20 MiB of memory; --max-memory MIB raises the limit"});
    assert_eq!(answer(&["--max-memory", "20"], "evaluate", &params)["error"], error);
    assert!(answer(&["--max-memory", "0"], "evaluate", &params)["result"]["outputs"][0].is_string());
}

/// A concatenation selects what it reads below the branches of all operands before it: the product of 20,000 and 20,000 conditions
/// took 12 GB in a minute.
#[test]
fn conditions_below_branches_are_bounded() {
    const OPERANDS: usize = 20_000;
    let operands = vec!["p"; OPERANDS].join(", ");
    let shape = format!("f32[{}]{{0}}", 8 * OPERANDS);
    let text = format!(
        "HloModule m\n\nf {{\n  p = f32[8]{{0}} parameter(0)\n  ROOT c = {shape} concatenate({operands}), dimensions={{0}}\n}}\n\n\
         ENTRY e {{\n  p = f32[8]{{0}} parameter(0)\n  ROOT k = {shape} fusion(p), kind=kLoop, calls=f\n}}\n"
    );
    let found = answer(&["--max-time", "50"], "coalescing", &json!({"text": text, "instruction": "k"}));
    let unknown = &found["result"]["operands"][0]["unknown"];
    let limits = "more than 64 different accesses; its accesses to memory have more than 2097152 conditions";
    assert_eq!(unknown, limits, "{}", found["error"]);
}

/// Each function has all operands as arguments, so their text grows as the product.
#[test]
fn functions_with_too_many_arguments_are_not_listed() {
    let names: Vec<String> = (0..3_000).map(|n| format!("p{n}")).collect();
    let parameters: String =
        names.iter().enumerate().map(|(n, p)| format!("  {p} = f32[8]{{0}} parameter({n})\n")).collect();
    let (operands, shape) = (names.join(", "), format!("f32[{}]{{0}}", 8 * names.len()));
    let text = format!(
        "HloModule m\n\nf {{\n{parameters}  ROOT c = {shape} concatenate({operands}), dimensions={{0}}\n}}\n\n\
         ENTRY e {{\n{parameters}  ROOT k = {shape} fusion({operands}), kind=kLoop, calls=f\n}}\n"
    );
    let found = answer(&[], "partition", &json!({"text": text}));
    let problem = found["result"]["computations"][0]["problem"].as_str().unwrap_or_default();
    assert!(problem.ends_with("of 3000 operands each, more than 262144 arguments in all"), "{problem}");
}
