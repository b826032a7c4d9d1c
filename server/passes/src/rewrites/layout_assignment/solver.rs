//! The search for layouts: what is constrained, and what was found.

use std::collections::BTreeSet;
use std::sync::Arc;

use gpu::Device;
use ir::Layout;
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::Opcode;

use super::buffers::{BufferId, Buffers};
use super::callables::Callable;
use super::constraints::{BufferConstraint, Changed, DEFAULT_PRIORITY, OperandConstraint, Weight};
use super::layouts::{Layouts, are_same_orders, leaves};
use super::prepare::aliases;
use crate::driver::Stop;
use crate::module::{ComputationId, InstructionId, Module};

/// The search for layouts. The module does not change meanwhile.
pub(super) struct Solver<'m> {
    pub(super) module: &'m Module,
    pub(super) device: &'static Device,
    pub(super) buffers: Buffers,
    /// By number of the buffer.
    pub(super) of_buffers: Vec<Option<BufferConstraint>>,
    /// By user and operand number.
    pub(super) of_operands: FxHashMap<(InstructionId, usize), OperandConstraint>,
    pub(super) callables: FxHashMap<ComputationId, Callable>,
    /// Branches whose results differ from that of the largest branch, and what they shall be.
    pub(super) mismatched: FxHashMap<ComputationId, Layouts>,
    /// Computations that a loop calls, and nothing else.
    pub(super) bodies: FxHashSet<ComputationId>,
    /// Buffers of the computation at hand without a layout.
    pub(super) unconstrained: BTreeSet<BufferId>,
    pub(super) added: Vec<Changed>,
    pub(super) round: i64,
    /// How many more constraints may be propagated.
    pub(super) steps_left: u64,
}

/// The layouts that were chosen.
pub(super) struct Solution {
    pub(super) buffers: Buffers,
    pub(super) of_buffers: Vec<Option<BufferConstraint>>,
    pub(super) of_operands: FxHashMap<(InstructionId, usize), OperandConstraint>,
    pub(super) callables: FxHashMap<ComputationId, Callable>,
}

impl<'m> Solver<'m> {
    pub(super) fn new(
        module: &'m Module,
        device: &'static Device,
        order: &[(ComputationId, Vec<InstructionId>)],
    ) -> Result<Solver<'m>, Stop> {
        let mut callables = FxHashMap::default();
        callables.insert(module.entry(), Callable::entry(module)?);
        let buffers = Buffers::new(module, order);
        let instructions: usize = order.iter().map(|(_, instructions)| instructions.len()).sum();
        Ok(Solver {
            module,
            device,
            of_buffers: Vec::new(),
            of_operands: FxHashMap::default(),
            callables,
            mismatched: FxHashMap::default(),
            bodies: loop_computations(module),
            unconstrained: BTreeSet::new(),
            added: Vec::new(),
            round: 0,
            // Real modules need fewer than 20 per instruction.
            steps_left: 10_000 + 1_000 * instructions as u64,
            buffers,
        })
    }

    pub(super) fn start_round(&mut self, round: i64) {
        self.round = round;
        self.of_operands.clear();
        self.of_buffers.clear();
        self.of_buffers.resize_with(self.buffers.len(), || None);
    }

    pub(super) fn finish(self) -> Solution {
        let Solver { buffers, of_buffers, of_operands, callables, .. } = self;
        Solution { buffers, of_buffers, of_operands, callables }
    }

    /// The weight of what the algorithm demands in this round.
    pub(super) fn must(&self) -> Weight {
        Weight::must(self.round)
    }

    /// Constrains an array in memory.
    ///
    /// Source: `LayoutAssignment::SetBufferLayout`.
    pub(super) fn set_buffer(&mut self, id: BufferId, layout: &Arc<Layout>, weight: Weight) {
        let (instruction, rank) = (self.buffers[id].instruction, self.buffers[id].array.rank());
        if layout.minor_to_major.len() != rank {
            return;
        }
        self.unconstrained.remove(&id);
        let is_element = self.module[instruction].shape().tuple_elements().is_some();
        let slot = &mut self.of_buffers[id.index()];
        match slot {
            Some(known) => {
                if !known.update(layout, weight, is_element) || rank < 2 {
                    return;
                }
            }
            None => *slot = Some(BufferConstraint::new(layout, weight)),
        }
        self.push(Changed::Buffer(id));
        if self.module[instruction].opcode() == Opcode::CustomCall {
            for alias in aliases(self.module, instruction) {
                if alias.is_whole && self.leaf_at(instruction, &alias.output) == Some(self.buffers[id].leaf) {
                    self.set_operand(instruction, alias.operand, vec![Some(layout.clone())], weight);
                }
            }
        }
    }

    /// The number of the array at this index of an instruction's result.
    pub(super) fn leaf_at(&self, id: InstructionId, path: &[i64]) -> Option<usize> {
        let (mut shape, mut leaf) = (self.module[id].shape(), 0);
        for &index in path {
            leaf += super::layouts::first_leaf(shape, usize::try_from(index).ok()?);
            shape = shape.element_at(&[index])?;
        }
        shape.as_array().map(|_| leaf)
    }

    /// Constrains all arrays in an operand.
    ///
    /// Source: `LayoutAssignment::SetOperandLayout`.
    pub(super) fn set_operand(
        &mut self,
        user: InstructionId,
        index: usize,
        layouts: Layouts,
        mut weight: Weight,
    ) {
        let Some(&operand) = self.module[user].operands().get(index) else { return };
        let shape = self.module[operand].shape();
        if shape.as_array().is_some_and(|array| array.rank() == 0) {
            return;
        }
        let arrays = leaves(shape);
        let fits = |(layout, array): (&Option<Arc<Layout>>, &&Arc<ir::ArrayShape>)| {
            layout.as_ref().is_none_or(|layout| layout.minor_to_major.len() == array.rank())
        };
        if arrays.len() != layouts.len() || !layouts.iter().zip(&arrays).all(fits) {
            return;
        }
        // What an update writes is mostly smaller than what it writes to, whose layout should count.
        let opcode = self.module[user].opcode();
        let is_minor = match opcode {
            Opcode::DynamicUpdateSlice => index > 0 && weight.priority > DEFAULT_PRIORITY,
            Opcode::Reshape => self.module[operand].opcode() == Opcode::DynamicSlice,
            _ => false,
        };
        if is_minor && !weight.is_mandatory {
            weight = Weight { is_depth_first: false, priority: weight.priority - 1, ..weight };
        }
        if let Some(known) = self.of_operands.get(&(user, index)) {
            let is_kept = !weight.is_mandatory || known.weight.priority > weight.priority;
            if is_kept || are_same_orders(&known.layouts, &layouts) {
                return;
            }
        }
        self.of_operands.insert((user, index), OperandConstraint { layouts, weight });
        self.push(Changed::Operand(user, index));
    }

    /// Constrains an operand that is an array.
    pub(super) fn set_array_operand(
        &mut self,
        user: InstructionId,
        index: usize,
        layout: &Arc<Layout>,
        weight: Weight,
    ) {
        self.set_operand(user, index, vec![Some(layout.clone())], weight);
    }

    /// Constrains all arrays of a result, and the operands that have the layout of the result.
    ///
    /// Source: `LayoutAssignment::SetInstructionLayout`.
    pub(super) fn set_instruction(&mut self, id: InstructionId, layouts: &Layouts, weight: Weight) {
        let found = self.buffers.of(id).to_vec();
        for (&buffer, layout) in found.iter().zip(layouts) {
            if let Some(layout) = layout {
                self.set_buffer(buffer, layout, weight);
            }
        }
        let instruction = &self.module[id];
        let is_array = instruction.shape().as_array().is_some();
        let is_control = matches!(instruction.opcode(), Opcode::While | Opcode::Conditional);
        if let [Some(layout)] = &layouts[..]
            && is_array
            && !is_control
            && !self.can_change_layout(id)
        {
            let rank = instruction.dims().len();
            for index in 0..instruction.operands().len() {
                if self.module[self.module.operand(id, index)].dims().len() == rank {
                    self.set_array_operand(id, index, layout, weight);
                }
            }
        }
    }

    /// Source: `LayoutAssignment::PushAddedConstraints`.
    pub(super) fn push(&mut self, changed: Changed) {
        let weight = self.weight(changed);
        let at = match weight.is_depth_first {
            true => self.added.len(),
            false => {
                let is_before = |&other: &Changed| weight.priority <= self.weight(other).priority;
                self.added.iter().rposition(is_before).map_or(0, |at| at + 1)
            }
        };
        self.added.insert(at, changed);
    }

    pub(super) fn weight(&self, changed: Changed) -> Weight {
        let known = match changed {
            Changed::Buffer(id) => self.of_buffers[id.index()].as_ref().map(|known| known.weight),
            Changed::Operand(user, index) => self.of_operands.get(&(user, index)).map(|known| known.weight),
            Changed::Result(computation) => {
                self.callables.get(&computation).map(|callable| Weight::must(callable.priority))
            }
        };
        known.unwrap_or(Weight::must(self.round))
    }
}

fn loop_computations(module: &Module) -> FxHashSet<ComputationId> {
    let is_loop = |&id: &InstructionId| module[id].opcode() == Opcode::While;
    let callers = module.callers();
    let alone = callers.iter().filter(|(_, by)| by.len() == 1 && by.iter().all(is_loop));
    alone.map(|(&callee, _)| callee).collect()
}
