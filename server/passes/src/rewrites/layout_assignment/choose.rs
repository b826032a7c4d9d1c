//! Which layout of an operand suits a layout of the result, and the other way round.
//!
//! Source: XLA `backends/gpu/transforms/layout_assignment.cc`, `ChooseOperandLayoutFromOutputLayout` and
//! `ChooseOutputLayoutFromOperandLayout`; `service/layout_assignment.cc`, `InstructionCanChangeLayout`.

use std::sync::Arc;

use ir::{ArrayShape, Layout};
use syntax::hlo::{AttributeKey, Opcode};

use super::layouts::{filtered, laid_out, layout_of, of_order};
use super::solver::Solver;
use crate::dimensions::{aligned, inverse_permutation, without_unit_dimensions};
use crate::module::InstructionId;
use crate::shapes::true_rank;

/// The least number of elements in a sum for which operands are worth rearranging.
/// Source: `GpuLayoutAssignment::PropagateReductionLayoutToOperand`.
const LONG_REDUCTION: i64 = 32;

/// The library call for the largest elements, which needs its operand in the layout of its result.
pub(super) const TOP_K: &str = "__gpu$TopK";

impl Solver<'_> {
    pub(super) fn target(&self, id: InstructionId) -> &str {
        self.module[id].attributes().text(AttributeKey::CustomCallTarget).unwrap_or_default()
    }

    /// Whether operands of the result's rank may have another layout than the result.
    pub(super) fn can_change_layout(&self, id: InstructionId) -> bool {
        use Opcode::*;
        match self.module[id].opcode() {
            CustomCall => !matches!(self.target(id), TOP_K | "LayoutConstraint"),
            Broadcast | Constant | Copy | Domain | GetTupleElement | Iota | Parameter | Reshape
            | DynamicReshape | Transpose | Tuple => true,
            Convolution | Dot | RaggedDot | ScaledDot | Gather | Reduce => true,
            BatchNormGrad | BatchNormInference | BatchNormTraining => true,
            Rng | RngBitGenerator | RngGetAndUpdateState => true,
            Call | Conditional | AfterAll | PartitionId | ReplicaId | GetDimensionSize => true,
            _ => false,
        }
    }

    /// A layout of the operand for which the instruction moves little, or nothing.
    pub(super) fn operand_layout(&self, layout: &Layout, user: InstructionId) -> Option<Arc<Layout>> {
        let instruction = &self.module[user];
        let operand = &self.module[*instruction.operands().first()?];
        match instruction.opcode() {
            Opcode::Reshape => reshaped(instruction.shape().as_array()?, layout, operand.shape().as_array()?),
            Opcode::Transpose => {
                let dims = instruction.dimensions();
                let order = layout.minor_to_major.iter().map(|&dim| dims.get(dim as usize).copied());
                Some(of_order(order.collect::<Option<_>>()?))
            }
            Opcode::Reduce => {
                let summed = instruction.dimensions();
                let sizes = summed.iter().map(|&dim| operand.dims().get(dim as usize).copied().unwrap_or(1));
                if sizes.fold(1i64, i64::saturating_mul) < LONG_REDUCTION {
                    return None;
                }
                let kept: Vec<i64> =
                    (0..operand.dims().len() as i64).filter(|dim| !summed.contains(dim)).collect();
                let mut order: Vec<i64> = summed.iter().rev().copied().collect();
                for &dim in &layout.minor_to_major {
                    order.push(*kept.get(dim as usize)?);
                }
                Some(of_order(order))
            }
            _ => None,
        }
    }

    /// A layout of the result for which the instruction moves little, or nothing.
    pub(super) fn result_layout(&self, layout: &Layout, user: InstructionId) -> Option<Arc<Layout>> {
        let instruction = &self.module[user];
        let operand = &self.module[*instruction.operands().first()?];
        match instruction.opcode() {
            Opcode::Reshape => reshaped(operand.shape().as_array()?, layout, instruction.shape().as_array()?),
            Opcode::Transpose => {
                let back = inverse_permutation(instruction.dimensions());
                let order = layout.minor_to_major.iter().map(|&dim| back.get(dim as usize).copied());
                Some(of_order(order.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }

    /// The layout of an operand whose bits are taken as elements of another size, where the number of dimensions differs.
    pub(super) fn layout_of_bitcast_operand(
        &self,
        user: InstructionId,
        operand: InstructionId,
    ) -> Option<Arc<Layout>> {
        let layout = layout_of(self.module[user].shape().as_array()?);
        let (rank, of_operand) = (self.module[user].dims().len(), self.module[operand].dims().len());
        if of_operand < rank {
            return Some(filtered(&layout, |dim| dim + 1 < rank as i64));
        }
        let mut order = vec![rank as i64];
        order.extend(&layout.minor_to_major);
        Some(of_order(order))
    }
}

/// The layout of `to` for which a reshape from or to an array in a layout moves nothing. Dimensions of size 1 stay where they
/// were between the others.
///
/// Source: `AlignLayoutsGPU`, `TryChooseReshapeBitcastLayout`.
fn reshaped(from: &ArrayShape, layout: &Layout, to: &ArrayShape) -> Option<Arc<Layout>> {
    if true_rank(&from.dims) == 1 && true_rank(&to.dims) == 1 {
        return None;
    }
    let template = layout_of(to);
    let from =
        laid_out(from, &Layout { minor_to_major: layout.minor_to_major.clone(), ..Layout::row_major(0) });
    let to = laid_out(to, &template);
    let simple = aligned(&without_unit_dimensions(&from), &without_unit_dimensions(&to))?;
    let simple = layout_of(simple.as_array()?);
    let whole: Vec<i64> = (0..).zip(to.dims()).filter(|(_, size)| **size != 1).map(|(dim, _)| dim).collect();
    let is_unit = |dim: i64| !whole.contains(&dim);
    let template = &template.minor_to_major;
    // Dimensions of size 1 follow the dimension that they follow in the template.
    let mut order: Vec<i64> = template.iter().copied().take_while(|&dim| is_unit(dim)).collect();
    for &dim in &simple.minor_to_major {
        let dim = *whole.get(dim as usize)?;
        order.push(dim);
        let behind = template.iter().skip_while(|&&other| other != dim).skip(1).copied();
        order.extend(behind.take_while(|&dim| is_unit(dim)));
    }
    Some(of_order(order))
}
