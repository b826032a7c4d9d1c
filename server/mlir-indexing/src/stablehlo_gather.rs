//! `stablehlo.gather` and `stablehlo.dynamic_gather`.
//!
//! Source: openxla.org/stablehlo/spec, gather.

use indexing_map::{Expr, Interval};
use mlir::{field, integer, integers};
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// The non-offset dimensions of the result select a window; the offset dimensions select an element in it.
pub(crate) fn gather(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (source, indices) = (text.operand(0)?, text.operand(1)?);
    let (ty, index_type, result) = (text.array_of(&source)?, text.array_of(&indices)?, text.result_array(0)?);
    let written =
        text.attribute("dimension_numbers").ok_or(NoMap::from("its dimension_numbers are not read"))?;
    let numbers = text.source.resolved(written, text.source.parse.op(text.id).span.start).into_owned();
    let list = |name: &str| -> Result<Vec<usize>, NoMap> {
        let Some(written) = field(&numbers, name) else { return Ok(Vec::new()) };
        let found = integers(written).unwrap_or_default().into_iter().map(|d| usize::try_from(d).ok());
        found.collect::<Option<_>>().ok_or_else(|| NoMap::from(format!("its {} are not read", name)))
    };
    let offsets = list("offset_dims")?;
    let collapsed = list("collapsed_slice_dims")?;
    let batching = list("operand_batching_dims")?;
    let index_batching = list("start_indices_batching_dims")?;
    let start_map = list("start_index_map")?;
    let vector = field(&numbers, "index_vector_dim").and_then(integer).unwrap_or(0);
    let vector = usize::try_from(vector).map_err(|_| NoMap::from("its index_vector_dim is not read"))?;
    let sizes = text.list(&["slice_sizes"]);

    let batch: Vec<usize> = (0..result.rank()).filter(|d| !offsets.contains(d)).collect();
    let index_batch: Vec<usize> = (0..index_type.rank()).filter(|&k| k != vector).collect();
    let window: Vec<usize> =
        (0..ty.rank()).filter(|k| !collapsed.contains(k) && !batching.contains(k)).collect();
    if batch.len() != index_batch.len()
        || window.len() != offsets.len()
        || batching.len() != index_batching.len()
        || offsets.iter().any(|&d| d >= result.rank())
        || vector > index_type.rank()
    {
        return Err("its dimension numbers do not fit its operands".into());
    }
    let mut known = vec![None; result.rank()];
    for (&d, &k) in batch.iter().zip(&index_batch) {
        known[d] = Some(builder.extent(&indices, &index_type, k));
    }
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let at = |component: Expr| -> Vec<Expr> {
        let mut place: Vec<Expr> = batch.iter().map(|&d| dims[d].clone()).collect();
        if vector < index_type.rank() {
            place.insert(vector.min(place.len()), component);
        }
        place
    };
    let mut index = Vec::new();
    for k in 0..ty.rank() {
        let mut place = Expr::ZERO;
        if let Some(nth) = start_map.iter().position(|&m| m == k) {
            let size = sizes.as_ref().and_then(|s| s.get(k).copied());
            let bounds = match (ty.extents[k], size) {
                (Some(whole), Some(size)) => Interval::new(0, whole.saturating_sub(size).max(0)),
                _ => Interval::new(0, i64::MAX),
            };
            place = builder.element(&indices, nth, at(Expr::Const(nth as i64)), bounds);
        }
        if let Some(nth) = window.iter().position(|&w| w == k) {
            place = place + dims[offsets[nth]].clone();
        }
        if let Some(nth) = batching.iter().position(|&b| b == k) {
            let of = index_batch.iter().position(|&i| i == index_batching[nth]);
            let of = of.ok_or("its batching dimensions do not fit its operands")?;
            place = place + dims[batch[of]].clone();
        }
        index.push(place);
    }
    let of_source = builder.access(&source, Role::Read, index, Vec::new());
    let components = builder.range(None, &Expr::Const(start_map.len() as i64));
    let of_indices = builder.access(&indices, Role::Read, at(components), Vec::new());
    Ok(OpMaps::of_result(0, vec![of_source, of_indices]))
}
