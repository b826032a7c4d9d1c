//! Layouts of matrix products: cuBLAS wants the dimensions of a batch, the rows and the columns to lie next to each other each,
//! and none of a batch to be the fastest.
//!
//! Source: XLA `GpuLayoutAssignment::AddDotBackendConstraints`, `MatrixLayout::For`.

use std::sync::Arc;

use ir::{ArrayShape, ElementType, ElementTypeExt, Layout};
use rustc_hash::FxHashSet;
use syntax::hlo::{AttributeKey, Opcode};

use super::layouts::{layout_of, of_order, row_major};
use super::solver::Solver;
use crate::module::InstructionId;

/// An operand of a dot: its dimensions by what the dot does with them.
struct Side {
    index: usize,
    operand: InstructionId,
    batch: Vec<i64>,
    contracting: Vec<i64>,
    free: Vec<i64>,
}

impl Solver<'_> {
    fn sides(&self, dot: InstructionId) -> Option<[Side; 2]> {
        use AttributeKey::{LhsBatchDims, LhsContractingDims, RhsBatchDims, RhsContractingDims};
        let side = |index: usize, batch, contracting| {
            let operand = *self.module[dot].operands().get(index)?;
            let [batch, contracting] =
                [batch, contracting].map(|key| self.module[dot].attributes().ints(key).to_vec());
            let rank = self.module[operand].dims().len() as i64;
            let free = (0..rank).filter(|dim| !batch.contains(dim) && !contracting.contains(dim)).collect();
            Some(Side { index, operand, batch, contracting, free })
        };
        Some([side(0, LhsBatchDims, LhsContractingDims)?, side(1, RhsBatchDims, RhsContractingDims)?])
    }

    pub(super) fn constrain_dot(&mut self, dot: InstructionId) {
        let Some(sides) = self.sides(dot) else { return };
        let element = |id: InstructionId| self.module[id].shape().element();
        let are =
            |is: fn(ElementType) -> bool| sides.iter().all(|side| element(side.operand).is_some_and(is));
        let is_s8 = element(dot) == Some(ElementType::S32) && are(|element| element == ElementType::S8);
        let is_f8 = are(|element| matches!(element, ElementType::F8e4m3fn | ElementType::F8e5m2fnuz));
        let is_contracted_fastest = is_s8 || is_f8 && !self.device.is_blackwell_or_later();
        for side in &sides {
            let Some(array) = self.module[side.operand].shape().as_array() else { return };
            let order = if is_contracted_fastest || self.is_packed(side.operand) {
                self.with_contracting_fastest(array, side)
            } else if !side.batch.is_empty() || side.contracting.len() > 1 || side.free.len() > 1 {
                matrix_layout(array, [&side.batch, &side.contracting, &side.free])
            } else {
                continue;
            };
            self.set_array_operand(dot, side.index, &order, self.must());
        }
        if !sides[0].batch.is_empty() || sides.iter().any(|side| side.free.len() > 1) {
            self.constrain_result(dot);
        }
    }

    /// Source: `GpuLayoutAssignment::SetDotOperandLayoutToMinorContracting`.
    fn with_contracting_fastest(&self, array: &ArrayShape, side: &Side) -> Arc<Layout> {
        let layout = layout_of(array);
        let mut fastest = layout.minor_to_major.iter().take(side.contracting.len());
        let groups = [&side.batch[..], &side.free, &side.contracting];
        if fastest.all(|dim| side.contracting.contains(dim)) && is_matrix(&layout, groups) {
            return layout;
        }
        of_order(groups.concat().into_iter().rev().collect())
    }

    /// The layout that a user of the dot wants if the dot can have it, else row-major.
    /// Source: `GpuLayoutAssignment::SetDotLayout`.
    fn constrain_result(&mut self, dot: InstructionId) {
        let mut wanted = None;
        for &user in self.module[dot].users() {
            for (index, &operand) in self.module[user].operands().iter().enumerate() {
                if operand == dot
                    && let Some(known) = self.of_operands.get(&(user, index))
                    && let [Some(layout)] = &known.layouts[..]
                    && wanted.is_none()
                    && self.can_have(dot, layout)
                {
                    wanted = Some(layout.clone());
                }
            }
        }
        let layout = wanted.unwrap_or_else(|| row_major(self.module[dot].dims().len()));
        self.set_instruction(dot, &vec![Some(layout)], self.must());
    }

    /// Whether a dot can compute its result in a layout. Source: `DotCanSupportShapeWithLayout`.
    pub(super) fn can_have(&self, dot: InstructionId, layout: &Layout) -> bool {
        let Some([lhs, rhs]) = self.sides(dot) else { return false };
        let dims: Vec<i64> = (0..self.module[dot].dims().len() as i64).collect();
        let batches = lhs.batch.len().max(rhs.batch.len());
        if dims.len() != batches + lhs.free.len() + rhs.free.len()
            || layout.minor_to_major.len() != dims.len()
        {
            return false;
        }
        let (batch, rest) = dims.split_at(batches);
        let (rows, columns) = rest.split_at(lhs.free.len());
        is_matrix(layout, [batch, rows, columns])
    }

    /// Whether the value comes from elements smaller than a byte by conversions and elementwise arithmetic.
    /// Source: `IsPackedInstruction`.
    fn is_packed(&self, id: InstructionId) -> bool {
        let mut seen = FxHashSet::default();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            cancel::tick();
            if !seen.insert(id) {
                continue;
            }
            let instruction = &self.module[id];
            if instruction.shape().element().and_then(|element| element.bits()).is_some_and(|bits| bits < 8) {
                return true;
            }
            let operands = instruction.operands();
            if operands.len() == 1 || operands.len() == 2 && ir::is_elementwise(instruction.opcode()) {
                open.extend(operands);
            }
        }
        false
    }

    /// Lets a dot compute its result such that a transpose of it, which nothing else reads beside, is row-major.
    pub(super) fn constrain_transposed_dot(&mut self, transpose: InstructionId) {
        let Some(&dot) = self.module[transpose].operands().first() else { return };
        if self.module[dot].opcode() != Opcode::Dot || self.module[dot].users().len() > 1 {
            return;
        }
        let layout = of_order(self.module[transpose].dimensions().iter().rev().copied().collect());
        if self.can_have(dot, &layout) {
            self.set_array_operand(transpose, 0, &layout, self.must());
        }
    }
}

/// The layout that the array has, row-major, or that of the groups in order, the first the slowest: the first of them that suits
/// cuBLAS. Source: `GpuLayoutAssignment::SetDotOperandLayout`.
fn matrix_layout(array: &ArrayShape, groups: [&Vec<i64>; 3]) -> Arc<Layout> {
    let groups = groups.map(|group| &group[..]);
    let known = [layout_of(array), row_major(array.rank())];
    let suiting = known.into_iter().find(|layout| is_matrix(layout, groups));
    suiting.unwrap_or_else(|| of_order(groups.concat().into_iter().rev().collect()))
}

/// Whether the dimensions of each group - batch, rows, columns - lie next to each other in order, and the batch is not the
/// fastest. Source: `GetBatchRowColumnShape`, `MatrixLayout::For`.
fn is_matrix(layout: &Layout, [batch, rows, columns]: [&[i64]; 3]) -> bool {
    let order = &layout.minor_to_major;
    let mut at = 0;
    let mut is_batch_fastest = rows.is_empty() && columns.is_empty();
    while let Some(dim) = order.get(at) {
        let groups = [rows, columns, batch];
        let Some(group) = groups.into_iter().find(|group| group.last() == Some(dim)) else { return false };
        let found = order.get(at..at + group.len());
        if !found.is_some_and(|found| found.iter().eq(group.iter().rev())) {
            return false;
        }
        is_batch_fastest |= at == 0 && group == batch;
        at += group.len();
    }
    !is_batch_fastest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_lie_together_and_no_batch_is_fastest() {
        let check = |order: &[i64], groups| is_matrix(&of_order(order.to_vec()), groups);
        assert!(check(&[2, 1, 0], [&[0], &[1], &[2]]));
        assert!(check(&[1, 0, 2], [&[0], &[1], &[2]]));
        assert!(!check(&[0, 1, 2], [&[0], &[1], &[2]]));
        assert!(check(&[3, 2, 1, 0], [&[], &[0, 1], &[2, 3]]));
        assert!(!check(&[2, 3, 1, 0], [&[], &[0, 1], &[2, 3]]));
        assert!(!check(&[1, 0], [&[0, 1], &[], &[]]));
        assert!(check(&[], [&[], &[], &[0]]));
    }
}
