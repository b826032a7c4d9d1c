//! Ops of the memref dialect, and the casts between tensors and buffers.
//!
//! Source: mlir.llvm.org/docs/Dialects/MemRef.

use indexing_map::{Expr, Interval, linearized};
use mlir_ops::{AffineMap, Mixed, NoMap, OpText, SliceLists};

use crate::access::{OpMaps, Role, Space};
use crate::elements;
use crate::map_builder::MapBuilder;

/// `%m (i, j) -> (j, i) : A to B`
pub(crate) fn transpose(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let map = match text.resolved("permutation") {
        Some(written) => AffineMap::parse(written),
        None => {
            let missing = || NoMap::NotRead("its permutation");
            let open = text.top().find(|&at| text.word(at) == "(").ok_or_else(missing)?;
            let arrow = text.behind(open);
            let end = text.behind(arrow + 1);
            AffineMap::parse(text.text_of(open..end.min(text.tokens.len())))
        }
    }?;
    let order = map.projected_permutation().ok_or(NoMap::NoPermutation("map"))?;
    let order: Vec<i64> = order.into_iter().map(|k| k as i64).collect();
    elements::transpose(text, &order)
}

/// `%m to offset: [%o], sizes: [4, %n], strides: [%s, 1] : A to B`: the same memory with other strides.
pub(crate) fn reinterpret(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let result = text.result_array(0)?;
    let lists = match text.is_generic() {
        true => text.generic_mixed(1, &SliceLists::ATTRIBUTES),
        false => {
            let behind = |word: &str| {
                let at = text.top().find(|&at| text.word(at) == word)?;
                text.mixed(text.inside(at + 2))
            };
            ["offset", "sizes", "strides"].iter().map(|w| behind(w)).collect::<Option<Vec<Vec<Mixed>>>>()
        }
    };
    let missing = || NoMap::ListNotRead("offset, sizes and strides");
    let lists = lists.ok_or_else(missing)?;
    let [offset, sizes, strides] = lists.as_slice() else { return Err(missing()) };
    if offset.len() != 1 || sizes.len() != result.rank() || strides.len() != result.rank() {
        return Err(missing());
    }
    let mut read = |list: &[Mixed]| list.iter().map(|e| builder.mixed(e)).collect::<Vec<_>>();
    let (offset, sizes, strides) = (read(offset), read(sizes), read(strides));
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
