//! Values of indices, and elementwise ops of arith and math.
//!
//! Source: mlir.llvm.org/docs/Dialects/Affine.

use indexing_map::IndexingMap;
use mlir::{OpId, ValueId};
use mlir_ops::{NoMap, OpKind, OpText, Operand, Source};

use crate::access::{OpMaps, Role, Space};
use crate::elements;
use crate::map_builder::{MapBuilder, result_operand};

/// Arrays are read elementwise. A scalar index has its value as a map; other scalars have no map.
pub(crate) fn elementwise(text: &OpText<'_>) -> Option<Result<OpMaps, NoMap>> {
    let ty = text.source.result_type(text.id, 0)?;
    if ty == "index" {
        return value(text, 0).ok().map(Ok);
    }
    let is_array = ty.starts_with("tensor<") || ty.starts_with("vector<");
    is_array.then(|| elements::elementwise(text, 0, usize::MAX))
}

/// Whether the maps of an op only give the value of an index and have no domain of their own.
pub fn is_index_value(source: &Source<'_>, id: OpId) -> bool {
    match source.op(id) {
        OpKind::Constant | OpKind::Integer(_) | OpKind::Elementwise(_) => {
            source.result_type(id, 0).is_some_and(|ty| ty == "index")
        }
        OpKind::Apply | OpKind::AffineMin | OpKind::AffineMax | OpKind::Delinearize | OpKind::Linearize => {
            true
        }
        _ => false,
    }
}

/// The value of an index result, in terms of enclosing loops and arguments.
pub(crate) fn value(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    builder.around = true;
    let of = result_operand(text, result);
    let value = builder.result_of(text.id, result).ok_or(NoMap::ListNotRead("map or its arguments"))?;
    let access = builder.access(&of, Role::Value, vec![value], Vec::new());
    Ok(OpMaps { space: Space::Around, accesses: vec![access] })
}

/// The values of a loop's or function's index variable: the domain of the map, whose result is the value.
pub fn index_range(source: &Source<'_>, value: ValueId) -> Option<IndexingMap> {
    let found = source.parse.values.get(value as usize)?;
    let operand = Operand { name: found.name.of(source.text).to_owned(), value: Some(value), index: 0 };
    let mut builder = MapBuilder::new(source);
    builder.around = true;
    let value = builder.index_value(&operand);
    let access = builder.access(&operand, Role::Value, vec![value], Vec::new());
    access.map.is_mapped().then_some(access.map)
}
