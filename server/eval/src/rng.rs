//! `rng`: XLA specifies the distribution of the numbers, not their values. Here they follow from the
//! instruction and the position, and any other numbers are right, too.

use ir::AttributeKey;
use random::Rng;

use super::column::Column;
use super::dispatch::Asked;
use super::evaluator::{Evaluator, kind_of};
use super::types::Kind;
use crate::checks::{Checked, ensure};

/// The remark on values that depend on such numbers.
const NOTE: &str =
    "rng: XLA does not define its numbers, each backend has its own; these are from a fixed seed";

pub(crate) fn random(evaluator: &mut Evaluator<'_>, asked: &Asked<'_>) -> Checked<Column> {
    let kind = kind_of(&asked.op.shape)?;
    let first = evaluator.scalar(asked.frame, asked.operand(0)?)?;
    let second = evaluator.scalar(asked.frame, asked.operand(1)?)?;
    ensure(first.kind == kind && second.kind == kind, "the parameters have another type than the numbers")?;
    let distribution = asked.op.attributes.text(AttributeKey::Distribution).unwrap_or("");
    let is_normal = match distribution {
        "rng_uniform" => false,
        "rng_normal" => true,
        other => return Err(format!("the distribution {other} is not evaluated").into()),
    };
    evaluator.note(NOTE);
    let stream = Rng::new(u64::from(asked.id)).next_u64();
    let bits = |position: i64| {
        cancel::tick();
        let mut numbers = Rng::new(Rng::new(stream ^ position as u64).next_u64());
        [numbers.next_u64(), numbers.next_u64()]
    };
    let positions = asked.batch.positions.iter();
    let mut column = match kind {
        Kind::Complex { .. } => return Err("rng of complex numbers is not evaluated".into()),
        _ if kind.is_integral() => {
            ensure(!is_normal, "whole numbers have no normal distribution")?;
            let (low, high) = (first.ints()[0], second.ints()[0]);
            let is_unsigned = matches!(kind, Kind::Unsigned(_));
            let is_empty = if is_unsigned { high as u64 <= low as u64 } else { high <= low };
            let count = if is_empty { 1 } else { high.wrapping_sub(low) as u64 };
            let value = |&p: &i64| kind.wrap(low.wrapping_add((bits(p)[0] % count) as i64));
            Column::int(kind, positions.map(value).collect())
        }
        _ => {
            let (a, b) = (first.reals()[0], second.reals()[0]);
            let value = |&p: &i64| {
                // In [0, 1).
                let [x, y] = bits(p).map(|bits| (bits >> 11) as f64 / (1u64 << 53) as f64);
                match is_normal {
                    // The Box–Muller transform.
                    true => {
                        let size = (-2.0 * (1.0 - x).ln()).sqrt();
                        kind.round(a + b * size * (std::f64::consts::TAU * y).cos())
                    }
                    false => {
                        let value = kind.round(a + (b - a) * x);
                        if value < b { value } else { a }
                    }
                }
            };
            Column::real(kind, positions.map(value).collect())
        }
    };
    column.error = Some(vec![f64::INFINITY; column.len()]);
    Ok(column)
}
