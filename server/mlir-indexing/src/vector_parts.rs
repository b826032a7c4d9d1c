//! Subvectors, and changes of a vector's shape.
//!
//! Source: mlir.llvm.org/docs/Dialects/Vector.

use indexing_map::{Expr, Interval};
use mlir_ops::{NoMap, OpText, StridedPart};

use crate::access::{OpMaps, Role};
use crate::map_builder::MapBuilder;

/// The position in brackets, for an op whose first `fixed` operands are not indices.
fn position(builder: &mut MapBuilder<'_>, text: &OpText<'_>, fixed: usize) -> Result<Vec<Expr>, NoMap> {
    Ok(text.position(fixed)?.iter().map(|e| builder.mixed(e)).collect())
}

/// `%v[0, %i] : vector<8xf32> from vector<4x2x8xf32>`
pub(crate) fn extract(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let ty = text.array_of(&source)?;
    let position = position(&mut builder, text, 1)?;
    if position.len() > ty.rank() {
        return Err(NoMap::MoreDimensions { of: "its position", than: "the vector" });
    }
    for (k, at) in position.iter().enumerate() {
        builder.narrow(at, ty.extents[k].map_or(Interval::ALL, Interval::from_size));
    }
    let extents: Vec<Expr> = (position.len()..ty.rank()).map(|k| builder.extent(&source, &ty, k)).collect();
    let dims = builder.dimensions(&extents);
    let index = position.into_iter().chain(dims).collect();
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// `%s, %d[0, %i] : vector<8xf32> into vector<4x2x8xf32>`
pub(crate) fn insert(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (part, whole) = (text.operand(0)?, text.operand(1)?);
    let ty = text.array_of(&whole)?;
    let position = position(&mut builder, text, 2)?;
    if position.len() > ty.rank() {
        return Err(NoMap::MoreDimensions { of: "its position", than: "the vector" });
    }
    let extents = builder.extents(&whole, &ty);
    let dims = builder.dimensions(&extents);
    let when: Vec<_> =
        dims.iter().zip(&position).map(|(d, p)| (d.clone() - p.clone(), Interval::point(0))).collect();
    let elsewhere = MapBuilder::otherwise(&when);
    let of_part = builder.access(&part, Role::Read, dims[position.len()..].to_vec(), when);
    let mut of_whole = builder.access(&whole, Role::Read, dims, elsewhere);
    of_whole.note = Some("outside of what is inserted".to_owned());
    Ok(OpMaps::of_result(0, vec![of_part, of_whole]))
}

/// Adds leading dimensions; a dimension of extent 1 is repeated.
pub(crate) fn broadcast(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let result = text.result_array(0)?;
    let extents = builder.result_extents(text, 0, &result, &[]);
    let dims = builder.dimensions(&extents);
    let index = match text.is_scalar(&source) {
        true => Vec::new(),
        false => {
            let ty = text.array_of(&source)?;
            let first = result
                .rank()
                .checked_sub(ty.rank())
                .ok_or(NoMap::MoreDimensions { of: "its operand", than: "its result" })?;
            let of = |k: usize| match ty.extents[k] == Some(1) && result.extents[first + k] != Some(1) {
                true => Expr::ZERO,
                false => dims[first + k].clone(),
            };
            (0..ty.rank()).map(of).collect()
        }
    };
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// Changes the element width along the last dimension.
pub(crate) fn bitcast(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (from, to) = (text.array_of(&source)?, text.result_array(0)?);
    if from.rank() != to.rank() || from.rank() == 0 {
        return Err(NoMap::OtherRanks("vectors"));
    }
    let last = from.rank() - 1;
    let (Some(old), Some(new)) = (from.extents[last], to.extents[last]) else {
        return Err(NoMap::UnknownExtent);
    };
    let extents = builder.result_extents(text, 0, &to, &[]);
    let mut index = builder.dimensions(&extents);
    index[last] = match () {
        () if old > 0 && new % old == 0 => index[last].clone().floor_div(new / old),
        () if new > 0 && old % new == 0 => {
            let parts = old / new;
            index[last].clone() * parts + builder.range(None, &Expr::Const(parts))
        }
        () => return Err(NoMap::ElementWidths),
    };
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// `{offsets = [0, 2], sizes = [2, 4], strides = [1, 1]}`; dimensions beyond the lists are whole.
pub(crate) fn extract_strided(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let (ty, result) = (text.array_of(&source)?, text.result_array(0)?);
    let StridedPart { offsets, strides } = text.strided_part()?;
    if result.rank() != ty.rank() || offsets.len() > ty.rank() || strides.len() != offsets.len() {
        return Err(NoMap::OtherDimensions { of: "its lists", from: "the vector" });
    }
    let extents = builder.result_extents(text, 0, &result, &[]);
    let mut index = builder.dimensions(&extents);
    for (index, (offset, stride)) in index.iter_mut().zip(offsets.iter().zip(&strides)) {
        *index = index.clone() * *stride + *offset;
    }
    Ok(OpMaps::of_result(0, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}

/// `%s, %d {offsets = [0, 2], strides = [1]}`: one stride per dimension of `%s`, which are the trailing
/// dimensions of `%d`.
pub(crate) fn insert_strided(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (part, whole) = (text.operand(0)?, text.operand(1)?);
    let (part_type, ty) = (text.array_of(&part)?, text.array_of(&whole)?);
    let StridedPart { offsets, strides } = text.strided_part()?;
    let first = ty
        .rank()
        .checked_sub(part_type.rank())
        .ok_or(NoMap::MoreDimensions { of: "the part", than: "the vector" })?;
    if offsets.len() != ty.rank() || strides.len() != part_type.rank() {
        return Err(NoMap::OtherDimensions { of: "its lists", from: "the vectors" });
    }
    let extents = builder.extents(&whole, &ty);
    let dims = builder.dimensions(&extents);
    let (mut when, mut index) = (Vec::new(), Vec::new());
    for (k, d) in dims.iter().enumerate() {
        let distance = d.clone() - offsets[k];
        if k < first {
            when.push((distance, Interval::point(0)));
            continue;
        }
        let stride = strides[k - first];
        let extent = builder.extent(&part, &part_type, k - first);
        when.push((distance.clone().modulo(stride), Interval::point(0)));
        when.extend(MapBuilder::within(&distance, &(extent * stride)));
        index.push(distance.floor_div(stride));
    }
    let elsewhere = MapBuilder::otherwise(&when);
    let of_part = builder.access(&part, Role::Read, index, when);
    let mut of_whole = builder.access(&whole, Role::Read, dims, elsewhere);
    of_whole.note = Some("outside of what is inserted".to_owned());
    Ok(OpMaps::of_result(0, vec![of_part, of_whole]))
}

/// Alternates the elements of the two operands along the last dimension.
pub(crate) fn interleave(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let result = text.result_array(0)?;
    let extents = builder.result_extents(text, 0, &result, &[]);
    let dims = builder.dimensions(&extents);
    let last = dims.last().ok_or(NoMap::Without("dimension"))?.clone();
    let mut index = dims.clone();
    index[dims.len() - 1] = last.clone().floor_div(2);
    let accesses = [0, 1]
        .iter()
        .map(|&nth| {
            let when = vec![(last.clone().modulo(2), Interval::point(nth as i64))];
            Ok(builder.access(&text.operand(nth)?, Role::Read, index.clone(), when))
        })
        .collect::<Result<Vec<_>, NoMap>>()?;
    Ok(OpMaps::of_result(0, accesses))
}

/// Every second element along the last dimension: even ones in the first result, odd ones in the second.
pub(crate) fn deinterleave(text: &OpText<'_>, result: usize) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let ty = text.result_array(result)?;
    let extents = builder.result_extents(text, result, &ty, &[]);
    let mut index = builder.dimensions(&extents);
    let last = index.last_mut().ok_or(NoMap::Without("dimension"))?;
    *last = last.clone() * 2 + result as i64;
    Ok(OpMaps::of_result(result, vec![builder.access(&source, Role::Read, index, Vec::new())]))
}
