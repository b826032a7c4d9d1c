//! Fusing two instructions, and taking fusions apart, as users ask for it. XLA's own fusion is in `gpu`.

use ir::Opcode;
use rustc_hash::{FxHashMap, FxHashSet};
use syntax::hlo::AttributeKey;

use super::{ComputationId, InstructionId, Module, NewOp};

/// Copies of instructions, or what stands for them.
type Copies = FxHashMap<InstructionId, InstructionId>;

impl Module {
    /// Moves a producer into one of its users, which becomes a fusion unless it is one, and returns the fusion. Other users keep the
    /// producer. `None`, and nothing is changed, where one of both is a fusion of another kind than XLA's emitters take, or is
    /// held by control dependencies.
    pub fn fuse(&mut self, producer: InstructionId, user: InstructionId) -> Option<InstructionId> {
        let is_taken = self[user].operands().contains(&producer);
        if !is_taken || !self.can_be_fused(producer) || !self.can_be_fused(user) {
            return None;
        }
        let mut operands: Vec<InstructionId> = Vec::new();
        let taken = self[user].operands().iter().filter(|&&operand| operand != producer);
        for &operand in taken.chain(self[producer].operands()) {
            if !operands.contains(&operand) {
                operands.push(operand);
            }
        }
        let body = self.add_computation("fused_computation");
        let mut copies = self.add_parameters(body, &operands);
        let inside = self.copy_value(body, producer, &copies);
        copies.insert(producer, inside);
        let root = self.copy_value(body, user, &copies);
        self.set_root(body, root);
        let fusion = self.add_fusion_of(user, body, &operands);
        self.replace_all_uses(user, fusion);
        self.remove_with_operands(user);
        self.remove_unreachable_computations();
        Some(fusion)
    }

    /// Replaces a fusion by the instructions that it consists of. False, and nothing is changed, as for [`Module::fuse`].
    pub fn unfuse(&mut self, fusion: InstructionId) -> bool {
        let Some(body) = self.fused_computation(fusion).filter(|_| self.can_be_fused(fusion)) else {
            return false;
        };
        self.inline(fusion, body);
        self.remove_unreachable_computations();
        true
    }

    /// Splits a fusion in two: one that computes an instruction of its computation, and one that takes that as an operand. Returns
    /// both. `None`, and nothing is changed, as for [`Module::fuse`], and where one of both would compute nothing.
    pub fn split(
        &mut self,
        fusion: InstructionId,
        at: InstructionId,
    ) -> Option<(InstructionId, InstructionId)> {
        let body = self.fused_computation(fusion).filter(|_| self.can_be_fused(fusion))?;
        let is_value = !matches!(self[at].opcode(), Opcode::Parameter | Opcode::Constant | Opcode::Tuple);
        if self[at].parent() != body || self.root(body) == at || !is_value {
            return None;
        }
        let above = self.cone(at, None);
        let below = self.cone(self.root(body), Some(at));
        let computes = |ids: &[InstructionId]| {
            ids.iter().any(|&id| {
                id != at && !matches!(self[id].opcode(), Opcode::Parameter | Opcode::Constant | Opcode::Tuple)
            })
        };
        if !below.contains(&at) || !computes(&below) {
            return None;
        }
        let first = self.part(fusion, at, &above, None);
        let second = self.part(fusion, self.root(body), &below, Some((at, first)));
        self.replace_all_uses(fusion, second);
        self.remove_with_operands(fusion);
        self.remove_unreachable_computations();
        Some((first, second))
    }

    /// Whether XLA's emitters may take the instruction alone or in a fusion.
    fn can_be_fused(&self, id: InstructionId) -> bool {
        let instruction = &self[id];
        let kind = instruction.attributes().text(AttributeKey::Kind);
        !instruction.has_control_dependencies() && !self.has_side_effect(id) && kind != Some("kCustom")
    }

    fn add_parameters(&mut self, body: ComputationId, operands: &[InstructionId]) -> Copies {
        let numbered = (0..).zip(operands);
        numbered
            .map(|(number, &operand)| {
                let shape = self[operand].shape().clone();
                (operand, self.add_parameter(body, number, shape))
            })
            .collect()
    }

    /// Adds a copy of an instruction, or of what a fusion consists of, and returns what has its value.
    fn copy_value(&mut self, body: ComputationId, id: InstructionId, copies: &Copies) -> InstructionId {
        let Some(inner) = self.fused_computation(id) else {
            let operands: Vec<InstructionId> =
                self[id].operands().iter().map(|operand| copies[operand]).collect();
            return self.add_copy(body, id, &operands);
        };
        let mut inside = Copies::default();
        for own in self.post_order(inner) {
            cancel::tick();
            let copy = match self[own].parameter_number() {
                Some(number) => copies[&self.operand(id, number as usize)],
                None => {
                    let operands: Vec<InstructionId> =
                        self[own].operands().iter().map(|operand| inside[operand]).collect();
                    self.add_copy(body, own, &operands)
                }
            };
            inside.insert(own, copy);
        }
        inside[&self.root(inner)]
    }

    /// Adds a fusion for an instruction, with what that says of its kind and origin.
    fn add_fusion_of(
        &mut self,
        of: InstructionId,
        body: ComputationId,
        operands: &[InstructionId],
    ) -> InstructionId {
        if self[of].opcode() == Opcode::Fusion {
            let fusion = self.add_copy(self[of].parent(), of, operands);
            self.set_calls(fusion, AttributeKey::Calls, &[body]);
            return fusion;
        }
        let new = NewOp::fusion(self.kind(body), self[of].shape().clone(), operands, body);
        let fusion = self.add_named(self[of].parent(), new, "fusion");
        self.inherit(fusion, of);
        fusion
    }

    /// Source: `ChooseFusionKind`, `service/gpu/gpu_fusible.cc`.
    fn kind(&self, body: ComputationId) -> &'static str {
        let is_reduction =
            |&id: &InstructionId| matches!(self[id].opcode(), Opcode::Reduce | Opcode::Scatter);
        if self.instructions(body).iter().any(is_reduction) { "kInput" } else { "kLoop" }
    }

    /// The instructions that compute one of a computation, itself last. `leaf` is taken as given.
    fn cone(&self, id: InstructionId, leaf: Option<InstructionId>) -> Vec<InstructionId> {
        let mut wanted = FxHashSet::default();
        let mut open = vec![id];
        while let Some(id) = open.pop() {
            if wanted.insert(id) && leaf != Some(id) {
                open.extend(self[id].operands());
            }
        }
        self.post_order(self[id].parent()).into_iter().filter(|id| wanted.contains(id)).collect()
    }

    /// Adds a fusion of some instructions of a fusion's computation, operands first. `given` is one of them whose value another
    /// instruction has.
    fn part(
        &mut self,
        fusion: InstructionId,
        root: InstructionId,
        cone: &[InstructionId],
        given: Option<(InstructionId, InstructionId)>,
    ) -> InstructionId {
        let mut operands: Vec<InstructionId> = Vec::new();
        for &id in cone {
            let operand = match (self[id].parameter_number(), given) {
                (_, Some((leaf, value))) if leaf == id => value,
                (Some(number), _) => self.operand(fusion, number as usize),
                (None, _) => continue,
            };
            if !operands.contains(&operand) {
                operands.push(operand);
            }
        }
        let body = self.add_computation("fused_computation");
        let parameters = self.add_parameters(body, &operands);
        let mut copies = Copies::default();
        for &id in cone {
            cancel::tick();
            let copy = match (self[id].parameter_number(), given) {
                (_, Some((leaf, value))) if leaf == id => parameters[&value],
                (Some(number), _) => parameters[&self.operand(fusion, number as usize)],
                (None, _) => {
                    let inner: Vec<InstructionId> =
                        self[id].operands().iter().map(|operand| copies[operand]).collect();
                    self.add_copy(body, id, &inner)
                }
            };
            copies.insert(id, copy);
        }
        self.set_root(body, copies[&root]);
        let new = NewOp::fusion(self.kind(body), self[root].shape().clone(), &operands, body);
        let part = self.add_named(self[fusion].parent(), new, "fusion");
        self.inherit_metadata(part, root);
        part
    }
}
