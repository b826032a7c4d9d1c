//! The methods of `query`.

use hlo_analyzer::Session;
use serde_json::{Value, json};

/// The requests, by the first byte: a method, and its parameters beside the source.
const REQUESTS: &[(&str, &str)] = &[
    ("parse", "{}"),
    ("verify", "{}"),
    ("print", "{}"),
    ("print", r#"{"options": {"preset": "canonical", "compact_gte": true}}"#),
    ("indexing", r#"{"direction": "output_to_input"}"#),
    ("indexing", r#"{"direction": "input_to_output", "physical_layout": true}"#),
    ("grouped_indexing", "{}"),
    ("epilogue_indexing", "{}"),
    ("fusion", "{}"),
    ("fusion", r#"{"device": "b200"}"#),
    ("kernel", r#"{"emit": "ptx"}"#),
    ("kernel", r#"{"emit": "mlir", "after": "all"}"#),
    ("kernel", r#"{"emit": "xtile"}"#),
    ("kernel", r#"{"emit": "ttir"}"#),
    ("partition", "{}"),
    ("tile", r#"{"tile_sizes": [2, 3]}"#),
    ("tilings", "{}"),
    ("access_pattern", "{}"),
    ("coalescing", "{}"),
    ("convert", r#"{"to": "stablehlo"}"#),
    ("convert", r#"{"to": "hlo"}"#),
    ("evaluate", r#"{"inputs": []}"#),
    ("memory", "{}"),
    ("optimize", r#"{"pipeline": "gpu"}"#),
    ("lineage", "{}"),
    ("map", r#"{"op": "simplify"}"#),
    ("map", r#"{"op": "compose"}"#),
    ("expr", r#"{"op": "canonicalize"}"#),
];

pub fn run(bytes: &[u8]) -> bool {
    let [which, language, text @ ..] = bytes else { return false };
    let (method, parameters) = REQUESTS[usize::from(*which) % REQUESTS.len()];
    let text = String::from_utf8_lossy(text);
    let mut parameters: Value = serde_json::from_str(parameters).expect("it is JSON");
    parameters["language"] = if language % 2 == 0 { "hlo" } else { "mlir" }.into();
    parameters["instruction"] = subject(&text).into();
    parameters["root"] = parameters["instruction"].clone();
    match method {
        "map" => (parameters["map"], parameters["with"]) = (json!(text), json!(text)),
        "expr" => parameters["expr"] = json!(text),
        _ => parameters["text"] = json!(text),
    }
    let request = json!({"id": 1, "method": method, "params": parameters});
    let answer = Session::default().answer(&request.to_string());
    assert_eq!(answer["id"], 1, "{answer}");
    assert_ne!(answer["error"]["kind"], "internal", "{answer}");
    let is_answered = answer.get("result").is_some();
    assert_ne!(is_answered, answer.get("error").is_some(), "{answer}");
    is_answered
}

/// The name of the last `ROOT`, else the last name that is given a value.
fn subject(text: &str) -> &str {
    let named = || text.lines().rev().filter(|line| line.contains(" = "));
    let roots = named().filter(|line| line.trim_start().starts_with("ROOT"));
    let line = roots.chain(named()).next().unwrap_or_default();
    let name = line.split(" = ").next().unwrap_or_default().trim().trim_start_matches("ROOT ");
    name.trim_start_matches('%')
}
