//! What Triton knows of the elements of a tile along each of its dimensions.
//! Source: `lib/Analysis/AxisInfo.cpp` of Triton.

use indexing_map::{BinaryOp, Expr};

/// Divides every number that occurs.
const MOST: i64 = 1 << 62;

/// The largest power of two that divides a number.
pub(super) fn power_of_two_in(number: i64) -> i64 {
    if number == 0 { MOST } else { 1 << number.trailing_zeros().min(62) }
}

/// The product of two powers of two, limited.
pub(super) fn product(a: i64, b: i64) -> i64 {
    a.checked_mul(b).map_or(MOST, |product| product.min(MOST))
}

/// A tile of integers or pointers. All numbers are powers of two, one per dimension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct AxisInfo {
    /// The length of runs of consecutive numbers.
    pub contiguity: Vec<i64>,
    /// What divides the first number of each run.
    pub divisibility: Vec<i64>,
    /// The length of runs of equal numbers.
    pub constancy: Vec<i64>,
}

impl AxisInfo {
    /// One number in all elements, of which is known what divides it.
    pub fn splat(divisibility: i64, sizes: &[i64]) -> AxisInfo {
        AxisInfo {
            contiguity: vec![1; sizes.len()],
            divisibility: vec![divisibility; sizes.len()],
            constancy: sizes.to_vec(),
        }
    }

    /// The numbers from 0 along `dim`, times `stride`, the same along the other dimensions.
    pub fn range(dim: usize, stride: i64, sizes: &[i64]) -> AxisInfo {
        let is_run = stride == 1 && sizes[dim] > 1;
        let along = match sizes[dim] {
            1 => MOST,
            _ if is_run => MOST,
            _ => power_of_two_in(stride),
        };
        // Of a run, only the first number is known to be divisible.
        let across = if is_run { 1 } else { along };
        let each = |own: i64, other: &dyn Fn(usize) -> i64| {
            (0..sizes.len()).map(|at| if at == dim { own } else { other(at) }).collect()
        };
        AxisInfo {
            contiguity: each(if is_run { sizes[dim] } else { 1 }, &|_| 1),
            divisibility: each(along, &|_| across),
            constancy: each(1, &|at| sizes[at]),
        }
    }

    /// The numbers times a constant.
    pub fn times(self, factor: i64) -> AxisInfo {
        if factor == 1 {
            return self;
        }
        let by = power_of_two_in(factor);
        let runs = self.contiguity.iter().zip(&self.divisibility);
        let divisibility = runs.map(|(&run, &own)| product(if run > 1 { 1 } else { own }, by)).collect();
        AxisInfo { contiguity: vec![1; self.contiguity.len()], divisibility, constancy: self.constancy }
    }

    /// The sums, element by element. `size` is by how much an element of the second operand moves the first: the bytes of
    /// what a pointer points to, else 1.
    pub fn plus(&self, other: &AxisInfo, size: i64) -> AxisInfo {
        let dims = 0..self.contiguity.len();
        let run = |at: usize| {
            let one = self.constancy[at].min(other.contiguity[at]);
            one.max(self.contiguity[at].min(other.constancy[at]))
        };
        let by = power_of_two_in(size.max(1));
        AxisInfo {
            contiguity: dims.clone().map(run).collect(),
            divisibility: dims
                .clone()
                .map(|at| self.divisibility[at].min(product(other.divisibility[at], by)))
                .collect(),
            constancy: dims.map(|at| self.constancy[at].min(other.constancy[at])).collect(),
        }
    }

    /// The runs of equal answers to "less than a number", which is the same for all and of which is known what divides it.
    pub fn compared(&self, divisibility: i64) -> Vec<i64> {
        let dims = 0..self.contiguity.len();
        let run = |at: usize| self.contiguity[at].min(self.divisibility[at]).min(divisibility);
        dims.map(|at| self.constancy[at].max(run(at))).collect()
    }
}

/// The power of two that is known to divide an index, by the ops that it is lowered to.
pub(super) fn divisibility(expr: &Expr, of_variable: &dyn Fn(u32) -> i64) -> i64 {
    let both = match expr {
        Expr::Const(number) => return power_of_two_in(*number),
        Expr::Var(variable) => return of_variable(*variable),
        Expr::Binary(both) => both,
    };
    let left = divisibility(both.lhs(), of_variable);
    match (both.op(), both.rhs().as_const()) {
        (BinaryOp::Mul, _) => product(left, divisibility(both.rhs(), of_variable)),
        (BinaryOp::Add | BinaryOp::Min | BinaryOp::Max, _) => left.min(divisibility(both.rhs(), of_variable)),
        (BinaryOp::FloorDiv, Some(by)) if by > 0 && by.count_ones() == 1 => (left / by).max(1),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Fails unless what is known of a tile holds for its numbers, given by place.
    fn check(info: &AxisInfo, sizes: [i64; 2], number: &dyn Fn([i64; 2]) -> i64) {
        let places = (0..sizes[0]).flat_map(|row| (0..sizes[1]).map(move |column| [row, column]));
        for (place, dim) in places.flat_map(|place| [(place, 0), (place, 1)]) {
            let first_of = |run: i64| {
                let mut first = place;
                first[dim] -= first[dim] % run;
                first
            };
            let (run, equal) = (info.contiguity[dim], info.constancy[dim]);
            let first = number(first_of(run));
            assert_eq!(number(place), first + place[dim] % run, "{info:?} at {place:?}");
            assert_eq!(first % info.divisibility[dim].min(1 << 20), 0, "{info:?} at {place:?}");
            assert_eq!(number(place), number(first_of(equal)), "{info:?} at {place:?}");
        }
    }

    #[test]
    fn what_is_known_holds() {
        let sizes = [8, 16];
        for (stride, step) in [(1, 1), (1, 6), (2, 1), (12, 5), (1, 64)] {
            for (offset, other) in [(0, 0), (32, 1), (12, 24), (7, 3)] {
                let columns = AxisInfo::range(1, stride, &sizes).times(step);
                check(&columns, sizes, &|[_, column]| column * stride * step);
                let rows = AxisInfo::range(0, 1, &sizes).times(other);
                let start = AxisInfo::splat(power_of_two_in(offset), &sizes);
                let sum = start.plus(&columns.plus(&rows, 1), 1);
                check(&sum, sizes, &|[row, column]| offset + column * stride * step + row * other);
            }
        }
    }

    #[test]
    fn a_mask_is_as_long_as_what_divides_its_bound() {
        let sizes = [4, 64];
        for (bound, run) in [(40, 8), (64, 64), (7, 1), (48, 16)] {
            let range = AxisInfo::range(1, 1, &sizes);
            let runs = range.compared(power_of_two_in(bound));
            assert_eq!(runs, [4, run]);
            for place in 0..64 {
                assert_eq!(place < bound, place - place % runs[1] < bound);
            }
        }
    }

    #[test]
    fn rows_of_uneven_length_are_not_aligned() {
        let sizes = [16, 32];
        let columns = AxisInfo::range(1, 1, &sizes);
        for (row, aligned) in [(768, 16), (10, 4), (77, 2)] {
            let places = columns.plus(&AxisInfo::range(0, 1, &sizes).times(row), 1);
            let pointers = AxisInfo::splat(16, &sizes).plus(&places, 2);
            assert_eq!((pointers.contiguity[1], pointers.divisibility[1]), (32, aligned));
        }
    }
}
