//! Numbers of lists that hold extents: `%s` of `stablehlo.dynamic_reshape %x, %s`, followed through the ops that
//! compute the list.

use indexing_map::{Expr, Interval};
use mlir::{Definition, OpId};
use mlir_ops::{OpKind, OpText, Operand, constant_integers};

use crate::map_builder::MapBuilder;

/// The extents that a number of a list may have.
const EXTENT: Interval = Interval::new(0, i64::MAX);

impl MapBuilder<'_> {
    /// Number `k` of a list, or the number of a scalar: a constant, an extent of another array, a value, or an
    /// element that only the running program knows.
    pub(crate) fn number_of(&mut self, list: &Operand, k: usize) -> Option<Expr> {
        if let Some(op) = self.op_of(list)
            && let Some(found) = self.deeper(|this| this.computed_number(op, k))
        {
            return Some(found);
        }
        let (value, index) = list.key()?;
        let ty = self.source.array(&self.source.type_of(value, index)?, 0).ok()?;
        match ty.rank() {
            0 => Some(self.leaf(list, EXTENT)),
            1 => Some(self.element(list, k, vec![Expr::Const(k as i64)], EXTENT)),
            _ => None,
        }
    }

    /// The op of which a value is the only result.
    pub(crate) fn op_of(&self, operand: &Operand) -> Option<OpId> {
        let (value, index) = operand.key()?;
        let found = self.source.parse.values.get(value as usize)?;
        match found.definition {
            Definition::Result(op) if found.count == 1 && index == 0 => Some(op),
            _ => None,
        }
    }

    fn computed_number(&mut self, op: OpId, k: usize) -> Option<Expr> {
        let source = self.source;
        let kind = source.op(op);
        if kind.is_constant() || kind == OpKind::ConstantShape {
            let numbers = constant_integers(source.parse, source.text, op)?;
            // A splat has one number for all.
            let known = if let [only] = numbers[..] { Some(only) } else { numbers.get(k).copied() };
            return known.filter(|&n| n >= 0).map(Expr::Const);
        }
        let text = OpText::new(source, op)?;
        let first = text.operand(0).ok()?;
        match kind {
            OpKind::ShapeOf => {
                let ty = text.array_of(&first).ok().filter(|ty| k < ty.rank())?;
                Some(self.extent(&first, &ty, k))
            }
            OpKind::DimensionSize => {
                let dimension = text.extent_dimension()?;
                let ty = text.array_of(&first).ok().filter(|ty| dimension < ty.rank())?;
                Some(self.extent(&first, &ty, dimension))
            }
            OpKind::FromElements => text.operands().get(k).map(|element| self.index_value(element)),
            OpKind::SameNumbers | OpKind::StatedReshape | OpKind::Cast => self.number_of(&first, k),
            OpKind::Integer(mlir_ops::Arithmetic::Convert) => self.number_of(&first, k),
            OpKind::JoinedLists => {
                let mut left = k;
                for part in text.operands() {
                    let [Some(length)] = text.array_of(&part).ok()?.extents[..] else { return None };
                    match left.checked_sub(usize::try_from(length).ok()?) {
                        Some(rest) => left = rest,
                        None => return self.number_of(&part, left),
                    }
                }
                None
            }
            _ => None,
        }
    }
}
