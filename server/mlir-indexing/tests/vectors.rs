//! Vector ops, compared with evaluating them element by element as their documentation says.

use op_reads::*;

#[test]
fn transfers() {
    let mut random = Rng::new(21);
    for _ in 0..400 {
        let shape = random.shape(1..4, 2..6);
        // A permutation of some dimensions; a read may repeat one element along some.
        let mut along = random.permutation(shape.len());
        along.truncate(random.below(1..shape.len() as i64 + 1) as usize);
        let sizes: Vec<i64> = along.iter().map(|_| random.below(1..5)).collect();
        let is_broadcast: Vec<bool> = along.iter().map(|_| random.below(0..5) == 0).collect();
        let bases: Vec<i64> = shape.iter().map(|&n| random.below(0..n)).collect();
        let in_bounds: Vec<bool> = (0..along.len())
            .map(|j| is_broadcast[j] || bases[along[j]] + sizes[j] <= shape[along[j]])
            .collect();
        let dims: Vec<String> = (0..shape.len()).map(|k| format!("d{k}")).collect();
        let results = |broadcast: bool| -> String {
            let of = |j: usize| {
                if broadcast && is_broadcast[j] { "0".to_owned() } else { format!("d{}", along[j]) }
            };
            (0..along.len()).map(of).collect::<Vec<_>>().join(", ")
        };
        let names: Vec<String> = (0..shape.len()).map(|k| format!("%i{k}")).collect();
        let array = tensor(&shape);
        let mut arguments =
            vec![format!("%a: {array}"), "%p: f32".to_owned(), format!("%v: {}", vector(&sizes))];
        arguments.extend(names.iter().map(|n| format!("{n}: index")));
        let map = |results: String| format!("affine_map<({}) -> ({results})>", dims.join(", "));
        let values = |name: &str, _: &[i64]| names.iter().position(|n| n == name).map(|k| bases[k]);
        let read = function(
            &arguments,
            &format!(
                "%r = vector.transfer_read %a[{}], %p {{in_bounds = {in_bounds:?}, permutation_map = {}}} : {array}, {}",
                names.join(", "),
                map(results(true)),
                vector(&sizes)
            ),
        );
        let place = |point: &[i64], broadcast: bool| -> Option<Vec<i64>> {
            let mut place = bases.clone();
            for (j, &k) in along.iter().enumerate() {
                place[k] += if broadcast && is_broadcast[j] { 0 } else { point[j] };
            }
            place.iter().zip(&shape).all(|(i, n)| i < n).then_some(place)
        };
        let maps = read.maps("vector.transfer_read");
        for point in indices(&sizes) {
            let found = evaluated(&maps.accesses[0], &point, &values);
            assert_eq!(
                found,
                place(&point, true).into_iter().collect::<Vec<_>>(),
                "{point:?} of {}",
                read.text
            );
        }
        let inside: Vec<bool> =
            (0..along.len()).map(|j| bases[along[j]] + sizes[j] <= shape[along[j]]).collect();
        let written = function(
            &arguments,
            &format!(
                "%r = vector.transfer_write %v, %a[{}] {{in_bounds = {inside:?}, permutation_map = {}}} : {}, {array}",
                names.join(", "),
                map(results(false)),
                vector(&sizes)
            ),
        );
        check_reads(&written, "vector.transfer_write", &shape, &values, &|point| {
            let hit = indices(&sizes).into_iter().find(|i| place(i, false).as_deref() == Some(point));
            match hit {
                Some(i) => one("%v", i),
                None => one("%a", point.to_vec()),
            }
        });
        // The same into a buffer.
        let buffer = ty("memref", &shape, "f32", &[]);
        arguments[0] = format!("%a: {buffer}");
        let stored = function(
            &arguments,
            &format!(
                "vector.transfer_write %v, %a[{}] {{in_bounds = {inside:?}, permutation_map = {}}} : {}, {buffer}",
                names.join(", "),
                map(results(false)),
                vector(&sizes)
            ),
        );
        let maps = stored.maps("vector.transfer_write");
        for point in indices(&sizes) {
            let found = evaluated(&maps.accesses[0], &point, &values);
            assert_eq!(found, place(&point, false).into_iter().collect::<Vec<_>>(), "{}", stored.text);
        }
    }
}

#[test]
fn parts_of_vectors() {
    let mut random = Rng::new(22);
    for _ in 0..200 {
        let shape = random.shape(1..4, 1..5);
        let whole = vector(&shape);
        let count = random.below(0..shape.len() as i64) as usize;
        let position: Vec<i64> = shape[..count].iter().map(|&n| random.below(0..n)).collect();
        let part = shape[count..].to_vec();
        if count > 0 {
            let read = function(
                &[format!("%v: {whole}"), format!("%s: {}", vector(&part))],
                &format!("%r = vector.extract %v{position:?} : {} from {whole}", vector(&part)),
            );
            check_reads(&read, "vector.extract", &part, &none, &|p| one("%v", [&position, p].concat()));
            let read = function(
                &[format!("%v: {whole}"), format!("%s: {}", vector(&part))],
                &format!("%r = vector.insert %s, %v{position:?} : {} into {whole}", vector(&part)),
            );
            check_reads(&read, "vector.insert", &shape, &none, &|p| match p[..count] == position {
                true => one("%s", p[count..].to_vec()),
                false => one("%v", p.to_vec()),
            });
        }
        let mut offsets = Vec::new();
        let mut sizes = Vec::new();
        for &n in &shape {
            let offset = random.below(0..n);
            offsets.push(offset);
            sizes.push(random.below(1..n - offset + 1));
        }
        let ones = vec![1; shape.len()];
        let read = function(
            &[format!("%v: {whole}")],
            &format!(
                "%r = vector.extract_strided_slice %v {{offsets = {offsets:?}, sizes = {sizes:?}, strides = {ones:?}}} : {whole} to {}",
                vector(&sizes)
            ),
        );
        check_reads(&read, "vector.extract_strided_slice", &sizes, &none, &|p| {
            one("%v", p.iter().zip(&offsets).map(|(i, o)| i + o).collect())
        });
        // A part of lower rank goes into the trailing dimensions.
        let first = random.below(0..shape.len() as i64) as usize;
        let small = sizes[first..].to_vec();
        let read = function(
            &[format!("%s: {}", vector(&small)), format!("%v: {whole}")],
            &format!(
                "%r = vector.insert_strided_slice %s, %v {{offsets = {offsets:?}, strides = {:?}}} : {} into {whole}",
                &ones[first..],
                vector(&small)
            ),
        );
        check_reads(&read, "vector.insert_strided_slice", &shape, &none, &|p| {
            let inner: Vec<i64> = p.iter().zip(&offsets).map(|(i, o)| i - o).collect();
            let is_hit = inner[..first].iter().all(|&i| i == 0)
                && inner[first..].iter().zip(&small).all(|(i, n)| (0..*n).contains(i));
            if is_hit { one("%s", inner[first..].to_vec()) } else { one("%v", p.to_vec()) }
        });
    }
}

#[test]
fn shapes_of_vectors() {
    let mut random = Rng::new(23);
    for _ in 0..150 {
        let shape = random.shape(1..4, 1..5);
        let order = random.permutation(shape.len());
        let result: Vec<i64> = order.iter().map(|&k| shape[k]).collect();
        let read = function(
            &[format!("%v: {}", vector(&shape))],
            &format!("%r = vector.transpose %v, {order:?} : {} to {}", vector(&shape), vector(&result)),
        );
        check_reads(&read, "vector.transpose", &result, &none, &|p| {
            let mut place = vec![0; shape.len()];
            order.iter().zip(p).for_each(|(&k, &i)| place[k] = i);
            one("%v", place)
        });
        // Adds leading dimensions, and widens some of extent 1.
        let small: Vec<i64> = shape.iter().map(|&n| if random.flag() { 1 } else { n }).collect();
        let mut wide = random.shape(0..3, 1..4);
        let front = wide.len();
        wide.extend(&shape);
        let read = function(
            &[format!("%v: {}", vector(&small))],
            &format!("%r = vector.broadcast %v : {} to {}", vector(&small), vector(&wide)),
        );
        check_reads(&read, "vector.broadcast", &wide, &none, &|p| {
            one("%v", p[front..].iter().zip(&small).map(|(&i, &n)| if n == 1 { 0 } else { i }).collect())
        });
        let mut cast: Vec<i64> = shape.iter().copied().filter(|&n| n > 1).collect();
        cast.insert(random.below(0..cast.len() as i64 + 1) as usize, 1);
        if random.flag() {
            cast = vec![shape.iter().product()];
        }
        let read = function(
            &[format!("%v: {}", vector(&shape))],
            &format!("%r = vector.shape_cast %v : {} to {}", vector(&shape), vector(&cast)),
        );
        let all = indices(&shape);
        let places = indices(&cast);
        check_reads(&read, "vector.shape_cast", &cast, &none, &|p| {
            let nth = places.iter().position(|i| i == p).unwrap();
            one("%v", all[nth].clone())
        });
        let mut reduced = random.permutation(shape.len());
        reduced.truncate(random.below(1..shape.len() as i64 + 1) as usize);
        reduced.sort_unstable();
        let kept: Vec<i64> = (0..shape.len()).filter(|k| !reduced.contains(k)).map(|k| shape[k]).collect();
        let read = function(
            &[format!("%v: {}", vector(&shape)), format!("%c: {}", vector(&kept))],
            &format!(
                "%r = vector.multi_reduction <add>, %v, %c {reduced:?} : {} to {}",
                vector(&shape),
                vector(&kept)
            ),
        );
        check_reads(&read, "vector.multi_reduction", &kept, &none, &|p| {
            let mut reads = one("%c", p.to_vec());
            for i in indices(&shape) {
                let rest: Vec<i64> =
                    (0..shape.len()).filter(|k| !reduced.contains(k)).map(|k| i[k]).collect();
                if rest == p {
                    op_reads::read(&mut reads, "%v", i);
                }
            }
            reads
        });
        let (a, b) = (shape[0], *shape.last().unwrap());
        let read = function(
            &[format!("%a: {}", vector(&[a])), format!("%b: {}", vector(&[b]))],
            &format!("%r = vector.outerproduct %a, %b : {}, {}", vector(&[a]), vector(&[b])),
        );
        let maps = read.maps("vector.outerproduct");
        for p in indices(&[a, b]) {
            assert_eq!(evaluated(&maps.accesses[0], &p, &none), [vec![p[0]]]);
            assert_eq!(evaluated(&maps.accesses[1], &p, &none), [vec![p[1]]]);
        }
    }
}

#[test]
fn contract_and_gather() {
    let mut random = Rng::new(24);
    for _ in 0..60 {
        let (m, n, k) = (random.below(1..5), random.below(1..5), random.below(1..5));
        let read = function(
            &[
                format!("%a: {}", vector(&[m, k])),
                format!("%b: {}", vector(&[n, k])),
                format!("%c: {}", vector(&[m, n])),
            ],
            &format!(
                "%r = vector.contract {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\", \"reduction\"], kind = #vector.kind<add>}} %a, %b, %c : {}, {} into {}",
                vector(&[m, k]),
                vector(&[n, k]),
                vector(&[m, n])
            ),
        );
        check_reads(&read, "vector.contract", &[m, n], &none, &|p| {
            let mut reads = one("%c", p.to_vec());
            for k in 0..k {
                op_reads::read(&mut reads, "%a", vec![p[0], k]);
                op_reads::read(&mut reads, "%b", vec![p[1], k]);
            }
            reads
        });
        let (rows, columns, count) = (random.below(1..5), random.below(4..9), random.below(1..5));
        let table: Vec<i64> = (0..count).map(|_| random.below(0..columns)).collect();
        let row = random.below(0..rows);
        let read = function(
            &[
                format!("%a: {}", ty("memref", &[rows, columns], "f32", &[])),
                "%row: index, %zero: index".to_owned(),
                format!("%i: {}", ty("vector", &[count], "index", &[])),
                format!("%m: {}", ty("vector", &[count], "i1", &[])),
                format!("%p: {}", vector(&[count])),
            ],
            &format!(
                "%r = vector.gather %a[%row, %zero] [%i], %m, %p : {}, vector<{count}xindex>, vector<{count}xi1>, {} into {}",
                ty("memref", &[rows, columns], "f32", &[]),
                vector(&[count]),
                vector(&[count])
            ),
        );
        let values = |name: &str, index: &[i64]| match name {
            "%row" => Some(row),
            "%zero" => Some(0),
            _ => Some(table[index[0] as usize]),
        };
        let maps = read.maps("vector.gather");
        for p in indices(&[count]) {
            assert_eq!(evaluated(&maps.accesses[0], &p, &values), [vec![row, table[p[0] as usize]]]);
        }
    }
}

/// No list of numbers overflows.
#[test]
fn shuffles_of_large_numbers_end() {
    let long = ty("vector", &[i64::MAX], "f32", &[]);
    for list in [
        "0, 9223372036854775806, 1",
        "9223372036854775806, 0, 9223372036854775806, 0",
        "0, 4611686018427387904, 1, 2",
    ] {
        let op = format!("%r = vector.shuffle %a, %a [{list}] : {long}, {long}");
        let read = function(&[format!("%a: {long}")], &op);
        let source = mlir_ops::Source::alone(&read.parse, &read.text);
        let maps = mlir_indexing::op_maps(&source, read.op("vector.shuffle"), 0);
        assert!(maps.is_some(), "{list}");
    }
}
