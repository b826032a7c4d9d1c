//! Tiles and transforms, compared with nested loops: `xtile.scan`, `xtile.dot_scaled`, Winograd convolution,
//! `memref.view`.

use op_reads::*;

#[test]
fn scans() {
    let mut random = Rng::new(71);
    for _ in 0..150 {
        let shape = random.shape(1..4, 1..5);
        let along = random.below(0..shape.len() as i64) as usize;
        let mut kept = shape.clone();
        kept.remove(along);
        let is_reverse = random.flag();
        let (t, k) = (tensor(&shape), tensor(&kept));
        for names in ["%r, %c", "%r:2"] {
            let read = function(
                &[format!("%a: {t}, %b: {t}"), format!("%i: {k}")],
                &format!(
                    "\
{names} = xtile.scan(%a) inits(%i) dimension = {along} {{scan_dim_size = {} : i64, is_reverse = {is_reverse}}} : ({t}), ({k}) -> ({t}), ({k}) {{
  ^bb0(%x: f32, %y: f32):
    xtile.yield %x : f32
  }}",
                    shape[along]
                ),
            );
            check_reads(&read, "xtile.scan", &shape, &none, &|p| {
                let mut rest = p.to_vec();
                rest.remove(along);
                let mut reads = one("%i", rest);
                for i in 0..shape[along] {
                    if if is_reverse { i >= p[along] } else { i <= p[along] } {
                        let mut place = p.to_vec();
                        place[along] = i;
                        op_reads::read(&mut reads, "%a", place);
                    }
                }
                reads
            });
            let maps = read.result_maps("xtile.scan", 1);
            for p in indices(&kept) {
                let mut expect: Vec<Vec<i64>> = Vec::new();
                for i in 0..shape[along] {
                    let mut place = p.clone();
                    place.insert(along, i);
                    expect.push(place);
                }
                assert_eq!(evaluated(&maps.accesses[0], &p, &none), expect, "{}", read.text);
                assert_eq!(evaluated(&maps.accesses[1], &p, &none), [p], "{}", read.text);
            }
        }
    }
}

#[test]
fn scaled_products() {
    let mut random = Rng::new(72);
    for _ in 0..100 {
        let [b, m, n] = [0; 3].map(|_| random.below(1..4));
        let (blocks, block) = (random.below(1..4), 2 * random.below(1..3));
        let k = blocks * block;
        let has_batch = random.flag();
        let packed = [random.flag(), random.flag()];
        let along_k = [random.flag(), random.flag()];
        let is_scaled = [random.flag(), random.flag()];
        // Two 4-bit numbers share a byte along the contracted or the other dimension.
        let free = [2 * m, 2 * n];
        let length = |side: usize, is_k: bool| {
            let n = if is_k { k } else { free[side] };
            if packed[side] && along_k[side] == is_k { n / 2 } else { n }
        };
        let front: &[i64] = if has_batch { &[b] } else { &[] };
        let shape = |list: [i64; 2]| [front, &list].concat();
        let shapes = [shape([length(0, false), length(0, true)]), shape([length(1, true), length(1, false)])];
        let scales = [shape([free[0], blocks]), shape([free[1], blocks])];
        let element = |side: usize| if packed[side] { "i8" } else { "f8E5M2" };
        let types: Vec<String> = (0..2).map(|s| ty("tensor", &shapes[s], element(s), &[])).collect();
        let scale_types: Vec<String> = (0..2).map(|s| ty("tensor", &scales[s], "i8", &[])).collect();
        let result = shape([free[0], free[1]]);
        let first = front.len();
        let numbers = format!(
            "#stablehlo.dot<lhs_batching_dimensions = {batch}, rhs_batching_dimensions = {batch}, lhs_contracting_dimensions = [{}], rhs_contracting_dimensions = [{first}]>",
            first + 1,
            batch = if has_batch { "[0]" } else { "[]" }
        );
        let logical = |side: usize| if packed[side] { "f4E2M1FN" } else { "f8E5M2" };
        let operand = |s: usize| match is_scaled[s] {
            true => format!("%{} scale %s{s}", ["a", "b"][s]),
            false => format!("%{}", ["a", "b"][s]),
        };
        let written = |s: usize| match is_scaled[s] {
            true => format!("{}, {}", types[s], scale_types[s]),
            false => types[s].clone(),
        };
        let read = function(
            &[
                format!("%a: {}, %b: {}", types[0], types[1]),
                format!("%s0: {}, %s1: {}", scale_types[0], scale_types[1]),
            ],
            &format!(
                "%r = xtile.dot_scaled {}, {} {{dot_dimension_numbers = {numbers}, fastMath = true, lhs_k_pack = {}, rhs_k_pack = {}, lhs_elem_type = {}, rhs_elem_type = {}}} : {} * {} -> {}",
                operand(0),
                operand(1),
                along_k[0],
                along_k[1],
                logical(0),
                logical(1),
                written(0),
                written(1),
                tensor(&result)
            ),
        );
        check_places(&read, "xtile.dot_scaled", &result, &none, &|p| {
            let (front, place) = p.split_at(first);
            let mut reads = Reads::new();
            for k in 0..k {
                for side in 0..2 {
                    let half =
                        |n: i64, is_k: bool| if packed[side] && along_k[side] == is_k { n / 2 } else { n };
                    let (free, contracted) = (half(place[side], false), half(k, true));
                    let inner = if side == 0 { [free, contracted] } else { [contracted, free] };
                    op_reads::read(&mut reads, ["%a", "%b"][side], [front, &inner].concat());
                    if is_scaled[side] {
                        let scale = [front, &[place[side], k / block]].concat();
                        op_reads::read(&mut reads, ["%s0", "%s1"][side], scale);
                    }
                }
            }
            reads
        });
    }
}

/// A tile of the input is multiplied from both sides, so each element depends on the whole tile.
#[test]
fn winograd() {
    let mut random = Rng::new(73);
    for round in 0..60 {
        let (m, r) = [(2, 3), (4, 3), (2, 5)][random.below(0..3) as usize];
        let (n, c, f) = (random.below(1..3), random.below(1..3), random.below(1..3));
        let (tile_h, tile_w) = (random.below(1..3), random.below(1..3));
        let alpha = m + r - 1;
        // A kernel with one row is transformed along the columns only.
        let (is_h, is_w) = [(true, true), (true, false), (false, true)][round % 3];
        let side = |is_on: bool| if is_on { (alpha, m, r) } else { (1, 1, 1) };
        let ((alpha_h, m_h, r_h), (alpha_w, m_w, r_w)) = (side(is_h), side(is_w));
        let numbers = match random.flag() {
            true => format!("fmr(F_{m}_{r})"),
            false => format!("m({m}) r({r})"),
        };
        let op = |name: &str, from: &[i64], to: &[i64]| {
            let (from, to) = (tensor(from), tensor(to));
            function(
                &[format!("%a: {from}, %o: {to}")],
                &format!("%r = linalg.{name} {numbers} ins(%a : {from}) outs(%o : {to}) -> {to}"),
            )
        };
        let kernel = [f, r_h, r_w, c];
        let read = op("winograd_filter_transform", &kernel, &[alpha_h, alpha_w, c, f]);
        check_reads(&read, "linalg.winograd_filter_transform", &[alpha_h, alpha_w, c, f], &none, &|p| {
            let mut reads = Reads::new();
            for i in indices(&[r_h, r_w]) {
                op_reads::read(&mut reads, "%a", vec![p[3], i[0], i[1], p[2]]);
            }
            reads
        });
        let input = [n, tile_h * m_h + r_h - 1, tile_w * m_w + r_w - 1, c];
        let tiles = [alpha_h, alpha_w, tile_h, tile_w, n, c];
        let read = op("winograd_input_transform", &input, &tiles);
        check_reads(&read, "linalg.winograd_input_transform", &tiles, &none, &|p| {
            let mut reads = Reads::new();
            for i in indices(&[alpha_h, alpha_w]) {
                op_reads::read(&mut reads, "%a", vec![p[4], p[2] * m_h + i[0], p[3] * m_w + i[1], p[5]]);
            }
            reads
        });
        let tiles = [alpha_h, alpha_w, tile_h, tile_w, n, f];
        let output = [n, tile_h * m_h, tile_w * m_w, f];
        let read = op("winograd_output_transform", &tiles, &output);
        check_reads(&read, "linalg.winograd_output_transform", &output, &none, &|p| {
            let mut reads = Reads::new();
            for i in indices(&[alpha_h, alpha_w]) {
                op_reads::read(&mut reads, "%a", vec![i[0], i[1], p[1] / m_h, p[2] / m_w, p[0], p[3]]);
            }
            reads
        });
    }
}

#[test]
fn views() {
    let mut random = Rng::new(74);
    for _ in 0..100 {
        let shape = random.shape(0..4, 1..5);
        let unknown = flags(&mut random, shape.len());
        let (element, bytes) =
            [("f32", 4), ("i8", 1), ("bf16", 2), ("complex<f64>", 16)][random.below(0..4) as usize];
        let shift = random.below(0..9);
        let to = ty("memref", &shape, element, &unknown);
        let sizes: Vec<usize> = (0..shape.len()).filter(|&k| unknown[k]).collect();
        let names: Vec<String> = sizes.iter().map(|k| format!("%n{k}")).collect();
        let mut arguments = vec!["%m: memref<4096xi8>, %s: index".to_owned()];
        arguments.extend(names.iter().map(|n| format!("{n}: index")));
        let read = function(
            &arguments,
            &format!("%r = memref.view %m[%s][{}] : memref<4096xi8> to {to}", names.join(", ")),
        );
        let values = |name: &str, _: &[i64]| match name {
            "%s" => Some(shift),
            _ => Some(shape[name.strip_prefix("%n")?.parse::<usize>().ok()?]),
        };
        let all = indices(&shape);
        check_reads(&read, "memref.view", &shape, &values, &|p| {
            let nth = all.iter().position(|i| i == p).unwrap() as i64;
            let mut reads = Reads::new();
            (0..bytes).for_each(|b| op_reads::read(&mut reads, "%m", vec![shift + nth * bytes + b]));
            reads
        });
    }
}
