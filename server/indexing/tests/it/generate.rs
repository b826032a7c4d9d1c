//! Random small programs: HLO text with the evaluation of each instruction by the reference.

use random::Rng;

use crate::reference::{Tensor, both, indices, position};

#[derive(Clone, Debug)]
pub struct Parameter {
    pub dims: Vec<i64>,
    /// For an index operand, the values that it holds when the program runs.
    pub values: Vec<i64>,
}

/// The instructions so far; values are identified by the numbers that `push` and `parameter` return.
pub struct Program {
    pub random: Rng,
    pub parameters: Vec<Parameter>,
    pub lines: Vec<String>,
    pub names: Vec<String>,
    pub tensors: Vec<Tensor>,
    /// Dimensions from the slowest to the fastest in memory.
    pub orders: Vec<Vec<usize>>,
}

pub fn list<T: ToString>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

impl Program {
    pub fn new(seed: u64) -> Program {
        Program {
            random: Rng::new(seed),
            parameters: Vec::new(),
            lines: Vec::new(),
            names: Vec::new(),
            tensors: Vec::new(),
            orders: Vec::new(),
        }
    }

    pub fn text(&self) -> String {
        let mut lines = self.lines.clone();
        if let Some(last) = lines.last_mut() {
            *last = format!("ROOT {last}");
        }
        format!("HloModule m\n\nENTRY e {{\n  {}\n}}\n", lines.join("\n  "))
    }

    pub fn parameter(&mut self, dims: &[i64]) -> usize {
        self.parameter_in(dims, (0..dims.len()).collect())
    }

    pub fn parameter_in(&mut self, dims: &[i64], order: Vec<usize>) -> usize {
        let number = self.parameters.len();
        self.parameters.push(Parameter { dims: dims.to_vec(), values: Vec::new() });
        let tensor = Tensor::parameter(number, dims);
        self.add(&format!("parameter({number})"), tensor, order, "f32")
    }

    /// An index operand with these values.
    pub fn index_parameter(&mut self, dims: &[i64], values: Vec<i64>) -> usize {
        let number = self.parameters.len();
        self.parameters.push(Parameter { dims: dims.to_vec(), values });
        let tensor = Tensor::parameter(number, dims);
        self.add(&format!("parameter({number})"), tensor, (0..dims.len()).collect(), "s32")
    }

    pub fn add(&mut self, right: &str, tensor: Tensor, order: Vec<usize>, element: &str) -> usize {
        let name = format!("v{}", self.tensors.len());
        let minor_to_major: Vec<usize> = order.iter().rev().copied().collect();
        let mut shape = format!("{element}[{}]", list(&tensor.dims));
        if !order.is_empty() {
            shape += &format!("{{{}}}", list(&minor_to_major));
        }
        self.lines.push(format!("{name} = {shape} {right}"));
        self.names.push(name);
        self.tensors.push(tensor);
        self.orders.push(order);
        self.tensors.len() - 1
    }

    pub fn dims(&self, value: usize) -> Vec<i64> {
        self.tensors[value].dims.clone()
    }

    /// Adds `opcode(operands), attributes` with its value.
    pub fn push(&mut self, opcode: &str, operands: &[usize], attributes: &str, tensor: Tensor) -> usize {
        let order = (0..tensor.dims.len()).collect();
        self.push_in(opcode, operands, attributes, tensor, order)
    }

    pub fn push_in(
        &mut self,
        opcode: &str,
        operands: &[usize],
        attributes: &str,
        tensor: Tensor,
        order: Vec<usize>,
    ) -> usize {
        let names: Vec<&str> = operands.iter().map(|&i| self.names[i].as_str()).collect();
        let comma = if attributes.is_empty() { "" } else { ", " };
        let right = format!("{opcode}({}){comma}{attributes}", names.join(", "));
        self.add(&right, tensor, order, "f32")
    }

    pub fn elementwise(&mut self, a: usize, b: usize) -> usize {
        let dims = self.dims(a);
        let (x, y) = (&self.tensors[a], &self.tensors[b]);
        let sum = Tensor::new(&dims, |i| both(x.at(i), &y.at(i)));
        self.push("add", &[a, b], "", sum)
    }

    pub fn broadcast(&mut self, a: usize) -> usize {
        let operand = self.dims(a);
        let mut dims = Vec::new();
        let mut places = Vec::new();
        for &size in &operand {
            while self.random.one_in(3) && dims.len() < 4 {
                dims.push(self.random.range(1, 3));
            }
            places.push(dims.len());
            dims.push(size);
        }
        if self.random.one_in(2) {
            dims.push(self.random.range(1, 3));
        }
        let x = &self.tensors[a];
        let out = Tensor::new(&dims, |i| x.at(&places.iter().map(|&p| i[p]).collect::<Vec<_>>()));
        self.push("broadcast", &[a], &format!("dimensions={{{}}}", list(&places)), out)
    }

    pub fn transpose(&mut self, a: usize) -> usize {
        let operand = self.dims(a);
        let order = self.random.permutation(operand.len());
        let dims: Vec<i64> = order.iter().map(|&d| operand[d]).collect();
        let x = &self.tensors[a];
        let out = Tensor::new(&dims, |i| {
            let mut index = vec![0; i.len()];
            order.iter().zip(i).for_each(|(&d, &at)| index[d] = at);
            x.at(&index)
        });
        self.push("transpose", &[a], &format!("dimensions={{{}}}", list(&order)), out)
    }

    pub fn reverse(&mut self, a: usize) -> usize {
        let dims = self.dims(a);
        let reversed = self.random.subset(dims.len());
        let x = &self.tensors[a];
        let out = Tensor::new(&dims, |i| {
            let mut index = i.to_vec();
            reversed.iter().for_each(|&d| index[d] = dims[d] - 1 - i[d]);
            x.at(&index)
        });
        self.push("reverse", &[a], &format!("dimensions={{{}}}", list(&reversed)), out)
    }

    pub fn slice(&mut self, a: usize) -> usize {
        let operand = self.dims(a);
        let mut dims = Vec::new();
        let mut parts = Vec::new();
        for &size in &operand {
            let start = self.random.range(0, size - 1);
            let limit = self.random.range(start + 1, size);
            let stride = self.random.range(1, 3);
            dims.push((start..limit).step_by(stride as usize).count() as i64);
            parts.push((start, limit, stride));
        }
        let x = &self.tensors[a];
        let out = Tensor::new(&dims, |i| {
            // Element by element, as in the definition.
            let index: Vec<i64> = i
                .iter()
                .zip(&parts)
                .map(|(&k, &(start, limit, stride))| {
                    (start..limit).step_by(stride as usize).nth(k as usize).unwrap()
                })
                .collect();
            x.at(&index)
        });
        let parts: Vec<String> = parts.iter().map(|(a, b, c)| format!("[{a}:{b}:{c}]")).collect();
        self.push("slice", &[a], &format!("slice={{{}}}", list(&parts)), out)
    }

    /// Random sizes with this product.
    pub fn factors(&mut self, mut n: i64) -> Vec<i64> {
        let mut sizes = Vec::new();
        while n > 1 || (sizes.len() < 4 && self.random.one_in(4)) {
            let divisors: Vec<i64> = (1..=n).filter(|d| n % d == 0).collect();
            let divisor = divisors[self.random.range(0, divisors.len() as i64 - 1) as usize];
            let size = if sizes.len() == 3 { n } else { divisor };
            sizes.push(size);
            n /= size;
        }
        sizes
    }

    pub fn reshape(&mut self, a: usize) -> usize {
        let n: i64 = self.dims(a).iter().product();
        let dims = self.factors(n);
        let elements = self.tensors[a].elements.clone();
        self.push("reshape", &[a], "", Tensor { dims, elements })
    }

    pub fn bitcast(&mut self, a: usize) -> usize {
        let from = self.dims(a);
        let order = self.orders[a].clone();
        let n: i64 = from.iter().product();
        let dims = self.factors(n);
        let new_order = self.random.permutation(dims.len());
        // Writes the memory, then reads it.
        let sizes_in = |dims: &[i64], order: &[usize]| order.iter().map(|&d| dims[d]).collect::<Vec<_>>();
        let mut memory = vec![None; n as usize];
        for index in indices(&from) {
            let at: Vec<i64> = order.iter().map(|&d| index[d]).collect();
            memory[position(&sizes_in(&from, &order), &at).unwrap() as usize] =
                Some(self.tensors[a].at(&index));
        }
        let out = Tensor::new(&dims, |i| {
            let at: Vec<i64> = new_order.iter().map(|&d| i[d]).collect();
            memory[position(&sizes_in(&dims, &new_order), &at).unwrap() as usize].clone().unwrap()
        });
        self.push_in("bitcast", &[a], "", out, new_order)
    }

    pub fn concatenate(&mut self, operands: &[usize], dim: usize) -> usize {
        let mut dims = self.dims(operands[0]);
        dims[dim] = operands.iter().map(|&a| self.tensors[a].dims[dim]).sum();
        let out = Tensor::new(&dims, |i| {
            let mut index = i.to_vec();
            for &a in operands {
                let size = self.tensors[a].dims[dim];
                if index[dim] < size {
                    return self.tensors[a].at(&index);
                }
                index[dim] -= size;
            }
            unreachable!()
        });
        self.push("concatenate", operands, &format!("dimensions={{{dim}}}"), out)
    }

    /// Reference and map both read the padding value everywhere.
    pub fn pad(&mut self, a: usize) -> usize {
        let operand = self.dims(a);
        let mut padding = Vec::new();
        let mut dims = Vec::new();
        for &size in &operand {
            loop {
                let (low, high) = (self.random.range(-2, 3), self.random.range(-2, 3));
                let interior = self.random.range(0, 2);
                let padded = size + (size - 1).max(0) * interior + low + high;
                if (1..=12).contains(&padded) {
                    padding.push((low, high, interior));
                    dims.push(padded);
                    break;
                }
                if size > 9 {
                    padding.push((0, 0, 0));
                    dims.push(size);
                    break;
                }
            }
        }
        let value = self.parameter(&[]);
        let (x, filler) = (&self.tensors[a], self.tensors[value].all());
        let mut out = Tensor::new(&dims, |_| filler.clone());
        for index in indices(&operand) {
            let place: Vec<i64> =
                index.iter().zip(&padding).map(|(i, (low, _, interior))| low + i * (interior + 1)).collect();
            if let Some(p) = position(&dims, &place) {
                out.elements[p as usize] = x.at(&index);
            }
        }
        let padding: Vec<String> = padding.iter().map(|(a, b, c)| format!("{a}_{b}_{c}")).collect();
        self.push("pad", &[a, value], &format!("padding={}", padding.join("x")), out)
    }

    /// Index operands, with values that may be outside the interval to which the op clamps, and the clamped
    /// values.
    fn offsets(&mut self, whole: &[i64], slice: &[i64]) -> (Vec<usize>, Vec<i64>) {
        let mut ids = Vec::new();
        let mut values = Vec::new();
        for (&size, &slice) in whole.iter().zip(slice) {
            let value = self.random.range(-2, size + 1);
            ids.push(self.index_parameter(&[], vec![value]));
            values.push(value.clamp(0, size - slice));
        }
        (ids, values)
    }

    pub fn dynamic_slice(&mut self, a: usize) -> usize {
        let whole = self.dims(a);
        let dims: Vec<i64> = whole.iter().map(|&size| self.random.range(1, size)).collect();
        let (ids, values) = self.offsets(&whole, &dims);
        let mut out = Tensor::new(&dims, |i| {
            let index: Vec<i64> = (0..i.len()).map(|d| values[d] + i[d]).collect();
            self.tensors[a].at(&index)
        });
        for &id in &ids {
            out.elements.iter_mut().for_each(|tags| tags.extend(self.tensors[id].all()));
        }
        let operands = [&[a], ids.as_slice()].concat();
        self.push("dynamic-slice", &operands, &format!("dynamic_slice_sizes={{{}}}", list(&dims)), out)
    }

    /// Reference and map both read the operand where it is overwritten, too.
    pub fn dynamic_update_slice(&mut self, a: usize) -> usize {
        let whole = self.dims(a);
        let update_dims: Vec<i64> = whole.iter().map(|&size| self.random.range(1, size)).collect();
        let update = self.parameter(&update_dims);
        let (ids, values) = self.offsets(&whole, &update_dims);
        let mut out = self.tensors[a].clone();
        for index in indices(&update_dims) {
            let place: Vec<i64> = (0..whole.len()).map(|d| values[d] + index[d]).collect();
            out.elements[position(&whole, &place).unwrap() as usize] = self.tensors[update].at(&index);
        }
        for &id in &ids {
            out.elements.iter_mut().for_each(|tags| tags.extend(self.tensors[id].all()));
        }
        let operands = [&[a, update], ids.as_slice()].concat();
        self.push("dynamic-update-slice", &operands, "", out)
    }
}
