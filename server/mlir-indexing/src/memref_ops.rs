//! Ops of the memref dialect, and the casts between tensors and buffers.
//!
//! Source: mlir.llvm.org/docs/Dialects/MemRef.

use indexing_map::{Expr, Interval, linearized};
use mlir_ops::{Mixed, NoMap, OpText, SliceLists};

use crate::access::{OpMaps, Role, Space};
use crate::elements;
use crate::map_builder::MapBuilder;

/// `%m (i, j) -> (j, i) : A to B`
pub(crate) fn transpose(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    elements::transpose(text, &text.memref_permutation()?)
}

/// `%m to offset: [%o], sizes: [4, %n], strides: [%s, 1] : A to B`: the same memory with other strides.
pub(crate) fn reinterpret(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let result = text.result_array(0)?;
    let SliceLists { offsets, sizes, strides } = text.memory_lists(result.rank())?;
    let mut read = |list: &[Mixed]| list.iter().map(|e| builder.mixed(e)).collect::<Vec<_>>();
    let (offset, sizes, strides) = (read(&offsets), read(&sizes), read(&strides));
    let known: Vec<Option<Expr>> = sizes.into_iter().map(Some).collect();
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let place = dims.iter().zip(&strides).fold(offset[0].clone(), |e, (d, s)| e + d.clone() * s.clone());
    let mut access = builder.access(&source, Role::Read, vec![place], Vec::new());
    access.note = Some("the position in its memory, in elements".to_owned());
    Ok(OpMaps::of_result(0, vec![access]))
}

/// `%m[%shift][%n] : memref<2048xi8> to memref<?x4xf32>`: elements of several bytes, contiguous from a byte
/// offset.
pub(crate) fn view(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (source, shift) = (text.operand(0)?, text.operand(1)?);
    let result = text.result_array(0)?;
    let bytes = mlir::element_bits(&result.element).and_then(|bits| i64::try_from(bits).ok());
    let bytes = bytes.filter(|bits| bits % 8 == 0).map(|bits| bits / 8);
    let bytes = bytes.ok_or_else(|| NoMap::UnknownBytes(result.element.clone()))?;
    let sizes: Vec<_> = text.operands().into_iter().skip(2).collect();
    if sizes.len() != result.extents.iter().filter(|e| e.is_none()).count() {
        return Err(NoMap::DynamicSizes);
    }
    let mut sizes = sizes.iter();
    let known: Vec<Option<Expr>> = result
        .extents
        .iter()
        .map(|e| if e.is_none() { sizes.next().map(|size| builder.index_value(size)) } else { None })
        .collect();
    let shift = builder.index_value(&shift);
    builder.narrow(&shift, Interval::new(0, i64::MAX));
    let extents = builder.result_extents(text, 0, &result, &known);
    let dims = builder.dimensions(&extents);
    let byte = builder.range(None, &Expr::Const(bytes));
    let place = linearized(&dims, &extents) * bytes + shift + byte;
    let mut access = builder.access(&source, Role::Read, vec![place], Vec::new());
    access.note = Some("the bytes of each element".to_owned());
    Ok(OpMaps::of_result(0, vec![access]))
}

/// Copies each element of the first buffer to the second.
pub(crate) fn copy(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (from, to) = (text.operand(0)?, text.operand(1)?);
    let (from_type, to_type) = (text.array_of(&from)?, text.array_of(&to)?);
    if from_type.rank() != to_type.rank() {
        return Err(NoMap::OtherRanks("buffers"));
    }
    let extents = builder.extents(&to, &to_type);
    let dims = builder.dimensions(&extents);
    let mut access = builder.access(&from, Role::Read, dims.clone(), Vec::new());
    access.locate(&mut builder, &from, &from_type, &dims, &dims);
    Ok(OpMaps { space: Space::Written(to.name), accesses: vec![access] })
}
