//! Ops of the vector dialect.
//!
//! Source: mlir.llvm.org/docs/Dialects/Vector.
use mlir::ArrayType;
use mlir_ops::{NoMap, OpKind, OpText};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;
use crate::structured::Structured;
use crate::vector_masks::Mask;
use crate::{elements, transfers, vector_memory};

/// The maps of ops that `vector.mask` may enclose; `mask` is the enclosing mask, if any.
pub(crate) fn masked_maps(text: &OpText<'_>, mask: Option<&Mask>) -> Option<Result<OpMaps, NoMap>> {
    Some(match text.op {
        OpKind::TransferRead => transfers::transfer_read(text, mask),
        OpKind::TransferWrite => transfers::transfer_write(text, mask),
        OpKind::MultiReduction => reduction(text, false, mask),
        OpKind::Reduction => reduction(text, true, mask),
        OpKind::VectorContract => contract(text, mask),
        OpKind::VectorGather => vector_memory::gather(text, mask),
        _ => return None,
    })
}

/// `<add>, %v, %acc [1] : A to B`, and `<add>, %v : vector<16xf32> into f32`.
fn reduction(text: &OpText<'_>, all: bool, mask: Option<&Mask>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let ty = text.array_of(&source)?;
    let reduced: Vec<i64> = match all {
        true => (0..ty.rank() as i64).collect(),
        false => text.reduction_dims()?,
    };
    let is_reduced = |k: usize| reduced.contains(&(k as i64));
    let extents = builder.extents(&source, &ty);
    let mut kept = Vec::new();
    let mut index = Vec::new();
    for (k, extent) in extents.iter().enumerate() {
        index.push(match is_reduced(k) {
            true => builder.range(None, extent),
            false => {
                let d = builder.dimension(extent);
                kept.push(d.clone());
                d
            }
        });
    }
    let mut accesses = vec![builder.access(&source, Role::Read, index.clone(), Vec::new())];
    if let Some(mask) = mask {
        mask.add(&builder, &mut accesses, index, kept.clone());
    }
    if let Ok(accumulator) = text.operand(1) {
        accesses.push(builder.access(&accumulator, Role::Read, kept, Vec::new()));
    }
    Ok(OpMaps::of_result(0, accesses))
}

fn contract(text: &OpText<'_>, mask: Option<&Mask>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let maps = text.indexing_maps().ok_or(NoMap::ListNotRead("indexing_maps"))??;
    let operands = text.operands();
    if maps.len() != 3 || operands.len() < 3 {
        return Err(NoMap::ThreeMaps);
    }
    let loops = vec![String::new(); maps[0].dims.len()];
    let mut read = Vec::new();
    for (operand, map) in operands.into_iter().zip(maps) {
        read.push(Structured::operand(&mut builder, text, operand, map, true)?);
    }
    let outputs = read.pop().into_iter().collect();
    Structured { loops, inputs: read, outputs, mask }.maps(builder, 0, true)
}

/// `%v, [1, 0] : A to B`
pub(crate) fn transpose(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    elements::transpose(text, &text.vector_permutation()?)
}

/// `%a, %b, %acc`: element `(i, j)` is made of elements `i` and `j`; or all of `%a` times a scalar.
pub(crate) fn outer_product(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let operands = text.operands();
    let (left, right) = (text.operand(0)?, text.operand(1)?);
    let left_type = text.array_of(&left)?;
    let is_outer = !text.is_scalar(&right);
    let mut extents = builder.extents(&left, &left_type);
    if is_outer {
        let right_type: ArrayType = text.array_of(&right)?;
        extents.extend(builder.extents(&right, &right_type));
    }
    let dims = builder.dimensions(&extents);
    let split = left_type.rank();
    let mut accesses = vec![
        builder.access(&left, Role::Read, dims[..split].to_vec(), Vec::new()),
        builder.access(&right, Role::Read, dims[split..].to_vec(), Vec::new()),
    ];
    if let Some(accumulator) = operands.get(2) {
        accesses.push(builder.access(accumulator, Role::Read, dims, Vec::new()));
    }
    Ok(OpMaps::of_result(0, accesses))
}
