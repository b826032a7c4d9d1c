//! Ops of the tensor dialect, compared with evaluating them element by element as their documentation says.

use op_reads::*;

/// A list of numbers as written, some of them as values of the function.
struct Numbers {
    arguments: Vec<String>,
    values: Vec<(String, i64)>,
}

impl Numbers {
    fn new() -> Numbers {
        Numbers { arguments: Vec::new(), values: Vec::new() }
    }

    fn list(&mut self, numbers: &[i64], random: &mut Rng) -> String {
        let mut shown = Vec::new();
        for &n in numbers {
            if random.below(0..3) == 0 {
                let name = format!("%n{}", self.values.len());
                self.arguments.push(format!("{name}: index"));
                self.values.push((name.clone(), n));
                shown.push(name);
            } else {
                shown.push(n.to_string());
            }
        }
        format!("[{}]", shown.join(", "))
    }

    fn find(&self, name: &str) -> Option<i64> {
        self.values.iter().find(|(n, _)| n == name).map(|(_, v)| *v)
    }
}

/// Whether each entry of a written list is a value.
fn are_values(list: &str) -> Vec<bool> {
    list.trim_matches(['[', ']']).split(", ").map(|entry| entry.starts_with('%')).collect()
}

#[test]
fn extract_slice() {
    let mut random = Rng::new(1);
    for _ in 0..600 {
        let shape = random.shape(1..4, 1..7);
        let mut numbers = Numbers::new();
        let [offsets, sizes, strides] = window(&mut random, &shape, 2);
        let dynamic = flags(&mut random, shape.len());
        let [o, z, s] = [&offsets, &sizes, &strides].map(|list| numbers.list(list, &mut random));
        let is_value = are_values(&z);
        // Leading static dimensions of extent 1 may be dropped.
        let drop = random.flag();
        let kept: Vec<bool> = (0..shape.len()).map(|k| !(drop && sizes[k] == 1 && !is_value[k])).collect();
        let pick =
            |list: &[i64]| -> Vec<i64> { (0..shape.len()).filter(|&k| kept[k]).map(|k| list[k]).collect() };
        let result = pick(&sizes);
        let result_dynamic: Vec<bool> = (0..shape.len()).filter(|&k| kept[k]).map(|k| is_value[k]).collect();
        let mut arguments = vec![format!("%a: {}", ty("tensor", &shape, "f32", &dynamic))];
        arguments.extend(numbers.arguments.clone());
        let op = format!(
            "%r = tensor.extract_slice %a{o} {z} {s} : {} to {}",
            ty("tensor", &shape, "f32", &dynamic),
            ty("tensor", &result, "f32", &result_dynamic)
        );
        let read = function(&arguments, &op);
        let values = |name: &str, _: &[i64]| {
            numbers.find(name).or_else(|| extent(name, &[("%a", &shape), ("%r", &result)]))
        };
        check_reads(&read, "tensor.extract_slice", &result, &values, &|point| {
            let mut reads = Reads::new();
            let mut point = point.iter();
            let place = (0..shape.len())
                .map(|k| offsets[k] + if kept[k] { strides[k] * point.next().unwrap() } else { 0 })
                .collect();
            op_reads::read(&mut reads, "%a", place);
            reads
        });
    }
}

#[test]
fn insert_slice() {
    let mut random = Rng::new(2);
    for _ in 0..400 {
        let shape = random.shape(1..4, 1..6);
        let mut numbers = Numbers::new();
        let [offsets, sizes, strides] = window(&mut random, &shape, 3);
        let [o, z, s] = [&offsets, &sizes, &strides].map(|list| numbers.list(list, &mut random));
        let is_value = are_values(&z);
        let drop = random.flag();
        let kept: Vec<bool> = (0..shape.len()).map(|k| !(drop && sizes[k] == 1 && !is_value[k])).collect();
        let part: Vec<i64> = (0..shape.len()).filter(|&k| kept[k]).map(|k| sizes[k]).collect();
        let part_dynamic: Vec<bool> = (0..shape.len()).filter(|&k| kept[k]).map(|k| is_value[k]).collect();
        let dynamic = flags(&mut random, shape.len());
        let (whole, part_type) =
            (ty("tensor", &shape, "f32", &dynamic), ty("tensor", &part, "f32", &part_dynamic));
        let mut arguments = vec![format!("%t: {whole}"), format!("%s: {part_type}")];
        arguments.extend(numbers.arguments.clone());
        let read = function(
            &arguments,
            &format!("%r = tensor.insert_slice %s into %t{o} {z} {s} : {part_type} into {whole}"),
        );
        let values = |name: &str, _: &[i64]| {
            numbers.find(name).or_else(|| extent(name, &[("%t", &shape), ("%s", &part)]))
        };
        check_reads(&read, "tensor.insert_slice", &shape, &values, &|point| {
            let mut reads = Reads::new();
            // Goes through the window; at most one write hits each element.
            let hit = indices(&sizes)
                .into_iter()
                .find(|i| (0..shape.len()).all(|k| offsets[k] + strides[k] * i[k] == point[k]));
            match hit {
                Some(i) => {
                    let place = (0..shape.len()).filter(|&k| kept[k]).map(|k| i[k]).collect();
                    op_reads::read(&mut reads, "%s", place);
                }
                None => op_reads::read(&mut reads, "%t", point.to_vec()),
            }
            reads
        });
    }
}

/// The wide shape, the groups, and the product of each group.
fn grouped(random: &mut Rng) -> (Vec<i64>, Vec<Vec<usize>>, Vec<i64>) {
    let groups = random.below(1..4);
    let (mut shape, mut all, mut products): (Vec<i64>, _, Vec<i64>) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..groups {
        let group: Vec<usize> = (0..random.below(1..4)).map(|k| shape.len() + k as usize).collect();
        // Few elements: the search is exhaustive.
        let most = if shape.iter().product::<i64>() > 30 { 3 } else { 5 };
        let extents: Vec<i64> = group.iter().map(|_| random.below(1..most)).collect();
        products.push(extents.iter().product());
        shape.extend(extents);
        all.push(group);
    }
    (shape, all, products)
}

fn shown(groups: &[Vec<usize>]) -> String {
    format!("{groups:?}")
}

#[test]
fn collapse_and_expand_shape() {
    let mut random = Rng::new(3);
    for _ in 0..400 {
        let (wide, groups, narrow) = grouped(&mut random);
        // A group is dynamic if one of its dimensions is.
        let dynamic: Vec<bool> = (0..wide.len()).map(|_| random.below(0..4) == 0).collect();
        let narrow_dynamic: Vec<bool> = groups.iter().map(|g| g.iter().any(|&k| dynamic[k])).collect();
        let (wide_type, narrow_type) =
            (ty("tensor", &wide, "f32", &dynamic), ty("tensor", &narrow, "f32", &narrow_dynamic));
        let all_wide = indices(&wide);
        let linear = |index: &[i64], shape: &[i64]| index.iter().zip(shape).fold(0, |l, (i, n)| l * n + i);
        let of_wide = |index: &[i64]| -> Vec<i64> {
            let part = |list: &[i64], g: &[usize]| g.iter().map(|&k| list[k]).collect::<Vec<_>>();
            groups.iter().map(|g| linear(&part(index, g), &part(&wide, g))).collect()
        };
        let values = |name: &str, _: &[i64]| extent(name, &[("%a", &wide), ("%b", &narrow), ("%r", &wide)]);
        let read = function(
            &[format!("%a: {wide_type}")],
            &format!("%r0 = tensor.collapse_shape %a {} : {wide_type} into {narrow_type}", shown(&groups)),
        );
        check_reads(&read, "tensor.collapse_shape", &narrow, &values, &|point| {
            let mut reads = Reads::new();
            let found = all_wide.iter().find(|i| of_wide(i) == point).expect("each has one");
            op_reads::read(&mut reads, "%a", found.clone());
            reads
        });
        let read = function(
            &[format!("%b: {narrow_type}")],
            &format!("%r = tensor.expand_shape %b {} : {narrow_type} into {wide_type}", shown(&groups)),
        );
        check_reads(&read, "tensor.expand_shape", &wide, &values, &|point| {
            let mut reads = Reads::new();
            op_reads::read(&mut reads, "%b", of_wide(point));
            reads
        });
    }
}

#[test]
fn pad() {
    let mut random = Rng::new(4);
    for _ in 0..300 {
        let shape = random.shape(1..4, 1..5);
        let mut numbers = Numbers::new();
        let low: Vec<i64> = shape.iter().map(|_| random.below(0..3)).collect();
        let high: Vec<i64> = shape.iter().map(|_| random.below(0..3)).collect();
        let (l, h) = (numbers.list(&low, &mut random), numbers.list(&high, &mut random));
        let result: Vec<i64> = (0..shape.len()).map(|k| shape[k] + low[k] + high[k]).collect();
        let is_value = |list: &str| -> Vec<bool> {
            list.trim_matches(['[', ']']).split(", ").map(|w| w.starts_with('%')).collect()
        };
        let dynamic: Vec<bool> = is_value(&l).iter().zip(is_value(&h)).map(|(a, b)| *a || b).collect();
        let mut arguments = vec![format!("%a: {}", tensor(&shape)), "%v: f32".to_owned()];
        arguments.extend(numbers.arguments.clone());
        let bound: Vec<String> = (0..shape.len()).map(|k| format!("%i{k}: index")).collect();
        let op = format!(
            "\
%r = tensor.pad %a low{l} high{h} {{
  ^bb0({}):
    tensor.yield %v : f32
  }} : {} to {}",
            bound.join(", "),
            tensor(&shape),
            ty("tensor", &result, "f32", &dynamic)
        );
        let read = function(&arguments, &op);
        let values = |name: &str, _: &[i64]| numbers.find(name).or_else(|| extent(name, &[("%r", &result)]));
        check_reads(&read, "tensor.pad", &result, &values, &|point| {
            let mut reads = Reads::new();
            let inner: Vec<i64> = (0..shape.len()).map(|k| point[k] - low[k]).collect();
            match inner.iter().zip(&shape).all(|(i, n)| (0..*n).contains(i)) {
                true => op_reads::read(&mut reads, "%a", inner),
                false => op_reads::read(&mut reads, "%v", Vec::new()),
            }
            reads
        });
    }
}

#[test]
fn concat() {
    let mut random = Rng::new(5);
    for _ in 0..200 {
        let shape = random.shape(1..4, 1..4);
        let dim = random.below(0..shape.len() as i64) as usize;
        let parts: Vec<Vec<i64>> = (0..random.below(1..4))
            .map(|_| {
                let mut part = shape.clone();
                part[dim] = random.below(1..4);
                part
            })
            .collect();
        let dynamic: Vec<Vec<bool>> = parts.iter().map(|p| flags(&mut random, p.len())).collect();
        let types: Vec<String> = parts.iter().zip(&dynamic).map(|(p, d)| ty("tensor", p, "f32", d)).collect();
        let mut result = shape.clone();
        result[dim] = parts.iter().map(|p| p[dim]).sum();
        let all: Vec<bool> = (0..shape.len())
            .map(|k| if k == dim { dynamic.iter().any(|d| d[k]) } else { dynamic.iter().all(|d| d[k]) })
            .collect();
        let names: Vec<String> = (0..parts.len()).map(|n| format!("%a{n}")).collect();
        let arguments: Vec<String> = names.iter().zip(&types).map(|(n, t)| format!("{n}: {t}")).collect();
        let op = format!(
            "%r = tensor.concat dim({dim}) {} : ({}) -> {}",
            names.join(", "),
            types.join(", "),
            ty("tensor", &result, "f32", &all)
        );
        let read = function(&arguments, &op);
        let shapes: Vec<(&str, &[i64])> =
            names.iter().map(String::as_str).zip(parts.iter().map(Vec::as_slice)).collect();
        let values = |name: &str, _: &[i64]| extent(name, &shapes);
        check_reads(&read, "tensor.concat", &result, &values, &|point| {
            let mut reads = Reads::new();
            let mut place = point.to_vec();
            for (name, part) in names.iter().zip(&parts) {
                if place[dim] < part[dim] {
                    op_reads::read(&mut reads, name, place);
                    break;
                }
                place[dim] -= part[dim];
            }
            reads
        });
    }
}

#[test]
fn gather() {
    let mut random = Rng::new(6);
    for _ in 0..200 {
        let shape = random.shape(1..4, 1..5);
        let batch = random.shape(0..3, 1..4);
        let count = random.below(1..shape.len() as i64 + 1) as usize;
        let mut dims = random.permutation(shape.len());
        dims.truncate(count);
        dims.sort_unstable();
        let is_reduced = random.flag();
        let mut result = batch.clone();
        for (k, &n) in shape.iter().enumerate() {
            match dims.contains(&k) {
                true if is_reduced => {}
                true => result.push(1),
                false => result.push(n),
            }
        }
        let mut index_shape = batch.clone();
        index_shape.push(count as i64);
        let table: Vec<i64> =
            (0..index_shape.iter().product::<i64>()).map(|_| random.next_u64() as i64 & 0xff).collect();
        let component = |index: &[i64]| -> i64 {
            let linear = index.iter().zip(&index_shape).fold(0, |l, (i, n)| l * n + i);
            table[linear as usize] % shape[dims[*index.last().unwrap() as usize]]
        };
        let index_type = ty("tensor", &index_shape, "index", &[]);
        let read = function(
            &[format!("%a: {}", tensor(&shape)), format!("%i: {index_type}")],
            &format!(
                "%r = tensor.gather %a[%i] gather_dims({dims:?}) : ({}, {index_type}) -> {}",
                tensor(&shape),
                tensor(&result)
            ),
        );
        let values = |_: &str, index: &[i64]| Some(component(index));
        check_reads(&read, "tensor.gather", &result, &values, &|point| {
            let mut reads = Reads::new();
            let (at, inner) = point.split_at(batch.len());
            let mut inner = inner.iter();
            let mut place = Vec::new();
            for k in 0..shape.len() {
                match dims.iter().position(|&d| d == k) {
                    Some(nth) => {
                        if !is_reduced {
                            inner.next();
                        }
                        place.push(component(&[at, &[nth as i64]].concat()));
                    }
                    None => place.push(*inner.next().unwrap()),
                }
            }
            op_reads::read(&mut reads, "%a", place);
            for nth in 0..count {
                op_reads::read(&mut reads, "%i", [at, &[nth as i64]].concat());
            }
            reads
        });
    }
}

#[test]
fn single_elements() {
    let mut random = Rng::new(7);
    for _ in 0..100 {
        let shape = random.shape(1..4, 1..4);
        let at: Vec<i64> = shape.iter().map(|&n| random.below(0..n)).collect();
        let names: Vec<String> = (0..shape.len()).map(|k| format!("%i{k}")).collect();
        let mut arguments = vec![format!("%t: {}", tensor(&shape)), "%v: f32".to_owned()];
        arguments.extend(names.iter().map(|n| format!("{n}: index")));
        let read = function(
            &arguments,
            &format!("%r = tensor.insert %v into %t[{}] : {}", names.join(", "), tensor(&shape)),
        );
        let values = |name: &str, _: &[i64]| names.iter().position(|n| n == name).map(|k| at[k]);
        check_reads(&read, "tensor.insert", &shape, &values, &|point| {
            let mut reads = Reads::new();
            match point == at {
                true => op_reads::read(&mut reads, "%v", Vec::new()),
                false => op_reads::read(&mut reads, "%t", point.to_vec()),
            }
            reads
        });
        let elements: Vec<String> =
            indices(&shape).iter().enumerate().map(|(n, _)| format!("%e{n}")).collect();
        let arguments: Vec<String> = elements.iter().map(|e| format!("{e}: f32")).collect();
        let read = function(
            &arguments,
            &format!("%r = tensor.from_elements {} : {}", elements.join(", "), tensor(&shape)),
        );
        check_reads(&read, "tensor.from_elements", &shape, &|_, _| None, &|point| {
            let mut reads = Reads::new();
            let nth = indices(&shape).iter().position(|i| i == point).unwrap();
            op_reads::read(&mut reads, &elements[nth], Vec::new());
            reads
        });
    }
}
