//! As `generate.rs`, for ops whose elements depend on rows, triangles, or runtime indices.

use crate::generate::{Program, list};
use crate::generate_contractions::Window;
use crate::reference::{Tags, Tensor, both, indices, position};

impl Program {
    /// Adds an instruction with several results, and the element with number `index`.
    fn push_element(
        &mut self,
        opcode: &str,
        operands: &[usize],
        attributes: &str,
        results: &[Tensor],
        index: usize,
    ) -> usize {
        let shapes: Vec<String> = results.iter().map(|t| format!("f32[{}]", list(&t.dims))).collect();
        let names: Vec<&str> = operands.iter().map(|&i| self.names[i].as_str()).collect();
        let tuple = format!("t{}", self.tensors.len());
        let line = format!("{tuple} = ({}) {opcode}({}), {attributes}", shapes.join(", "), names.join(", "));
        self.lines.push(line);
        self.add(
            &format!("get-tuple-element({tuple}), index={index}"),
            results[index].clone(),
            (0..results[index].dims.len()).collect(),
            "f32",
        )
    }

    fn row(&self, a: usize, at: &[i64], dims: &[usize]) -> Tags {
        let sizes: Vec<i64> = dims.iter().map(|&d| self.tensors[a].dims[d]).collect();
        let mut tags = Tags::new();
        for offsets in indices(&sizes) {
            let mut index = at.to_vec();
            dims.iter().zip(offsets).for_each(|(&d, i)| index[d] = i);
            tags = both(tags, &self.tensors[a].at(&index));
        }
        tags
    }

    pub fn sort(&mut self, a: usize) -> usize {
        let dims = self.dims(a);
        let dim = self.random.range(0, dims.len() as i64 - 1) as usize;
        let keys = self.parameter(&dims);
        let out = Tensor::new(&dims, |i| both(self.row(a, i, &[dim]), &self.row(keys, i, &[dim])));
        self.push_element(
            "sort",
            &[a, keys],
            &format!("dimensions={{{dim}}}, to_apply=f"),
            &[out.clone(), out],
            1,
        )
    }

    pub fn topk(&mut self, a: usize) -> usize {
        let mut dims = self.dims(a);
        let last = dims.len() - 1;
        dims[last] = self.random.range(1, dims[last]);
        let out = Tensor::new(&dims, |i| self.row(a, i, &[last]));
        let k = dims[last];
        self.push_element("topk", &[a], &format!("k={k}, largest=true"), &[out.clone(), out], 1)
    }

    pub fn scan(&mut self, a: usize) -> usize {
        let dims = self.dims(a);
        let dim = self.random.range(0, dims.len() as i64 - 1) as usize;
        let mut kept = dims.clone();
        kept.remove(dim);
        let carry = self.parameter(&kept);
        let is_reverse = self.random.one_in(2);
        let without = |i: &[i64]| [&i[..dim], &i[dim + 1..]].concat();
        let out = Tensor::new(&dims, |i| {
            let mut tags = self.tensors[carry].at(&without(i));
            for k in if is_reverse { i[dim]..dims[dim] } else { 0..i[dim] + 1 } {
                let mut index = i.to_vec();
                index[dim] = k;
                tags = both(tags, &self.tensors[a].at(&index));
            }
            tags
        });
        let last = Tensor::new(&kept, |i| {
            let mut index = i.to_vec();
            index.insert(dim, 0);
            both(self.tensors[carry].at(i), &self.row(a, &index, &[dim]))
        });
        let attributes = format!("dimensions={{{dim}}}, num_carries=1, is_reverse={is_reverse}, to_apply=f");
        let index = self.random.range(0, 1) as usize;
        self.push_element("scan", &[a, carry], &attributes, &[out, last], index)
    }

    /// The general form; windows that leave the operand are skipped.
    pub fn scatter(&mut self, a: usize) -> usize {
        let operand = self.dims(a);
        let rank = operand.len();
        // Per operand dimension: batching, inserted, or a window; with or without an index.
        let kinds: Vec<i64> = (0..rank).map(|_| self.random.range(0, 3)).collect();
        let of = |test: &dyn Fn(i64) -> bool| (0..rank).filter(|&d| test(kinds[d])).collect::<Vec<_>>();
        let (batching, inserted, windows) = (of(&|k| k == 0), of(&|k| k == 1), of(&|k| k > 1));
        let mut indexed: Vec<usize> =
            self.random.permutation(rank).into_iter().filter(|d| kinds[*d] != 0).collect();
        indexed.truncate(self.random.range(0, rank as i64) as usize);
        let window: Vec<i64> = windows.iter().map(|&d| self.random.range(1, operand[d])).collect();
        let more = self.random.range(0, 2) as usize;
        let order = self.random.permutation(batching.len() + more);
        let walked: Vec<i64> = order
            .iter()
            .map(|&w| if w < batching.len() { operand[batching[w]] } else { self.random.range(1, 3) })
            .collect();
        let vector_dim = self.random.range(0, walked.len() as i64) as usize;
        let is_implicit = indexed.len() == 1 && vector_dim == walked.len() && self.random.one_in(2);
        let mut index_dims = walked.clone();
        if !is_implicit {
            index_dims.insert(vector_dim, indexed.len() as i64);
        }
        let count: i64 = index_dims.iter().product();
        let values: Vec<i64> = (0..count).map(|_| self.random.range(-1, 4)).collect();
        let table = self.index_parameter(&index_dims, values.clone());
        // The positions of window and scatter dimensions in the updates.
        let mut is_window = vec![true; windows.len()];
        is_window.resize(windows.len() + walked.len(), false);
        let places = self.random.permutation(is_window.len());
        let is_window: Vec<bool> = places.iter().map(|&i| is_window[i]).collect();
        let (mut w, mut s) = (window.iter(), walked.iter());
        let update_dims: Vec<i64> =
            is_window.iter().map(|&is| *if is { w.next() } else { s.next() }.unwrap()).collect();
        let updates = self.parameter(&update_dims);

        let everything = self.tensors[table].all();
        let mut out = Tensor::new(&operand, |i| both(self.tensors[a].at(i), &everything));
        for u in indices(&update_dims) {
            let part = |window: bool| -> Vec<i64> {
                u.iter().zip(&is_window).filter(|(_, is)| **is == window).map(|(&i, _)| i).collect()
            };
            let (inside, walk) = (part(true), part(false));
            let mut start = vec![0; rank];
            let mut is_skipped = false;
            for (k, &d) in indexed.iter().enumerate() {
                let mut entry = walk.clone();
                if !is_implicit {
                    entry.insert(vector_dim, k as i64);
                }
                start[d] = values[position(&index_dims, &entry).unwrap() as usize];
                let size = windows.iter().position(|&w| w == d).map_or(1, |w| window[w]);
                is_skipped |= start[d] < 0 || start[d] + size > operand[d];
            }
            windows.iter().zip(inside).for_each(|(&d, i)| start[d] += i);
            for (k, &w) in order.iter().enumerate() {
                if w < batching.len() {
                    start[batching[w]] = walk[k];
                }
            }
            if !is_skipped {
                let at = position(&operand, &start).unwrap();
                out.elements[at as usize].extend(self.tensors[updates].at(&u));
            }
        }
        let window_dims: Vec<usize> = (0..update_dims.len()).filter(|&d| is_window[d]).collect();
        let indices_batching: Vec<usize> = (0..batching.len())
            .map(|b| order.iter().position(|&w| w == b).unwrap())
            .map(|k| k + usize::from(!is_implicit && k >= vector_dim))
            .collect();
        let attributes = format!(
            "update_window_dims={{{}}}, inserted_window_dims={{{}}}, scatter_dims_to_operand_dims={{{}}}, \
             input_batching_dims={{{}}}, scatter_indices_batching_dims={{{}}}, index_vector_dim={}, to_apply=f",
            list(&window_dims),
            list(&inserted),
            list(&indexed),
            list(&batching),
            list(&indices_batching),
            if is_implicit { index_dims.len() } else { vector_dim },
        );
        self.push("scatter", &[a, table, updates], &attributes, out)
    }

    /// The operand is compared in every window, and the source is added somewhere in its own.
    pub fn select_and_scatter(&mut self, a: usize) -> usize {
        let operand = self.dims(a);
        let windows: Vec<Window> =
            operand.iter().map(|&size| Window { base: 1, dilation: 1, ..self.window(size, false) }).collect();
        let dims: Vec<i64> = windows.iter().zip(&operand).map(|(w, &size)| w.output(size).max(0)).collect();
        let (source, init) = (self.parameter(&dims), self.parameter(&[]));
        let sizes: Vec<i64> = windows.iter().map(|w| w.size).collect();
        let mut out = Tensor::new(&operand, |_| self.tensors[init].all());
        for j in indices(&dims) {
            let places: Vec<Vec<i64>> = indices(&sizes)
                .iter()
                .filter_map(|k| (0..j.len()).map(|d| windows[d].place(operand[d], j[d], k[d])).collect())
                .collect();
            let mut tags = self.tensors[source].at(&j);
            places.iter().for_each(|place| tags.extend(self.tensors[a].at(place)));
            for place in places {
                out.elements[position(&operand, &place).unwrap() as usize].extend(&tags);
            }
        }
        let attributes = format!("{}, select=f, scatter=f", Window::text(&windows));
        self.push("select-and-scatter", &[a, source, init], &attributes, out)
    }

    pub fn batch_norm(&mut self, a: usize) -> usize {
        let dims = self.dims(a);
        let feature = self.random.range(0, dims.len() as i64 - 1) as usize;
        let others: Vec<usize> = (0..dims.len()).filter(|&d| d != feature).collect();
        let vector = [dims[feature]];
        let attributes = format!("epsilon=0.001, feature_index={feature}");
        let entry = |p: &Program, v: usize, i: &[i64]| p.tensors[v].at(&[i[feature]]);
        let at_feature = |f: &[i64]| {
            let mut index = vec![0; dims.len()];
            index[feature] = f[0];
            index
        };
        match self.random.range(0, 2) {
            0 => {
                let [scale, offset] = [0; 2].map(|_| self.parameter(&vector));
                let x = Tensor::new(&dims, |i| {
                    both(both(self.row(a, i, &others), &entry(self, scale, i)), &entry(self, offset, i))
                });
                let mean = Tensor::new(&vector, |f| self.row(a, &at_feature(f), &others));
                let index = self.random.range(0, 2) as usize;
                self.push_element(
                    "batch-norm-training",
                    &[a, scale, offset],
                    &attributes,
                    &[x, mean.clone(), mean],
                    index,
                )
            }
            1 => {
                let vectors = [0; 4].map(|_| self.parameter(&vector));
                let out = Tensor::new(&dims, |i| {
                    vectors.iter().fold(self.tensors[a].at(i), |tags, &v| both(tags, &entry(self, v, i)))
                });
                let operands = [&[a], vectors.as_slice()].concat();
                self.push("batch-norm-inference", &operands, &attributes, out)
            }
            _ => {
                let vectors = [0; 3].map(|_| self.parameter(&vector));
                let gradient = self.parameter(&dims);
                let of = |i: &[i64], x: bool, used: &[usize]| {
                    let mut tags = self.row(gradient, i, &others);
                    if x {
                        tags = both(tags, &self.row(a, i, &others));
                    }
                    used.iter().fold(tags, |tags, &v| both(tags, &entry(self, v, i)))
                };
                let results = [
                    Tensor::new(&dims, |i| of(i, true, &vectors)),
                    Tensor::new(&vector, |f| of(&at_feature(f), true, &vectors[1..])),
                    Tensor::new(&vector, |f| of(&at_feature(f), false, &[])),
                ];
                let index = self.random.range(0, 2) as usize;
                let operands = [&[a], vectors.as_slice(), &[gradient]].concat();
                self.push_element("batch-norm-grad", &operands, &attributes, &results, index)
            }
        }
    }

    pub fn fft(&mut self, a: usize) -> usize {
        let operand = self.dims(a);
        let count = self.random.range(1, operand.len().min(3) as i64) as usize;
        let transformed: Vec<usize> = (operand.len() - count..operand.len()).collect();
        let last = operand.len() - 1;
        let kind = ["FFT", "RFFT", "IRFFT"][self.random.range(0, 2) as usize];
        let mut dims = operand.clone();
        match kind {
            "RFFT" => dims[last] = operand[last] / 2 + 1,
            "IRFFT" => dims[last] = (operand[last] - 1) * 2 + 1,
            _ => {}
        }
        let lengths: Vec<i64> =
            transformed.iter().map(|&d| if kind == "RFFT" { operand[d] } else { dims[d] }).collect();
        let out = Tensor::new(&dims, |i| {
            let mut at = i.to_vec();
            transformed.iter().for_each(|&d| at[d] = 0);
            self.row(a, &at, &transformed)
        });
        self.push("fft", &[a], &format!("fft_type={kind}, fft_length={{{}}}", list(&lengths)), out)
    }

    /// By the recurrence, for a new square operand.
    pub fn cholesky(&mut self) -> usize {
        let (batch, n) = (self.random.range(1, 2), self.random.range(1, 4));
        let is_lower = self.random.one_in(2);
        let dims = [batch, n, n];
        let a = self.parameter(&dims);
        let place = |b: i64, i: i64, j: i64| if is_lower { [b, i, j] } else { [b, j, i] };
        let mut out = Tensor::new(&dims, |_| Tags::new());
        for b in 0..batch {
            for j in 0..n {
                for i in j..n {
                    let mut tags = self.tensors[a].at(&place(b, i, j));
                    for k in 0..j {
                        tags = both(both(tags, &out.at(&place(b, i, k))), &out.at(&place(b, j, k)));
                    }
                    if i > j {
                        tags = both(tags, &out.at(&place(b, j, j)));
                    }
                    out.elements[position(&dims, &place(b, i, j)).unwrap() as usize] = tags;
                }
            }
        }
        self.push("cholesky", &[a], &format!("lower={is_lower}"), out)
    }

    /// By substitution, for new operands.
    pub fn triangular_solve(&mut self) -> usize {
        let (n, other) = (self.random.range(1, 4), self.random.range(1, 3));
        let [is_left, is_lower, is_unit, is_transposed] = [0; 4].map(|_| self.random.one_in(2));
        let b_dims = if is_left { [n, other] } else { [other, n] };
        let (a, b) = (self.parameter(&[n, n]), self.parameter(&b_dims));
        let op_a = |p: i64, q: i64| self.tensors[a].at(&if is_transposed { [q, p] } else { [p, q] });
        let op_is_lower = is_lower != is_transposed;
        let mut out = self.tensors[b].clone();
        let ascending: Vec<i64> = (0..n).collect();
        let order: Vec<i64> =
            if op_is_lower == is_left { ascending } else { ascending.into_iter().rev().collect() };
        for o in 0..other {
            let place = |t: i64| if is_left { [t, o] } else { [o, t] };
            for (done, &t) in order.iter().enumerate() {
                let mut tags = self.tensors[b].at(&place(t));
                for &k in &order[..done] {
                    let factor = if is_left { op_a(t, k) } else { op_a(k, t) };
                    tags = both(both(tags, &factor), &out.at(&place(k)));
                }
                if !is_unit {
                    tags = both(tags, &op_a(t, t));
                }
                out.elements[position(&b_dims, &place(t)).unwrap() as usize] = tags;
            }
        }
        let transpose = if is_transposed { "TRANSPOSE" } else { "NO_TRANSPOSE" };
        let attributes = format!(
            "left_side={is_left}, lower={is_lower}, unit_diagonal={is_unit}, transpose_a={transpose}"
        );
        self.push("triangular-solve", &[a, b], &attributes, out)
    }

    /// The three forms: rows, sums or batches in groups. All operands are new.
    pub fn ragged_dot(&mut self) -> usize {
        let [m, k, n, groups] = [0; 4].map(|_| self.random.range(1, 3));
        let form = self.random.range(0, 2);
        let rows = if form == 1 { k } else { m };
        let mut sizes = vec![0; groups as usize];
        (0..self.random.range(0, rows)).for_each(|_| sizes[self.random.range(0, groups - 1) as usize] += 1);
        let group_of = |row: i64| {
            let mut end = 0;
            sizes.iter().position(|size| {
                end += size;
                row < end
            })
        };
        let (lhs, rhs, dims, attributes) = match form {
            0 => (
                vec![m, k],
                vec![groups, k, n],
                vec![m, n],
                "lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}",
            ),
            1 => (
                vec![m, k],
                vec![k, n],
                vec![groups, m, n],
                "lhs_contracting_dims={1}, rhs_contracting_dims={0}, lhs_ragged_dims={1}, rhs_group_dims={}",
            ),
            _ => (
                vec![m, 2, k],
                vec![m, k, n],
                vec![m, 2, n],
                "lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={}",
            ),
        };
        let (a, b) = (self.parameter(&lhs), self.parameter(&rhs));
        let table = self.index_parameter(&[groups], sizes.clone());
        let out = Tensor::new(&dims, |o| {
            let mut tags = self.tensors[table].all();
            for s in 0..k {
                let (left, right) = match form {
                    0 => match group_of(o[0]) {
                        Some(group) => (vec![o[0], s], vec![group as i64, s, o[1]]),
                        None => continue,
                    },
                    1 if group_of(s) != Some(o[0] as usize) => continue,
                    1 => (vec![o[1], s], vec![s, o[2]]),
                    _ => (vec![o[0], o[1], s], vec![o[0], s, o[2]]),
                };
                tags = both(both(tags, &self.tensors[a].at(&left)), &self.tensors[b].at(&right));
            }
            tags
        });
        self.push("ragged-dot", &[a, b, table], attributes, out)
    }

    /// A bitcast between element widths, through memory: a new operand, with any layout on both sides.
    pub fn bitcast_width(&mut self) -> usize {
        let widths = [("u8", 1), ("u16", 2), ("f32", 4), ("s64", 8)];
        let [from, to] = [0; 2].map(|_| widths[self.random.range(0, 3) as usize]);
        let rank = self.random.range(0, 3);
        let mut dims = self.random.sizes(rank, 4);
        if to.1 > from.1 {
            dims.push(to.1 / from.1);
        }
        let bytes: i64 = dims.iter().product::<i64>() * from.1;
        let order = self.random.permutation(dims.len());
        let new_dims = self.factors(bytes / to.1);
        let new_order = self.random.permutation(new_dims.len());
        let number = self.parameters.len();
        self.parameters.push(crate::generate::Parameter { dims: dims.clone(), values: Vec::new() });
        let a = self.add(
            &format!("parameter({number})"),
            Tensor::parameter(number, &dims),
            order.clone(),
            from.0,
        );
        let start = |dims: &[i64], order: &[usize], index: &[i64], width: i64| {
            let sizes: Vec<i64> = order.iter().map(|&d| dims[d]).collect();
            let at: Vec<i64> = order.iter().map(|&d| index[d]).collect();
            (position(&sizes, &at).unwrap() * width) as usize
        };
        let mut memory = vec![Tags::new(); bytes as usize];
        for index in indices(&dims) {
            let first = start(&dims, &order, &index, from.1);
            memory[first..first + from.1 as usize].fill(self.tensors[a].at(&index));
        }
        let out = Tensor::new(&new_dims, |i| {
            let first = start(&new_dims, &new_order, i, to.1);
            memory[first..first + to.1 as usize].iter().fold(Tags::new(), both)
        });
        let name = self.names[a].clone();
        self.add(&format!("bitcast({name})"), out, new_order, to.0)
    }

    /// The sizes are operands; none is dynamic.
    pub fn dynamic_reshape(&mut self, a: usize) -> usize {
        let n: i64 = self.dims(a).iter().product();
        let dims = self.factors(n);
        let sizes: Vec<usize> = dims.iter().map(|_| self.parameter(&[])).collect();
        let elements = self.tensors[a].elements.clone();
        let all = sizes.iter().fold(Tags::new(), |tags, &s| both(tags, &self.tensors[s].all()));
        let elements = elements.into_iter().map(|tags| both(tags, &all)).collect();
        let operands = [&[a], sizes.as_slice()].concat();
        self.push("dynamic-reshape", &operands, "", Tensor { dims, elements })
    }
}
