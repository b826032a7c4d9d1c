//! Random modules for XLA to compute on a processor, and the comparison of what it returns with the interpreter.
//! `cargo xtask oracle` runs both, and `oracle.py` between them.
//!
//! `oracle ask FIRST COUNT` writes a line of JSON per module; `oracle judge` reads a line per answer, writes one per
//! disagreement, and the counts as the last line.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufWriter, Write as _};
use std::sync::Arc;

use eval::{Column, Kind};
use generators::hlo::{Generated, opcodes, random_graph, random_op, random_typed, without_layouts};
use ir::{Graph, graphs_of_text};
use random::Rng;
use serde_json::{Value, json};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["ask", first, count] => {
            let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("{text} is no number"));
            ask(number(first), number(count));
        }
        ["judge"] => judge(),
        _ => panic!("oracle takes ask FIRST COUNT, or judge"),
    }
}

/// The module of a case, and its text without layouts: values do not depend on them.
fn case(number: u64) -> Option<(Generated, String)> {
    let mut rng = Rng::new(generators::seed(number));
    let generated = match number % 4 {
        0 => random_graph(&mut rng),
        1 | 2 => random_typed(&mut rng),
        _ => random_op(*rng.pick(&opcodes()), &mut rng)?,
    };
    if generated.replicas > 1 {
        return None;
    }
    let text = without_layouts(&generated.text);
    // In descending layouts a bitcast is a reshape, and XLA takes no bitcast that it did not make.
    Some((generated, text.replace(" bitcast(", " reshape(")))
}

fn entry(text: &str) -> (Arc<Graph>, Vec<(String, Arc<Graph>)>) {
    let graphs: Vec<(String, Arc<Graph>)> = graphs_of_text(text).into_iter().collect();
    (graphs.last().expect("a module has an entry").1.clone(), graphs)
}

fn hexadecimal(column: &Column) -> Vec<String> {
    (0..column.len()).map(|i| format!("{:x}", column.bits(i))).collect()
}

fn ask(first: u64, count: u64) {
    let mut out = BufWriter::new(std::io::stdout().lock());
    for number in first..first + count {
        let Some((generated, text)) = case(number) else { continue };
        let (graph, _) = entry(&text);
        let mut inputs = Vec::new();
        let mut parameter = 0;
        while let Some(id) = graph.parameter(parameter) {
            let shape = &graph.ops[id as usize].shape;
            let Some(array) = shape.as_array() else { break };
            let positions: Vec<i64> = (0..array.elements().unwrap_or(0)).collect();
            let Ok(column) = generated.input(&graph, number, (parameter, 0), &positions) else { break };
            inputs.push(
                json!({"element": array.element.name(), "dims": &*array.dims, "bits": hexadecimal(&column)}),
            );
            parameter += 1;
        }
        let is_whole = graph.parameter(parameter).is_none();
        if is_whole {
            writeln!(out, "{}", json!({"case": number, "text": text, "inputs": inputs}))
                .expect("somebody reads");
        }
    }
}

fn judge() {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("answers are text");
        let answer: Value = serde_json::from_str(&line).expect("an answer is JSON");
        let number = answer["case"].as_u64().expect("an answer has its case");
        let verdict = match answer["outputs"].as_array() {
            None => "not compiled by XLA",
            Some(outputs) => match compare(number, outputs) {
                Ok(verdict) => verdict,
                Err(words) => {
                    let text = case(number).map(|(_, text)| text);
                    let row = json!({"case": number, "difference": words, "text": text});
                    writeln!(out, "{row}").expect("somebody reads");
                    "different"
                }
            },
        };
        *counts.entry(verdict).or_default() += 1;
    }
    writeln!(out, "{}", json!({"counts": counts})).expect("somebody reads");
}

/// Whether XLA's arrays are the interpreter's; the error says where they are not.
fn compare(number: u64, outputs: &[Value]) -> Result<&'static str, String> {
    let (generated, text) = case(number).expect("it was asked");
    let (graph, graphs) = entry(&text);
    let callees = |name: &str| graphs.iter().find(|(own, _)| own == name).map(|(_, graph)| graph.clone());
    let results = generated.results(graph, &callees, number);
    if results.len() != outputs.len() {
        return Err(format!("{} arrays, not {}", outputs.len(), results.len()));
    }
    for (leaf, (own, theirs)) in results.iter().zip(outputs).enumerate() {
        let Ok(own) = own else { return Ok("not evaluated") };
        let theirs = column(own.kind, theirs).ok_or("an array that is none")?;
        if theirs.len() != own.len() {
            return Err(format!("array {leaf} has {} elements, not {}", theirs.len(), own.len()));
        }
        for i in 0..own.len() {
            if let Some((ours, xla)) = own.differs(i, &theirs).filter(|&(ours, xla)| !is_flushed(ours, xla)) {
                return Err(format!(
                    "array {leaf}, element {i}: {ours:e} here, {xla:e} by XLA (error {:e})",
                    own.error_at(i)
                ));
            }
        }
    }
    Ok("equal")
}

/// Whether a number that is too small for the exponents of `f32` became 0: XLA sets the processor so.
fn is_flushed(ours: f64, xla: f64) -> bool {
    xla == 0.0 && ours.abs() < f64::from(f32::MIN_POSITIVE)
}

fn column(kind: Kind, bits: &Value) -> Option<Column> {
    let word = |word: &Value| u128::from_str_radix(word.as_str()?, 16).ok();
    let words: Option<Vec<u128>> = bits.as_array()?.iter().map(word).collect();
    Some(Column::from_bits(kind, words?.into_iter()))
}
