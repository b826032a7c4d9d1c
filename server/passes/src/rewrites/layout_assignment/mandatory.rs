//! Layouts that are given: those of the entry computation, of custom calls that state theirs, and of what computations are called
//! with and return. Also one round of one computation, of which they are the start.
//!
//! Source: XLA `LayoutAssignment::RunOnComputation`, `AddMandatoryConstraints`, `AddCustomCallConstraints`.

use ir::Shape;
use syntax::hlo::{AttributeKey, Opcode};

use super::ROUNDS;
use super::constraints::{Changed, Weight};
use super::layouts::{are_same_orders, layout_of, layouts_of, row_major};
use super::solver::Solver;
use crate::driver::Stop;
use crate::module::{ComputationId, InstructionId};

impl Solver<'_> {
    /// Chooses the layouts of a computation's arrays.
    pub(super) fn solve(&mut self, computation: ComputationId) -> Result<(), Stop> {
        let instructions = self.module.instructions(computation);
        for &id in &instructions {
            self.unconstrained.extend(self.buffers.of(id));
        }
        self.constrain_parameters(computation);
        for &id in &instructions {
            self.constrain_call(id);
        }
        self.constrain_root(computation);
        let post_order = self.module.post_order(computation);
        for &id in post_order.iter().rev() {
            self.constrain_for_gpu(id)?;
        }
        for &id in &post_order {
            self.constrain_custom_call(id);
        }
        self.propagate(computation)?;
        while let Some(&buffer) = self.unconstrained.first() {
            let array = &self.buffers[buffer].array;
            let is_constant = self.module[self.buffers[buffer].instruction].opcode() == Opcode::Constant;
            let layout = if is_constant { layout_of(array) } else { row_major(array.rank()) };
            self.set_buffer(buffer, &layout, Weight::may(self.round));
            self.unconstrained.remove(&buffer);
            self.propagate(computation)?;
        }
        self.record(computation);
        Ok(())
    }

    fn constrain_parameters(&mut self, computation: ComputationId) {
        let is_entry = computation == self.module.entry();
        let callable = self.callable(computation);
        let (has_parameters, layouts) = (callable.has_parameters, callable.parameters.clone());
        if !is_entry && (!has_parameters || self.mismatched.contains_key(&computation)) {
            return;
        }
        let must = self.must();
        for (id, layouts) in self.module.parameters(computation).into_iter().zip(layouts) {
            self.set_instruction(id, &layouts, must);
        }
        for id in self.module.instructions(computation) {
            if self.is_constrained_collective(id) {
                let layouts = layouts_of(self.module[id].shape());
                self.set_instruction(id, &layouts, must);
                for (index, layout) in layouts.into_iter().enumerate() {
                    self.set_operand(id, index, vec![layout], must);
                }
            }
        }
    }

    fn constrain_call(&mut self, id: InstructionId) {
        let instruction = &self.module[id];
        match instruction.opcode() {
            Opcode::Call => {
                let callee = instruction.callee(AttributeKey::ToApply);
                let Some(callable) = callee.and_then(|callee| self.callables.get(&callee)).cloned() else {
                    return;
                };
                self.set_instruction(id, &callable.result, self.must());
                for (index, layouts) in callable.parameters.into_iter().enumerate() {
                    self.set_operand(id, index, layouts, self.must());
                }
            }
            Opcode::While => {
                let (body, condition) =
                    (instruction.callee(AttributeKey::Body), instruction.callee(AttributeKey::Condition));
                if let (Some(body), Some(condition)) = (body, condition) {
                    self.constrain_loop(id, body, condition);
                }
            }
            Opcode::Conditional => self.constrain_conditional(id),
            _ => {}
        }
    }

    /// Gives a loop, and the parameters of its computations, the layouts that its body returns.
    fn constrain_loop(&mut self, id: InstructionId, body: ComputationId, condition: ComputationId) {
        if !self.callables.contains_key(&body) {
            return;
        }
        let priority = self.round + ROUNDS;
        let callable = self.callable(body);
        let layouts = callable.result.clone();
        for computation in [body, condition] {
            let callable = self.callable(computation);
            if let [parameter] = &mut callable.parameters[..]
                && *parameter != layouts
            {
                parameter.clone_from(&layouts);
                callable.reset(priority);
            }
        }
        self.set_operand(id, 0, layouts.clone(), self.must());
        self.set_instruction(id, &layouts, self.must());
    }

    /// Gives a conditional, and all its branches, the result of the largest branch.
    fn constrain_conditional(&mut self, id: InstructionId) {
        let branches: Vec<ComputationId> = self.module[id].called().collect();
        let is_known = branches.first().is_some_and(|first| self.callables.contains_key(first));
        let (mut largest, mut most) = (0, 0);
        for (index, &branch) in branches.iter().enumerate() {
            let Some(&operand) = self.module[id].operands().get(index + 1) else { return };
            let is_empty =
                matches!(self.module[operand].shape(), Shape::Tuple(elements) if elements.is_empty());
            let count = self.module.count(branch);
            if count > most && !is_empty {
                (largest, most) = (index, count);
            }
        }
        if !is_known {
            return;
        }
        let best = self.callable(branches[largest]).clone();
        for (index, &branch) in branches.iter().enumerate() {
            let callable = self.callable(branch).clone();
            if !are_same_orders(&callable.result, &best.result) {
                self.mismatched.entry(branch).or_insert_with(|| best.result.clone());
            } else if let Some(layouts) = callable.parameters.into_iter().next() {
                self.set_operand(id, index + 1, layouts, self.must());
            }
        }
        if let Some(layouts) = best.parameters.into_iter().next() {
            self.set_operand(id, largest + 1, layouts, self.must());
        }
        self.set_instruction(id, &best.result, self.must());
    }

    fn constrain_root(&mut self, computation: ComputationId) {
        let priority = self.round + ROUNDS;
        if let Some(layouts) = self.mismatched.get(&computation).cloned() {
            let callable = self.callable(computation);
            (callable.result, callable.has_result, callable.priority) = (layouts, true, priority);
            self.push(Changed::Result(computation));
        } else if (computation == self.module.entry() || self.round > 0)
            && self.result_of(computation).is_some()
        {
            self.push(Changed::Result(computation));
        }
    }

    /// Of a custom call that states the layouts of its operands and results.
    fn constrain_custom_call(&mut self, id: InstructionId) {
        let instruction = &self.module[id];
        let stated = instruction.attributes().text(AttributeKey::OperandLayoutConstraints);
        let (Opcode::CustomCall, Some(stated)) = (instruction.opcode(), stated) else { return };
        let result = layouts_of(instruction.shape());
        self.set_instruction(id, &result, self.must());
        if self.target(id) == "LayoutConstraint" {
            return self.set_operand(id, 0, result, self.must());
        }
        let inner =
            stated.trim().strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(stated);
        let stated = Shape::from_text(&format!("({inner})"));
        let shapes = stated.as_ref().and_then(Shape::tuple_elements).unwrap_or_default();
        for (index, (&operand, shape)) in instruction.operands().iter().zip(shapes).enumerate() {
            if self.buffers.is_forwarded(operand, id) {
                continue;
            }
            self.set_operand(id, index, layouts_of(shape), self.must());
            if self.module[operand].opcode() == Opcode::Copy {
                self.set_operand(operand, 0, layouts_of(shape), self.must());
            }
        }
    }
}
