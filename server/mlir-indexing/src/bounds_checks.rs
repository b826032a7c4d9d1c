//! Provable out-of-bounds accesses of subscripts, windows and transfers.

use indexing_map::Expr;
use mlir::ArrayType;
use mlir_ops::{Loop, NoMap, OpKind, Operand};

use crate::access::SymbolSource;
use crate::checks::Check;
use crate::elements::subscripts;
use crate::map_builder::MapBuilder;
use crate::slices::{Window, is_tile};
use crate::transfers::Transfer;

/// The number of loop points tried to find one that is out of bounds.
const MAX_POINTS: u64 = 1 << 16;

impl Check<'_, '_> {
    /// Reports an index that is below 0 or not below the extent, either always or at some point of unguarded
    /// loops. Returns whether it reported one.
    fn bounds(&mut self, builder: &mut MapBuilder<'_>, index: &Expr, extent: i64, what: &str) -> bool {
        let range = builder.range_of(index);
        if range.is_empty() || extent < 0 {
            return false;
        }
        if range.upper < 0 || range.lower >= extent && range.lower != i64::MIN {
            let value = if range.upper < 0 { range.upper } else { range.lower };
            let words = match range.as_point() {
                Some(_) => format!("{what} is {value}"),
                None if range.upper < 0 => format!("{what} is {value} or less"),
                None => format!("{what} is {value} or more"),
            };
            self.push("out-of-bounds", format!("{words}, of {extent} elements"));
            return true;
        }
        if range.upper < extent && range.lower >= 0 {
            return false;
        }
        let Some((value, at)) = self.witness(builder, index, extent) else { return false };
        self.push("out-of-bounds", format!("{what} is {value} where {at}, of {extent} elements"));
        true
    }

    /// An iteration of unguarded loops in which the index is out of bounds.
    fn witness(&self, builder: &MapBuilder<'_>, index: &Expr, extent: i64) -> Option<(i64, String)> {
        let finished = builder.finish(vec![index.clone()], Vec::new());
        if finished.map.num_dims() > 0 || finished.map.num_ranges() > 0 {
            return None;
        }
        let mut uses_other = false;
        index_variables(&finished.map, &mut |v| {
            let source = finished.symbols.get(v as usize).map(|s| &s.source);
            uses_other |=
                !matches!(source, Some(SymbolSource::Loop { value, .. }) if self.is_unguarded(value.0));
        });
        if uses_other || finished.symbols.is_empty() {
            return None;
        }
        let names: Vec<String> = finished.symbols.iter().map(|s| s.describe(&finished.map)).collect();
        let found = finished
            .map
            .points(MAX_POINTS)?
            .find(|(_, results)| results.first().is_some_and(|&value| value < 0 || value >= extent))?;
        let at: Vec<String> = names.iter().zip(&found.0).map(|(n, v)| format!("{n} is {v}")).collect();
        Some((*found.1.first()?, at.join(" and ")))
    }

    /// Whether only loops lie between the op and the loop of the variable, so that each iteration reaches the
    /// op.
    fn is_unguarded(&self, variable: mlir::ValueId) -> bool {
        let parse = self.text.source.parse;
        let at = parse.values.get(variable as usize).map_or(0, |v| v.name.start);
        let mut id = self.text.id;
        for _ in 0..64 {
            let Some(parent) = parse.parent(id) else { return false };
            let OpKind::Loop(kind) = self.text.source.op(parent) else { return false };
            if kind == Loop::Xla {
                return false;
            }
            if parse.op(parent).head.start <= at && at <= parse.op(parent).head.end {
                return true;
            }
            id = parent;
        }
        false
    }

    /// `%m[%i, %j]`
    pub(crate) fn point(&mut self, nth: usize) {
        let text = self.text;
        let Some((operand, ty)) = self.array(nth) else { return };
        let mut builder = MapBuilder::new(text.source);
        let Ok(index) = subscripts(&mut builder, text, nth + 1) else { return };
        if index.len() != ty.rank() {
            let (given, rank) = (index.len(), ty.rank());
            self.push("map-arity", format!("{} has {rank} dimensions, and {given} subscripts", operand.name));
            return;
        }
        for (k, index) in index.iter().enumerate() {
            if let Some(extent) = ty.extents[k] {
                self.bounds(&mut builder, index, extent, &format!("subscript {k}"));
            }
        }
    }

    pub(crate) fn array(&self, nth: usize) -> Option<(Operand, ArrayType)> {
        let operand = self.text.operand(nth).ok()?;
        let ty = self.text.array_of(&operand).ok()?;
        Some((operand, ty))
    }

    /// `%x[offsets] [sizes] [strides]`
    pub(crate) fn window(&mut self, nth: usize, fixed: usize) {
        let Some((_, ty)) = self.array(nth) else { return };
        // A tile of XLA may extend past the end; elements there are not read.
        let is_tile = is_tile(self.text);
        let mut builder = MapBuilder::new(self.text.source);
        let Ok(window) = Window::read(&mut builder, self.text, fixed, ty.rank()) else { return };
        for k in 0..ty.rank() {
            let Some(extent) = ty.extents[k] else { continue };
            let (offset, size, stride) = (&window.offsets[k], &window.sizes[k], &window.strides[k]);
            if size.as_const().is_none_or(|n| n < 1) {
                continue;
            }
            let is_told = self.bounds(&mut builder, offset, extent, &format!("offset {k}"));
            if !is_told && !is_tile {
                let last = offset.clone() + (size.clone() - 1) * stride.clone();
                self.bounds(&mut builder, &last, extent, &format!("the last element of dimension {k}"));
            }
        }
    }

    /// Checks the dimensions of a transfer that are marked in bounds.
    pub(crate) fn transfer(&mut self, nth: usize) {
        let text = self.text;
        let vector = match nth {
            0 => text.result_array(0),
            _ => text.operand(0).and_then(|v| text.array_of(&v)),
        };
        let (Ok(vector), Some(_)) = (vector, self.array(nth)) else { return };
        let mut builder = MapBuilder::new(text.source);
        let transfer = match Transfer::read(&mut builder, text, nth, &vector) {
            Ok(transfer) => transfer,
            Err(reason @ NoMap::PermutationMap) => {
                return self.push("map-arity", reason.to_string());
            }
            Err(_) => return,
        };
        for (j, along) in transfer.along.iter().enumerate() {
            let (Some(k), true) = (along, transfer.in_bounds.get(j).copied().unwrap_or(false)) else {
                continue;
            };
            let Some(extent) = transfer.array_type.extents.get(*k).copied().flatten() else { continue };
            let base = transfer.bases[*k].clone();
            let told = self.bounds(&mut builder, &base, extent, &format!("index {k}"));
            if let (false, Some(size)) = (told, vector.extents[j]) {
                let last = base + size.saturating_sub(1);
                self.bounds(&mut builder, &last, extent, &format!("the last element along dimension {k}"));
            }
        }
    }
}

fn index_variables(map: &indexing_map::IndexingMap, f: &mut impl FnMut(u32)) {
    for result in map.results() {
        result.for_each_var(f);
    }
    for constraint in map.constraints() {
        constraint.expr.for_each_var(f);
    }
}
