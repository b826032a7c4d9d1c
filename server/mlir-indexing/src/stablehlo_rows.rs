//! Ops in which each element depends on a whole row: `chlo.top_k` and `stablehlo.fft`.
//!
//! Source: `stablehlo/dialect/ChloOps.td`, openxla.org/stablehlo/spec.

use indexing_map::Expr;
use mlir::integers;
use mlir_ops::{NoMap, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// Each of the k largest elements, and each of their indices, may come from any element of its row, which is
/// the last dimension.
pub(crate) fn top_k(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, to) = (text.array_of(&source)?, text.result_array(result)?);
    let last = ty.rank().checked_sub(1).ok_or("its operand has no dimension")?;
    if to.rank() != ty.rank() {
        return Err("its result has not the dimensions of the operand".into());
    }
    let inner = builder.extents(&source, &ty);
    let known: Vec<Option<Expr>> = inner[..last].iter().cloned().map(Some).collect();
    let extents = builder.result_extents(text, result, &to, &known);
    let mut index = builder.dimensions(&extents);
    index[last] = builder.range(None, &inner[last]);
    let mut access = builder.access(&source, Role::Read, index, Vec::new());
    access.note = Some("which element of the row it is depends on the values".to_owned());
    Ok(OpMaps::of_result(result, vec![access]))
}

/// All elements along the transformed dimensions, which are the last ones. `fft_length` gives their extents
/// on the side with real elements.
pub(crate) fn fft(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, to) = (text.array_of(&source)?, text.result_array(0)?);
    let lengths = text.attribute("fft_length").or_else(|| text.attribute("length")).and_then(integers);
    let lengths = lengths.ok_or(NoMap::from("its fft_length is not read"))?;
    let kept =
        ty.rank().checked_sub(lengths.len()).ok_or("its fft_length has more entries than dimensions")?;
    if to.rank() != ty.rank() {
        return Err("its result has not the dimensions of the operand".into());
    }
    let kind = text.attribute("fft_type").or_else(|| text.attribute("type")).unwrap_or_default();
    let kind = kind.trim_end_matches('>').rsplit([' ', '<', '.']).next().unwrap_or_default();
    let transformed = |is_halved: bool| -> Vec<Option<Expr>> {
        let mut sizes: Vec<i64> = lengths.clone();
        if let Some(last) = sizes.last_mut().filter(|_| is_halved) {
            *last = *last / 2 + 1;
        }
        sizes.into_iter().map(|n| Some(Expr::Const(n))).collect()
    };
    let mut inner = builder.extents(&source, &ty);
    for (k, size) in transformed(kind == "IRFFT").into_iter().enumerate() {
        if let (None, Some(size)) = (ty.extents[kept + k], size) {
            inner[kept + k] = size;
        }
    }
    let mut known: Vec<Option<Expr>> = inner[..kept].iter().cloned().map(Some).collect();
    known.extend(transformed(kind == "RFFT"));
    let extents = builder.result_extents(text, 0, &to, &known);
    let mut index = builder.dimensions(&extents);
    for (k, extent) in inner.iter().enumerate().skip(kept) {
        index[k] = builder.range(None, extent);
    }
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}
