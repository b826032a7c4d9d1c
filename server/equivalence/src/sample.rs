//! The elements of a cone that are compared, and when two of them are the same.

use std::cell::RefCell;
use std::sync::Arc;

use eval::{Column, Evaluator, Kind, Reason, Values};
use ir::{Graph, Shape};
use passes::Module;
use random::Rng;
use rustc_hash::FxHashMap;

use crate::cone::{Cone, Cut};

/// How many elements of each array are compared, beside the first and the last.
const SAMPLES: usize = 30;
/// The same, where each takes much work.
const FEW_SAMPLES: usize = 2;
/// How many elements of a small array are compared, each several times with other values of the cuts.
const SMALL_SAMPLES: i64 = 96;
/// How often all are.
const ROUNDS: i64 = 2;
/// The most elements of all ops together that one evaluation computes.
const WORK: u64 = 1 << 21;
/// How the values of two cones compare.
pub enum Compared {
    Equal {
        elements: u64,
    },
    Different {
        leaf: usize,
        position: i64,
        was: String,
        is: String,
    },
    /// Something is not evaluated.
    Open(String),
}

/// The computations of a module as graphs, by name.
pub struct Callees<'a> {
    module: &'a Module,
    graphs: RefCell<FxHashMap<String, Option<Arc<Graph>>>>,
}

impl<'a> Callees<'a> {
    pub fn new(module: &'a Module) -> Callees<'a> {
        Callees { module, graphs: RefCell::default() }
    }

    fn get(&self, name: &str) -> Option<Arc<Graph>> {
        if let Some(known) = self.graphs.borrow().get(name) {
            return known.clone();
        }
        let id = self.module.computations().into_iter().find(|&id| self.module[id].name() == name);
        let graph = id.map(|id| Arc::new(self.module.graph(id).graph));
        self.graphs.borrow_mut().insert(name.to_owned(), graph.clone());
        graph
    }
}

/// Compares a sample of the elements of two cones over the same cuts.
pub fn compare(before: (&Cone, &Callees<'_>), after: (&Cone, &Callees<'_>), cuts: &[Cut]) -> Compared {
    let shape = |cone: &Cone| cone.graph.ops[cone.graph.root as usize].shape.clone();
    let (old, new) = (shape(before.0), shape(after.0));
    if !old.is_compatible(&new) {
        return Compared::Open(format!("its shape was {old} and is {new}"));
    }
    let mut elements = 0;
    let mut has_open = false;
    for (leaf, shape) in eval::leaves(&old).into_iter().enumerate() {
        let Some(count) = shape.as_array().and_then(|array| array.elements()) else { continue };
        let mut samples = SAMPLES;
        let rounds = (SMALL_SAMPLES / count.max(1)).max(ROUNDS) as u64;
        let mut round = 0;
        while round < rounds {
            let positions = positions(count, samples, round ^ (leaf as u64) << 8);
            let both = values(before, cuts, leaf, &positions, round)
                .and_then(|old| Ok((old, values(after, cuts, leaf, &positions, round)?)));
            let (old, new) = match both {
                // Each element may take much.
                Err(why) if why.starts_with("too much work") && samples > FEW_SAMPLES => {
                    samples = FEW_SAMPLES;
                    continue;
                }
                Err(why) => return Compared::Open(why.into_owned()),
                Ok(both) => both,
            };
            for (i, &position) in positions.iter().enumerate() {
                if old.is_open(i) || new.is_open(i) {
                    has_open = true;
                    continue;
                }
                if let Some((was, is)) = different(&old, &new, i) {
                    return Compared::Different { leaf, position, was, is };
                }
                elements += 1;
            }
            round += 1;
        }
    }
    match has_open && elements == 0 {
        true => Compared::Open("the definitions of its ops leave its values open".to_owned()),
        false => Compared::Equal { elements },
    }
}

/// The first, the last, and some random positions of an array; all of a small one.
fn positions(count: i64, samples: usize, seed: u64) -> Vec<i64> {
    if count <= samples as i64 + 2 {
        return (0..count).collect();
    }
    let mut rng = Rng::new(seed ^ count as u64);
    let mut positions = vec![0, count - 1];
    positions.extend((0..samples).map(|_| rng.below(0..count)));
    positions
}

fn values(
    (cone, callees): (&Cone, &Callees<'_>),
    cuts: &[Cut],
    leaf: usize,
    positions: &[i64],
    round: u64,
) -> Result<Column, Reason> {
    let inputs = |number: u32, leaf: usize, positions: &[i64]| -> Result<Column, Reason> {
        let cut = cuts.get(number as usize).ok_or("no such parameter")?;
        let kind = kind(&cut.shape, leaf).ok_or("a parameter without values")?;
        Ok(random(kind, u64::from(number) << 32 ^ (leaf as u64) << 56 ^ round << 48, positions))
    };
    let callees = |name: &str| callees.get(name);
    let mut evaluator = Evaluator::new(cone.graph.clone(), &callees, &inputs);
    evaluator.limit(WORK);
    evaluator.elements(cone.graph.root, leaf, positions)
}

fn kind(shape: &Shape, leaf: usize) -> Option<Kind> {
    Kind::of(eval::leaves(shape).get(leaf)?.element()?)
}

/// Small numbers, so that integers are places in most arrays.
fn random(kind: Kind, seed: u64, positions: &[i64]) -> Column {
    let bits = positions.iter().map(|&position| Rng::new(seed ^ position as u64).next_u64());
    let real = |bits: u64| (bits >> 40) as f64 / (1u64 << 22) as f64 - 2.0;
    match kind {
        _ if kind.is_integral() => {
            Column::int(kind, bits.map(|bits| kind.wrap((bits >> 40) as i64 % 9 - 3)).collect())
        }
        Kind::Complex { .. } => {
            Column::complex(kind, bits.map(|bits| [real(bits), real(bits << 20)]).collect())
        }
        _ => Column::real(kind, bits.map(|bits| kind.round(real(bits))).collect()),
    }
}

/// Two values, as text, unless they are the same within what rewriting may change.
fn different(old: &Column, new: &Column, i: usize) -> Option<(String, String)> {
    let error = old.error_at(i) + new.error_at(i);
    let is_near = |a, b| old.kind.is_near(a, b, error);
    let (is_same, words) = match (&old.values, &new.values) {
        (Values::Int(a), Values::Int(b)) => {
            let is_same = a[i] == b[i] || a[i].abs_diff(b[i]) as f64 <= error;
            (is_same, (a[i].to_string(), b[i].to_string()))
        }
        (Values::Real(a), Values::Real(b)) => (is_near(a[i], b[i]), (a[i].to_string(), b[i].to_string())),
        (Values::Complex(a), Values::Complex(b)) => (
            is_near(a[i][0], b[i][0]) && is_near(a[i][1], b[i][1]),
            (format!("{:?}", a[i]), format!("{:?}", b[i])),
        ),
        _ => (false, ("of another kind".to_owned(), "of this one".to_owned())),
    };
    (!is_same).then_some(words)
}
