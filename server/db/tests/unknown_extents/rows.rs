//! Ops that read whole rows or groups of rows, and einsums, compared with evaluating them on arrays whose
//! elements record their origins.

use std::collections::{BTreeMap, BTreeSet};

use op_reads::*;

use crate::function;

type Places = BTreeSet<(String, Vec<i64>)>;

/// An array whose elements are the positions that they depend on.
type Tagged = BTreeMap<Vec<i64>, Places>;

fn tagged(name: &str, shape: &[i64]) -> Tagged {
    indices(shape).into_iter().map(|i| (i.clone(), Places::from([(name.to_owned(), i)]))).collect()
}

fn reads(places: &Places) -> Reads {
    places.iter().map(|place| (place.clone(), 1)).collect()
}

/// The elements with a given index prefix, over all trailing indices.
fn row(of: &Tagged, front: &[i64]) -> Places {
    of.iter().filter(|(i, _)| i.starts_with(front)).flat_map(|(_, places)| places.clone()).collect()
}

#[test]
fn the_largest_of_each_row() {
    let mut random = Rng::new(61);
    for _ in 0..100 {
        let shape = random.shape(1..4, 1..5);
        let last = shape.len() - 1;
        let k = random.below(1..shape[last] + 1);
        let result = [&shape[..last], &[k]].concat();
        let unknown = flags(&mut random, shape.len());
        let (from, of) = (ty("tensor", &shape, "f32", &unknown), flags(&mut random, last));
        let (to, at) = (ty("tensor", &result, "f32", &of), ty("tensor", &result, "i32", &of));
        let read = function(
            &[format!("%a: {from}")],
            &format!("%r:2 = chlo.top_k(%a, k = {k}) : {from} -> ({to}, {at})"),
        );
        let values = |name: &str, _: &[i64]| extent(name, &[("%a", &shape), ("%r#0", &result)]);
        let all = tagged("%a", &shape);
        check_reads(&read, "chlo.top_k", &result, &values, &|p| reads(&row(&all, &p[..last])));
        assert_eq!(
            read.result_maps("chlo.top_k", 1).accesses,
            read.maps("chlo.top_k").accesses,
            "{}",
            read.text
        );
    }
}

#[test]
fn transforms() {
    let mut random = Rng::new(62);
    for _ in 0..150 {
        let lengths = random.shape(1..4, 1..6);
        let front = random.shape(0..3, 1..4);
        let kind = *random.pick(&["FFT", "IFFT", "RFFT", "IRFFT"]);
        let real = [&front[..], &lengths].concat();
        let mut halved = real.clone();
        if let Some(last) = halved.last_mut() {
            *last = *last / 2 + 1;
        }
        let (shape, result, elements) = match kind {
            "RFFT" => (real, halved, ["f32", "complex<f32>"]),
            "IRFFT" => (halved, real, ["complex<f32>", "f32"]),
            _ => (real.clone(), real, ["complex<f32>"; 2]),
        };
        let from = ty("tensor", &shape, elements[0], &flags(&mut random, shape.len()));
        let to = ty("tensor", &result, elements[1], &flags(&mut random, shape.len()));
        let list = lengths.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        let op = match random.flag() {
            true => format!("%r = stablehlo.fft %a, type = {kind}, length = [{list}] : ({from}) -> {to}"),
            false => format!(
                "%r = \"stablehlo.fft\"(%a) <{{fft_type = #stablehlo<fft_type {kind}>, fft_length = array<i64: {list}>}}> : ({from}) -> {to}"
            ),
        };
        let read = function(&[format!("%a: {from}")], &op);
        let values = |name: &str, _: &[i64]| extent(name, &[("%a", &shape), ("%r", &result)]);
        let all = tagged("%a", &shape);
        check_reads(&read, "stablehlo.fft", &result, &values, &|p| reads(&row(&all, &p[..front.len()])));
    }
}

/// Evaluated iteration by iteration.
#[test]
fn scans() {
    let mut random = Rng::new(64);
    for _ in 0..200 {
        let shape = random.shape(1..4, 1..4);
        let along = random.below(0..shape.len() as i64) as usize;
        let mut slice = shape.clone();
        slice.remove(along);
        let is_reverse = random.flag();
        // A slice of rank 0 has nothing to mix.
        let mixes = random.flag() && !slice.is_empty();
        let unknown = flags(&mut random, shape.len());
        let unknown_slice = flags(&mut random, slice.len());
        let (whole, part) =
            (ty("tensor", &shape, "f32", &unknown), ty("tensor", &slice, "f32", &unknown_slice));
        let mixed = if mixes {
            format!("%m = stablehlo.reverse %s, dims = [0] : {part}")
        } else {
            format!("%m = stablehlo.negate %s : {part}")
        };
        let body = format!(
            "\
({{
^bb0(%x: {part}, %k: {part}):
  %s = stablehlo.add %x, %k : {part}
  {mixed}
  stablehlo.return %m, %m : {part}, {part}
}})"
        );
        let op = match random.flag() {
            true => format!(
                "%r, %c = \"chlo.scan\"(%a, %i) <{{dimension = {along} : i64, is_reverse = {is_reverse}, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}}> {body} : ({whole}, {part}) -> ({whole}, {part})"
            ),
            false => format!(
                "%r, %c = chlo.scan(%a) inits (%i) dimension={along} attributes {{is_reverse = {is_reverse}}} {} : ({whole}, {part}) -> ({whole}, {part})",
                body.trim_matches(['(', ')'])
            ),
        };
        let read = function(&[format!("%a: {whole}"), format!("%i: {part}")], &op);
        let values = |name: &str, _: &[i64]| {
            extent(name, &[("%a", &shape), ("%i", &slice), ("%r", &shape), ("%c", &slice)])
        };
        let input = tagged("%a", &shape);
        let mut carried = tagged("%i", &slice);
        let mut output = Tagged::new();
        let mut turns: Vec<i64> = (0..shape[along]).collect();
        if is_reverse {
            turns.reverse();
        }
        for turn in turns {
            let at = |i: &[i64]| [&i[..along], &[turn], &i[along..]].concat();
            for (i, places) in &mut carried {
                places.extend(input[&at(i)].clone());
            }
            if mixes {
                let all = row(&carried, &[]);
                carried.values_mut().for_each(|places| places.clone_from(&all));
            }
            output.extend(carried.iter().map(|(i, places)| (at(i), places.clone())));
        }
        check_reads(&read, "chlo.scan", &shape, &values, &|p| reads(&output[p]));
        let maps = read.result_maps("chlo.scan", 1);
        for p in indices(&slice) {
            let mut found = Reads::new();
            for access in &maps.accesses {
                let places = evaluated(access, &p, &values).into_iter();
                places.for_each(|place| op_reads::read(&mut found, &access.operand, place));
            }
            assert_eq!(found, reads(&carried[&p]), "{p:?} of {}", read.text);
        }
    }
}

/// Consecutive rows form groups of unknown sizes: a read for some sizes must be in the maps.
#[test]
fn groups_of_rows() {
    let mut random = Rng::new(65);
    for nth in 0..150 {
        let [b, m, k, n, g] = [0; 5].map(|_| random.below(1..4));
        // The role of the ragged dimension: free, contracted, batch.
        let mode = nth % 3;
        let orders = [random.permutation(3), random.permutation(if mode == 0 { 4 } else { 3 })];
        let place = |side: usize, list: &[i64]| orders[side].iter().map(|&d| list[d]).collect::<Vec<i64>>();
        let at = |side: usize, what: usize| orders[side].iter().position(|&d| d == what).unwrap();
        let (left, right) = (place(0, &[b, m, k]), place(1, &[b, k, n, g]));
        let result = match mode {
            1 => vec![g, b, m, n],
            _ => vec![b, m, n],
        };
        let types = [&left, &right].map(|shape| ty("tensor", shape, "f32", &flags(&mut random, shape.len())));
        let to = ty("tensor", &result, "f32", &flags(&mut random, result.len()));
        let sizes = ty("tensor", &[g], "i64", &flags(&mut random, 1));
        let group = if mode == 0 { at(1, 3).to_string() } else { String::new() };
        let read = function(
            &[format!("%a: {}, %b: {}, %g: {sizes}", types[0], types[1])],
            &format!(
                "%r = \"chlo.ragged_dot\"(%a, %b, %g) <{{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [{}], rhs_batching_dimensions = [{}], lhs_contracting_dimensions = [{}], rhs_contracting_dimensions = [{}], lhs_ragged_dimensions = [{}], rhs_group_dimensions = [{group}]>}}> : ({}, {}, {sizes}) -> {to}",
                at(0, 0),
                at(1, 0),
                at(0, 2),
                at(1, 1),
                at(0, [1, 2, 0][mode]),
                types[0],
                types[1]
            ),
        );
        let groups = [g];
        let values = |name: &str, _: &[i64]| {
            extent(name, &[("%a", &left), ("%b", &right), ("%g", &groups), ("%r", &result)])
        };
        // The group that contains row `at` of the ragged dimension, for these sizes.
        let group_of = |sizes: &[i64], at: i64| {
            let ends = sizes.iter().scan(0, |end, &size| {
                *end += size;
                Some(*end)
            });
            ends.into_iter().position(|end| at < end).map(|group| group as i64)
        };
        check_places(&read, "chlo.ragged_dot", &result, &values, &|p| {
            let rows = [m, k, b][mode];
            let (own, p) = if mode == 1 { (p[0], &p[1..]) } else { (0, p) };
            let mut found = Reads::new();
            for sizes in
                indices(&vec![rows + 1; g as usize]).into_iter().filter(|s| s.iter().sum::<i64>() <= rows)
            {
                for k in 0..k {
                    let group = group_of(&sizes, [p[1], k, p[0]][mode]);
                    let is_read = [group.is_some(), group == Some(own), true][mode];
                    if is_read {
                        op_reads::read(&mut found, "%a", place(0, &[p[0], p[1], k]));
                        op_reads::read(&mut found, "%b", place(1, &[p[0], k, p[2], group.unwrap_or(0)]));
                    }
                }
            }
            (0..g).for_each(|group| op_reads::read(&mut found, "%g", vec![group]));
            found
        });
    }
}

/// Any element of a row may move to any of its places, in every array alike.
#[test]
fn sorts() {
    let mut random = Rng::new(56);
    for _ in 0..100 {
        let shape = random.shape(1..4, 1..4);
        let along = random.below(0..shape.len() as i64) as usize;
        let [a, b] = [(); 2].map(|()| ty("tensor", &shape, "f32", &flags(&mut random, shape.len())));
        let read = function(
            &[format!("%a: {a}"), format!("%b: {b}")],
            &format!(
                r#"%r:2 = "stablehlo.sort"(%a, %b) <{{dimension = {along} : i64}}> ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>, %p: tensor<f32>, %q: tensor<f32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }}) : ({a}, {b}) -> ({a}, {b})"#
            ),
        );
        let values = |name: &str, _: &[i64]| extent(name, &[("%a", &shape), ("%b", &shape)]);
        check_reads(&read, "stablehlo.sort", &shape, &values, &|p| {
            let mut reads = Reads::new();
            for k in 0..shape[along] {
                for operand in ["%a", "%b"] {
                    let mut place = p.to_vec();
                    place[along] = k;
                    op_reads::read(&mut reads, operand, place);
                }
            }
            reads
        });
    }
}
