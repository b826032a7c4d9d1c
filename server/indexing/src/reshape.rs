//! Reshapes: the same elements in row-major order with other sizes.

use indexing_map::{Expr, IndexingMap, SimplifyMode, delinearized, linearized, only_unknown};

use ir::{ArrayShape, Op};

use crate::checks::{self, Checked, ensure, scalar};
use crate::extents::{self, Domain};
use crate::operand_indexing::{OpIndexing, OperandIndexing};
use crate::whole_operand::{self, whole};

/// Maps an array with sizes `from` to the array with sizes `to` that has the same elements in row-major
/// order. From output to input, `from` is the output.
///
/// The sizes are split into groups of equal products, as short as possible; inside a group, indices are
/// linearised and
/// delinearised. Source: `ComputeReshapeIndexingMap`, `ComputeMinimalReshape`.
pub(crate) fn reshape(from: &[i64], to: &[i64]) -> Checked<IndexingMap> {
    let elements = count(from).zip(count(to)).ok_or("element counts overflow 64 bits")?;
    ensure(elements.0 == elements.1, format!("{} elements cannot become {}", elements.1, elements.0))?;
    if elements.0 == 0 {
        let mut map = scalar(from).with_results(vec![Expr::ZERO; to.len()]);
        map.set_known_empty();
        return Ok(map);
    }
    let mut results = Vec::with_capacity(to.len());
    let (mut i, mut j) = (0, 0);
    while i < from.len() || j < to.len() {
        let (first, second) = (i, j);
        let (mut a, mut b) = (1, 1);
        // The side with the smaller product takes the next dimension. Products stay below the element count.
        loop {
            if j < to.len() && (j == second || b < a) {
                b *= to[j];
                j += 1;
            } else if i < from.len() && (i == first || a < b) {
                a *= from[i];
                i += 1;
            } else {
                break;
            }
        }
        delinearize(linearize(first, &from[first..i]), &to[second..j], &mut results);
    }
    Ok(IndexingMap::from_sizes(from, &[], results).simplified(SimplifyMode::Preserve))
}

/// The same elements in row-major order. Unknown extents are linearised and delinearised as they are; a single one
/// of the output follows from the others.
pub(crate) fn reshape_op(op: &Op) -> Checked<OpIndexing> {
    let (mut output, operand) = (extents::output(op, 0)?, extents::operand(op, 0)?);
    if extents::are_known(&output) && extents::are_known(&operand) {
        let map = reshape(checks::output(op, 0)?, checks::operand(op, 0)?)?;
        return Ok(OpIndexing::of([map.into()]));
    }
    if let Some((at, others)) = only_unknown(output.iter().map(Expr::as_const)) {
        let whole = operand.iter().cloned().fold(Expr::Const(1), |product, size| product * size);
        output[at] = whole.floor_div(others);
    }
    let dims: Vec<Expr> = (0..output.len()).map(Expr::var).collect();
    let results = delinearized(&linearized(&dims, &output), &operand);
    Ok(OpIndexing::of([Domain::new(op, 0, &output).access(results)]))
}

/// A reshape whose sizes are operands. Row-major positions depend on every size but the first. If no other
/// size is dynamic, the map is that between the bounds; else at most the whole operand is read. The sizes
/// themselves are scalars.
pub(crate) fn dynamic_reshape(op: &Op) -> Checked<OpIndexing> {
    let shape = checks::output_shape(op, 0)?;
    let output = checks::array(shape, "the output")?;
    let operand = op.operand_shapes.first().ok_or("operand 0 is missing")?;
    let operand = checks::array(operand, "operand 0")?;
    let is_fixed = |array: &ArrayShape| !(1..array.rank()).any(|dim| array.is_dynamic(dim));
    let exact = match is_fixed(output) && is_fixed(operand) {
        true => reshape(&output.dims, &operand.dims).ok(),
        false => None,
    };
    let first = match exact {
        Some(map) => vec![OperandIndexing::from(map)],
        None => whole(op, 0, &output.dims, whole_operand::reason(op.opcode)),
    };
    let sizes = (1..op.operand_shapes.len()).map(|i| match checks::operand(op, i) {
        Ok([]) => vec![scalar(&output.dims).into()],
        Ok(_) => whole(op, i, &output.dims, whole_operand::reason(op.opcode)),
        Err(reason) => vec![OperandIndexing::undefined(reason)],
    });
    Ok(OpIndexing { operands: std::iter::once(first).chain(sizes).collect() })
}

fn count(sizes: &[i64]) -> Option<i64> {
    if sizes.contains(&0) {
        return Some(0);
    }
    sizes.iter().try_fold(1i64, |n, &size| n.checked_mul(size))
}

/// The row-major position of the variables from `first` on.
fn linearize(first: usize, sizes: &[i64]) -> Expr {
    let mut stride = 1;
    let mut sum = Expr::ZERO;
    for (i, size) in sizes.iter().enumerate().rev() {
        sum = Expr::var(first + i) * stride + sum;
        stride *= size;
    }
    sum
}

/// A chain of remainders: each component is the remaining value divided by its stride. As in XLA, a dimension
/// of size 1 is treated the same way, although its component is always 0: tiles distinguish the two.
fn delinearize(linear: Expr, sizes: &[i64], results: &mut Vec<Expr>) {
    let mut stride: i64 = sizes.iter().product();
    let mut left = linear;
    for &size in sizes {
        stride /= size;
        results.push(left.clone().floor_div(stride));
        left = left.modulo(stride);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: &[i64], to: &[i64], expect: &str) {
        assert_eq!(reshape(from, to).unwrap().to_string(), expect);
    }

    #[test]
    fn degenerate_dimensions() {
        // Variables with a single value are kept, as XLA's kPreserve does.
        check(
            &[1, 4, 1],
            &[4],
            "(d0, d1, d2) -> (d0 * 4 + d1), domain: d0 in [0, 0], d1 in [0, 3], d2 in [0, 0]",
        );
        check(&[4], &[1, 4, 1], "(d0) -> (d0 floordiv 4, d0, 0), domain: d0 in [0, 3]");
        check(&[], &[1, 1], "() -> (0, 0)");
        check(&[3, 0], &[0], "KNOWN EMPTY");
    }

    #[test]
    fn sizes_are_checked() {
        assert!(reshape(&[4, 2], &[9]).is_err());
        assert!(reshape(&[i64::MAX, 2], &[2, i64::MAX]).is_err());
    }
}
