//! Dynamic extents, derived from the ops that make the array: `tensor.empty(%n)` has `%n` elements.

use indexing_map::Expr;
use mlir::{ArrayType, Definition, OpId};
use mlir_ops::{OpKind, OpText, Operand};

use crate::linalg_ops::ins_and_outs;
use crate::map_builder::MapBuilder;

impl MapBuilder<'_> {
    /// The extent of a dimension of a value, in terms of its op's operands. `None` if no more is known than
    /// that it is the extent of this value.
    pub(crate) fn extent_of_producer(&mut self, operand: &Operand, dimension: usize) -> Option<Expr> {
        let (value, index) = operand.key()?;
        let source = self.source;
        let parse = source.parse;
        let found = parse.values.get(value as usize)?;
        let Definition::Result(op) = found.definition else { return None };
        if found.count != 1 || index != 0 {
            return None;
        }
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
            OpKind::Cast => |text| text.operand(0).ok(),
            OpKind::InsertElement | OpKind::InsertSlice => |text| text.operand(1).ok(),
            OpKind::Integer(_) | OpKind::Elementwise(_) => {
                |text| text.operands().into_iter().find(|o| text.array_of(o).is_ok())
            }
            OpKind::Linalg(_) | OpKind::Winograd(_) | OpKind::Pack | OpKind::Unpack
                if self.source.result_count(op) == 1 =>
            {
                |text| ins_and_outs(text).and_then(|(_, outs)| outs.into_iter().next())
            }
            _ => return None,
        };
        let text = OpText::new(self.source, op)?;
        let operand = of_operand(&text)?;
        let ty: ArrayType = text.array_of(&operand).ok().filter(|ty| dimension < ty.rank())?;
        Some(self.extent(&operand, &ty, dimension))
    }
}
