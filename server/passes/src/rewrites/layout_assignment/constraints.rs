//! Constraints on layouts, and which of two wins.

use std::sync::Arc;

use ir::Layout;

use super::buffers::BufferId;
use super::layouts::{Layouts, is_same_order};
use crate::module::{ComputationId, InstructionId};

/// The priority of a computation whose layouts are not known.
pub(super) const DEFAULT_PRIORITY: i64 = -2;
/// The priority of the layouts that the header of the module states.
pub(super) const GIVEN_PRIORITY: i64 = 3;
/// How often the layout of an array may change without need. Source: `kMaxLayoutProp`.
const MAX_UPDATES: usize = 2;

/// How strong a constraint is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weight {
    pub(super) is_mandatory: bool,
    /// Whether it is propagated before those that wait.
    pub(super) is_depth_first: bool,
    pub(super) priority: i64,
}

impl Weight {
    pub(super) fn must(priority: i64) -> Weight {
        Weight { is_mandatory: true, is_depth_first: true, priority }
    }

    pub(super) fn may(priority: i64) -> Weight {
        Weight { is_mandatory: false, is_depth_first: true, priority }
    }
}

/// Something whose constraint changed, and is to be propagated.
#[derive(Debug, Clone, Copy)]
pub(super) enum Changed {
    Buffer(BufferId),
    Operand(InstructionId, usize),
    /// The result of the computation at hand.
    Result(ComputationId),
}

#[derive(Debug)]
pub(super) struct BufferConstraint {
    pub(super) layout: Arc<Layout>,
    pub(super) weight: Weight,
    /// How often it was set.
    updates: usize,
}

#[derive(Debug)]
pub(super) struct OperandConstraint {
    /// Of each array in the operand.
    pub(super) layouts: Layouts,
    pub(super) weight: Weight,
}

impl BufferConstraint {
    pub(super) fn new(layout: &Arc<Layout>, weight: Weight) -> BufferConstraint {
        BufferConstraint { layout: layout.clone(), weight, updates: 1 }
    }

    /// Whether anything changed. Source: `BufferLayoutConstraint::UpdateLayout`.
    pub(super) fn update(&mut self, layout: &Arc<Layout>, weight: Weight, is_element: bool) -> bool {
        let old = self.weight;
        if is_same_order(&self.layout, layout) {
            self.weight = Weight {
                is_mandatory: old.is_mandatory || weight.is_mandatory,
                is_depth_first: old.is_depth_first || weight.is_depth_first,
                priority: old.priority.max(weight.priority),
            };
            return self.weight.is_mandatory != old.is_mandatory
                || self.weight.is_depth_first != old.is_depth_first
                || self.weight.priority != old.priority;
        }
        let is_settled = self.updates > MAX_UPDATES || is_element || weight.priority <= old.priority;
        if !weight.is_mandatory && is_settled {
            return false;
        }
        *self = BufferConstraint { layout: layout.clone(), weight, updates: self.updates + 1 };
        true
    }
}
