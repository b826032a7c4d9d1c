//! `chlo.top_k`, in which each element depends on a whole row.
//!
//! Source: `stablehlo/dialect/ChloOps.td`.

use indexing_map::Expr;
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
