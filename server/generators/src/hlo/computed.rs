//! Indices that the program computes: integers from constants and iotas, through the ops that move and combine them.

use std::sync::Arc;

use eval::{Evaluator, no_callees};
use ir::Graph;
use random::Rng;
use syntax::hlo::PieceState;

use super::Generated;
use super::program::braces;
use crate::value::{count, list};

/// The deepest expression.
const DEPTH: usize = 4;

/// The program with computations in place of its parameters of known integers; `values` has what they compute. `None` if there are
/// no such parameters.
pub fn with_computed_indices(generated: &Generated, rng: &mut Rng) -> Option<Generated> {
    let mut text = generated.text.clone();
    let mut computed = Vec::new();
    for (number, _) in generated.values.iter().enumerate().filter(|(_, values)| values.is_some()) {
        let start = text.find(&format!("  p{number} = s32["))?;
        let end = start + text[start..].find('\n')?;
        if !text[start..end].ends_with(&format!("parameter({number})")) {
            return None;
        }
        let dims = &generated.graph.ops[generated.graph.parameter(number as u32)? as usize].shape;
        let mut lines = Lines { rng, prefix: format!("i{number}_"), lines: Vec::new() };
        let root = lines.value("s32", dims.dims(), DEPTH);
        lines.lines.push(format!("p{number} = s32[{}] copy({root})", list(dims.dims())));
        let lines: Vec<String> = lines.lines.iter().map(|line| format!("  {line}")).collect();
        text.replace_range(start..end, &lines.join("\n"));
        computed.push(number);
    }
    if computed.is_empty() {
        return None;
    }
    let shared: Arc<str> = Arc::from(text.as_str());
    let parse = Arc::new(syntax::hlo::parse(&shared, PieceState::HEADER));
    let block = ir::lower(shared.clone(), parse.clone());
    assert!(parse.errors.is_empty() && block.findings.is_empty(), "{:?}\n{text}", block.findings);
    let entry = parse.computations.len().checked_sub(1)?;
    let graph = Arc::new(Graph::build(&[(&block, entry as u32)])?);
    let inputs = |_: u32, _: usize, _: &[i64]| Err("no parameter".into());
    let mut evaluator = Evaluator::new(graph.clone(), &no_callees, &inputs);
    let mut values = generated.values.clone();
    for number in computed {
        let integers = evaluator.whole(graph.find(&format!("p{number}"))?, 0);
        values[number] = Some(integers.ok()?.ints().to_vec());
    }
    let mut computations = generated.computations.clone();
    // Of the others, the ids are the same.
    computations.truncate(entry);
    Some(Generated { text, graph, computations, values, ..generated.clone() })
}

struct Lines<'r> {
    rng: &'r mut Rng,
    prefix: String,
    lines: Vec<String>,
}

impl Lines<'_> {
    fn push(&mut self, element: &str, dims: &[i64], right: &str) -> String {
        let name = format!("{}{}", self.prefix, self.lines.len());
        self.lines.push(format!("{name} = {element}[{}] {right}", list(dims)));
        name
    }

    /// A value of this type and these sizes.
    fn value(&mut self, element: &str, dims: &[i64], depth: usize) -> String {
        if depth == 0 || self.rng.one_in(8) {
            return self.leaf(element, dims);
        }
        let depth = depth - 1;
        match self.rng.range(0, 5) {
            0..=2 => self.arithmetic(element, dims, depth),
            3 => {
                let from = *self.rng.pick(&["s8", "s16", "s64", "u8", "u32", "u64"]);
                let inner = self.value(from, dims, depth);
                self.push(element, dims, &format!("convert({inner})"))
            }
            _ if dims.is_empty() => self.arithmetic(element, dims, depth),
            _ => self.moved(element, dims, depth),
        }
    }

    fn leaf(&mut self, element: &str, dims: &[i64]) -> String {
        if !dims.is_empty() && self.rng.one_in(2) {
            let dim = self.rng.index(dims.len());
            return self.push(element, dims, &format!("iota(), iota_dimension={dim}"));
        }
        let (lowest, largest) = if element.starts_with('u') { (0, 9) } else { (-4, 9) };
        if dims.len() == 1 && self.rng.one_in(3) {
            let values: Vec<i64> = (0..dims[0]).map(|_| self.rng.range(lowest, largest)).collect();
            return self.push(element, dims, &format!("constant({})", braces(&values)));
        }
        let large = [40, 100, 127];
        let value = if self.rng.one_in(6) { *self.rng.pick(&large) } else { self.rng.range(lowest, largest) };
        self.scalar(element, dims, value)
    }

    /// One number, in all elements.
    fn scalar(&mut self, element: &str, dims: &[i64], value: i64) -> String {
        let constant = self.push(element, &[], &format!("constant({value})"));
        match dims {
            [] => constant,
            _ => self.push(element, dims, &format!("broadcast({constant}), dimensions={{}}")),
        }
    }

    fn arithmetic(&mut self, element: &str, dims: &[i64], depth: usize) -> String {
        let a = self.value(element, dims, depth);
        let right = match self.rng.range(0, 9) {
            0 => format!("negate({a})"),
            1 => {
                let [low, high] =
                    [0, 1].map(|_| self.rng.range(0, 9)).map(|value| self.scalar(element, &[], value));
                format!("clamp({low}, {a}, {high})")
            }
            2 => {
                let factor = self.rng.range(0, 5);
                format!("multiply({a}, {})", self.scalar(element, dims, factor))
            }
            3 | 4 => {
                let opcode = *self.rng.pick(&["divide", "remainder"]);
                let by = self.rng.range(1, 5);
                format!("{opcode}({a}, {})", self.scalar(element, dims, by))
            }
            _ => {
                let opcode = *self.rng.pick(&["add", "add", "subtract", "maximum", "minimum"]);
                format!("{opcode}({a}, {})", self.value(element, dims, depth))
            }
        };
        self.push(element, dims, &right)
    }

    /// Elements of another array, of at least one dimension.
    fn moved(&mut self, element: &str, dims: &[i64], depth: usize) -> String {
        let rank = dims.len();
        let at = self.rng.index(rank);
        let dimensions: Vec<usize> = (0..rank).collect();
        let right = match self.rng.range(0, 5) {
            0 => format!("reverse({}), dimensions={{{at}}}", self.value(element, dims, depth)),
            1 => {
                // Dimension i of the result is this dimension of the operand.
                let order = self.rng.permutation(rank);
                let mut from = vec![0; rank];
                order.iter().zip(dims).for_each(|(&dim, &size)| from[dim] = size);
                format!("transpose({}), dimensions={}", self.value(element, &from, depth), braces(&order))
            }
            2 => {
                let (start, step) = (self.rng.range(0, 3), self.rng.range(1, 2));
                let parts: Vec<String> = dimensions
                    .iter()
                    .map(|&dim| match dim == at {
                        true => format!("[{start}:{}:{step}]", start + dims[dim] * step),
                        false => format!("[0:{}]", dims[dim]),
                    })
                    .collect();
                let mut from = dims.to_vec();
                from[at] = start + dims[at] * step + self.rng.range(0, 2);
                format!("slice({}), slice={{{}}}", self.value(element, &from, depth), parts.join(", "))
            }
            3 => {
                let from = [count(dims)];
                format!("reshape({})", self.value(element, &from, depth))
            }
            4 => {
                let mut from = dims.to_vec();
                from.remove(at);
                let kept: Vec<usize> = dimensions.into_iter().filter(|&dim| dim != at).collect();
                format!("broadcast({}), dimensions={}", self.value(element, &from, depth), braces(&kept))
            }
            _ => {
                let first = self.rng.range(0, dims[at]);
                let parts = [first, dims[at] - first].map(|size| {
                    let mut part = dims.to_vec();
                    part[at] = size;
                    self.value(element, &part, depth)
                });
                format!("concatenate({}), dimensions={{{at}}}", parts.join(", "))
            }
        };
        self.push(element, dims, &right)
    }
}
