//! The reference interpreter on small modules, and its self-consistency on random ones.

mod expanded;
mod ops;
mod random;
mod xla;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use eval::{Column, Evaluator, Values, parse_literal};
use ir::Graph;
use syntax::hlo::{PieceState, parse};

/// The graphs of a module, and the name of the last, which is evaluated.
pub fn graphs(text: &str) -> (HashMap<String, Arc<Graph>>, String) {
    let text: Arc<str> = Arc::from(text);
    let parse = Arc::new(parse(&text, PieceState::HEADER));
    assert!(parse.errors.is_empty(), "{:?} in {text}", parse.errors);
    let block = ir::lower(text.clone(), parse.clone());
    let mut graphs = HashMap::new();
    let mut last = String::new();
    for (i, computation) in parse.computations.iter().enumerate() {
        if let Some(graph) = Graph::build(&[(&block, i as u32)]) {
            last = computation.name.of(&text).trim_start_matches('%').to_owned();
            graphs.insert(last.clone(), Arc::new(graph));
        }
    }
    (graphs, last)
}

/// All arrays of the last computation's root, with the literals as its parameters.
pub fn evaluate(text: &str, inputs: &[&str]) -> Result<Vec<Column>, Cow<'static, str>> {
    let (graphs, last) = graphs(text);
    let graph = graphs[&last].clone();
    let columns: Vec<Column> = inputs
        .iter()
        .enumerate()
        .map(|(i, literal)| {
            let id = graph.parameter(i as u32).expect("a parameter");
            parse_literal(literal, &graph.ops[id as usize].shape).expect("a literal")
        })
        .collect();
    let source = |number: u32, _: usize, positions: &[i64]| -> Result<Column, Cow<'static, str>> {
        let whole = columns.get(number as usize).ok_or("no such parameter")?;
        let bits = positions.iter().map(|&p| whole.bits(p as usize));
        Ok(Column::from_bits(whole.kind, bits))
    };
    let callees = |name: &str| graphs.get(name).cloned();
    let mut evaluator = Evaluator::new(graph.clone(), &callees, &source);
    let leaves = eval::leaves(&graph.ops[graph.root as usize].shape).len();
    (0..leaves).map(|leaf| evaluator.whole(graph.root, leaf)).collect()
}

/// One line per array.
fn shown(columns: &[Column]) -> String {
    let lines = columns.iter().map(|column| match &column.values {
        Values::Int(v) => format!("{v:?}"),
        Values::Real(v) => format!("{v:?}"),
        Values::Complex(v) => format!("{v:?}"),
    });
    lines.collect::<Vec<_>>().join(" ")
}

/// Checks the values that a module's last computation returns.
#[track_caller]
pub fn check(text: &str, inputs: &[&str], expect: &str) {
    let got = evaluate(&format!("HloModule m\n{text}"), inputs).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(shown(&got), expect);
}

/// Checks one op on literals: `add(a, b)` of parameters `a`, `b`, … with the given shapes.
#[track_caller]
pub fn check_op(shape: &str, op: &str, parameters: &[(&str, &str)], expect: &str) {
    let mut body = String::new();
    for (i, (shape, _)) in parameters.iter().enumerate() {
        body += &format!("  {} = {shape} parameter({i})\n", ["a", "b", "c", "d"][i]);
    }
    let literals: Vec<&str> = parameters.iter().map(|(_, literal)| *literal).collect();
    check(&format!("e {{\n{body}  ROOT r = {shape} {op}\n}}\n"), &literals, expect);
}
