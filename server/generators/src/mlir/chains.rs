//! Chains of ops, with the elements of the arguments that each element of a value comes from.

use std::collections::BTreeSet;

use random::Rng;

use super::types::{indices, tensor};
use super::windows::window;

/// The elements of arguments that one element comes from: names and indices.
pub type Origins = BTreeSet<(String, Vec<i64>)>;

/// An array whose elements record their origins.
#[derive(Debug, Clone)]
pub struct Tagged {
    pub name: String,
    pub shape: Vec<i64>,
    elements: Vec<Origins>,
}

impl Tagged {
    fn argument(name: &str, shape: Vec<i64>) -> Tagged {
        let elements = indices(&shape).into_iter().map(|i| BTreeSet::from([(name.to_owned(), i)])).collect();
        Tagged { name: name.to_owned(), shape, elements }
    }

    /// The origins of the element at an index.
    pub fn at(&self, index: &[i64]) -> Origins {
        let linear = index.iter().zip(&self.shape).fold(0, |l, (i, n)| l * n + i);
        self.elements[linear as usize].clone()
    }

    fn from(name: String, shape: Vec<i64>, f: impl Fn(&[i64]) -> Origins) -> Tagged {
        let elements = indices(&shape).iter().map(|i| f(i)).collect();
        Tagged { name, shape, elements }
    }
}

/// A random op on a value, as text and as its effect on the value.
fn step(random: &mut Rng, nth: usize, x: &Tagged, other: &Tagged) -> (String, Tagged) {
    let name = format!("%{nth}");
    let rank = x.shape.len();
    let from = tensor(&x.shape);
    match random.below(0..8) {
        0 => {
            let order = random.permutation(rank);
            let shape: Vec<i64> = order.iter().map(|&k| x.shape[k]).collect();
            let op = format!(
                "%e{nth} = tensor.empty() : {to}\n  {name} = linalg.transpose ins({} : {from}) outs(%e{nth} : {to}) permutation = {order:?}",
                x.name,
                to = tensor(&shape)
            );
            let tagged = Tagged::from(name, shape, |p| {
                let mut place = vec![0; rank];
                order.iter().zip(p).for_each(|(&k, &i)| place[k] = i);
                x.at(&place)
            });
            (op, tagged)
        }
        1 => {
            let [offsets, sizes, strides] = window(random, &x.shape, 2);
            let op = format!(
                "{name} = tensor.extract_slice {}{offsets:?} {sizes:?} {strides:?} : {from} to {}",
                x.name,
                tensor(&sizes)
            );
            let tagged = Tagged::from(name, sizes, |p| {
                x.at(&(0..rank).map(|k| offsets[k] + strides[k] * p[k]).collect::<Vec<_>>())
            });
            (op, tagged)
        }
        2 if rank > 1 => {
            let groups: Vec<Vec<usize>> =
                std::iter::once(vec![0, 1]).chain((2..rank).map(|k| vec![k])).collect();
            let mut shape = vec![x.shape[0] * x.shape[1]];
            shape.extend(&x.shape[2..]);
            let op = format!(
                "{name} = tensor.collapse_shape {} {groups:?} : {from} into {}",
                x.name,
                tensor(&shape)
            );
            let inner = x.shape[1];
            let tagged =
                Tagged::from(name, shape, |p| x.at(&[&[p[0] / inner, p[0] % inner], &p[1..]].concat()));
            (op, tagged)
        }
        3 if rank < 4 => {
            let n = x.shape[0];
            let factor = (1..=n).rev().find(|f| n % f == 0 && *f * *f <= n).unwrap_or(1);
            let mut shape = vec![n / factor, factor];
            shape.extend(&x.shape[1..]);
            let groups: Vec<Vec<usize>> =
                std::iter::once(vec![0, 1]).chain((2..=rank).map(|k| vec![k])).collect();
            let op = format!(
                "{name} = tensor.expand_shape {} {groups:?} output_shape {shape:?} : {from} into {}",
                x.name,
                tensor(&shape)
            );
            let tagged = Tagged::from(name, shape, |p| x.at(&[&[p[0] * factor + p[1]], &p[2..]].concat()));
            (op, tagged)
        }
        4 if rank > 1 => {
            let reduced = random.below(0..rank as i64) as usize;
            let mut shape = x.shape.clone();
            let n = shape.remove(reduced);
            let op = format!(
                "%e{nth} = tensor.empty() : {to}\n  {name} = linalg.reduce {{ arith.addf }} ins({} : {from}) outs(%e{nth} : {to}) dimensions = [{reduced}]",
                x.name,
                to = tensor(&shape)
            );
            let tagged = Tagged::from(name, shape, |p| {
                let place = |i: i64| {
                    let mut place = p.to_vec();
                    place.insert(reduced, i);
                    place
                };
                (0..n).flat_map(|i| x.at(&place(i))).collect()
            });
            (op, tagged)
        }
        5 if rank < 4 => {
            let added = random.below(0..rank as i64 + 1) as usize;
            let mut shape = x.shape.clone();
            shape.insert(added, random.below(1..4));
            let op = format!(
                "%e{nth} = tensor.empty() : {to}\n  {name} = linalg.broadcast ins({} : {from}) outs(%e{nth} : {to}) dimensions = [{added}]",
                x.name,
                to = tensor(&shape)
            );
            let tagged = Tagged::from(name, shape, |p| {
                let mut place = p.to_vec();
                place.remove(added);
                x.at(&place)
            });
            (op, tagged)
        }
        6 if other.shape.len() == rank => {
            let dim = random.below(0..rank as i64) as usize;
            let fits = (0..rank).all(|k| k == dim || x.shape[k] == other.shape[k]);
            if !fits {
                return step(random, nth, x, x);
            }
            let mut shape = x.shape.clone();
            shape[dim] += other.shape[dim];
            let op = format!(
                "{name} = tensor.concat dim({dim}) {}, {} : ({from}, {}) -> {}",
                x.name,
                other.name,
                tensor(&other.shape),
                tensor(&shape)
            );
            let split = x.shape[dim];
            let tagged = Tagged::from(name, shape, |p| {
                let mut place = p.to_vec();
                if place[dim] < split {
                    return x.at(&place);
                }
                place[dim] -= split;
                other.at(&place)
            });
            (op, tagged)
        }
        _ if other.shape == x.shape => {
            let op = format!("{name} = arith.addf {}, {} : {from}", x.name, other.name);
            let tagged =
                Tagged::from(name, x.shape.clone(), |p| x.at(p).union(&other.at(p)).cloned().collect());
            (op, tagged)
        }
        _ => (format!("{name} = math.exp {} : {from}", x.name), Tagged { name, ..x.clone() }),
    }
}

/// The text of a function of `%a` and `%b`, arrays of one shape, and its values in order: the arguments, and the
/// results of up to 7 ops, mostly on the value before.
pub fn chain(random: &mut Rng) -> (String, Vec<Tagged>) {
    let shape = random.shape(1..4, 1..5);
    let mut values = vec![Tagged::argument("%a", shape.clone()), Tagged::argument("%b", shape.clone())];
    let mut body = String::new();
    for nth in 0..random.below(2..8) as usize {
        // Mostly on the last value, so that chains grow.
        let pick = if random.below(0..4) == 0 { random.index(values.len()) } else { values.len() - 1 };
        let other = random.index(values.len());
        let (op, value) = step(random, nth, &values[pick], &values[other]);
        if value.elements.len() > 400 {
            break;
        }
        body += &format!("  {op}\n");
        values.push(value);
    }
    let text = format!("func.func @f(%a: {t}, %b: {t}) {{\n{body}  return\n}}\n", t = tensor(&shape));
    (text, values)
}
