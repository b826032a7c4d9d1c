//! Dynamic extents, derived from the ops that make the array: `tensor.empty(%n)` has `%n` elements.

use indexing_map::{Expr, SimplifyMode};
use mlir::{ArrayType, OpId};
use mlir_ops::{OpKind, OpText, Operand, Source};

use crate::access::{Access, Symbol, SymbolSource};
use crate::compose::unify;
use crate::map_builder::MapBuilder;

impl Access {
    /// Replaces extents that follow from the ops that make the arrays: by a number, or by the value that it is.
    pub fn follow_extents(&mut self, source: &Source<'_>) {
        let is_extent = |s: &Symbol| matches!(s.source, SymbolSource::Extent { .. });
        if !self.map.is_mapped() || !self.symbols.iter().any(is_extent) {
            return;
        }
        let first = self.map.num_dims() + self.map.num_ranges();
        let mut builder = MapBuilder::new(source);
        let mut is_changed = false;
        for at in 0..self.symbols.len() {
            let symbol = &self.symbols[at];
            let SymbolSource::Extent { of: Some((value, index)), name, dimension } = &symbol.source else {
                continue;
            };
            let array = Operand { name: name.clone(), value: Some(*value), index: *index };
            let Some(found) = builder.extent_of_producer(&array, *dimension) else { continue };
            let known = builder.symbol_at(&found).map(|known| {
                let bounds = known.bounds.intersect(symbol.bounds);
                Symbol { bounds, ..known.clone() }
            });
            match (found.as_const(), known) {
                (Some(_), _) => self.map.replace_variable(first + at, &found),
                (None, Some(known)) if !known.bounds.is_empty() => {
                    self.map.add_constraint(Expr::var(first + at), known.bounds);
                    self.symbols[at] = known;
                }
                // A computed extent has no name.
                _ => continue,
            }
            is_changed = true;
        }
        if !is_changed || !self.map.is_mapped() {
            return;
        }
        unify(&mut self.map, &mut self.symbols);
        self.map = std::mem::replace(&mut self.map, indexing_map::IndexingMap::undefined())
            .simplified(SimplifyMode::Replace);
        let all: Vec<usize> = (first..first + self.symbols.len()).collect();
        self.remove_unused(&all);
    }
}

impl MapBuilder<'_> {
    /// The extent of a dimension of a value, in terms of its op's operands. `None` if no more is known than
    /// that it is the extent of this value.
    pub(crate) fn extent_of_producer(&mut self, operand: &Operand, dimension: usize) -> Option<Expr> {
        let op = self.op_of(operand)?;
        self.deeper(|this| this.extent_of_result(op, dimension))
    }

    fn extent_of_result(&mut self, op: OpId, dimension: usize) -> Option<Expr> {
        let of_operand: fn(&OpText<'_>) -> Option<Operand> = match self.source.op(op) {
            OpKind::EmptyTensor | OpKind::Allocate => {
                let text = OpText::new(self.source, op)?;
                let ty = text.result_array(0).ok()?;
                // One operand per dynamic extent.
                let nth = ty.extents.get(..dimension)?.iter().filter(|e| e.is_none()).count();
                let size = text.operands().into_iter().nth(nth)?;
                return Some(self.index_value(&size));
            }
            OpKind::DynamicShape(nth) => {
                let sizes = OpText::new(self.source, op)?.operand(nth).ok()?;
                return self.number_of(&sizes, dimension);
            }
            OpKind::Cast => |text| text.operand(0).ok(),
            OpKind::InsertElement | OpKind::InsertSlice => |text| text.operand(1).ok(),
            OpKind::Integer(_) | OpKind::Elementwise(_) => {
                |text| text.operands().into_iter().find(|o| text.array_of(o).is_ok())
            }
            OpKind::Linalg(_) | OpKind::Winograd(_) | OpKind::Pack | OpKind::Unpack
                if self.source.result_count(op) == 1 =>
            {
                |text| text.ins_and_outs().ok()?.1.into_iter().next()
            }
            _ => return None,
        };
        let text = OpText::new(self.source, op)?;
        let operand = of_operand(&text)?;
        let ty: ArrayType = text.array_of(&operand).ok().filter(|ty| dimension < ty.rank())?;
        Some(self.extent(&operand, &ty, dimension))
    }
}
