//! Transfers between vectors and arrays: `vector.transfer_read`, `vector.transfer_write`, `vector.load`,
//! `affine.vector_load`.
//!
//! Source: mlir.llvm.org/docs/Dialects/Vector.

use indexing_map::{Expr, Interval};
use mlir::{ArrayKind, ArrayType};
use mlir_ops::{NoMap, OpText, Operand};

use crate::access::{OpMaps, Role, Space};
use crate::elements::subscripts;
use crate::map_builder::MapBuilder;
use crate::vector_masks::Mask;

/// The positions of a vector's elements in an array.
pub(crate) struct Transfer {
    pub(crate) array: Operand,
    pub(crate) array_type: ArrayType,
    /// The index of the vector's first element, one per dimension of the array.
    pub(crate) bases: Vec<Expr>,
    /// The dimension of the array that each dimension of the vector runs along; `None` if it repeats one
    /// element.
    pub(crate) along: Vec<Option<usize>>,
    /// For each dimension of the vector, whether it is marked never to leave the array.
    pub(crate) in_bounds: Vec<bool>,
}

impl Transfer {
    /// Reads a transfer. `nth` is the operand that is the array.
    pub(crate) fn read(
        builder: &mut MapBuilder<'_>,
        text: &OpText<'_>,
        nth: usize,
        vector: &ArrayType,
    ) -> Result<Transfer, NoMap> {
        let array = text.operand(nth)?;
        let array_type = text.array_of(&array)?;
        let rank = array_type.rank();
        let bases = match text.is_generic() {
            true => {
                let operands: Vec<_> = text.operands().into_iter().skip(nth + 1).take(rank).collect();
                operands.iter().map(|o| builder.index_value(o)).collect()
            }
            false => subscripts(builder, text, nth + 1)?,
        };
        if bases.len() != rank {
            return Err(NoMap::Subscripts { has: bases.len(), rank });
        }
        let along = text.transfer_dimensions(rank, vector.rank())?;
        let in_bounds = text.in_bounds(vector.rank());
        Ok(Transfer { array, array_type, bases, along, in_bounds })
    }

    /// The index into the array of an element of the vector.
    pub(crate) fn place(&self, element: &[Expr]) -> Vec<Expr> {
        let mut place = self.bases.clone();
        for (along, e) in self.along.iter().zip(element) {
            if let Some(k) = along {
                place[*k] = place[*k].clone() + e.clone();
            }
        }
        place
    }

    /// The lane of a mask for an element of the vector: without repeated dimensions, in the order of the
    /// array's dimensions.
    fn lane(&self, element: &[Expr]) -> Vec<Expr> {
        let of = |k: usize| self.along.iter().position(|along| *along == Some(k));
        (0..self.array_type.rank()).filter_map(of).map(|j| element[j].clone()).collect()
    }

    /// The constraints that the element is in the array. Elsewhere a read returns the padding, and a write
    /// has no effect.
    fn when(&self, builder: &mut MapBuilder<'_>, place: &[Expr]) -> Vec<(Expr, Interval)> {
        let mut when = Vec::new();
        for (j, along) in self.along.iter().enumerate() {
            let Some(k) = *along else { continue };
            if !self.in_bounds.get(j).copied().unwrap_or(false) {
                let extent = builder.extent(&self.array, &self.array_type, k);
                when.extend(MapBuilder::within(&place[k], &extent));
            }
        }
        when
    }
}

pub(crate) fn transfer_read(text: &OpText<'_>, outer: Option<&Mask>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let result = text.result_array(0)?;
    let transfer = Transfer::read(&mut builder, text, 0, &result)?;
    builder.guard(text.id);
    let extents = builder.result_extents(text, 0, &result, &[]);
    let dims = builder.dimensions(&extents);
    let place = transfer.place(&dims);
    let when = transfer.when(&mut builder, &place);
    let mut access = builder.access(&transfer.array, Role::Read, place.clone(), when.clone());
    access.locate(&mut builder, &transfer.array, &transfer.array_type, &place, &dims);
    let mut accesses = vec![access];
    let rank = transfer.array_type.rank();
    let (padding, own) = (text.operand(1 + rank), text.operand(2 + rank).ok().map(Mask::of));
    for mask in own.iter().chain(outer) {
        mask.add(&builder, &mut accesses, transfer.lane(&dims), dims.clone());
    }
    let outside = match (when.is_empty(), &own) {
        (true, None) => None,
        (true, Some(_)) => Some("where the mask is off"),
        (false, None) => Some("outside of the array"),
        (false, Some(_)) => Some("outside of the array, and where the mask is off"),
    };
    if let (Some(outside), Ok(padding)) = (outside, padding) {
        let mut access = builder.access(&padding, Role::Read, Vec::new(), Vec::new());
        access.note = Some(outside.to_owned());
        accesses.push(access);
    }
    Ok(OpMaps::of_result(0, accesses))
}

pub(crate) fn transfer_write(text: &OpText<'_>, outer: Option<&Mask>) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let vector = text.operand(0)?;
    let vector_type = text.array_of(&vector)?;
    let transfer = Transfer::read(&mut builder, text, 1, &vector_type)?;
    builder.guard(text.id);
    if transfer.along.iter().any(Option::is_none) {
        return Err(NoMap::WritesTwice);
    }
    let extents = builder.extents(&vector, &vector_type);
    let own = text.operand(2 + transfer.array_type.rank()).ok().map(Mask::of);
    let masks = || own.iter().chain(outer);
    if transfer.array_type.kind == ArrayKind::Memref {
        let dims = builder.dimensions(&extents);
        let place = transfer.place(&dims);
        let when = transfer.when(&mut builder, &place);
        let mut access = builder.access(&transfer.array, Role::Write, place.clone(), when);
        access.locate(&mut builder, &transfer.array, &transfer.array_type, &place, &dims);
        let mut accesses = vec![access];
        masks().for_each(|mask| {
            mask.add(&builder, &mut accesses, transfer.lane(&dims), dims.clone());
        });
        return Ok(OpMaps { space: Space::Stored(vector.name), accesses });
    }
    // The result is the tensor with the vector written into it.
    let whole = builder.extents(&transfer.array, &transfer.array_type);
    let dims = builder.dimensions(&whole);
    let distance = |k: usize| dims[k].clone() - transfer.bases[k].clone();
    let mut when = Vec::new();
    let mut element = Vec::new();
    for (along, extent) in transfer.along.iter().zip(&extents) {
        let k = along.unwrap_or(0);
        element.push(distance(k));
        when.extend(MapBuilder::within(&distance(k), extent));
    }
    for k in (0..dims.len()).filter(|k| !transfer.along.contains(&Some(*k))) {
        when.push((distance(k), Interval::point(0)));
    }
    let is_masked = masks().next().is_some();
    let elsewhere = if is_masked { Vec::new() } else { MapBuilder::otherwise(&when) };
    let mut accesses = vec![builder.access(&vector, Role::Read, element.clone(), when.clone())];
    for mask in masks() {
        mask.add_where(&builder, &mut accesses, transfer.lane(&element), &when);
    }
    let mut of_array = builder.access(&transfer.array, Role::Read, dims, elsewhere);
    of_array.note = Some(match is_masked {
        true => "outside of the vector, and where the mask is off".to_owned(),
        false => "outside of the vector only".to_owned(),
    });
    accesses.push(of_array);
    Ok(OpMaps::of_result(0, accesses))
}

/// Loads and stores of a vector along the trailing dimensions.
pub(crate) fn plain(text: &OpText<'_>, role: Role) -> Result<OpMaps, NoMap> {
    let mut builder = MapBuilder::new(text.source);
    let (nth, vector) = match role {
        Role::Write => (1, Some(text.operand(0)?)),
        _ => (0, None),
    };
    let ty = match &vector {
        Some(vector) => text.array_of(vector)?,
        None => text.result_array(0)?,
    };
    let array = text.operand(nth)?;
    let array_type = text.array_of(&array)?;
    let bases = subscripts(&mut builder, text, nth + 1)?;
    builder.guard(text.id);
    let first = array_type
        .rank()
        .checked_sub(ty.rank())
        .ok_or(NoMap::MoreDimensions { of: "its vector", than: "the array" })?;
    if bases.len() != array_type.rank() {
        return Err(NoMap::Subscripts { has: bases.len(), rank: array_type.rank() });
    }
    let extents = match &vector {
        Some(vector) => builder.extents(vector, &ty),
        None => builder.result_extents(text, 0, &ty, &[]),
    };
    let dims = builder.dimensions(&extents);
    let mut place = bases;
    for (k, d) in dims.iter().enumerate() {
        place[first + k] = place[first + k].clone() + d.clone();
    }
    let mut access = builder.access(&array, role, place.clone(), Vec::new());
    access.locate(&mut builder, &array, &array_type, &place, &dims);
    let space = vector.map_or(Space::Result(0), |v| Space::Stored(v.name));
    Ok(OpMaps { space, accesses: vec![access] })
}
