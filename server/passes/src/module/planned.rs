//! A module as crate `memory` plans it: which values share a buffer, and in which order the instructions run.

use memory::Program;
use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Opcode};

use super::{ComputationId, InstructionId, Module};

/// A module as a program.
pub(crate) struct Planned {
    pub(crate) program: Program,
    /// Per instruction of the program, that of the module.
    pub(crate) ids: Vec<InstructionId>,
    /// Per computation of the program, that of the module.
    pub(crate) computations: Vec<ComputationId>,
}

impl Module {
    /// The module as a program without an order, unless it is scheduled.
    pub(crate) fn planned(&self) -> Planned {
        let computations = self.computations();
        let number: FxHashMap<ComputationId, u32> = computations.iter().copied().zip(0..).collect();
        // An operand whose memory is written comes before the instruction that writes it.
        let ids: Vec<InstructionId> = computations.iter().flat_map(|&c| self.post_order(c)).collect();
        let of: FxHashMap<InstructionId, memory::Id> = ids.iter().copied().zip(0..).collect();
        let all = |ids: &[InstructionId]| ids.iter().filter_map(|id| of.get(id).copied()).collect();
        let mut program = Program::default();
        program.is_scheduled = self.header.is_scheduled;
        program.aliases.clone_from(&self.header.aliases);
        program.entry = number[&self.entry] as usize;
        for &id in &ids {
            let instruction = &self[id];
            let before = instruction.control_predecessors.iter().filter_map(|before| of.get(before));
            program.control.extend(before.map(|&before| (before, of[&id])));
            let callees = instruction.calls().flat_map(|(key, called)| called.iter().map(move |c| (key, *c)));
            program.instructions.push(memory::Instruction {
                name: (&*instruction.name).into(),
                opcode: self.known_opcode(id).map(memory::planned_as),
                shape: instruction.shape().clone(),
                computation: number[&instruction.parent],
                operands: all(&instruction.operands),
                users: all(&self.users_in_order(id)),
                callees: callees.map(|(key, callee)| (key, number[&callee])).collect(),
                number: self.number(id),
                is_written: true,
                aliasing: self.stated_aliases(id),
                adds_in_place: self.adds_in_place(id),
                waits: !instruction.control_predecessors.is_empty(),
            });
        }
        for &id in &computations {
            let mut parameters = vec![memory::Id::MAX; self.parameters(id).len()];
            for parameter in self.parameters(id) {
                let number = self[parameter].parameter_number().unwrap_or_default() as usize;
                if let Some(slot) = parameters.get_mut(number) {
                    *slot = of[&parameter];
                }
            }
            program.computations.push(memory::Computation {
                name: (&*self[id].name).into(),
                instructions: all(&self.parameters_first(id)),
                root: of[&self.root(id)],
                parameters,
                callers: Vec::new(),
            });
        }
        for caller in 0..program.instructions.len() {
            for at in 0..program.instructions[caller].callees.len() {
                let callee = program.instructions[caller].callees[at].1 as usize;
                program.computations[callee].callers.push(caller as memory::Id);
            }
        }
        Planned { program, ids, computations }
    }

    /// The users of an instruction, elements of a tuple last to first. Texts do not show the order in which XLA has those; this one
    /// fits its schedules better than first to last.
    fn users_in_order(&self, id: InstructionId) -> Vec<InstructionId> {
        let mut users = self[id].users().to_vec();
        let element = |user: InstructionId| match self[user].opcode() {
            Opcode::GetTupleElement => self.number(user),
            _ => None,
        };
        users.sort_by_key(|&user| std::cmp::Reverse(element(user)));
        users
    }

    /// The instructions in the order of creation. Parameters are created first, though the text of a module without a schedule
    /// has them where they are used.
    fn parameters_first(&self, id: ComputationId) -> Vec<InstructionId> {
        let mut all = self.parameters(id);
        let others = self.instructions(id).into_iter();
        all.extend(others.filter(|&id| self[id].opcode() != Opcode::Parameter));
        all
    }

    /// The opcode; `None` where the vocabulary lacks it.
    fn known_opcode(&self, id: InstructionId) -> Option<Opcode> {
        let is_unknown = self[id].verbatim().is_some_and(|verbatim| verbatim.opcode.is_some());
        (!is_unknown).then(|| self[id].opcode())
    }

    /// The number of a parameter, or the index of a tuple element.
    fn number(&self, id: InstructionId) -> Option<u32> {
        let index = || u32::try_from(self[id].attributes().int(AttributeKey::Index)?).ok();
        self[id].parameter_number().or_else(index)
    }

    /// `output_to_operand_aliasing`.
    fn stated_aliases(&self, id: InstructionId) -> Vec<ir::Alias> {
        let text = self[id].attributes().text(AttributeKey::OutputToOperandAliasing);
        text.map(ir::Alias::list).unwrap_or_default()
    }

    fn adds_in_place(&self, id: InstructionId) -> bool {
        let attributes = self[id].attributes();
        let text = |key| attributes.text(key).unwrap_or_default();
        self[id].opcode() == Opcode::CustomCall
            && memory::adds_in_place(text(AttributeKey::CustomCallTarget), text(AttributeKey::BackendConfig))
    }
}
