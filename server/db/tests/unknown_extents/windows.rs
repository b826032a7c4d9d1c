//! `stablehlo.reduce_window` and convolutions of arrays with dynamic extents, by building padded rows.

use op_reads::*;

use crate::function;

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
                r#"%r = "stablehlo.reduce_window"(%a, %z) <{{window_dimensions = {}, window_strides = {}, base_dilations = {}, window_dilations = {}, padding = dense<[{}]> : tensor<{rank}x2xi64>}}> ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }}) : ({from}, tensor<f32>) -> {to}"#,
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
                place.into_iter().for_each(|i| op_reads::read(&mut reads, "%a", i));
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
                (0..2).for_each(|side| op_reads::read(&mut reads, "%p", vec![0, side]));
            }
            for inside in 0..w.size {
                let element = if reversed { w.size - 1 - inside } else { inside };
                let Some(i) = w.element(h, d, element) else { continue };
                for c in 0..in_group {
                    let group = f / out_group;
                    let channel = if is_batch { c } else { group * in_group + c };
                    op_reads::read(&mut reads, "%a", place(0, [group * of_group + b, channel, i]));
                    op_reads::read(&mut reads, "%k", place(1, [c, f, inside]));
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
    let maps = (read.maps_of)(&source, read.op("stablehlo.convolution"), 0);
    let accesses = maps.expect("it is an op of arrays").expect("it is read").accesses;
    assert!(accesses.iter().all(|access| access.map.is_undefined()), "{accesses:?}");
}
