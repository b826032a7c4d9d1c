//! `stochastic-convert`: to one of the two integers next to a number, chosen by a random one. Source:
//! `StochasticConvertOp` of XLA's evaluator.

use super::column::Column;
use super::elementwise::with_doubt;
use super::types::Kind;
use crate::checks::Checked;

/// Rounds elements of `operand` away from zero if their fraction exceeds `random` as a fraction of its type's
/// range.
pub(crate) fn convert(kind: Kind, operand: &Column, random: &Column) -> Checked<Column> {
    let (Kind::Signed(bits), Kind::Unsigned(width), true) = (kind, random.kind, operand.kind.is_float())
    else {
        return Err("XLA defines stochastic-convert of floating-point to signed numbers alone".into());
    };
    let largest = i64::MAX >> (64 - bits);
    let smallest = -largest - 1;
    let whole = |(&x, &random): (&f64, &i64)| {
        cancel::tick();
        if x.is_nan() {
            return 0;
        }
        // Compares with the largest integer as the operand's type represents it.
        if x >= operand.kind.round(largest as f64) {
            return largest;
        }
        if x <= smallest as f64 {
            return smallest;
        }
        let size = x.abs();
        let below = size.floor();
        // Both are exact: the fraction has at most as many digits as the operand.
        let fraction = ((size - below) * 2f64.powi(width as i32)) as u64;
        let rounds_up = (random as u64) < fraction;
        let value = below as i64 + i64::from(rounds_up);
        // The largest integer plus one wraps to the smallest.
        kind.wrap(if x < 0.0 { value.wrapping_neg() } else { kind.wrap(value) })
    };
    let values = operand.reals().iter().zip(random.ints()).map(whole).collect();
    Ok(with_doubt(with_doubt(Column::int(kind, values), operand), random))
}
