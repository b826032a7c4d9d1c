//! Positions in row-major arrays without gaps.

use crate::Expr;

/// The position in a row-major array without gaps. The first extent has no effect.
pub fn linearized(indices: &[Expr], extents: &[Expr]) -> Expr {
    let mut linear = Expr::ZERO;
    for (index, extent) in indices.iter().zip(extents) {
        linear = linear * extent.clone() + index.clone();
    }
    linear
}

/// The index of a position along each dimension of a row-major array. The first extent has no effect.
pub fn delinearized(linear: &Expr, extents: &[Expr]) -> Vec<Expr> {
    let mut found = Vec::with_capacity(extents.len());
    for at in 0..extents.len() {
        let inner = extents[at + 1..].iter().cloned().fold(Expr::Const(1), |n, e| n * e);
        let digit = linear.clone().floor_div(inner);
        found.push(if at == 0 { digit } else { digit.modulo(extents[at].clone()) });
    }
    found
}

/// The place of the only unknown extent, and the product of the others. The unknown extent is the number of elements
/// divided by that product. `None` if several are unknown, or if the product is 0 or exceeds 64 bits.
pub fn only_unknown(extents: impl IntoIterator<Item = Option<i64>>) -> Option<(usize, i64)> {
    let (mut unknown, mut others) = (None, 1i64);
    for (at, extent) in extents.into_iter().enumerate() {
        match extent {
            Some(extent) => others = others.checked_mul(extent)?,
            None if unknown.is_none() => unknown = Some(at),
            None => return None,
        }
    }
    unknown.map(|at| (at, others)).filter(|(_, others)| *others > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_through_the_array_and_back() {
        let extents = [3, 1, 4, 2].map(Expr::Const);
        let indices: Vec<Expr> = (0..extents.len()).map(Expr::var).collect();
        let position = linearized(&indices, &extents);
        let back = delinearized(&Expr::var(0), &extents);
        let all = (0..3).flat_map(|a| (0..4).flat_map(move |c| (0..2).map(move |d| [a, 0, c, d])));
        for (at, index) in (0..).zip(all) {
            assert_eq!(position.evaluate(&index), Some(at));
            let digits: Vec<Option<i64>> = back.iter().map(|digit| digit.evaluate(&[at])).collect();
            assert_eq!(digits, index.map(Some));
        }
    }

    #[test]
    fn one_unknown_extent_follows_from_the_others() {
        assert_eq!(only_unknown([Some(3), None, Some(5)]), Some((1, 15)));
        assert_eq!(only_unknown([None]), Some((0, 1)));
        assert_eq!(only_unknown([Some(3), Some(5)]), None);
        assert_eq!(only_unknown([None, Some(2), None]), None);
        assert_eq!(only_unknown([Some(0), None]), None);
        assert_eq!(only_unknown([Some(i64::MAX), None, Some(2)]), None);
    }
}
