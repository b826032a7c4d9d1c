//! Vector accesses whose positions depend on a mask or a list: `vector.maskedload`, `vector.expandload`,
//! `vector.gather`, `vector.scatter`.
//!
//! Source: mlir.llvm.org/docs/Dialects/Vector.

use indexing_map::{Expr, Interval};
use mlir::ArrayType;
use mlir_ops::{NoMap, OpText, Operand};

use crate::access::{OpMaps, Role, Space};
use crate::elements::subscripts;
use crate::map_builder::MapBuilder;
use crate::vector_masks::Mask;

/// `%base[%i, %j], …`: the buffer, the start index, and the operands after the indices.
struct Base {
    array: Operand,
    ty: ArrayType,
    start: Vec<Expr>,
    rest: Vec<Operand>,
}

impl Base {
    fn read(builder: &mut MapBuilder<'_>, text: &OpText<'_>) -> Result<Base, NoMap> {
        let array = text.operand(0)?;
        let ty = text.array_of(&array)?;
        let mut operands = text.operands();
        if operands.len() < 1 + ty.rank() {
            return Err(NoMap::Indices { rank: ty.rank() });
        }
        let rest = operands.split_off(1 + ty.rank());
        let start = match text.is_generic() {
            true => operands[1..].iter().map(|o| builder.index_value(o)).collect(),
            false => subscripts(builder, text, 1)?,
        };
        match start.len() == ty.rank() {
            true => Ok(Base { array, ty, start, rest }),
            false => Err(NoMap::Subscripts { has: start.len(), rank: ty.rank() }),
        }
    }

    /// The index at this distance from the start along the trailing dimensions.
    fn behind(&self, distance: &[Expr]) -> Result<Vec<Expr>, NoMap> {
        let first = self.start.len().checked_sub(distance.len());
        let first = first.ok_or(NoMap::MoreDimensions { of: "its vector", than: "the array" })?;
        let mut place = self.start.clone();
        place[first..].iter_mut().zip(distance).for_each(|(place, d)| *place = place.clone() + d.clone());
        Ok(place)
    }
}

/// The space of an op that loads or stores a vector: the elements of its result, or of the stored vector.
fn space(text: &OpText<'_>, stored: Option<&Operand>) -> Result<(Space, ArrayType), NoMap> {
    match stored {
        Some(vector) => Ok((Space::Stored(vector.name.clone()), text.array_of(vector)?)),
        None => Ok((Space::Result(0), text.result_array(0)?)),
    }
}

/// An op that moves a vector between its active lanes and memory.
struct Move<'a> {
    builder: MapBuilder<'a>,
    base: Base,
    /// The mask operand.
    lanes: Operand,
    /// The stored vector, or the value of inactive lanes.
    vector: Operand,
    space: Space,
    /// The extents of the vector.
    extents: Vec<Expr>,
}

impl<'a> Move<'a> {
    fn read(text: &OpText<'a>, role: Role) -> Result<Move<'a>, NoMap> {
        let mut builder = MapBuilder::new(text.source);
        let mut base = Base::read(&mut builder, text)?;
        builder.guard(text.id);
        let rest = std::mem::take(&mut base.rest);
        let [lanes, vector]: [Operand; 2] = rest.try_into().map_err(|_| NoMap::ListNotRead("operands"))?;
        let (space, ty) = space(text, (role == Role::Write).then_some(&vector))?;
        let extents = builder.extents(&vector, &ty);
        Ok(Move { builder, base, lanes, vector, space, extents })
    }
}

/// `vector.maskedload %m[%i], %mask, %otherwise`, `vector.maskedstore %m[%i], %mask, %v`
pub(crate) fn masked(text: &OpText<'_>, role: Role) -> Result<OpMaps, NoMap> {
    let Move { mut builder, base, lanes, vector, space, extents } = Move::read(text, role)?;
    let dims = builder.dimensions(&extents);
    let place = base.behind(&dims)?;
    let mut access = builder.access(&base.array, role, place.clone(), Vec::new());
    access.locate(&mut builder, &base.array, &base.ty, &place, &dims);
    let mut accesses = vec![access];
    let mask = match role {
        Role::Write => Mask::of(lanes),
        _ => Mask::with_otherwise(lanes, vector),
    };
    mask.add(&builder, &mut accesses, dims.clone(), dims);
    Ok(OpMaps { space, accesses })
}

/// `vector.expandload %m[%i], %mask, %otherwise`, `vector.compressstore %m[%i], %mask, %v`: active lanes are
/// contiguous in memory, so the offset of a lane is the number of active lanes before it.
pub(crate) fn packed(text: &OpText<'_>, role: Role) -> Result<OpMaps, NoMap> {
    let Move { mut builder, base, lanes, vector, space, extents } = Move::read(text, role)?;
    let [extent] = extents.as_slice() else { return Err(NoMap::OneDimension("its vector")) };
    let d = builder.dimension(extent);
    let before = builder.range(None, extent);
    let when = vec![(d.clone() - before.clone(), Interval::new(0, i64::MAX))];
    let place = base.behind(std::slice::from_ref(&before))?;
    let mut access = builder.access(&base.array, role, place, when.clone());
    access.note = Some("one of them: as far from the start as lanes before it are on".to_owned());
    let mut accesses = vec![access, builder.access(&lanes, Role::Read, vec![before], when)];
    if role == Role::Read {
        let mut access = builder.access(&vector, Role::Read, vec![d], Vec::new());
        access.note = Some("where the mask is off".to_owned());
        accesses.push(access);
    }
    Ok(OpMaps { space, accesses })
}

/// `vector.scatter %base[%i, %j] [%idx], %mask, %v`: the last index plus an element of `%idx`.
pub(crate) fn scatter(text: &OpText<'_>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let base = Base::read(&mut builder, text)?;
    builder.guard(text.id);
    let [indices, lanes, vector] = base.rest.as_slice() else {
        return Err(NoMap::ListNotRead("operands"));
    };
    let (space, ty) = space(text, Some(vector))?;
    let extents = builder.extents(vector, &ty);
    let dims = builder.dimensions(&extents);
    let distance = builder.element(indices, 0, dims.clone(), Interval::ALL);
    let place = base.behind(&[distance])?;
    let mut accesses = vec![builder.access(&base.array, Role::Write, place, Vec::new())];
    Mask::of(lanes.clone()).add(&builder, &mut accesses, dims.clone(), dims.clone());
    accesses.push(builder.access(indices, Role::Read, dims, Vec::new()));
    Ok(OpMaps { space, accesses })
}

/// `%base[%i, %j] [%idx], %mask, %pass`: the last index plus an element of `%idx`.
pub(crate) fn gather(text: &OpText<'_>, outer: Option<&Mask>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let source = text.operand(0)?;
    let ty = text.array_of(&source)?;
    let operands = text.operands();
    let [indices, mask, otherwise] = operands.get(1 + ty.rank()..).unwrap_or_default() else {
        return Err(NoMap::ListNotRead("operands"));
    };
    let result = text.result_array(0)?;
    let mut index: Vec<Expr> = operands[1..=ty.rank()].iter().map(|o| builder.index_value(o)).collect();
    let extents = builder.result_extents(text, 0, &result, &[]);
    let dims = builder.dimensions(&extents);
    let element = builder.element(indices, 0, dims.clone(), Interval::ALL);
    if let Some(last) = index.last_mut() {
        *last = last.clone() + element;
    }
    let when = index
        .iter()
        .enumerate()
        .flat_map(|(k, i)| {
            let extent = builder.extent(&source, &ty, k);
            MapBuilder::within(i, &extent)
        })
        .collect();
    let mut accesses = vec![builder.access(&source, Role::Read, index, when)];
    accesses[0].note = Some("where the mask says so".to_owned());
    if let Some(mask) = outer {
        mask.add(&builder, &mut accesses, dims.clone(), dims.clone());
    }
    for operand in [indices, mask, otherwise] {
        accesses.push(builder.access(operand, Role::Read, dims.clone(), Vec::new()));
    }
    Ok(OpMaps::of_result(0, accesses))
}
