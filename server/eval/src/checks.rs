//! Checks of an op before it is evaluated, and the reasons why it is not.

use std::borrow::Cow;
use std::sync::Arc;

use ir::{Graph, Shape};

/// The reason why an op is not evaluated.
pub type Reason = Cow<'static, str>;

pub type Checked<T> = Result<T, Reason>;

/// Looks up a computation by name.
pub type Callees<'a> = dyn Fn(&str) -> Option<Arc<Graph>> + 'a;

/// The lookup for ops whose called computations are absent or irrelevant.
pub fn no_callees(_: &str) -> Option<Arc<Graph>> {
    None
}

/// The arrays (and tokens) of a shape, nested tuples flattened.
pub fn leaves(shape: &Shape) -> Vec<&Shape> {
    match shape {
        Shape::Tuple(elements) => elements.iter().flat_map(leaves).collect(),
        other => vec![other],
    }
}

/// Fails with `reason` unless the condition holds.
pub fn ensure(holds: bool, reason: impl Into<Reason>) -> Checked<()> {
    if holds { Ok(()) } else { Err(reason.into()) }
}

/// `numbers` as dimension numbers; fails if one is not below `rank`.
pub fn dimensions(numbers: &[i64], rank: usize) -> Checked<Vec<usize>> {
    let of = |&n: &i64| usize::try_from(n).ok().filter(|&n| n < rank);
    numbers.iter().map(|n| of(n).ok_or_else(|| format!("{n} is not a dimension of {rank}").into())).collect()
}
