//! StableHLO ops with dynamic extents, compared with evaluating them on arrays of known extents.

mod common;

use common::*;

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
        let values = |name: &str, _: &[i64]| extent(name, &[("%a", &result), ("%r", &other)]);
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
                    common::read(&mut reads, "%a", i);
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
        let is_known = random.flag();
        let (a, r) = (
            tensor(&shape),
            ty("tensor", &sized, "f32", &(0..shape.len()).map(|d| d == k && !is_known).collect::<Vec<_>>()),
        );
        let read = function(
            &[format!("%a: {a}, %n: tensor<i32>")],
            &format!("%r = stablehlo.set_dimension_size %a, %n, dim = {k} : ({a}, tensor<i32>) -> {r}"),
        );
        let values = |name: &str, _: &[i64]| extent(name, &[("%r", &sized)]);
        check_reads(&read, "stablehlo.set_dimension_size", &sized, &values, &|p| {
            let mut reads = one("%a", p.to_vec());
            common::read(&mut reads, "%n", Vec::new());
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
        check_reads(&read, "stablehlo.real_dynamic_slice", &result, &values, &|p| {
            one("%a", (0..rank).map(|k| starts[k] + strides[k] * p[k]).collect())
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
            names.iter().for_each(|n| common::read(&mut reads, n, Vec::new()));
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
                common::read(&mut reads, "%a", place(&left_order, [p[0], p[1], k]));
                common::read(&mut reads, "%b", place(&right_order, [p[0], k, p[2]]));
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
                    common::read(&mut reads, "%a", i);
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
            (0..map.len()).for_each(|nth| common::read(&mut reads, "%i", full(nth as i64)));
            reads
        });
    }
}

/// A window along one dimension: size, stride, low and high padding, dilation of the operand, dilation of the
/// window.
struct Sliding {
    size: i64,
    stride: i64,
    low: i64,
    high: i64,
    base: i64,
    window: i64,
}

impl Sliding {
    fn random(random: &mut Rng) -> Sliding {
        Sliding {
            size: random.below(1..4),
            stride: random.below(1..3),
            low: random.below(0..3),
            high: random.below(0..3),
            base: random.below(1..3),
            window: random.below(1..3),
        }
    }

    /// The number of windows that fit.
    fn count(&self, n: i64) -> i64 {
        let padded = (n - 1) * self.base + 1 + self.low + self.high;
        let reach = (self.size - 1) * self.window + 1;
        if padded < reach { 0 } else { (padded - reach) / self.stride + 1 }
    }

    /// Builds the padded and dilated row, and returns the operand's element at a position.
    fn element(&self, n: i64, d: i64, inside: i64) -> Option<i64> {
        let line: Vec<Option<i64>> = (0..self.low)
            .map(|_| None)
            .chain((0..n).flat_map(|i| {
                let holes = if i + 1 < n { self.base - 1 } else { 0 };
                std::iter::once(Some(i)).chain((0..holes).map(|_| None))
            }))
            .chain((0..self.high).map(|_| None))
            .collect();
        line[(d * self.stride + inside * self.window) as usize]
    }
}

#[test]
fn windows() {
    let mut random = Rng::new(46);
    for _ in 0..200 {
        let shape = random.shape(1..3, 1..6);
        let rank = shape.len();
        let windows: Vec<Sliding> = (0..rank).map(|_| Sliding::random(&mut random)).collect();
        let result: Vec<i64> = windows.iter().zip(&shape).map(|(w, &n)| w.count(n)).collect();
        let dynamic = flags(&mut random, rank);
        let (from, to) = (ty("tensor", &shape, "f32", &dynamic), ty("tensor", &result, "f32", &dynamic));
        let list = |f: &dyn Fn(&Sliding) -> i64| {
            let list: Vec<String> = windows.iter().map(|w| f(w).to_string()).collect();
            format!("array<i64: {}>", list.join(", "))
        };
        let padding: Vec<String> = windows.iter().map(|w| format!("[{}, {}]", w.low, w.high)).collect();
        let read = function(
            &[format!("%a: {from}"), "%z: tensor<f32>".to_owned()],
            &format!(
                "%r = \"stablehlo.reduce_window\"(%a, %z) <{{window_dimensions = {}, window_strides = {}, base_dilations = {}, window_dilations = {}, padding = dense<[{}]> : tensor<{rank}x2xi64>}}> ({{\n  ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n    stablehlo.return %x : tensor<f32>\n  }}) : ({from}, tensor<f32>) -> {to}",
                list(&|w| w.size),
                list(&|w| w.stride),
                list(&|w| w.base),
                list(&|w| w.window),
                padding.join(", ")
            ),
        );
        let values = |name: &str, _: &[i64]| extent(name, &[("%a", &shape), ("%r", &result)]);
        let sizes: Vec<i64> = windows.iter().map(|w| w.size).collect();
        check_reads(&read, "stablehlo.reduce_window", &result, &values, &|p| {
            let mut reads = one("%z", Vec::new());
            for inside in indices(&sizes) {
                let place: Option<Vec<i64>> =
                    (0..rank).map(|k| windows[k].element(shape[k], p[k], inside[k])).collect();
                place.into_iter().for_each(|i| common::read(&mut reads, "%a", i));
            }
            reads
        });
    }
}

#[test]
fn convolutions() {
    let mut random = Rng::new(47);
    for _ in 0..200 {
        let (h, n) = (random.below(1..6), random.below(1..4));
        // Groups of features, or of batches.
        let (groups, is_batch) = (random.below(1..3), random.flag());
        let (in_group, out_group) = (random.below(1..3), random.below(1..3));
        let (channels, features) = (if is_batch { in_group } else { groups * in_group }, groups * out_group);
        let (batches, of_group) = if is_batch { (groups * n, n) } else { (n, 0) };
        let w = Sliding::random(&mut random);
        let reversed = random.flag();
        let count = w.count(h);
        // Dimensions of each operand in their own order.
        let orders: Vec<Vec<usize>> = (0..3).map(|_| random.permutation(3)).collect();
        let place =
            |which: usize, list: [i64; 3]| -> Vec<i64> { orders[which].iter().map(|&k| list[k]).collect() };
        let labels = |which: usize, list: [&str; 3]| -> String {
            orders[which].iter().map(|&k| list[k]).collect::<Vec<_>>().join(", ")
        };
        let (input, kernel) = (place(0, [batches, channels, h]), place(1, [in_group, features, w.size]));
        let result = place(2, [n, features, count]);
        // Batch and space may be dynamic.
        let some: Vec<bool> = orders[0].iter().map(|&k| k != 1 && random.flag()).collect();
        let is_free = |k: usize| some[orders[0].iter().position(|&o| o == k).unwrap()];
        let of_result: Vec<bool> = orders[2].iter().map(|&k| k != 1 && is_free(k)).collect();
        let (from, to) = (ty("tensor", &input, "f32", &some), ty("tensor", &result, "f32", &of_result));
        let with = ty("tensor", &kernel, "f32", &[]);
        let (feature_groups, batch_groups) = if is_batch { (1, groups) } else { (groups, 1) };
        let counts =
            format!("batch_group_count = {batch_groups} : i64, feature_group_count = {feature_groups} : i64");
        let numbers = format!(
            "[{}]x[{}]->[{}]",
            labels(0, ["b", "f", "0"]),
            labels(1, ["i", "o", "0"]),
            labels(2, ["b", "f", "0"])
        );
        let raw = |which: usize, array: &str, first: &str, second: &str| {
            let at = |what: usize| orders[which].iter().position(|&k| k == what).unwrap();
            format!(
                "{array}_{first}_dimension = {}, {array}_{second}_dimension = {}, {array}_spatial_dimensions = [{}]",
                at(0),
                at(1),
                at(2)
            )
        };
        let numbers_in_words = format!(
            "raw {}, {}, {}",
            raw(0, "input", "batch", "feature"),
            raw(1, "kernel", "input_feature", "output_feature"),
            raw(2, "output", "batch", "feature")
        );
        let is_dynamic = random.flag();
        let types = match is_dynamic {
            true => format!("({from}, {with}, tensor<1x2xi32>) -> {to}"),
            false => format!("({from}, {with}) -> {to}"),
        };
        let (name, op) = match is_dynamic {
            // Padding as an operand.
            true => (
                "stablehlo.dynamic_conv",
                format!(
                    "%r = \"stablehlo.dynamic_conv\"(%a, %k, %p) <{{dimension_numbers = #stablehlo.conv<{}>, window_strides = array<i64: {}>, lhs_dilation = array<i64: {}>, rhs_dilation = array<i64: {}>, window_reversal = array<i1: {reversed}>, {counts}}}> : {types}",
                    if random.flag() { numbers } else { numbers_in_words },
                    w.stride,
                    w.base,
                    w.window
                ),
            ),
            false => (
                "stablehlo.convolution",
                format!(
                    "%r = stablehlo.convolution(%a, %k) dim_numbers = {numbers}, window = {{stride = [{}], pad = [[{}, {}]], lhs_dilate = [{}], rhs_dilate = [{}], reverse = [{reversed}]}} {{{counts}}} : {types}",
                    w.stride, w.low, w.high, w.base, w.window
                ),
            ),
        };
        let read = function(&[format!("%a: {from}"), format!("%k: {with}, %p: tensor<1x2xi32>")], &op);
        let values = |name: &str, _: &[i64]| match name {
            "%p" => Some(w.low),
            _ => extent(name, &[("%a", &input), ("%r", &result)]),
        };
        check_reads(&read, name, &result, &values, &|p| {
            let at = |what: usize| p[orders[2].iter().position(|&k| k == what).unwrap()];
            let (b, f, d) = (at(0), at(1), at(2));
            let mut reads = Reads::new();
            if is_dynamic {
                (0..2).for_each(|side| common::read(&mut reads, "%p", vec![0, side]));
            }
            for inside in 0..w.size {
                let element = if reversed { w.size - 1 - inside } else { inside };
                let Some(i) = w.element(h, d, element) else { continue };
                for c in 0..in_group {
                    let group = f / out_group;
                    let channel = if is_batch { c } else { group * in_group + c };
                    common::read(&mut reads, "%a", place(0, [group * of_group + b, channel, i]));
                    common::read(&mut reads, "%k", place(1, [c, f, inside]));
                }
            }
            reads
        });
    }
}

#[test]
fn groups_without_features_are_refused() {
    let (a, k, r) = (tensor(&[1, 8, 8]), tensor(&[3, 1, 4]), tensor(&[1, 6, 4]));
    let op = format!(
        "%r = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {{}} {{batch_group_count = 1 : i64, feature_group_count = 8 : i64}} : ({a}, {k}) -> {r}"
    );
    let read = function(&[format!("%a: {a}"), format!("%k: {k}")], &op);
    let source = mlir_ops::Source::alone(&read.parse, &read.text);
    let maps = mlir_indexing::op_maps(&source, read.op("stablehlo.convolution"), 0);
    assert_eq!(
        maps.expect("it is an op of arrays").err().map(|why| why.to_string()).as_deref(),
        Some("it has more groups than output features")
    );
}
