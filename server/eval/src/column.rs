//! Columns: elements of an array, with error bounds for right answers.

use super::types::Kind;

/// The values of elements: integers (including `pred`) as 64 bits, floats of all formats as `f64`, which
/// holds them exactly.
#[derive(Debug, Clone, PartialEq)]
pub enum Values {
    Int(Vec<i64>),
    Real(Vec<f64>),
    Complex(Vec<[f64; 2]>),
}

/// Elements of one array. `error` bounds, per element, the distance of a right answer from the value: `None`
/// if all must match exactly, infinity if the answer is open. It follows from the operations' stated
/// precision, not from the compared data.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    pub kind: Kind,
    pub values: Values,
    pub error: Option<Vec<f64>>,
}

impl Column {
    pub fn int(kind: Kind, values: Vec<i64>) -> Column {
        Column { kind, values: Values::Int(values), error: None }
    }

    pub fn real(kind: Kind, values: Vec<f64>) -> Column {
        Column { kind, values: Values::Real(values), error: None }
    }

    pub fn complex(kind: Kind, values: Vec<[f64; 2]>) -> Column {
        Column { kind, values: Values::Complex(values), error: None }
    }

    pub fn len(&self) -> usize {
        match &self.values {
            Values::Int(v) => v.len(),
            Values::Real(v) => v.len(),
            Values::Complex(v) => v.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The integers; empty for other types.
    pub fn ints(&self) -> &[i64] {
        match &self.values {
            Values::Int(v) => v,
            _ => &[],
        }
    }

    pub fn reals(&self) -> &[f64] {
        match &self.values {
            Values::Real(v) => v,
            _ => &[],
        }
    }

    pub fn complexes(&self) -> &[[f64; 2]] {
        match &self.values {
            Values::Complex(v) => v,
            _ => &[],
        }
    }

    #[inline]
    pub fn error_at(&self, i: usize) -> f64 {
        self.error.as_ref().map_or(0.0, |e| e[i])
    }

    /// The elements at `indices` of this column, which must be in range.
    ///
    /// # Panics
    ///
    /// If one is not.
    pub fn pick(&self, indices: &[u32]) -> Column {
        fn of<T: Copy>(values: &[T], indices: &[u32]) -> Vec<T> {
            let mut picked = Vec::with_capacity(indices.len());
            for indices in indices.chunks(1 << 14) {
                cancel::check();
                picked.extend(indices.iter().map(|&i| values[i as usize]));
            }
            picked
        }
        let values = match &self.values {
            Values::Int(v) => Values::Int(of(v, indices)),
            Values::Real(v) => Values::Real(of(v, indices)),
            Values::Complex(v) => Values::Complex(of(v, indices)),
        };
        Column { kind: self.kind, values, error: self.error.as_ref().map(|e| of(e, indices)) }
    }

    /// An empty column.
    pub(crate) fn none(kind: Kind) -> Column {
        let values = match kind {
            _ if kind.is_integral() => Values::Int(Vec::new()),
            Kind::Complex { .. } => Values::Complex(Vec::new()),
            _ => Values::Real(Vec::new()),
        };
        Column { kind, values, error: None }
    }

    /// Appends another column of the same kind. If the kinds differ, as only in broken graphs, the values are
    /// open.
    pub fn append(&mut self, other: &Column) {
        if std::mem::discriminant(&self.values) != std::mem::discriminant(&other.values) {
            let len = other.len();
            let mut open = Column::none(self.kind);
            match &mut open.values {
                Values::Int(v) => v.resize(len, 0),
                Values::Real(v) => v.resize(len, 0.0),
                Values::Complex(v) => v.resize(len, [0.0; 2]),
            }
            // A column whose values do not match its own kind stays as it is.
            if std::mem::discriminant(&self.values) == std::mem::discriminant(&open.values) {
                open.error = Some(vec![f64::INFINITY; len]);
                self.append(&open);
            }
            return;
        }
        if self.error.is_some() || other.error.is_some() {
            let before = self.len();
            let errors = self.error.get_or_insert_with(|| vec![0.0; before]);
            match &other.error {
                Some(more) => errors.extend(more),
                None => errors.extend(std::iter::repeat_n(0.0, other.len())),
            }
        }
        match (&mut self.values, &other.values) {
            (Values::Int(a), Values::Int(b)) => a.extend(b),
            (Values::Real(a), Values::Real(b)) => a.extend(b),
            (Values::Complex(a), Values::Complex(b)) => a.extend(b),
            _ => (),
        }
    }

    /// Element `i` of this column where `from[i]`, else of the other.
    pub(crate) fn merge(&self, other: &Column, from: impl Fn(usize) -> bool) -> Column {
        let len = self.len();
        let mut both = self.clone();
        both.append(other);
        let indices: Vec<u32> = (0..len).map(|i| if from(i) { i } else { len + i } as u32).collect();
        both.pick(&indices)
    }

    /// The bits of element `i` as in memory; for complex numbers the real part is the low half.
    pub fn bits(&self, i: usize) -> u128 {
        match &self.values {
            Values::Int(v) => {
                let width = self.kind.width();
                u128::from(if width >= 64 { v[i] as u64 } else { v[i] as u64 & ((1 << width) - 1) })
            }
            Values::Real(v) => u128::from(self.kind.real_to_bits(v[i])),
            Values::Complex(v) => match self.kind {
                Kind::Complex { is_double: false } => {
                    let part = |x: f64| u128::from((x as f32).to_bits());
                    part(v[i][0]) | part(v[i][1]) << 32
                }
                _ => u128::from(v[i][0].to_bits()) | u128::from(v[i][1].to_bits()) << 64,
            },
        }
    }

    /// The elements with these bits.
    pub fn from_bits(kind: Kind, bits: impl Iterator<Item = u128>) -> Column {
        match kind {
            Kind::Pred => Column::int(kind, bits.map(|b| i64::from(b & 0xFF != 0)).collect()),
            Kind::Signed(_) | Kind::Unsigned(_) => {
                Column::int(kind, bits.map(|b| kind.wrap(b as u64 as i64)).collect())
            }
            Kind::Complex { is_double } => {
                let part = |b: u128| match is_double {
                    true => f64::from_bits(b as u64),
                    false => f64::from(f32::from_bits(b as u32)),
                };
                let half = if is_double { 64 } else { 32 };
                Column::complex(kind, bits.map(|b| [part(b), part(b >> half)]).collect())
            }
            _ => Column::real(kind, bits.map(|b| kind.real_from_bits(b as u64)).collect()),
        }
    }

    /// Compares element `i` with that of `got`, which was computed elsewhere. `None` if it is right, else
    /// both values. All NaNs are equal; infinities must match.
    pub fn differs(&self, i: usize, got: &Column) -> Option<(f64, f64)> {
        let allowed = self.error_at(i);
        if allowed.is_infinite() || allowed.is_nan() {
            return None;
        }
        let wrong = |want: f64, got: f64| {
            let is_right = want == got || want.is_nan() && got.is_nan() || (want - got).abs() <= allowed;
            (!is_right).then_some((want, got))
        };
        match (&self.values, &got.values) {
            (Values::Int(a), Values::Int(b)) => {
                let is_right = a[i] == b[i] || allowed > 0.0 && (a[i].abs_diff(b[i]) as f64) <= allowed;
                (!is_right).then_some((a[i] as f64, b[i] as f64))
            }
            (Values::Real(a), Values::Real(b)) => wrong(a[i], b[i]),
            (Values::Complex(a), Values::Complex(b)) => {
                wrong(a[i][0], b[i][0]).or_else(|| wrong(a[i][1], b[i][1]))
            }
            _ => Some((f64::NAN, f64::NAN)),
        }
    }

    /// Whether the value of element `i` is open.
    pub fn is_open(&self, i: usize) -> bool {
        !self.error_at(i).is_finite()
    }
}

impl Column {
    /// Sets elements to zero, exactly.
    pub(crate) fn zero_where(&mut self, is_zero: impl Fn(usize) -> bool) {
        for i in (0..self.len()).filter(|&i| is_zero(i)) {
            match &mut self.values {
                Values::Int(v) => v[i] = 0,
                Values::Real(v) => v[i] = 0.0,
                Values::Complex(v) => v[i] = [0.0; 2],
            }
            if let Some(errors) = &mut self.error {
                errors[i] = 0.0;
            }
        }
    }
}
