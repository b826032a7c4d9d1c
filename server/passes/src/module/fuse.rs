//! Fusions of a module: made of one instruction, grown by its operands, merged.
//!
//! Source: XLA `HloCallableInstruction::CloneAndAppendInstructionIntoCalledComputation`, `hlo/ir/hlo_instructions.cc`.

use syntax::hlo::{AttributeKey, Opcode};

use super::{ComputationId, InstructionId, Module, NewOp};

impl Module {
    /// Adds a fusion of one instruction beside it. Nothing uses the fusion yet.
    pub fn add_fusion(&mut self, of: InstructionId, kind: &str) -> InstructionId {
        let called = self.add_computation("fused_computation");
        let mut operands: Vec<InstructionId> = Vec::new();
        let mut parameters: Vec<InstructionId> = Vec::new();
        let mut inner = Vec::new();
        for operand in self[of].operands.clone() {
            let at = operands.iter().position(|&known| known == operand).unwrap_or_else(|| {
                let shape = self[operand].shape().clone();
                parameters.push(self.add_parameter(called, operands.len() as u32, shape));
                operands.push(operand);
                operands.len() - 1
            });
            inner.push(parameters[at]);
        }
        let root = self.add_copy(called, of, &inner);
        self.set_root(called, root);
        let shape = self[of].shape().clone();
        let fusion = self.add(self[of].parent, NewOp::fusion(kind, shape, &operands, called));
        self.inherit(fusion, of);
        fusion
    }

    /// The computation of a fusion.
    pub fn fused_computation(&self, fusion: InstructionId) -> Option<ComputationId> {
        self[fusion].callee(AttributeKey::Calls).filter(|_| self[fusion].opcode() == Opcode::Fusion)
    }

    /// Copies an operand into a fusion, which then reads what the operand reads. The operand itself stays where it is. Returns the
    /// copy; `None` if it is no operand of the fusion.
    pub fn fuse_operand(&mut self, fusion: InstructionId, operand: InstructionId) -> Option<InstructionId> {
        let called = self.fused_computation(fusion)?;
        let at = self[fusion].operands.iter().position(|&known| known == operand)?;
        let mut parameters = self.parameters(called);
        let mut operands = self[fusion].operands.to_vec();
        let replaced = parameters.get(at).copied()?;
        let copy = self.add_copy(called, operand, &[]);
        self.replace_all_uses(replaced, copy);
        self.remove(replaced);
        parameters.remove(at);
        operands.remove(at);
        for (number, &parameter) in parameters.iter().enumerate().skip(at) {
            self.set_parameter_number(parameter, number as u32);
        }
        let mut inner = Vec::new();
        for read in self[operand].operands.clone() {
            let at = operands.iter().position(|&known| known == read).unwrap_or_else(|| {
                let shape = self[read].shape().clone();
                parameters.push(self.add_parameter(called, operands.len() as u32, shape));
                operands.push(read);
                operands.len() - 1
            });
            inner.push(parameters[at]);
        }
        self.set_operands(copy, &inner);
        self.set_operands(fusion, &operands);
        Some(copy)
    }

    /// Copies all instructions of a fusion into another one that uses it.
    /// Source: XLA `HloFusionInstruction::MergeFusionInstruction`.
    pub fn merge_fusion(&mut self, into: InstructionId, from: InstructionId) {
        let Some(called) = self.fused_computation(from) else { return };
        let (parent, operands) = (self[from].parent, self[from].operands.to_vec());
        let mut outside = rustc_hash::FxHashMap::default();
        let mut copies = Vec::new();
        for id in self.post_order(called) {
            let copy = match self[id].parameter_number().and_then(|number| operands.get(number as usize)) {
                Some(&operand) => operand,
                None => {
                    let inner: Vec<InstructionId> =
                        self[id].operands.iter().map(|operand| outside[operand]).collect();
                    let copy = self.add_copy(parent, id, &inner);
                    copies.push(copy);
                    copy
                }
            };
            outside.insert(id, copy);
        }
        let root = outside[&self.root(called)];
        self.replace_use(from, into, root);
        for &copy in copies.iter().rev() {
            self.fuse_operand(into, copy);
            if self.is_dead(copy) {
                self.remove(copy);
            }
        }
    }
}
