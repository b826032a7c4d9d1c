//! Structured ops, compared with hand-written loops.

use op_reads::*;

/// The reads for an index of the output: operand number and index.
type Touched<'a> = dyn Fn(&[i64]) -> Vec<(usize, Vec<i64>)> + 'a;
/// The reads for one step of a contraction.
type Product<'a> = dyn Fn(&[i64], i64) -> [(usize, Vec<i64>); 2] + 'a;

/// Checks an op with these operands, the last of which is the output. `touch` returns the reads for the
/// output's index.
fn check_named(name: &str, attributes: &str, shapes: &[Vec<i64>], touch: &Touched<'_>, random: &mut Rng) {
    let last = shapes.len() - 1;
    // Extents of operands may be dynamic; those of the output follow.
    let types: Vec<String> = shapes
        .iter()
        .map(|s| {
            let dynamic: Vec<bool> = s.iter().map(|_| random.below(0..5) == 0).collect();
            ty("tensor", s, "f32", &dynamic)
        })
        .collect();
    let names: Vec<String> = (0..shapes.len()).map(|n| format!("%a{n}")).collect();
    let arguments: Vec<String> = names.iter().zip(&types).map(|(n, t)| format!("{n}: {t}")).collect();
    let op = format!(
        "%r = linalg.{name} {attributes} ins({} : {}) outs(%a{last} : {}) -> {}",
        names[..last].join(", "),
        types[..last].join(", "),
        types[last],
        types[last]
    );
    let read = function(&arguments, &op);
    let values = |name: &str, _: &[i64]| {
        let (array, k) = name.strip_prefix("dim(%a")?.strip_suffix(')')?.split_once(", ")?;
        shapes.get(array.parse::<usize>().ok()?)?.get(k.parse::<usize>().ok()?).copied()
    };
    check_reads(&read, &format!("linalg.{name}"), &shapes[last], &values, &|point| {
        let mut reads = Reads::new();
        for (operand, index) in touch(point) {
            op_reads::read(&mut reads, &names[operand], index);
        }
        // An accumulated output is read once per iteration.
        reads
    });
}

fn extents(random: &mut Rng, n: usize) -> Vec<i64> {
    (0..n).map(|_| random.below(1..4)).collect()
}

#[test]
fn products() {
    let mut random = Rng::new(11);
    for _ in 0..60 {
        let [b, m, n, k] = extents(&mut random, 4)[..] else { unreachable!() };
        let over = |f: &dyn Fn(i64) -> [(usize, Vec<i64>); 2], out: Vec<i64>| {
            let mut all: Vec<(usize, Vec<i64>)> = (0..k).flat_map(f).collect();
            all.push((2, out));
            all
        };
        let mut check = |name: &str, shapes: [Vec<i64>; 3], f: &Product<'_>| {
            check_named(name, "", &shapes, &|p| over(&|k| f(p, k), p.to_vec()), &mut random);
        };
        check("matmul", [vec![m, k], vec![k, n], vec![m, n]], &|p, k| {
            [(0, vec![p[0], k]), (1, vec![k, p[1]])]
        });
        check("matmul_transpose_a", [vec![k, m], vec![k, n], vec![m, n]], &|p, k| {
            [(0, vec![k, p[0]]), (1, vec![k, p[1]])]
        });
        check("matmul_transpose_b", [vec![m, k], vec![n, k], vec![m, n]], &|p, k| {
            [(0, vec![p[0], k]), (1, vec![p[1], k])]
        });
        check("batch_matmul", [vec![b, m, k], vec![b, k, n], vec![b, m, n]], &|p, k| {
            [(0, vec![p[0], p[1], k]), (1, vec![p[0], k, p[2]])]
        });
        check("batch_matmul_transpose_a", [vec![b, k, m], vec![b, k, n], vec![b, m, n]], &|p, k| {
            [(0, vec![p[0], k, p[1]]), (1, vec![p[0], k, p[2]])]
        });
        check("batch_matmul_transpose_b", [vec![b, m, k], vec![b, n, k], vec![b, m, n]], &|p, k| {
            [(0, vec![p[0], p[1], k]), (1, vec![p[0], p[2], k])]
        });
        check("matvec", [vec![m, k], vec![k], vec![m]], &|p, k| [(0, vec![p[0], k]), (1, vec![k])]);
        check("vecmat", [vec![k], vec![k, n], vec![n]], &|p, k| [(0, vec![k]), (1, vec![k, p[0]])]);
        check("dot", [vec![k], vec![k], vec![]], &|_, k| [(0, vec![k]), (1, vec![k])]);
    }
}

#[test]
fn convolutions_and_poolings() {
    let mut random = Rng::new(12);
    for _ in 0..40 {
        let [n, oh, ow, f, c] = extents(&mut random, 5)[..] else { unreachable!() };
        let [kh, kw, sh, sw, dh, dw] = extents(&mut random, 6)[..] else { unreachable!() };
        let (h, w) = ((oh - 1) * sh + (kh - 1) * dh + 1, (ow - 1) * sw + (kw - 1) * dw + 1);
        let attributes = format!(
            "{{strides = dense<[{sh}, {sw}]> : tensor<2xi64>, dilations = dense<[{dh}, {dw}]> : tensor<2xi64>}}"
        );
        let window = |p: [i64; 2]| -> Vec<([i64; 2], [i64; 2])> {
            indices(&[kh, kw])
                .into_iter()
                .map(|k| ([p[0] * sh + k[0] * dh, p[1] * sw + k[1] * dw], [k[0], k[1]]))
                .collect()
        };
        type Touch = dyn Fn([i64; 2], [i64; 2], i64, &[i64]) -> [(usize, Vec<i64>); 2];
        let with = |p: &[i64], at: [i64; 2], channels: i64, touch: &Touch| {
            let mut all = Vec::new();
            for (i, k) in window(at) {
                for c in 0..channels {
                    all.extend(touch(i, k, c, p));
                }
            }
            all.push((2, p.to_vec()));
            all
        };
        check_named(
            "conv_2d_nhwc_hwcf",
            &attributes,
            &[vec![n, h, w, c], vec![kh, kw, c, f], vec![n, oh, ow, f]],
            &|p| {
                with(p, [p[1], p[2]], c, &|i, k, c, p| {
                    [(0, vec![p[0], i[0], i[1], c]), (1, vec![k[0], k[1], c, p[3]])]
                })
            },
            &mut random,
        );
        check_named(
            "conv_2d_nchw_fchw",
            &attributes,
            &[vec![n, c, h, w], vec![f, c, kh, kw], vec![n, f, oh, ow]],
            &|p| {
                with(p, [p[2], p[3]], c, &|i, k, c, p| {
                    [(0, vec![p[0], c, i[0], i[1]]), (1, vec![p[1], c, k[0], k[1]])]
                })
            },
            &mut random,
        );
        check_named(
            "depthwise_conv_2d_nhwc_hwc",
            &attributes,
            &[vec![n, h, w, c], vec![kh, kw, c], vec![n, oh, ow, c]],
            &|p| {
                with(p, [p[1], p[2]], 1, &|i, k, _, p| {
                    [(0, vec![p[0], i[0], i[1], p[3]]), (1, vec![k[0], k[1], p[3]])]
                })
            },
            &mut random,
        );
        check_named(
            "pooling_nhwc_max",
            &attributes,
            &[vec![n, h, w, c], vec![kh, kw], vec![n, oh, ow, c]],
            &|p| {
                with(p, [p[1], p[2]], 1, &|i, k, _, p| {
                    [(0, vec![p[0], i[0], i[1], p[3]]), (1, vec![k[0], k[1]])]
                })
            },
            &mut random,
        );
        check_named(
            "conv_2d",
            "",
            &[vec![oh + kh - 1, ow + kw - 1], vec![kh, kw], vec![oh, ow]],
            &|p| {
                let mut all = Vec::new();
                for k in indices(&[kh, kw]) {
                    all.push((0, vec![p[0] + k[0], p[1] + k[1]]));
                    all.push((1, k));
                }
                all.push((2, p.to_vec()));
                all
            },
            &mut random,
        );
    }
}

/// Every loop indexes some operand dimension alone; results are permutations of some loops.
#[test]
fn generic() {
    let mut random = Rng::new(13);
    for _ in 0..300 {
        let extents = random.shape(1..5, 1..4);
        let loops = extents.len();
        let mut out = random.permutation(loops);
        out.truncate(random.below(0..loops as i64 + 1) as usize);
        // Each input has some plain dimensions and one that is a sum.
        let all = random.permutation(loops);
        let (a, b) = (random.below(0..loops as i64) as usize, random.below(0..loops as i64) as usize);
        let stride = random.below(1..3);
        let place = |i: &[i64]| -> Vec<i64> {
            let mut place: Vec<i64> = all.iter().map(|&l| i[l]).collect();
            place.push(i[a] * stride + i[b]);
            place
        };
        let mut shape: Vec<i64> = all.iter().map(|&l| extents[l]).collect();
        shape.push((extents[a] - 1) * stride + extents[b]);
        let result: Vec<i64> = out.iter().map(|&l| extents[l]).collect();
        let d = |l: &usize| format!("d{l}");
        let dims: Vec<String> = (0..loops).map(|l| d(&l)).collect();
        let head = dims.join(", ");
        let mut inputs: Vec<String> = all.iter().map(d).collect();
        inputs.push(format!("d{a} * {stride} + d{b}"));
        let outputs: Vec<String> = out.iter().map(d).collect();
        let kinds: Vec<&str> =
            (0..loops).map(|l| if out.contains(&l) { "\"parallel\"" } else { "\"reduction\"" }).collect();
        let op = format!(
            "\
%r = linalg.generic {{indexing_maps = [affine_map<({head}) -> ({})>, #out], iterator_types = [{}]}} ins(%a : {}) outs(%o : {}) {{
  ^bb0(%x: f32, %y: f32):
    linalg.yield %x : f32
  }} -> {}",
            inputs.join(", "),
            kinds.join(", "),
            tensor(&shape),
            tensor(&result),
            tensor(&result)
        );
        let text = format!(
            "\
#out = affine_map<({head}) -> ({})>
func.func @f(%a: {}, %o: {}) {{
  {op}
  return
}}
",
            outputs.join(", "),
            tensor(&shape),
            tensor(&result)
        );
        let read = Read::of(text);
        check_reads(&read, "linalg.generic", &result, &|_, _| None, &|point| {
            let mut reads = Reads::new();
            for i in indices(&extents) {
                if out.iter().zip(point).all(|(&l, &p)| i[l] == p) {
                    op_reads::read(&mut reads, "%a", place(&i));
                }
            }
            reads
        });
    }
}

#[test]
fn transpose_broadcast_and_reduce() {
    let mut random = Rng::new(14);
    for _ in 0..100 {
        let shape = random.shape(1..5, 1..4);
        let order = random.permutation(shape.len());
        let result: Vec<i64> = order.iter().map(|&k| shape[k]).collect();
        let arguments = [format!("%a: {}", tensor(&shape)), format!("%o: {}", tensor(&result))];
        let read = function(
            &arguments,
            &format!(
                "%r = linalg.transpose ins(%a : {}) outs(%o : {}) permutation = {order:?}",
                tensor(&shape),
                tensor(&result)
            ),
        );
        check_reads(&read, "linalg.transpose", &result, &|_, _| None, &|point| {
            let mut place = vec![0; shape.len()];
            order.iter().zip(point).for_each(|(&k, &p)| place[k] = p);
            let mut reads = Reads::new();
            op_reads::read(&mut reads, "%a", place);
            reads
        });
        let mut listed = random.permutation(shape.len());
        listed.truncate(random.below(0..shape.len() as i64 + 1) as usize);
        listed.sort_unstable();
        let narrow: Vec<i64> = (0..shape.len()).filter(|k| !listed.contains(k)).map(|k| shape[k]).collect();
        let pick =
            |i: &[i64]| -> Vec<i64> { (0..i.len()).filter(|k| !listed.contains(k)).map(|k| i[k]).collect() };
        let arguments = [format!("%a: {}", tensor(&narrow)), format!("%o: {}", tensor(&shape))];
        let read = function(
            &arguments,
            &format!(
                "%r = linalg.broadcast ins(%a : {}) outs(%o : {}) dimensions = {listed:?}",
                tensor(&narrow),
                tensor(&shape)
            ),
        );
        check_reads(&read, "linalg.broadcast", &shape, &|_, _| None, &|point| {
            let mut reads = Reads::new();
            op_reads::read(&mut reads, "%a", pick(point));
            reads
        });
        let arguments = [format!("%a: {}", tensor(&shape)), format!("%o: {}", tensor(&narrow))];
        let read = function(
            &arguments,
            &format!(
                "%r = linalg.reduce {{ arith.addf }} ins(%a : {}) outs(%o : {}) dimensions = {listed:?}",
                tensor(&shape),
                tensor(&narrow)
            ),
        );
        check_reads(&read, "linalg.reduce", &narrow, &|_, _| None, &|point| {
            let mut reads = Reads::new();
            for i in indices(&shape).into_iter().filter(|i| pick(i) == point) {
                op_reads::read(&mut reads, "%a", i);
            }
            op_reads::read(&mut reads, "%o", point.to_vec());
            reads
        });
    }
}

#[test]
fn pack_and_unpack() {
    let mut random = Rng::new(15);
    for _ in 0..150 {
        let shape = random.shape(1..4, 1..7);
        let outer = random.permutation(shape.len());
        let mut inner = random.permutation(shape.len());
        inner.truncate(random.below(1..shape.len() as i64 + 1) as usize);
        let tiles: Vec<i64> = inner.iter().map(|_| random.below(1..4)).collect();
        let tile = |k: usize| inner.iter().position(|&d| d == k).map(|nth| (nth, tiles[nth]));
        let mut packed: Vec<i64> =
            outer.iter().map(|&k| tile(k).map_or(shape[k], |(_, t)| (shape[k] + t - 1) / t)).collect();
        packed.extend(&tiles);
        let lists = format!("outer_dims_perm = {outer:?} inner_dims_pos = {inner:?} inner_tiles = {tiles:?}");
        // The index in the packed array of an element of the plain array.
        let place = |i: &[i64]| -> Vec<i64> {
            let mut place: Vec<i64> =
                outer.iter().map(|&k| tile(k).map_or(i[k], |(_, t)| i[k] / t)).collect();
            place.extend(inner.iter().zip(&tiles).map(|(&k, t)| i[k] % t));
            place
        };
        let arguments =
            [format!("%a: {}", tensor(&shape)), format!("%o: {}", tensor(&packed)), "%v: f32".to_owned()];
        let read = function(
            &arguments,
            &format!(
                "%r = linalg.pack %a padding_value(%v : f32) {lists} into %o : {} -> {}",
                tensor(&shape),
                tensor(&packed)
            ),
        );
        check_packed(&read, &packed, &|point| indices(&shape).into_iter().find(|i| place(i) == point));
        let arguments = [format!("%a: {}", tensor(&packed)), format!("%o: {}", tensor(&shape))];
        let read = function(
            &arguments,
            &format!("%r = linalg.unpack %a {lists} into %o : {} -> {}", tensor(&packed), tensor(&shape)),
        );
        check_reads(&read, "linalg.unpack", &shape, &|_, _| None, &|point| {
            let mut reads = Reads::new();
            op_reads::read(&mut reads, "%a", place(point));
            reads
        });
    }
}

fn check_packed(read: &Read, packed: &[i64], expect: &dyn Fn(&[i64]) -> Option<Vec<i64>>) {
    let maps = read.maps("linalg.pack");
    for point in indices(packed) {
        let found = evaluated(&maps.accesses[0], &point, &|_, _| None);
        assert_eq!(found, expect(&point).into_iter().collect::<Vec<_>>(), "{point:?} of {}", read.text);
    }
}
