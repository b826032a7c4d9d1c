//! What instructions need of the attributes of an op, and why there is no instruction without it.

use mlir::{ArrayType, integers};
use mlir_ops::OpText;

use crate::not_in_hlo::NotInHlo;

/// The integers of the first of these attributes that is present.
pub(crate) fn needed(op: &OpText<'_>, names: &[&str]) -> Result<Vec<i64>, NotInHlo> {
    op.list(names).ok_or_else(|| missing(names[0]))
}

pub(crate) fn missing(attribute: &str) -> NotInHlo {
    NotInHlo::Attribute(attribute.to_owned().into())
}

/// The rows of `dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>`. Nothing where it is no matrix of integers.
pub(crate) fn matrix(value: &str) -> Option<Vec<Vec<i64>>> {
    let numbers = integers(value)?;
    let ty = value.rsplit_once(':')?.1.trim();
    let [Some(_), Some(columns)] = ArrayType::parse(ty).ok()?.extents[..] else { return None };
    let columns = usize::try_from(columns).ok().filter(|&n| n > 0);
    Some(columns.map_or_else(Vec::new, |columns| numbers.chunks(columns).map(<[i64]>::to_vec).collect()))
}
