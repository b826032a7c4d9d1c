//! As `generate.rs`, for ops that combine many elements into one, and for gather.

use crate::generate::{Program, list};
use crate::reference::{Tags, Tensor, both, indices};

pub struct Window {
    pub size: i64,
    pub stride: i64,
    pub low: i64,
    pub high: i64,
    pub base: i64,
    pub dilation: i64,
    pub reversed: bool,
}

impl Window {
    /// The operand's index under window position `k` at output `o`; `None` if that is padding or between elements.
    pub fn place(&self, operand: i64, o: i64, k: i64) -> Option<i64> {
        // The position of each element after dilation and padding.
        (0..operand).find(|i| self.low + i * self.base == o * self.stride + k * self.dilation)
    }

    pub fn output(&self, operand: i64) -> i64 {
        let padded = (operand - 1) * self.base + 1 + self.low + self.high;
        let window = (self.size - 1) * self.dilation + 1;
        if padded < window { 0 } else { (padded - window) / self.stride + 1 }
    }

    pub fn text(windows: &[Window]) -> String {
        let all = |f: &dyn Fn(&Window) -> String| windows.iter().map(f).collect::<Vec<_>>().join("x");
        format!(
            "window={{size={} stride={} pad={} lhs_dilate={} rhs_dilate={} rhs_reversal={}}}",
            all(&|w| w.size.to_string()),
            all(&|w| w.stride.to_string()),
            all(&|w| format!("{}_{}", w.low, w.high)),
            all(&|w| w.base.to_string()),
            all(&|w| w.dilation.to_string()),
            all(&|w| u8::from(w.reversed).to_string()),
        )
    }
}

impl Program {
    pub fn window(&mut self, operand: i64, can_reverse: bool) -> Window {
        for _ in 0..20 {
            let window = Window {
                size: self.random.range(1, 3),
                stride: self.random.range(1, 2),
                low: self.random.range(-1, 2),
                high: self.random.range(-1, 2),
                base: self.random.range(1, 2),
                dilation: self.random.range(1, 2),
                reversed: can_reverse && self.random.one_in(3),
            };
            if (1..=8).contains(&window.output(operand)) {
                return window;
            }
        }
        Window { size: 1, stride: 1, low: 0, high: 0, base: 1, dilation: 1, reversed: false }
    }

    pub fn reduce(&mut self, a: usize) -> usize {
        let operand = self.dims(a);
        let reduced = self.random.subset(operand.len());
        let dims: Vec<i64> =
            operand.iter().enumerate().filter(|(d, _)| !reduced.contains(d)).map(|(_, &s)| s).collect();
        let init = self.parameter(&[]);
        let mut out = Tensor::new(&dims, |_| self.tensors[init].all());
        for index in indices(&operand) {
            let kept: Vec<i64> =
                index.iter().enumerate().filter(|(d, _)| !reduced.contains(d)).map(|(_, &i)| i).collect();
            let p = crate::reference::position(&dims, &kept).unwrap();
            out.elements[p as usize].extend(self.tensors[a].at(&index));
        }
        self.push("reduce", &[a, init], &format!("dimensions={{{}}}, to_apply=add", list(&reduced)), out)
    }

    pub fn reduce_window(&mut self, a: usize) -> usize {
        let operand = self.dims(a);
        let windows: Vec<Window> = operand.iter().map(|&size| self.window(size, false)).collect();
        let dims: Vec<i64> = windows.iter().zip(&operand).map(|(w, &size)| w.output(size)).collect();
        let init = self.parameter(&[]);
        let sizes: Vec<i64> = windows.iter().map(|w| w.size).collect();
        let out = Tensor::new(&dims, |o| {
            let mut tags = self.tensors[init].all();
            for k in indices(&sizes) {
                let place: Option<Vec<i64>> =
                    (0..o.len()).map(|d| windows[d].place(operand[d], o[d], k[d])).collect();
                place.iter().for_each(|place| tags.extend(self.tensors[a].at(place)));
            }
            tags
        });
        // A window without dimensions is omitted.
        let window = if windows.is_empty() { String::new() } else { Window::text(&windows) + ", " };
        self.push("reduce-window", &[a, init], &format!("{window}to_apply=add"), out)
    }

    /// A dot with `a` whose other side is a new parameter; scaled, with new scales, on request.
    pub fn dot(&mut self, a: usize, is_scaled: bool) -> usize {
        let lhs = self.dims(a);
        let order = self.random.permutation(lhs.len());
        let contracting = self.random.range(0, lhs.len().min(2) as i64) as usize;
        let batch = self.random.range(0, (lhs.len() - contracting).min(1) as i64) as usize;
        let (lhs_contracting, rest) = order.split_at(contracting);
        let lhs_batch = &rest[..batch];
        // The other side: the shared dimensions in any order, and free ones.
        let free = self.random.range(0, 2) as usize;
        let places = self.random.permutation(contracting + batch + free);
        let mut rhs = vec![0; places.len()];
        let (rhs_contracting, others) = places.split_at(contracting);
        let (rhs_batch, rhs_free) = others.split_at(batch);
        rhs_contracting.iter().zip(lhs_contracting).for_each(|(&r, &l)| rhs[r] = lhs[l]);
        rhs_batch.iter().zip(lhs_batch).for_each(|(&r, &l)| rhs[r] = lhs[l]);
        rhs_free.iter().for_each(|&r| rhs[r] = self.random.range(1, 3));
        let b = self.parameter(&rhs);
        let free_of = |rank: usize, used: [&[usize]; 2]| -> Vec<usize> {
            (0..rank).filter(|d| !used[0].contains(d) && !used[1].contains(d)).collect()
        };
        let lhs_free = free_of(lhs.len(), [lhs_contracting, lhs_batch]);
        let rhs_free = free_of(rhs.len(), [rhs_contracting, rhs_batch]);
        let dims: Vec<i64> = (lhs_batch.iter().chain(&lhs_free).map(|&d| lhs[d]))
            .chain(rhs_free.iter().map(|&d| rhs[d]))
            .collect();
        let sums: Vec<i64> = lhs_contracting.iter().map(|&d| lhs[d]).collect();

        let mut operands = vec![a, b];
        let mut blocks = [Vec::new(), Vec::new()];
        if is_scaled {
            for (side, sizes) in [&lhs, &rhs].into_iter().enumerate() {
                let is_scalar = self.random.one_in(4);
                let of = |size: i64, random: &mut random::Rng| {
                    let divisors: Vec<i64> = (1..=size).filter(|d| size % d == 0).collect();
                    divisors[random.range(0, divisors.len() as i64 - 1) as usize]
                };
                blocks[side] = sizes.iter().map(|&size| of(size, &mut self.random)).collect();
                let scale: Vec<i64> =
                    sizes.iter().zip(&blocks[side]).map(|(size, block)| size / block).collect();
                operands.push(self.parameter(if is_scalar { &[] } else { &scale }));
            }
        }
        let out = Tensor::new(&dims, |o| {
            let mut tags = Tags::new();
            for k in indices(&sums) {
                let mut at = [vec![0; lhs.len()], vec![0; rhs.len()]];
                for (i, &value) in k.iter().enumerate() {
                    at[0][lhs_contracting[i]] = value;
                    at[1][rhs_contracting[i]] = value;
                }
                for i in 0..batch {
                    at[0][lhs_batch[i]] = o[i];
                    at[1][rhs_batch[i]] = o[i];
                }
                lhs_free.iter().enumerate().for_each(|(i, &d)| at[0][d] = o[batch + i]);
                rhs_free.iter().enumerate().for_each(|(i, &d)| at[1][d] = o[batch + lhs_free.len() + i]);
                for side in 0..2 {
                    tags.extend(self.tensors[operands[side]].at(&at[side]));
                    if is_scaled {
                        let scale = &self.tensors[operands[2 + side]];
                        let block: Vec<i64> =
                            at[side].iter().zip(&blocks[side]).map(|(i, b)| i / b).collect();
                        tags.extend(scale.at(if scale.dims.is_empty() { &[] } else { &block }));
                    }
                }
            }
            tags
        });
        let attributes = format!(
            "lhs_batch_dims={{{}}}, rhs_batch_dims={{{}}}, lhs_contracting_dims={{{}}}, rhs_contracting_dims={{{}}}",
            list(lhs_batch),
            list(rhs_batch),
            list(lhs_contracting),
            list(rhs_contracting)
        );
        self.push(if is_scaled { "scaled-dot" } else { "dot" }, &operands, &attributes, out)
    }

    /// All operands are new. One or two spatial dimensions; feature or batch groups.
    pub fn convolution(&mut self) -> usize {
        let spatial = self.random.range(1, 2) as usize;
        let rank = spatial + 2;
        let [input_order, kernel_order, output_order] = [0; 3].map(|_| self.random.permutation(rank));
        let image: Vec<i64> = (0..spatial).map(|_| self.random.range(1, 4)).collect();
        let windows: Vec<Window> = image.iter().map(|&size| self.window(size, true)).collect();
        let (mut feature_groups, mut batch_groups) = (1, 1);
        match self.random.range(0, 3) {
            0 => feature_groups = 2,
            1 => batch_groups = 2,
            _ => {}
        }
        let (batch, features) = (self.random.range(1, 2), self.random.range(1, 2));
        let output_features = self.random.range(1, 2) * feature_groups * batch_groups;
        // Logical order: batch (or input feature), feature (or output feature), spatial.
        let placed = |order: &[usize], sizes: Vec<i64>| {
            let mut dims = vec![0; rank];
            order.iter().zip(sizes).for_each(|(&d, size)| dims[d] = size);
            dims
        };
        let sizes = |head: [i64; 2], tail: Vec<i64>| [head.as_slice(), &tail].concat();
        let input_dims =
            placed(&input_order, sizes([batch * batch_groups, features * feature_groups], image.clone()));
        let window_sizes: Vec<i64> = windows.iter().map(|w| w.size).collect();
        let kernel_dims = placed(&kernel_order, sizes([features, output_features], window_sizes.clone()));
        let output: Vec<i64> = windows.iter().zip(&image).map(|(w, &size)| w.output(size)).collect();
        let dims = placed(&output_order, sizes([batch, output_features], output));
        let (input, kernel) = (self.parameter(&input_dims), self.parameter(&kernel_dims));
        let out = Tensor::new(&dims, |o| {
            let (b, of) = (o[output_order[0]], o[output_order[1]]);
            let mut tags = Tags::new();
            for k in indices(&window_sizes) {
                let place: Option<Vec<i64>> =
                    (0..spatial).map(|d| windows[d].place(image[d], o[output_order[2 + d]], k[d])).collect();
                for f in 0..features {
                    // Reversal flips the kernel.
                    let at: Vec<i64> = (0..spatial)
                        .map(|d| if windows[d].reversed { windows[d].size - 1 - k[d] } else { k[d] })
                        .collect();
                    tags.extend(self.tensors[kernel].at(&placed(&kernel_order, sizes([f, of], at))));
                    if let Some(place) = &place {
                        let group = of / (output_features / feature_groups);
                        let batch_group = of / (output_features / batch_groups);
                        let head = [batch_group * batch + b, group * features + f];
                        tags.extend(
                            self.tensors[input].at(&placed(&input_order, sizes(head, place.clone()))),
                        );
                    }
                }
            }
            tags
        });
        let labels = |order: &[usize], letters: [char; 2]| -> String {
            let mut text = vec![' '; rank];
            order.iter().enumerate().for_each(|(i, &d)| {
                text[d] = if i < 2 { letters[i] } else { char::from(b'0' + i as u8 - 2) };
            });
            text.into_iter().collect()
        };
        let attributes = format!(
            "{}, dim_labels={}_{}->{}, feature_group_count={feature_groups}, batch_group_count={batch_groups}",
            Window::text(&windows),
            labels(&input_order, ['b', 'f']),
            labels(&kernel_order, ['i', 'o']),
            labels(&output_order, ['b', 'f']),
        );
        self.push("convolution", &[input, kernel], &attributes, out)
    }

    /// The general form: collapsed and batching dimensions, index vector in any position.
    pub fn gather(&mut self, a: usize) -> usize {
        let operand = self.dims(a);
        let rank = operand.len();
        // Per operand dimension: batching, collapsed, or a slice; with or without an index.
        let mut kinds: Vec<i64> = (0..rank).map(|_| self.random.range(0, 3)).collect();
        if self.random.one_in(2) {
            kinds.fill(3);
        }
        let of = |kind: i64| (0..rank).filter(|&d| kinds[d] == kind).collect::<Vec<_>>();
        let (batching, collapsed) = (of(0), of(1));
        let mut indexed: Vec<usize> =
            self.random.permutation(rank).into_iter().filter(|d| kinds[*d] != 0).collect();
        indexed.truncate(self.random.range(0, rank as i64) as usize);
        let slice_sizes: Vec<i64> =
            (0..rank).map(|d| if kinds[d] <= 1 { 1 } else { self.random.range(1, operand[d]) }).collect();
        // Non-vector dimensions of the indices: one per batching dimension, and some more.
        let more = self.random.range(0, 2) as usize;
        let walk_order = self.random.permutation(batching.len() + more);
        let walked: Vec<i64> = walk_order
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
        let values: Vec<i64> = (0..count).map(|_| self.random.range(-2, 6)).collect();
        let table = self.index_parameter(&index_dims, values.clone());

        let windows: Vec<usize> = (0..rank).filter(|&d| kinds[d] >= 2).collect();
        let mut is_offset = vec![true; windows.len()];
        is_offset.resize(windows.len() + walked.len(), false);
        let order = self.random.permutation(is_offset.len());
        let is_offset: Vec<bool> = order.iter().map(|&i| is_offset[i]).collect();
        let (mut window, mut walk) = (windows.iter(), walked.iter());
        let dims: Vec<i64> = is_offset
            .iter()
            .map(|&offset| if offset { slice_sizes[*window.next().unwrap()] } else { *walk.next().unwrap() })
            .collect();
        let out = Tensor::new(&dims, |o| {
            let at = |offset: bool| -> Vec<i64> {
                o.iter().zip(&is_offset).filter(|(_, is)| **is == offset).map(|(&i, _)| i).collect()
            };
            let (offsets, walk) = (at(true), at(false));
            let mut index = vec![0; rank];
            windows.iter().zip(offsets).for_each(|(&d, i)| index[d] = i);
            for (k, &w) in walk_order.iter().enumerate() {
                if w < batching.len() {
                    index[batching[w]] = walk[k];
                }
            }
            let mut tags = Tags::new();
            for (k, &d) in indexed.iter().enumerate() {
                let mut entry = walk.clone();
                if !is_implicit {
                    entry.insert(vector_dim, k as i64);
                }
                let p = crate::reference::position(&index_dims, &entry).unwrap();
                index[d] += values[p as usize].clamp(0, operand[d] - slice_sizes[d]);
                tags = both(tags, &self.tensors[table].at(&entry));
            }
            both(tags, &self.tensors[a].at(&index))
        });
        let offset_dims: Vec<usize> = (0..dims.len()).filter(|&d| is_offset[d]).collect();
        let indices_batching: Vec<usize> = (0..batching.len())
            .map(|b| walk_order.iter().position(|&w| w == b).unwrap())
            .map(|k| k + usize::from(!is_implicit && k >= vector_dim))
            .collect();
        let attributes = format!(
            "offset_dims={{{}}}, collapsed_slice_dims={{{}}}, start_index_map={{{}}}, \
             operand_batching_dims={{{}}}, start_indices_batching_dims={{{}}}, index_vector_dim={}, slice_sizes={{{}}}",
            list(&offset_dims),
            list(&collapsed),
            list(&indexed),
            list(&batching),
            list(&indices_batching),
            if is_implicit { index_dims.len() } else { vector_dim },
            list(&slice_sizes)
        );
        self.push("gather", &[a, table], &attributes, out)
    }
}
