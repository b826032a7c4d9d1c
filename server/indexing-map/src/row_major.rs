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
