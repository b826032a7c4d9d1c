//! A whole op from literals to literals, as a user asks for it.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::Arc;

use ir::{Graph, OpId};

use super::column::Column;
use super::evaluator::{Evaluator, leaf_shape};
use super::literals;
use super::positions::array;
use crate::case::{Reason, ensure, leaves};

/// Elements of a result that is shown.
const MAX_SHOWN: i64 = 1 << 16;

/// Elements of all ops together that are computed for one answer.
const MAX_WORK: u64 = 1 << 28;

/// Ops that nest take room on the stack.
const STACK: usize = 64 << 20;

/// The arrays of `op`'s result (of the root where there is none) in a computation, as literals. `inputs` are the literals of the
/// computation's parameters, arrays all; one that is not asked for may be missing, or blank.
pub fn evaluate(
    graphs: &HashMap<String, Arc<Graph>>,
    computation: &str,
    op: Option<OpId>,
    inputs: &[String],
) -> Result<Vec<String>, Reason> {
    let graph =
        graphs.get(computation).ok_or_else(|| Reason::from(format!("no computation named {computation}")))?;
    let token = cancel::current().unwrap_or_default();
    let work = || token.enter(|| answer(graphs, graph, op.unwrap_or(graph.root), inputs));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map(|thread| thread.join()) {
            Ok(Ok(answer)) => answer,
            Ok(Err(payload)) if payload.is::<cancel::Cancelled>() => resume_unwind(payload),
            _ => Err("the evaluation did not end".into()),
        }
    })
}

fn answer(
    graphs: &HashMap<String, Arc<Graph>>,
    graph: &Arc<Graph>,
    op: OpId,
    inputs: &[String],
) -> Result<Vec<String>, Reason> {
    let shape = &graph.ops.get(op as usize).ok_or("no such instruction")?.shape;
    let mut columns = Vec::new();
    for (number, text) in inputs.iter().enumerate() {
        if text.trim().is_empty() {
            columns.push(None);
            continue;
        }
        let id = graph.parameter(number as u32);
        let id = id.ok_or_else(|| Reason::from(format!("there is no parameter {number}")))?;
        let parsed = literals::parse(text, &graph.ops[id as usize].shape);
        columns.push(Some(parsed.map_err(|why| Reason::from(format!("input {number}: {why}")))?));
    }
    let source = |number: u32, _: usize, positions: &[i64]| -> Result<Column, Reason> {
        let whole = columns.get(number as usize).and_then(Option::as_ref);
        let whole =
            whole.ok_or_else(|| Reason::from(format!("the value of parameter {number} is not given")))?;
        let indices: Vec<u32> = positions.iter().map(|&p| p as u32).collect();
        ensure(indices.iter().all(|&i| (i as usize) < whole.len()), "an element outside of a parameter")?;
        Ok(whole.pick(&indices))
    };
    let callees = |name: &str| graphs.get(name).cloned();
    let mut evaluator = Evaluator::new(graph.clone(), &callees, &source);
    evaluator.limit(MAX_WORK);
    let mut outputs = Vec::new();
    for leaf in 0..leaves(shape).len() {
        let dims = &array(leaf_shape(shape, leaf)?)?.dims;
        let count: i64 = dims.iter().product();
        ensure(count <= MAX_SHOWN, "the result is too large to show")?;
        outputs.push(literals::print(&evaluator.whole(op, leaf)?, dims));
    }
    Ok(outputs)
}
