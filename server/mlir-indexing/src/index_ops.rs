//! Ops on indices, and what is element by element: the affine, arith and math dialects.
//!
//! Source: mlir.llvm.org/docs/Dialects/Affine.

use crate::access::{OpMaps, Role, Space};
use crate::elements;
use crate::map_builder::{MapBuilder, result_operand};
use crate::op_text::OpText;

pub(crate) fn maps(
    text: &OpText<'_>,
    dialect: &str,
    op: &str,
    result: usize,
) -> Option<Result<OpMaps, String>> {
    if dialect != "affine" {
        return elementwise(text, op);
    }
    Some(match op {
        "apply" | "min" | "max" | "delinearize_index" | "linearize_index" => value(text, result),
        "load" => elements::point(text, 0, Role::Read),
        "store" => elements::point(text, 1, Role::Write),
        "vector_load" => crate::transfers::plain(text, Role::Read),
        "vector_store" => crate::transfers::plain(text, Role::Write),
        _ => return None,
    })
}

/// Of numbers nothing is told; arrays are read place by place.
fn elementwise(text: &OpText<'_>, op: &str) -> Option<Result<OpMaps, String>> {
    if op == "constant" {
        return None;
    }
    let ty = text.source.result_type(text.id, 0)?;
    let is_array = ty.starts_with("tensor<") || ty.starts_with("vector<");
    is_array.then(|| elements::elementwise(text, 0, usize::MAX))
}

/// The value of a result that is an index, in terms of the loops around and of arguments.
pub(crate) fn value(text: &OpText<'_>, result: usize) -> Result<OpMaps, String> {
    let mut builder = MapBuilder::new(text.source);
    builder.around = true;
    let of = result_operand(text, result);
    let value = builder.result_of(text.id, result).ok_or("its map or its arguments are not read")?;
    let access = builder.access(&of, Role::Value, vec![value], Vec::new());
    Ok(OpMaps { space: Space::Around, accesses: vec![access] })
}
