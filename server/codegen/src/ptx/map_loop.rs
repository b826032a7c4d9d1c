//! Loops of the IR over the range variables of a map.

use indexing_map::{Expr, IndexingMap};

use crate::kernel::{Region, ValueId};

/// A loop over the range variables of a map.
#[derive(Clone, Copy)]
pub(super) struct MapLoop<'k> {
    pub map: &'k IndexingMap,
    /// The values of the map's dimensions.
    pub dims: &'k [Expr],
    /// The index variables of the function for range variables and results.
    pub vars: &'k [u32],
    pub results: &'k [u32],
    pub inits: &'k [ValueId],
    pub body: &'k Region,
}

/// Substitutes the values of dimensions and range variables.
pub(super) fn in_place(expr: &Expr, dims: &[Expr], ranges: &[Expr]) -> Expr {
    expr.substitute(&mut |v| {
        let v = v as usize;
        dims.get(v).or_else(|| ranges.get(v - dims.len())).cloned()
    })
}
