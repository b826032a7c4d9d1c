//! The values of two programs, by the reference interpreter.

use std::sync::Arc;

use eval::{Column, Evaluator, Inputs, Kind, Reason, Values};
use ir::{Graph, Shape};
use random::Rng;

/// Compares the results of the entry computations of two modules on random parameters, and returns the number of elements
/// that were compared. `known` are the integers of parameters that determine places.
///
/// What the interpreter does not evaluate is not compared.
pub fn compare(before: &str, after: &str, seed: u64, known: &[Option<Vec<i64>>]) -> Result<u64, String> {
    let before = Program::new(before);
    let after = Program::new(after);
    let shapes = (before.result(), after.result());
    if !shapes.0.is_compatible(&shapes.1) {
        return Err(format!("the result was {}, and is {}", shapes.0, shapes.1));
    }
    let mut compared = 0;
    for (leaf, shape) in eval::leaves(&shapes.0).into_iter().enumerate() {
        let Ok(old) = before.value(leaf, seed, known) else { continue };
        let new = after.value(leaf, seed, known).map_err(|why| format!("no value: {why}"))?;
        let count = shape.as_array().and_then(|array| array.elements()).unwrap_or(0);
        for i in 0..count as usize {
            if let Some((old, new)) = different(&old, &new, i) {
                return Err(format!("result {leaf}, element {i}: was {old}, is {new}"));
            }
        }
        compared += count as u64;
    }
    Ok(compared)
}

struct Program {
    graphs: Vec<(String, Arc<Graph>)>,
    entry: Arc<Graph>,
}

impl Program {
    fn new(text: &str) -> Program {
        let graphs = ir::graphs_of_text(text);
        let entry = text.split("ENTRY").nth(1).and_then(|rest| rest.split(['{', '(']).next());
        let entry = entry.expect("an entry computation").trim().trim_start_matches('%').to_owned();
        let (_, graph) = graphs.iter().find(|(name, _)| *name == entry).expect("the entry has a graph");
        Program { entry: graph.clone(), graphs }
    }

    fn result(&self) -> Shape {
        self.entry.ops[self.entry.root as usize].shape.clone()
    }

    fn value(&self, leaf: usize, seed: u64, known: &[Option<Vec<i64>>]) -> Result<Column, Reason> {
        let callees =
            |name: &str| self.graphs.iter().find(|(own, _)| own == name).map(|(_, graph)| graph.clone());
        let input = |number: u32, leaf: usize, positions: &[i64]| -> Result<Column, Reason> {
            let parameter = self.entry.parameter(number).ok_or("no such parameter")?;
            let leaves = eval::leaves(&self.entry.ops[parameter as usize].shape);
            let element = leaves.get(leaf).and_then(|shape| shape.element()).ok_or("no array")?;
            let kind = Kind::of(element).ok_or("no values")?;
            if let Some(Some(known)) = known.get(number as usize) {
                let at = |&position: &i64| known.get(position as usize).copied().ok_or("no such element");
                return Ok(Column::int(kind, positions.iter().map(at).collect::<Result<_, _>>()?));
            }
            let random = |&position: &i64| {
                Rng::new(seed ^ u64::from(number) << 32 ^ (leaf as u64) << 48 ^ position as u64).next_u64()
            };
            let random = positions.iter().map(random);
            Ok(match kind {
                _ if kind.is_integral() => {
                    Column::int(kind, random.map(|x| kind.wrap((x >> 40) as i64 % 9 - 3)).collect())
                }
                Kind::Complex { .. } => Column::complex(
                    kind,
                    random.map(|x| [(x >> 60) as f64, (x >> 59) as f64 - 3.0]).collect(),
                ),
                _ => {
                    Column::real(kind, random.map(|x| kind.round((x >> 50) as f64 / 4000.0 - 2.0)).collect())
                }
            })
        };
        let input: &Inputs<'_> = &input;
        Evaluator::new(self.entry.clone(), &callees, input).whole(self.entry.root, leaf)
    }
}

fn different(old: &Column, new: &Column, i: usize) -> Option<(String, String)> {
    let error = old.error_at(i) + new.error_at(i);
    let is_near = |a, b| error.is_infinite() || old.kind.is_near(a, b, error);
    let (is_same, words) = match (&old.values, &new.values) {
        (Values::Int(a), Values::Int(b)) => (a[i] == b[i], (a[i].to_string(), b[i].to_string())),
        (Values::Real(a), Values::Real(b)) => (is_near(a[i], b[i]), (a[i].to_string(), b[i].to_string())),
        (Values::Complex(a), Values::Complex(b)) => (
            is_near(a[i][0], b[i][0]) && is_near(a[i][1], b[i][1]),
            (format!("{:?}", a[i]), format!("{:?}", b[i])),
        ),
        _ => (false, ("of another kind".to_owned(), "of this one".to_owned())),
    };
    (!is_same).then_some(words)
}
