//! `stablehlo.scatter` of arrays with dynamic extents, by the steps of the specification.

use op_reads::*;

use crate::function;

#[test]
fn updates_land_where_the_indices_say() {
    let mut random = Rng::new(81);
    for _ in 0..200 {
        let shape = random.shape(1..4, 1..4);
        let rank = shape.len();
        // One dimension of the input may be a batching dimension with one of the indices.
        let batched = (random.below(0..3) == 0 && rank > 1).then(|| random.below(0..rank as i64) as usize);
        let sizes: Vec<i64> = shape.iter().map(|&n| random.below(1..n + 1)).collect();
        let inserted: Vec<usize> =
            (0..rank).filter(|&k| Some(k) != batched && sizes[k] == 1 && random.flag()).collect();
        let mut indexed: Vec<usize> =
            random.permutation(rank).into_iter().filter(|&k| Some(k) != batched).collect();
        indexed.truncate(random.below(1..indexed.len() as i64 + 1) as usize);
        let mut walked = random.shape(0..2, 1..3);
        let walked_batch = batched.map(|k| {
            let at = random.below(0..walked.len() as i64 + 1) as usize;
            walked.insert(at, shape[k]);
            at
        });
        let vector = random.below(0..walked.len() as i64 + 1) as usize;
        let mut index_shape = walked.clone();
        index_shape.insert(vector, indexed.len() as i64);
        let window: Vec<usize> = (0..rank).filter(|k| !inserted.contains(k) && Some(*k) != batched).collect();
        let update_rank = walked.len() + window.len();
        let mut window_dims = random.permutation(update_rank);
        window_dims.truncate(window.len());
        window_dims.sort_unstable();
        let (mut w, mut b) = (window.iter(), walked.iter());
        let update: Vec<i64> = (0..update_rank)
            .map(|d| if window_dims.contains(&d) { sizes[*w.next().unwrap()] } else { *b.next().unwrap() })
            .collect();
        let (from, with) = (flags(&mut random, rank), flags(&mut random, update_rank));
        // Some starts are out of bounds; those updates are skipped. If only one start is possible, it is that
        // one.
        let table: Vec<i64> = indices(&index_shape).iter().map(|_| random.below(0..4)).collect();
        let all_indices = indices(&index_shape);
        let start = |index: &[i64]| {
            let k = indexed[index[vector] as usize];
            let is_known =
                !from[k] && window.iter().position(|&w| w == k).is_none_or(|nth| !with[window_dims[nth]]);
            let is_only = is_known && (sizes[k] == shape[k] || inserted.contains(&k) && shape[k] == 1);
            if is_only { 0 } else { table[all_indices.iter().position(|i| i == index).unwrap()] }
        };
        let (a, u) = (ty("tensor", &shape, "f32", &from), ty("tensor", &update, "f32", &with));
        let i = ty("tensor", &index_shape, "i32", &[]);
        // Index dimensions are numbered including the component dimension.
        let index_batching: Vec<usize> =
            walked_batch.iter().map(|&at| if at >= vector { at + 1 } else { at }).collect();
        let batching: Vec<usize> = batched.into_iter().collect();
        let read = function(
            &[format!("%a: {a}, %i: {i}, %u: {u}")],
            &format!(
                r#"%r = "stablehlo.scatter"(%a, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = {window_dims:?}, inserted_window_dims = {inserted:?}, input_batching_dims = {batching:?}, scatter_indices_batching_dims = {index_batching:?}, scatter_dims_to_operand_dims = {indexed:?}, index_vector_dim = {vector}>}}> ({{
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }}) : ({a}, {i}, {u}) -> {a}"#
            ),
        );
        let values = |name: &str, index: &[i64]| match name {
            "%i" => Some(start(index)),
            _ => extent(name, &[("%a", &shape), ("%u", &update)]),
        };
        // The input index where each update lands.
        let lands = |place: &[i64]| -> Option<Vec<i64>> {
            let walk: Vec<i64> =
                (0..update_rank).filter(|d| !window_dims.contains(d)).map(|d| place[d]).collect();
            let mut first = vec![0; rank];
            for (nth, &k) in indexed.iter().enumerate() {
                let mut index = walk.clone();
                index.insert(vector, nth as i64);
                first[k] = start(&index);
            }
            if let (Some(k), Some(at)) = (batched, walked_batch) {
                first[k] = walk[at];
            }
            let is_inside = (0..rank).all(|k| {
                let size = if window.contains(&k) { sizes[k] } else { 1 };
                first[k] + size <= shape[k]
            });
            window.iter().zip(&window_dims).for_each(|(&k, &d)| first[k] += place[d]);
            is_inside.then_some(first)
        };
        check_reads(&read, "stablehlo.scatter", &shape, &values, &|p| {
            let mut reads = one("%a", p.to_vec());
            indices(&index_shape).into_iter().for_each(|i| op_reads::read(&mut reads, "%i", i));
            for place in indices(&update).into_iter().filter(|place| lands(place).as_deref() == Some(p)) {
                op_reads::read(&mut reads, "%u", place);
            }
            reads
        });
    }
}
