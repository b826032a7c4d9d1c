//! Evaluates a whole op from the values of parameters to text, on user request.

use std::collections::HashMap;
use std::panic::resume_unwind;
use std::sync::Arc;

use ir::{Graph, OpId};

use super::arrays::{EvaluatedArray, indexed_leaves, literal, summaries};
use super::column::Column;
use super::evaluator::{Evaluator, kind_of};
use super::fill::Fill;
use super::literals;
use crate::checks::{Reason, ensure, leaves};

/// The largest number of elements of all ops together that one request computes.
const MAX_WORK: u64 = 1 << 28;

/// The largest number of arrays of a result, and of all parameters together, in a summary.
const MAX_ARRAYS: usize = 64;

/// The largest number of rows of an array in a summary; fewer for parameters.
const MAX_ROWS: i64 = 256;
const MAX_PARAMETER_ROWS: i64 = 16;

/// Nested ops use stack space.
const STACK: usize = 64 << 20;

/// The op to evaluate, with its program.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// All computations, by name.
    pub graphs: &'a HashMap<String, Arc<Graph>>,
    pub computation: &'a str,
    /// The op, or `None` for the computation's root.
    pub op: Option<OpId>,
    /// The number of devices that run the program: replicas times partitions.
    pub devices: i64,
}

/// The values of the computation's parameters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Arguments {
    /// Array literals, by the number of the parameter. May be missing or blank for a parameter that is filled
    /// or not needed.
    pub literals: Vec<String>,
    /// The values of parameters without a literal.
    pub fill: Option<Fill>,
}

/// How arrays are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All elements, as in HLO text, for at most 65,536; more are an error.
    Literal,
    /// Rows with their indices. Long rows, many rows and many arrays are elided in the middle, and not
    /// computed.
    Summary,
}

/// The values of an op.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// The op's type.
    pub shape: String,
    pub arrays: Vec<EvaluatedArray>,
    /// The number of arrays of the result that a summary omits.
    pub left_out: usize,
    /// In a summary, the values of the parameters that the op needs: name and arrays.
    pub parameters: Vec<(String, Vec<EvaluatedArray>)>,
    /// Remarks on the values, such as that XLA does not define them.
    pub notes: Vec<String>,
}

/// The values of the target. Fails if it has none; in a summary, if none of its arrays has any.
pub fn evaluate(target: Target<'_>, arguments: &Arguments, form: Form) -> Result<Evaluation, Reason> {
    let name = target.computation;
    let graph =
        target.graphs.get(name).ok_or_else(|| Reason::from(format!("no computation named {name}")))?;
    let op = target.op.unwrap_or(graph.root);
    let token = cancel::current().unwrap_or_default();
    let work = || token.enter(|| answer(target, graph, op, arguments, form));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        match thread.map(|thread| thread.join()) {
            Ok(Ok(answer)) => answer,
            Ok(Err(payload)) if payload.is::<cancel::Cancelled>() => resume_unwind(payload),
            _ => Err("the evaluation did not end".into()),
        }
    })
}

/// The parameters that an op depends on, by number.
pub fn needed_parameters(graph: &Graph, op: OpId) -> Vec<OpId> {
    let mut is_seen = vec![false; graph.ops.len()];
    let mut open = vec![op];
    let mut found = Vec::new();
    while let Some(op) = open.pop() {
        if is_seen.get(op as usize) == Some(&false) {
            is_seen[op as usize] = true;
            open.extend(&graph.operands[op as usize]);
            if graph.ops[op as usize].parameter.is_some() {
                found.push(op);
            }
        }
    }
    found.sort_by_key(|&op| graph.ops[op as usize].parameter);
    found
}

fn answer(
    target: Target<'_>,
    graph: &Arc<Graph>,
    op: OpId,
    arguments: &Arguments,
    form: Form,
) -> Result<Evaluation, Reason> {
    let shape = &graph.ops.get(op as usize).ok_or("no such instruction")?.shape;
    let literals = arguments.literals.iter().enumerate();
    let literals =
        literals.map(|(number, text)| parsed(graph, number, text)).collect::<Result<Vec<_>, _>>()?;
    let parameters = graph.parameters();
    let source = |number: u32, leaf: usize, positions: &[i64]| -> Result<Column, Reason> {
        if let Some(whole) = literals.get(number as usize).and_then(Option::as_ref) {
            let indices: Vec<u32> = positions.iter().map(|&p| p as u32).collect();
            ensure(indices.iter().all(|&i| (i as usize) < whole.len()), "an element outside of a parameter")?;
            return Ok(whole.pick(&indices));
        }
        let missing = || Reason::from(format!("the value of parameter {number} is not given"));
        let fill = arguments.fill.ok_or_else(missing)?;
        let id = parameters.get(number as usize).copied().flatten().ok_or_else(missing)?;
        let leaves = leaves(&graph.ops[id as usize].shape);
        Ok(fill.column(kind_of(leaves.get(leaf).ok_or_else(missing)?)?, number, leaf, positions))
    };
    let callees = |name: &str| target.graphs.get(name).cloned();
    let mut evaluator = Evaluator::new(graph.clone(), &callees, &source);
    evaluator.run_on(target.devices);
    evaluator.limit(MAX_WORK);
    let mut evaluation = Evaluation {
        shape: shape.to_string(),
        arrays: Vec::new(),
        left_out: 0,
        parameters: Vec::new(),
        notes: Vec::new(),
    };
    let notes = |evaluator: &Evaluator<'_>| evaluator.notes().iter().map(|&note| note.to_owned()).collect();
    if form == Form::Literal {
        for (leaf, (index, shape)) in indexed_leaves(shape).into_iter().enumerate() {
            let values = literal(&mut evaluator, op, leaf, shape)?;
            evaluation.arrays.push(EvaluatedArray { index, shape: shape.to_string(), values: Ok(values) });
        }
        evaluation.notes = notes(&evaluator);
        return Ok(evaluation);
    }
    (evaluation.arrays, evaluation.left_out) = summaries(&mut evaluator, op, MAX_ROWS, MAX_ARRAYS);
    if let Some(why) = evaluation.arrays.first().and_then(|array| array.values.clone().err())
        && evaluation.arrays.iter().all(|array| array.values.is_err())
    {
        return Err(why);
    }
    evaluation.notes = notes(&evaluator);
    let mut left = MAX_ARRAYS;
    for id in needed_parameters(graph, op).into_iter().filter(|&id| id != op) {
        let (arrays, _) = summaries(&mut evaluator, id, MAX_PARAMETER_ROWS, left);
        left -= arrays.len();
        if !arrays.is_empty() {
            evaluation.parameters.push((graph.names[id as usize].clone(), arrays));
        }
    }
    Ok(evaluation)
}

/// A parameter's literal; `None` if it is blank.
fn parsed(graph: &Graph, number: usize, text: &str) -> Result<Option<Column>, Reason> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let id = u32::try_from(number).ok().and_then(|number| graph.parameter(number));
    let id = id.ok_or_else(|| Reason::from(format!("there is no parameter {number}")))?;
    let parsed = literals::parse(text, &graph.ops[id as usize].shape);
    parsed.map(Some).map_err(|why| format!("input {number}: {why}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The graphs of a module, by computation.
    fn graphs(text: &str) -> HashMap<String, Arc<Graph>> {
        let text: Arc<str> = Arc::from(text);
        let parse = Arc::new(syntax::hlo::parse(&text, syntax::hlo::PieceState::HEADER));
        let block = ir::lower(text.clone(), parse.clone());
        let computations = parse.computations.iter().enumerate();
        let of = |(i, computation): (usize, &syntax::hlo::Computation)| {
            Some((computation.name.of(&text).to_owned(), Arc::new(Graph::build(&[(&block, i as u32)])?)))
        };
        computations.filter_map(of).collect()
    }

    const MODULE: &str = "HloModule m
e {
  p = f32[4096,4096]{0,1} parameter(0)
  t = (s32[2], (pred[], bf16[3])) parameter(1)
  q = f32[3] parameter(2)
  n = f32[4096,4096] negate(p)
  a = s32[2] get-tuple-element(t), index=0
  c = (f32[4096,4096]{0,1}, (s32[2], token[])) custom-call(n), custom_call_target=\"x\"
  k = token[] after-all()
  ROOT r = (s32[2], (token[], f32[4096,4096]), (f32[4096,4096]{0,1}, (s32[2], token[]))) tuple(a, k, n, c)
}
";

    fn shown(op: &str, arguments: &Arguments, form: Form) -> String {
        let graphs = graphs(MODULE);
        let op = graphs["e"].find(op).expect("an op");
        let target = Target { graphs: &graphs, computation: "e", op: Some(op), devices: 1 };
        match evaluate(target, arguments, form) {
            Err(why) => why.into_owned(),
            Ok(evaluation) => {
                let line = |array: &EvaluatedArray| {
                    format!(
                        "{:?} {}: {}\n",
                        array.index,
                        array.shape,
                        array.values.clone().unwrap_or_else(|w| w.into())
                    )
                };
                let parameters = evaluation.parameters.iter();
                let parameters = parameters.flat_map(|(name, arrays)| {
                    arrays.iter().map(move |array| format!("{name} {}", line(array)))
                });
                evaluation.arrays.iter().map(line).chain(parameters).collect()
            }
        }
    }

    #[test]
    fn parameters_are_filled() {
        let filled = Arguments { literals: Vec::new(), fill: Some(Fill::Iota) };
        assert_eq!(shown("a", &filled, Form::Literal), "[] s32[2]: {0, 1}\n");
        // A literal takes precedence.
        let mixed =
            Arguments { literals: vec![String::new(), String::new(), "{5, 6, 7}".to_owned()], ..filled };
        assert_eq!(shown("q", &mixed, Form::Literal), "[] f32[3]: {5, 6, 7}\n");
        assert_eq!(
            shown("a", &mixed, Form::Summary),
            "[] s32[2]: 0  1\nt [0] s32[2]: 0  1\nt [1, 0] pred[]: false\nt [1, 1] bf16[3]: 0  1  2\n"
        );
        let none = Arguments::default();
        assert_eq!(shown("a", &none, Form::Summary), "the value of parameter 1 is not given");
    }

    #[test]
    fn large_arrays_are_summaries_alone() {
        let filled = Arguments { literals: Vec::new(), fill: Some(Fill::Zeros) };
        assert_eq!(
            shown("n", &filled, Form::Literal),
            "too many elements for a literal: 16777216 of f32[4096,4096], at most 65536"
        );
        let text = shown("n", &filled, Form::Summary);
        assert!(text.starts_with("[] f32[4096,4096]: [0]     -0  -0"), "{text}");
        assert!(text.contains("  … 4084 more …  ") && text.contains("\n… 4084 more rows …\n"), "{text}");
        assert!(text.contains("p [] f32[4096,4096]{0,1}: [0]     0  0"), "{text}");
    }
}
