//! Maps through chains of ops, compared with evaluating the chains on arrays whose elements record their
//! origins.

use std::collections::BTreeSet;

use mlir_indexing::{Access, Space, op_maps, through_producers};
use mlir_ops::Source;
use op_reads::*;

/// An array whose elements are sets of argument positions.
#[derive(Clone)]
struct Tagged {
    name: String,
    shape: Vec<i64>,
    elements: Vec<BTreeSet<(String, Vec<i64>)>>,
}

impl Tagged {
    fn argument(name: &str, shape: Vec<i64>) -> Tagged {
        let elements = indices(&shape).into_iter().map(|i| BTreeSet::from([(name.to_owned(), i)])).collect();
        Tagged { name: name.to_owned(), shape, elements }
    }

    fn at(&self, index: &[i64]) -> BTreeSet<(String, Vec<i64>)> {
        let linear = index.iter().zip(&self.shape).fold(0, |l, (i, n)| l * n + i);
        self.elements[linear as usize].clone()
    }

    fn from(name: String, shape: Vec<i64>, f: impl Fn(&[i64]) -> BTreeSet<(String, Vec<i64>)>) -> Tagged {
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
            let (mut offsets, mut sizes, mut strides) = (Vec::new(), Vec::new(), Vec::new());
            for &n in &x.shape {
                let (stride, offset) = (random.below(1..3), random.below(0..n));
                offsets.push(offset);
                strides.push(stride);
                sizes.push(random.below(1..(n - 1 - offset) / stride + 2));
            }
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

#[test]
fn chains() {
    let mut random = Rng::new(51);
    let mut longest = 0;
    for _ in 0..400 {
        let shape = random.shape(1..4, 1..5);
        let arguments = [Tagged::argument("%a", shape.clone()), Tagged::argument("%b", shape.clone())];
        let mut values = arguments.to_vec();
        let mut body = String::new();
        for nth in 0..random.below(2..8) as usize {
            // Mostly on the last value, so that chains grow.
            let pick = if random.below(0..4) == 0 {
                random.below(0..values.len() as i64) as usize
            } else {
                values.len() - 1
            };
            let other = random.below(0..values.len() as i64) as usize;
            let (op, value) = step(&mut random, nth, &values[pick].clone(), &values[other].clone());
            if value.elements.len() > 400 {
                break;
            }
            body += &format!("  {op}\n");
            values.push(value);
        }
        let text = format!("func.func @f(%a: {t}, %b: {t}) {{\n{body}  return\n}}\n", t = tensor(&shape));
        let read = Read::of(text);
        let source = Source::alone(&read.parse, &read.text);
        let maps_of = |id, result| {
            let maps = op_maps(&source, id, result)?.ok()?;
            Some((maps.space, maps.accesses))
        };
        let Some(last) = values.last().filter(|v| v.name != "%b") else { continue };
        let op = (0..read.parse.ops.len() as u32)
            .find(|&id| {
                let results = read.parse.op(id).results.clone();
                results.into_iter().any(|v| read.parse.values[v as usize].name.of(&read.text) == last.name)
            })
            .expect("the op of the last value");
        let reads_nothing = |id| read.parse.uses_of(id).is_empty();
        let far = through_producers(&read.parse, &maps_of, &reads_nothing, op, 0, None);
        assert!(!far.is_cut, "{}", read.text);
        longest = far.accesses.iter().map(|f| f.through).max().unwrap_or(0).max(longest);
        let (space, direct): (Space, Vec<Access>) = maps_of(op, 0).expect("it has maps");
        assert_eq!(space, Space::Result(0));
        let all: Vec<&Access> = direct.iter().chain(far.accesses.iter().map(|f| &f.access)).collect();
        for p in indices(&last.shape) {
            let mut found = BTreeSet::new();
            for access in all.iter().filter(|a| a.operand == "%a" || a.operand == "%b") {
                for place in evaluated(access, &p, &|_, _| None) {
                    found.insert((access.operand.clone(), place));
                }
            }
            let shown: Vec<_> = all.iter().map(|a| format!("{}: {}", a.operand, a.map)).collect();
            assert_eq!(found, last.at(&p), "{p:?} of\n{}{}", read.text, shown.join("\n"));
        }
    }
    assert!(longest >= 5, "{longest}");
}

/// Symbols of several ops with the same value become one in the composition, and cancel.
#[test]
fn offsets_cancel() {
    let read = Read::of(
        "func.func @f(%t: tensor<64xf32>, %s: tensor<8xf32>, %i: index) {\n  %0 = tensor.insert_slice %s into %t[%i] [8] [1] : tensor<8xf32> into tensor<64xf32>\n  %1 = tensor.extract_slice %0[%i] [8] [1] : tensor<64xf32> to tensor<8xf32>\n  return\n}\n"
            .to_owned(),
    );
    let source = Source::alone(&read.parse, &read.text);
    let maps_of = |id, result| {
        let maps = op_maps(&source, id, result)?.ok()?;
        Some((maps.space, maps.accesses))
    };
    let reads_nothing = |id| read.parse.uses_of(id).is_empty();
    let far =
        through_producers(&read.parse, &maps_of, &reads_nothing, read.op("tensor.extract_slice"), 0, None);
    let shown: Vec<_> =
        far.accesses.iter().map(|f| format!("{}: {}", f.access.operand, f.access.map)).collect();
    // The overwritten array is not read.
    assert_eq!(shown, ["%s: (d0) -> (d0), domain: d0 in [0, 7]"]);
}
