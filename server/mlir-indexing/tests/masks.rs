//! Vector ops with a mask or a list, compared with evaluating them element by element.

use mlir_indexing::Role;
use op_reads::*;

fn lanes(shape: &[i64]) -> String {
    ty("vector", shape, "i1", &[])
}

/// Elements by a list; poison elements (-1) read nothing.
#[test]
fn shuffles() {
    let mut random = Rng::new(61);
    for round in 0..400 {
        let rest = random.shape(0..3, 1..3);
        let (a, b) = (random.below(1..9), random.below(1..9));
        let count = random.below(1..17);
        let (start, step, stride) = (random.below(0..a), random.below(-1..3), random.below(0..4));
        let period = random.below(1..count + 1);
        let list: Vec<i64> = (0..count)
            .map(|k| match round % 3 {
                0 => random.below(-1..a + b),
                // Lists that follow a rule, such as interleaving.
                1 => (start + k * step).rem_euclid(a + b),
                _ => (start + k % period * step + k / period * stride).rem_euclid(a + b),
            })
            .collect();
        let shape = |n: i64| -> Vec<i64> { std::iter::once(n).chain(rest.iter().copied()).collect() };
        let read = function(
            &[format!("%a: {}", vector(&shape(a))), format!("%b: {}", vector(&shape(b)))],
            &format!("%r = vector.shuffle %a, %b {list:?} : {}, {}", vector(&shape(a)), vector(&shape(b))),
        );
        check_reads(&read, "vector.shuffle", &shape(count), &none, &|p| {
            let at = |k: i64| -> Vec<i64> { std::iter::once(k).chain(p[1..].iter().copied()).collect() };
            match list[p[0] as usize] {
                -1 => Reads::new(),
                k if k < a => one("%a", at(k)),
                k => one("%b", at(k - a)),
            }
        });
    }
    // Alternating halves are two maps, however long the list.
    let list: Vec<i64> = (0..64).flat_map(|k| [k, k + 64]).collect();
    let half = vector(&[64]);
    let read = function(
        &[format!("%a: {half}"), format!("%b: {half}")],
        &format!("%r = vector.shuffle %a, %b {list:?} : {half}, {half}"),
    );
    assert_eq!(read.maps("vector.shuffle").accesses.len(), 2);
}

#[test]
fn masked_transfers() {
    let mut random = Rng::new(62);
    for _ in 0..300 {
        let shape = random.shape(1..4, 2..6);
        let mut along = random.permutation(shape.len());
        along.truncate(random.below(1..shape.len() as i64 + 1) as usize);
        let sizes: Vec<i64> = along.iter().map(|&k| random.below(1..shape[k] + 2)).collect();
        let repeats: Vec<bool> = along.iter().map(|_| random.below(0..5) == 0).collect();
        let is_own = random.flag();
        let dims: Vec<String> = (0..shape.len()).map(|k| format!("d{k}")).collect();
        let (array, zero) = (tensor(&shape), vec!["%z"; shape.len()].join(", "));
        // The mask has the dimensions of the array in order, without repeated ones.
        let lane = |point: &[i64], is_read: bool| -> Vec<i64> {
            (0..shape.len())
                .filter_map(|k| {
                    let j = along.iter().position(|&a| a == k)?;
                    (!(is_read && repeats[j])).then(|| point[j])
                })
                .collect()
        };
        let arguments = |mask: &str| {
            vec![
                format!("%a: {array}"),
                "%p: f32, %z: index".to_owned(),
                format!("%v: {}", vector(&sizes)),
                format!("%o: {}", vector(&sizes)),
                format!("%m: {mask}"),
            ]
        };
        let map = |is_read: bool| {
            let of = |j: usize| match is_read && repeats[j] {
                true => "0".to_owned(),
                false => format!("d{}", along[j]),
            };
            let results: Vec<String> = (0..along.len()).map(of).collect();
            format!("{{permutation_map = affine_map<({}) -> ({})>}}", dims.join(", "), results.join(", "))
        };
        let place = |point: &[i64], is_read: bool| -> Option<Vec<i64>> {
            let mut place = vec![0; shape.len()];
            for (j, &k) in along.iter().enumerate() {
                place[k] = if is_read && repeats[j] { 0 } else { point[j] };
            }
            place.iter().zip(&shape).all(|(i, n)| i < n).then_some(place)
        };
        let values = |_: &str, _: &[i64]| Some(0);
        let mask = lanes(&lane(&sizes, true));
        if !lane(&sizes, true).is_empty() {
            let types = format!("{array}, {}", vector(&sizes));
            let (name, op) = match is_own {
                true => {
                    let op = format!("%r = vector.transfer_read %a[{zero}], %p, %m {} : {types}", map(true));
                    ("vector.transfer_read", op)
                }
                false => (
                    "vector.mask",
                    format!(
                        "%r = vector.mask %m, %o {{\n    vector.transfer_read %a[{zero}], %p {} : {types}\n  }} : {mask} -> {}",
                        map(true),
                        vector(&sizes)
                    ),
                ),
            };
            let read = function(&arguments(&mask), &op);
            assert!(read.maps(name).accesses.iter().any(|a| a.operand == "%p") || !is_own, "{}", read.text);
            check_reads(&read, name, &sizes, &values, &|p| {
                let mut reads = one("%m", lane(p, true));
                place(p, true).into_iter().for_each(|i| op_reads::read(&mut reads, "%a", i));
                if !is_own {
                    op_reads::read(&mut reads, "%o", p.to_vec());
                }
                reads
            });
        }
        // The whole tensor may be read: inactive lanes keep its elements.
        let mask = lanes(&lane(&sizes, false));
        let types = format!("{}, {array}", vector(&sizes));
        let (name, op) = match is_own {
            true => {
                let op = format!("%r = vector.transfer_write %v, %a[{zero}], %m {} : {types}", map(false));
                ("vector.transfer_write", op)
            }
            false => (
                "vector.mask",
                format!(
                    "%r = vector.mask %m {{\n    vector.transfer_write %v, %a[{zero}] {} : {types}\n  }} : {mask} -> {array}",
                    map(false)
                ),
            ),
        };
        let read = function(&arguments(&mask), &op);
        check_reads(&read, name, &shape, &values, &|p| {
            let mut reads = one("%a", p.to_vec());
            for i in indices(&sizes).into_iter().filter(|i| place(i, false).as_deref() == Some(p)) {
                op_reads::read(&mut reads, "%m", lane(&i, false));
                op_reads::read(&mut reads, "%v", i);
            }
            reads
        });
    }
}

#[test]
fn masked_reductions_and_products() {
    let mut random = Rng::new(63);
    for _ in 0..100 {
        let shape = random.shape(1..4, 1..4);
        let reduced: Vec<usize> = (0..shape.len()).filter(|_| random.flag()).collect();
        let keep =
            |p: &[i64]| -> Vec<i64> { (0..p.len()).filter(|k| !reduced.contains(k)).map(|k| p[k]).collect() };
        let kept = keep(&shape);
        let read = function(
            &[
                format!("%v: {}", vector(&shape)),
                format!("%c: {}", vector(&kept)),
                format!("%m: {}", lanes(&shape)),
            ],
            &format!(
                "%r = vector.mask %m {{ vector.multi_reduction <add>, %v, %c {reduced:?} : {} to {} }} : {} -> {}",
                vector(&shape),
                vector(&kept),
                lanes(&shape),
                vector(&kept)
            ),
        );
        check_reads(&read, "vector.mask", &kept, &none, &|p| {
            let mut reads = one("%c", p.to_vec());
            for i in indices(&shape).into_iter().filter(|i| keep(i) == p) {
                op_reads::read(&mut reads, "%v", i.clone());
                op_reads::read(&mut reads, "%m", i);
            }
            reads
        });
        let [m, n, k] = [0; 3].map(|_| random.below(1..4));
        let types = [vector(&[m, k]), vector(&[n, k]), vector(&[m, n])];
        let read = function(
            &[
                format!("%a: {}", types[0]),
                format!("%b: {}", types[1]),
                format!("%c: {}", types[2]),
                format!("%m: {}", lanes(&[m, n, k])),
            ],
            &format!(
                "%r = vector.mask %m {{ vector.contract {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"], kind = #vector.kind<add>}} %a, %b, %c : {}, {} into {} }} : {} -> {}",
                types[0],
                types[1],
                types[2],
                lanes(&[m, n, k]),
                types[2]
            ),
        );
        check_reads(&read, "vector.mask", &[m, n], &none, &|p| {
            let mut reads = one("%c", p.to_vec());
            for k in 0..k {
                op_reads::read(&mut reads, "%a", vec![p[0], k]);
                op_reads::read(&mut reads, "%b", vec![p[1], k]);
                op_reads::read(&mut reads, "%m", vec![p[0], p[1], k]);
            }
            reads
        });
    }
}

/// Masked loads and stores with every possible mask: each access is in the maps.
#[test]
fn memory() {
    let mut random = Rng::new(64);
    for _ in 0..100 {
        let (rows, columns, count) = (random.below(1..4), random.below(4..9), random.below(1..5));
        let (row, column) = (random.below(0..rows), random.below(0..columns - count.min(columns) + 1));
        let buffer = ty("memref", &[rows, columns], "f32", &[]);
        let (v, m) = (vector(&[count]), lanes(&[count]));
        let index = ty("vector", &[count], "index", &[]);
        let table: Vec<i64> = (0..count).map(|_| random.below(0..columns - column)).collect();
        let arguments =
            [format!("%a: {buffer}, %i: index, %j: index, %x: {index}"), format!("%m: {m}, %v: {v}")];
        let values = |name: &str, at: &[i64]| match name {
            "%i" => Some(row),
            "%j" => Some(column),
            _ => Some(table[at[0] as usize]),
        };
        for (name, op, role) in [
            (
                "vector.maskedload",
                format!("%r = vector.maskedload %a[%i, %j], %m, %v : {buffer}, {m}, {v} into {v}"),
                Role::Read,
            ),
            (
                "vector.maskedstore",
                format!("vector.maskedstore %a[%i, %j], %m, %v : {buffer}, {m}, {v}"),
                Role::Write,
            ),
            (
                "vector.expandload",
                format!("%r = vector.expandload %a[%i, %j], %m, %v : {buffer}, {m}, {v} into {v}"),
                Role::Read,
            ),
            (
                "vector.compressstore",
                format!("vector.compressstore %a[%i, %j], %m, %v : {buffer}, {m}, {v}"),
                Role::Write,
            ),
            (
                "vector.scatter",
                format!("vector.scatter %a[%i, %j] [%x], %m, %v : {buffer}, {index}, {m}, {v}"),
                Role::Write,
            ),
        ] {
            let read = function(&arguments, &op);
            let maps = read.maps(name);
            let access = |operand: &str| maps.accesses.iter().find(|a| a.operand == operand);
            let of_buffer = access("%a").expect("the buffer");
            assert_eq!(of_buffer.role, role, "{}", read.text);
            for lane in 0..count {
                let mut touched = std::collections::BTreeSet::new();
                let mut asked = std::collections::BTreeSet::new();
                for mask in 0..1 << count {
                    let is_on = |k: i64| mask >> k & 1 == 1;
                    let before = (0..lane).filter(|&k| is_on(k)).count() as i64;
                    let distance = match name {
                        "vector.scatter" => table[lane as usize],
                        "vector.expandload" | "vector.compressstore" => before,
                        _ => lane,
                    };
                    if is_on(lane) {
                        touched.insert(vec![row, column + distance]);
                    }
                    match name {
                        "vector.expandload" | "vector.compressstore" => {
                            (0..=lane).for_each(|k| _ = asked.insert(vec![k]));
                        }
                        _ => _ = asked.insert(vec![lane]),
                    }
                }
                let told = |operand: &str| -> Vec<Vec<i64>> {
                    let mut told = evaluated(access(operand).expect("it is read"), &[lane], &values);
                    told.sort();
                    told
                };
                assert_eq!(told("%a"), Vec::from_iter(touched), "{lane} of {}", read.text);
                assert_eq!(told("%m"), Vec::from_iter(asked), "{lane} of {}", read.text);
                if role == Role::Read {
                    assert_eq!(told("%v"), [[lane]], "{}", read.text);
                }
            }
        }
        let wide = vector(&[2 * count]);
        let read =
            function(&[format!("%v: {wide}")], &format!("%e, %o = vector.deinterleave %v : {wide} -> {v}"));
        check_reads(&read, "vector.deinterleave", &[count], &none, &|p| one("%v", vec![2 * p[0]]));
    }
}
