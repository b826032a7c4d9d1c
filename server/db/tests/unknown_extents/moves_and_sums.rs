//! StableHLO ops with dynamic extents, compared with evaluating them on arrays of known extents.

use op_reads::*;

use crate::function;

#[test]
fn broadcasts_and_reshapes() {
    let mut random = Rng::new(41);
    for _ in 0..300 {
        let result = random.shape(1..4, 1..5);
        let mut into = random.permutation(result.len());
        into.truncate(random.below(0..result.len() as i64 + 1) as usize);
        into.sort_unstable();
        let shape: Vec<i64> =
            into.iter().map(|&d| if random.below(0..3) == 0 { 1 } else { result[d] }).collect();
        let (dynamic, result_dynamic) = (flags(&mut random, shape.len()), flags(&mut random, result.len()));
        let (from, to) =
            (ty("tensor", &shape, "f32", &dynamic), ty("tensor", &result, "f32", &result_dynamic));
        let size_type = format!("tensor<{}xi32>", result.len());
        let read = function(
            &[format!("%a: {from}"), format!("%s: {size_type}")],
            &format!(
                "%r = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = {into:?} : ({from}, {size_type}) -> {to}"
            ),
        );
        let values = |name: &str, index: &[i64]| match name {
            "%s" => Some(result[index[0] as usize]),
            _ => extent(name, &[("%a", &shape), ("%r", &result)]),
        };
        check_reads(&read, "stablehlo.dynamic_broadcast_in_dim", &result, &values, &|p| {
            one("%a", into.iter().zip(&shape).map(|(&d, &n)| if n == 1 { 0 } else { p[d] }).collect())
        });
        // Another shape with the same number of elements and one dynamic extent.
        let whole: i64 = result.iter().product();
        let mut other = vec![whole];
        for &n in &result {
            if random.flag() && other[0] % n == 0 {
                other[0] /= n;
                other.push(n);
            }
        }
        let unknown: Vec<bool> = (0..other.len()).map(|k| k == 0 && random.flag()).collect();
        let (from, to) =
            (ty("tensor", &result, "f32", &result_dynamic), ty("tensor", &other, "f32", &unknown));
        let shape_type = format!("tensor<{}xi32>", other.len());
        let read = function(
            &[format!("%a: {from}"), format!("%s: {shape_type}")],
            &format!("%r = stablehlo.dynamic_reshape %a, %s : ({from}, {shape_type}) -> {to}"),
        );
        let values = |name: &str, index: &[i64]| match name {
            "%s" => Some(other[index[0] as usize]),
            _ => extent(name, &[("%a", &result)]),
        };
        let (all, places) = (indices(&result), indices(&other));
        check_reads(&read, "stablehlo.dynamic_reshape", &other, &values, &|p| {
            one("%a", all[places.iter().position(|i| i == p).unwrap()].clone())
        });
    }
}

/// Reinterpreted bits of a row of elements with another width; `set_dimension_size`.
#[test]
fn other_widths_and_sizes() {
    let mut random = Rng::new(48);
    let widths = [("i8", 8), ("bf16", 16), ("f32", 32), ("complex<f32>", 64)];
    for _ in 0..200 {
        let (from_element, old) = *random.pick(&widths);
        let (to_element, new) = *random.pick(&widths);
        let parts: i64 = i64::max(old, new) / i64::min(old, new);
        let shape = random.shape(0..3, 1..4);
        let with_parts = [&shape[..], &[parts]].concat();
        let (from, to) = match () {
            () if old > new => (shape.clone(), with_parts),
            () if old < new => (with_parts, shape.clone()),
            () => (shape.clone(), shape.clone()),
        };
        // The number of parts is derived if it is dynamic.
        let unknown = flags(&mut random, shape.len() + 1);
        let (a, r) = (ty("tensor", &from, from_element, &unknown), ty("tensor", &to, to_element, &unknown));
        let read =
            function(&[format!("%a: {a}")], &format!("%r = stablehlo.bitcast_convert %a : ({a}) -> {r}"));
        let values = |name: &str, _: &[i64]| extent(name, &[("%a", &from), ("%r", &to)]);
        check_reads(&read, "stablehlo.bitcast_convert", &to, &values, &|p| {
            let mut reads = Reads::new();
            for i in indices(&from) {
                // Both are parts of one element of the wider array.
                if i[..shape.len()] == p[..shape.len()] {
                    op_reads::read(&mut reads, "%a", i);
                }
            }
            reads
        });
        if shape.is_empty() {
            continue;
        }
        let k = random.below(0..shape.len() as i64) as usize;
        let mut sized = shape.clone();
        sized[k] = random.below(1..shape[k] + 1);
        let (a, r) = (
            tensor(&shape),
            // The result is dynamic, or smaller.
            ty(
                "tensor",
                &sized,
                "f32",
                &(0..shape.len()).map(|d| d == k && random.flag()).collect::<Vec<_>>(),
            ),
        );
        let read = function(
            &[format!("%a: {a}, %n: tensor<i32>")],
            &format!("%r = stablehlo.set_dimension_size %a, %n, dim = {k} : ({a}, tensor<i32>) -> {r}"),
        );
        let values = |name: &str, _: &[i64]| extent(name, &[("%r", &sized)]);
        check_reads(&read, "stablehlo.set_dimension_size", &sized, &values, &|p| {
            let mut reads = one("%a", p.to_vec());
            op_reads::read(&mut reads, "%n", Vec::new());
            reads
        });
    }
}

#[test]
fn slices_and_pads() {
    let mut random = Rng::new(42);
    for _ in 0..300 {
        let shape = random.shape(1..4, 1..6);
        let rank = shape.len();
        let (mut starts, mut limits, mut strides, mut result) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for &n in &shape {
            let start = random.below(0..n);
            let limit = random.below(start + 1..n + 1);
            let stride = random.below(1..3);
            starts.push(start);
            limits.push(limit);
            strides.push(stride);
            result.push((limit - start + stride - 1) / stride);
        }
        let dynamic = flags(&mut random, rank);
        let (from, to) =
            (ty("tensor", &shape, "f32", &dynamic), ty("tensor", &result, "f32", &vec![true; rank]));
        let list = format!("tensor<{rank}xi32>");
        let arguments = [
            format!("%a: {from}"),
            format!("%b: {list}, %l: {list}, %s: {list}"),
            "%v: tensor<f32>".to_owned(),
        ];
        let read = function(
            &arguments,
            &format!(
                "%r = stablehlo.real_dynamic_slice %a, %b, %l, %s : ({from}, {list}, {list}, {list}) -> {to}"
            ),
        );
        let values = |name: &str, index: &[i64]| match name {
            "%b" => Some(starts[index[0] as usize]),
            "%s" => Some(strides[index[0] as usize]),
            _ => extent(name, &[("%a", &shape), ("%r", &result)]),
        };
        // The starts and the strides are read, too, as are the indices of a dynamic slice.
        check_reads(&read, "stablehlo.real_dynamic_slice", &result, &values, &|p| {
            let mut reads = one("%a", (0..rank).map(|k| starts[k] + strides[k] * p[k]).collect());
            for (name, k) in
                ["%b", "%s"].into_iter().flat_map(|name| (0..rank as i64).map(move |k| (name, k)))
            {
                op_reads::read(&mut reads, name, vec![k]);
            }
            reads
        });
        let written: Vec<String> =
            (0..rank).map(|k| format!("{}:{}:{}", starts[k], limits[k], strides[k])).collect();
        let static_to = tensor(&result);
        let read = function(
            &arguments,
            &format!("%r = stablehlo.slice %a [{}] : ({from}) -> {static_to}", written.join(", ")),
        );
        check_reads(&read, "stablehlo.slice", &result, &none, &|p| {
            one("%a", (0..rank).map(|k| starts[k] + strides[k] * p[k]).collect())
        });
        // Puts the elements at their positions, and the padding value elsewhere.
        let low: Vec<i64> = (0..rank).map(|_| random.below(-1..3)).collect();
        let high: Vec<i64> = (0..rank).map(|_| random.below(0..3)).collect();
        let interior: Vec<i64> = (0..rank).map(|_| random.below(0..3)).collect();
        let padded: Vec<i64> =
            (0..rank).map(|k| low[k] + high[k] + shape[k] + (shape[k] - 1) * interior[k]).collect();
        if padded.iter().any(|&n| n < 0) {
            continue;
        }
        let to = ty("tensor", &padded, "f32", &dynamic);
        let read = function(
            &arguments,
            &format!(
                "%r = stablehlo.pad %a, %v, low = {low:?}, high = {high:?}, interior = {interior:?} : ({from}, tensor<f32>) -> {to}"
            ),
        );
        let values = |name: &str, _: &[i64]| extent(name, &[("%a", &shape), ("%r", &padded)]);
        let maps = read.maps("stablehlo.pad");
        for p in indices(&padded) {
            let put = |i: &Vec<i64>| (0..rank).all(|k| low[k] + i[k] * (interior[k] + 1) == p[k]);
            let expect: Vec<Vec<i64>> = indices(&shape).into_iter().filter(put).collect();
            assert_eq!(evaluated(&maps.accesses[0], &p, &values), expect, "{p:?} of {}", read.text);
        }
        // The same with paddings that are operands; some are constants.
        let (mut arguments, mut constants) = (vec![format!("%a: {from}, %v: tensor<f32>")], String::new());
        for (name, numbers) in [("%b", &low), ("%l", &high), ("%s", &interior)] {
            match name == "%b" || random.flag() {
                true => arguments.push(format!("{name}: {list}")),
                false => constants += &format!("{name} = stablehlo.constant dense<{numbers:?}> : {list}\n  "),
            }
        }
        let to = ty("tensor", &padded, "f32", &vec![true; rank]);
        let read = function(
            &arguments,
            &format!(
                "{constants}%r = stablehlo.dynamic_pad %a, %v, %b, %l, %s : ({from}, tensor<f32>, {list}, {list}, {list}) -> {to}"
            ),
        );
        let values = |name: &str, index: &[i64]| match name {
            "%b" => Some(low[index[0] as usize]),
            "%s" => Some(interior[index[0] as usize]),
            _ => extent(name, &[("%a", &shape), ("%r", &padded)]),
        };
        check_reads(&read, "stablehlo.dynamic_pad", &padded, &values, &|p| {
            let put = |i: &Vec<i64>| (0..rank).all(|k| low[k] + i[k] * (interior[k] + 1) == p[k]);
            let mut reads = match indices(&shape).into_iter().find(put) {
                Some(place) => one("%a", place),
                None => one("%v", Vec::new()),
            };
            for (name, k) in
                ["%b", "%s"].into_iter().flat_map(|name| (0..rank as i64).map(move |k| (name, k)))
            {
                op_reads::read(&mut reads, name, vec![k]);
            }
            reads
        });
    }
}

#[test]
fn slices_at_run_time() {
    let mut random = Rng::new(43);
    for _ in 0..200 {
        let shape = random.shape(1..4, 1..6);
        let rank = shape.len();
        let sizes: Vec<i64> = shape.iter().map(|&n| random.below(1..n + 1)).collect();
        let at: Vec<i64> = shape.iter().zip(&sizes).map(|(n, s)| random.below(0..n - s + 1)).collect();
        let dynamic = flags(&mut random, rank);
        let (whole, part) = (ty("tensor", &shape, "f32", &dynamic), tensor(&sizes));
        let names: Vec<String> = (0..rank).map(|k| format!("%i{k}")).collect();
        let mut arguments = vec![format!("%a: {whole}"), format!("%u: {part}")];
        arguments.extend(names.iter().map(|n| format!("{n}: tensor<i32>")));
        let scalars = vec!["tensor<i32>"; rank].join(", ");
        let values = |name: &str, _: &[i64]| {
            names.iter().position(|n| n == name).map(|k| at[k]).or_else(|| extent(name, &[("%a", &shape)]))
        };
        let scalar_reads = |mut reads: Reads| {
            names.iter().for_each(|n| op_reads::read(&mut reads, n, Vec::new()));
            reads
        };
        let read = function(
            &arguments,
            &format!(
                "%r = stablehlo.dynamic_slice %a, {}, sizes = {sizes:?} : ({whole}, {scalars}) -> {part}",
                names.join(", ")
            ),
        );
        check_reads(&read, "stablehlo.dynamic_slice", &sizes, &values, &|p| {
            scalar_reads(one("%a", p.iter().zip(&at).map(|(i, a)| i + a).collect()))
        });
        let read = function(
            &arguments,
            &format!(
                "%r = stablehlo.dynamic_update_slice %a, %u, {} : ({whole}, {part}, {scalars}) -> {whole}",
                names.join(", ")
            ),
        );
        let maps = read.maps("stablehlo.dynamic_update_slice");
        for p in indices(&shape) {
            let inner: Vec<i64> = p.iter().zip(&at).map(|(i, a)| i - a).collect();
            let is_hit = inner.iter().zip(&sizes).all(|(i, n)| (0..*n).contains(i));
            let (of_update, of_source) =
                if is_hit { (vec![inner], vec![]) } else { (vec![], vec![p.clone()]) };
            assert_eq!(evaluated(&maps.accesses[1], &p, &values), of_update, "{p:?} of {}", read.text);
            assert_eq!(evaluated(&maps.accesses[0], &p, &values), of_source, "{p:?} of {}", read.text);
        }
    }
}

#[test]
fn dots_and_reductions() {
    let mut random = Rng::new(44);
    for _ in 0..100 {
        let [b, m, n, k] = [0; 4].map(|_| random.below(1..4));
        // Dimensions of the operands in any order.
        let (left_order, right_order) = (random.permutation(3), random.permutation(3));
        let place =
            |order: &[usize], list: [i64; 3]| -> Vec<i64> { order.iter().map(|&k| list[k]).collect() };
        let (left, right) = (place(&left_order, [b, m, k]), place(&right_order, [b, k, n]));
        let at = |order: &[usize], what: usize| order.iter().position(|&k| k == what).unwrap();
        let (x, y) = (flags(&mut random, 3), flags(&mut random, 3));
        let (left_type, right_type) = (ty("tensor", &left, "f32", &x), ty("tensor", &right, "f32", &y));
        let result = [b, m, n];
        let read = function(
            &[format!("%a: {left_type}"), format!("%b: {right_type}")],
            &format!(
                "%r = stablehlo.dot_general %a, %b, batching_dims = [{}] x [{}], contracting_dims = [{}] x [{}] : ({left_type}, {right_type}) -> tensor<?x?x?xf32>",
                at(&left_order, 0),
                at(&right_order, 0),
                at(&left_order, 2),
                at(&right_order, 1)
            ),
        );
        let values = |name: &str, _: &[i64]| extent(name, &[("%a", &left), ("%b", &right), ("%r", &result)]);
        check_reads(&read, "stablehlo.dot_general", &result, &values, &|p| {
            let mut reads = Reads::new();
            for k in 0..k {
                op_reads::read(&mut reads, "%a", place(&left_order, [p[0], p[1], k]));
                op_reads::read(&mut reads, "%b", place(&right_order, [p[0], k, p[2]]));
            }
            reads
        });
        let reduced = at(&left_order, 2);
        let kept: Vec<i64> = (0..3).filter(|&d| d != reduced).map(|d| left[d]).collect();
        let read = function(
            &[format!("%a: {left_type}"), "%z: tensor<f32>".to_owned()],
            &format!(
                "%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [{reduced}] : ({left_type}, tensor<f32>) -> tensor<?x?xf32>"
            ),
        );
        check_reads(&read, "stablehlo.reduce", &kept, &values, &|p| {
            let mut reads = one("%z", Vec::new());
            for i in indices(&left) {
                let rest: Vec<i64> = (0..3).filter(|&d| d != reduced).map(|d| i[d]).collect();
                if rest == p {
                    op_reads::read(&mut reads, "%a", i);
                }
            }
            reads
        });
    }
}

/// By the steps of the specification: splits an index of the result, reads a start and completes it.
#[test]
fn gathers() {
    let mut random = Rng::new(45);
    for _ in 0..200 {
        let shape = random.shape(1..4, 1..5);
        let sizes: Vec<i64> = shape.iter().map(|&n| random.below(1..n + 1)).collect();
        let mut map = random.permutation(shape.len());
        map.truncate(random.below(1..shape.len() as i64 + 1) as usize);
        let collapsed: Vec<usize> = (0..shape.len()).filter(|&k| sizes[k] == 1 && random.flag()).collect();
        let batch = random.shape(0..3, 1..4);
        let vector = random.below(0..batch.len() as i64 + 1) as usize;
        let mut index_shape = batch.clone();
        index_shape.insert(vector, map.len() as i64);
        let window: Vec<usize> = (0..shape.len()).filter(|k| !collapsed.contains(k)).collect();
        let rank = batch.len() + window.len();
        let mut offsets = random.permutation(rank);
        offsets.truncate(window.len());
        offsets.sort_unstable();
        let (mut b, mut w) = (batch.iter(), window.iter());
        let result: Vec<i64> = (0..rank)
            .map(|d| if offsets.contains(&d) { sizes[*w.next().unwrap()] } else { *b.next().unwrap() })
            .collect();
        let table: Vec<i64> =
            (0..index_shape.iter().product::<i64>()).map(|_| random.below(0..100)).collect();
        let start = |index: &[i64]| -> i64 {
            let linear = index.iter().zip(&index_shape).fold(0, |l, (i, n)| l * n + i);
            let k = map[index[vector] as usize];
            table[linear as usize] % (shape[k] - sizes[k] + 1)
        };
        let dynamic = flags(&mut random, shape.len());
        let from = ty("tensor", &shape, "f32", &dynamic);
        let index_type = ty("tensor", &index_shape, "i32", &[]);
        let slice: Vec<String> = sizes.iter().map(i64::to_string).collect();
        let read = function(
            &[format!("%a: {from}"), format!("%i: {index_type}")],
            &format!(
                "%r = \"stablehlo.gather\"(%a, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = {offsets:?}, collapsed_slice_dims = {collapsed:?}, start_index_map = {map:?}, index_vector_dim = {vector}>, slice_sizes = array<i64: {}>}}> : ({from}, {index_type}) -> {}",
                slice.join(", "),
                tensor(&result)
            ),
        );
        let values = |name: &str, index: &[i64]| match name {
            "%i" => Some(start(index)),
            _ => extent(name, &[("%a", &shape)]),
        };
        check_reads(&read, "stablehlo.gather", &result, &values, &|p| {
            let batch: Vec<i64> = (0..rank).filter(|d| !offsets.contains(d)).map(|d| p[d]).collect();
            let inner: Vec<i64> = offsets.iter().map(|&d| p[d]).collect();
            let full = |component: i64| {
                let mut at = batch.clone();
                at.insert(vector, component);
                at
            };
            let mut place = vec![0; shape.len()];
            for (nth, &k) in map.iter().enumerate() {
                place[k] = start(&full(nth as i64));
            }
            window.iter().zip(&inner).for_each(|(&k, i)| place[k] += i);
            let mut reads = one("%a", place);
            (0..map.len()).for_each(|nth| op_reads::read(&mut reads, "%i", full(nth as i64)));
            reads
        });
    }
}
