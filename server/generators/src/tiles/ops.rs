//! The ops of random fusions for Triton.

use super::{Builder, MAX_ELEMENTS, Value, count, list};

impl Builder<'_> {
    /// Adds an op that uses a value; `None` if the chosen op does not fit it.
    pub(super) fn step(&mut self, value: &Value) -> Option<Value> {
        if value.dims.is_empty() {
            return Some(self.unary(value));
        }
        match self.rng.range(0, 15) {
            0 => Some(self.unary(value)),
            1 | 2 => Some(self.binary(value)),
            3 => Some(self.masked(value)),
            4 => Some(self.transpose(value)),
            5 => self.reshape(value),
            6 => Some(self.slice(value)),
            7 => Some(self.pad(value)),
            8 | 9 => self.reduce(value),
            10 => self.normalised(value),
            11 => self.concatenate(value),
            12 => Some(self.dynamic_slice(value)),
            13 | 14 => self.dot(value),
            _ => Some(self.convert(value)),
        }
    }

    pub(super) fn unary(&mut self, value: &Value) -> Value {
        let op = match value.element {
            "s32" => *self.rng.pick(&["negate", "abs"]),
            "f32" => *self.rng.pick(&["negate", "abs", "exponential", "tanh", "cosine", "floor", "sqrt"]),
            _ => *self.rng.pick(&["negate", "abs"]),
        };
        self.push(value.element, &value.dims, format!("{op}({})", value.name))
    }

    fn convert(&mut self, value: &Value) -> Value {
        let element = *self.rng.pick(&["f32", "bf16", "f16", "s32"]);
        self.push(element, &value.dims, format!("convert({})", value.name))
    }

    fn as_element(&mut self, value: &Value, element: &'static str) -> Value {
        if value.element == element {
            return value.clone();
        }
        self.push(element, &value.dims, format!("convert({})", value.name))
    }

    fn binary(&mut self, value: &Value) -> Value {
        let other = self.beside(value.element, &value.dims);
        let op = *self.rng.pick(&["add", "subtract", "multiply", "maximum", "minimum"]);
        let (mut a, mut b) = (&value.name, &other.name);
        if self.rng.flag() {
            (a, b) = (b, a);
        }
        self.push(value.element, &value.dims, format!("{op}({a}, {b})"))
    }

    /// Keeps elements by their index: `select(iota(dim) < iota(other dim) or constant, value, other)`.
    fn masked(&mut self, value: &Value) -> Value {
        let dim = self.rng.index(value.dims.len());
        let index = self.push("s32", &value.dims, format!("iota(), iota_dimension={dim}"));
        let bound = match self.rng.flag() {
            true => {
                let dim = self.rng.index(value.dims.len());
                self.push("s32", &value.dims, format!("iota(), iota_dimension={dim}"))
            }
            false => {
                let number = self.rng.range(0, value.dims[dim]);
                let number = self.constant("s32", &number.to_string());
                self.broadcast(&number, &value.dims, &[])
            }
        };
        let direction = *self.rng.pick(&["LT", "LE", "GT", "GE", "EQ", "NE"]);
        let right = format!("compare({}, {}), direction={direction}", index.name, bound.name);
        let kept = self.push("pred", &value.dims, right);
        let other = self.beside(value.element, &value.dims);
        let right = format!("select({}, {}, {})", kept.name, value.name, other.name);
        self.push(value.element, &value.dims, right)
    }

    fn transpose(&mut self, value: &Value) -> Value {
        let order = self.rng.permutation(value.dims.len());
        let dims: Vec<i64> = order.iter().map(|&dim| value.dims[dim]).collect();
        self.push(value.element, &dims, format!("transpose({}), dimensions={{{}}}", value.name, list(&order)))
    }

    /// Splits a dimension, joins two, or adds one of a single element.
    fn reshape(&mut self, value: &Value) -> Option<Value> {
        let mut dims = value.dims.clone();
        let at = self.rng.index(dims.len());
        let factors: Vec<i64> = (2..dims[at]).filter(|factor| dims[at] % factor == 0).collect();
        if self.rng.flag() && at + 1 < dims.len() {
            let inner = dims.remove(at + 1);
            dims[at] *= inner;
        } else if !factors.is_empty() && dims.len() < 4 {
            let factor = *self.rng.pick(&factors);
            dims[at] /= factor;
            dims.insert(at + 1, factor);
        } else {
            (dims.len() < 4).then(|| dims.insert(at, 1))?;
        }
        let op = *self.rng.pick(&["reshape", "bitcast"]);
        Some(self.push(value.element, &dims, format!("{op}({})", value.name)))
    }

    fn slice(&mut self, value: &Value) -> Value {
        let mut ranges = Vec::new();
        let mut dims = Vec::new();
        for &size in &value.dims {
            let start = if self.rng.flag() { 0 } else { self.rng.range(0, size - 1) };
            let limit = self.rng.range(start + 1, size);
            let stride = if self.rng.one_in(4) { self.rng.range(1, 3) } else { 1 };
            ranges.push(format!("[{start}:{limit}:{stride}]"));
            dims.push((limit - start + stride - 1) / stride);
        }
        self.push(value.element, &dims, format!("slice({}), slice={{{}}}", value.name, ranges.join(", ")))
    }

    fn pad(&mut self, value: &Value) -> Value {
        let number = if value.element == "s32" { "7" } else { "0.5" };
        let number = self.constant(value.element, number);
        let added: Vec<i64> = value.dims.iter().map(|_| self.rng.range(0, 9)).collect();
        let dims: Vec<i64> = value.dims.iter().zip(&added).map(|(size, added)| size + added).collect();
        let padding: Vec<String> = added.iter().map(|added| format!("0_{added}")).collect();
        let right = format!("pad({}, {}), padding={}", value.name, number.name, padding.join("x"));
        self.push(value.element, &dims, right)
    }

    /// Reduces a dimension of `f32` or `s32`. Returns it too.
    fn reduced(&mut self, value: &Value) -> (Value, usize) {
        let value = match value.element {
            "s32" => value.clone(),
            _ => self.as_element(value, "f32"),
        };
        let dim = if self.rng.flag() { value.dims.len() - 1 } else { self.rng.index(value.dims.len()) };
        let (op, init) = match (self.rng.flag(), value.element) {
            (true, _) => ("add", "0"),
            (false, "s32") => ("maximum", "-2147483648"),
            (false, _) => ("maximum", "-inf"),
        };
        let init = self.constant(value.element, init);
        let mut dims = value.dims.clone();
        dims.remove(dim);
        let right = format!(
            "reduce({}, {}), dimensions={{{dim}}}, to_apply={op}_{}",
            value.name, init.name, value.element
        );
        (self.push(value.element, &dims, right), dim)
    }

    fn reduce(&mut self, value: &Value) -> Option<Value> {
        (value.dims.len() > 1).then(|| self.reduced(value).0)
    }

    /// Subtracts what the rows of a dimension have in common, as softmax does.
    fn normalised(&mut self, value: &Value) -> Option<Value> {
        let (row, dim) = self.reduced(value);
        let kept: Vec<usize> = (0..value.dims.len()).filter(|&d| d != dim).collect();
        let row = self.broadcast(&row, &value.dims, &kept);
        let value = self.as_element(value, row.element);
        self.whole = true;
        Some(self.push(value.element, &value.dims, format!("subtract({}, {})", value.name, row.name)))
    }

    /// Tiles have to lie in one operand: the sizes are multiples of a power of two, but for the last one.
    fn concatenate(&mut self, value: &Value) -> Option<Value> {
        let dim = self.rng.index(value.dims.len());
        let mut operands = Vec::new();
        let mut dims = value.dims.clone();
        for _ in 0..self.rng.range(1, 2) {
            dims[dim] = 8 << self.rng.range(0, 2);
            operands.push(self.parameter(value.element, &dims));
        }
        operands.push(value.clone());
        dims[dim] = operands.iter().map(|operand| operand.dims[dim]).sum();
        let names: Vec<&str> = operands.iter().map(|operand| operand.name.as_str()).collect();
        let right = format!("concatenate({}), dimensions={{{dim}}}", names.join(", "));
        (count(&dims) <= MAX_ELEMENTS).then(|| self.push(value.element, &dims, right))
    }

    fn dynamic_slice(&mut self, value: &Value) -> Value {
        let starts: Vec<String> = value.dims.iter().map(|_| self.parameter("s32", &[]).name).collect();
        let dims: Vec<i64> = value.dims.iter().map(|&size| self.rng.range((size + 1) / 2, size)).collect();
        let right = format!(
            "dynamic-slice({}, {}), dynamic_slice_sizes={{{}}}",
            value.name,
            starts.join(", "),
            list(&dims)
        );
        self.push(value.element, &dims, right)
    }

    /// Contracts a dimension with a parameter, in steps. Dimensions before the last two are batches.
    fn dot(&mut self, value: &Value) -> Option<Value> {
        let rank = value.dims.len();
        if rank < 2 || value.element == "s32" {
            return None;
        }
        let batch = rank - 2;
        let contracted = rank - 1 - self.rng.index(2);
        let mut other: Vec<i64> = value.dims[..batch].to_vec();
        let (k, free) = (value.dims[contracted], self.rng.range(2, 40));
        let is_last = self.rng.flag();
        other.extend(if is_last { [free, k] } else { [k, free] });
        let mut dims: Vec<i64> = value.dims[..batch].to_vec();
        let own = value.dims[2 * rank - 3 - contracted];
        let is_left = self.rng.flag();
        dims.extend(if is_left { [own, free] } else { [free, own] });
        if count(&dims) > MAX_ELEMENTS || count(&other) > MAX_ELEMENTS {
            return None;
        }
        let other = self.parameter(value.element, &other);
        let mut sides = [(value, contracted), (&other, if is_last { rank - 1 } else { rank - 2 })];
        if !is_left {
            sides.reverse();
        }
        let [(left, left_dim), (right, right_dim)] = sides;
        let batches = list(&(0..batch).collect::<Vec<_>>());
        let step = 1i64 << self.rng.range(2, 5);
        let text = format!(
            "dot({}, {}), lhs_batch_dims={{{batches}}}, rhs_batch_dims={{{batches}}}, \
             lhs_contracting_dims={{{left_dim}}}, rhs_contracting_dims={{{right_dim}}}, \
             backend_config={{\"sizes\":[\"{step}\"]}}",
            left.name, right.name
        );
        Some(self.push("f32", &dims, text))
    }
}
