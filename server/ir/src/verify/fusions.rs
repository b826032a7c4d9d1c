//! The computation of a fusion: all of it is there for its root.
//! Source: `hlo_verifier.cc` CheckFusionInstruction.

use syntax::hlo::{ComputationId, ComputationKind, InstructionId, Opcode};

use super::Verifier;
use crate::finding::{Anchor, InstructionFinding, Part, Severity};
use crate::warnings::{has_side_effect, is_caller};

impl Verifier<'_> {
    /// Computations that fusions call and that lie in this block as a whole.
    pub(super) fn check_fusion_bodies(&mut self) {
        for (id, computation) in self.block.parse.computations.iter().enumerate() {
            let is_inline_of_fusion = match computation.kind {
                ComputationKind::Inline(holder) => {
                    self.block.parse.instructions.get(holder as usize).and_then(|i| i.opcode)
                        == Some(Opcode::Fusion)
                }
                ComputationKind::Whole => computation.is_closed && self.around.fused.get(id) == Some(&true),
                _ => false,
            };
            // A line that could not be read may use anything.
            if is_inline_of_fusion && self.block.is_readable(id as ComputationId) {
                self.check_fusion_body(id as ComputationId);
            }
        }
    }

    fn check_fusion_body(&mut self, computation: ComputationId) {
        let block = self.block;
        let Some(root) = block.root(computation) else { return };
        let users = block.users(root);
        if let Some(&user) = users.first() {
            let (name, by) = (block.name(root), block.name(user));
            let message = format!("{name} is the root of a fusion, but {by} uses it");
            let related = vec![(Anchor::Part(user, Part::Name), "it is used here".to_owned())];
            self.fusion_error(root, "fusion-root", message, related);
        }
        let is_root_used = !users.is_empty();
        for id in block.parse.computations[computation as usize].instructions.clone() {
            let instruction = block.instruction(id);
            // If the root has users, another instruction should be the root, and those after it are unused for that reason.
            if id == root
                || is_root_used && id > root
                || instruction.is_nested
                || instruction.is_broken
                || !block.users(id).is_empty()
            {
                continue;
            }
            let Some(opcode) = instruction.opcode else { continue };
            if has_side_effect(block, id) || is_caller(opcode) && !is_pure_call(opcode) {
                continue;
            }
            let name = block.name(id);
            let message = match opcode {
                Opcode::Parameter => format!(
                    "the fusion does not use its parameter {name}: each call reads an operand for nothing"
                ),
                _ => format!("{name} is never used: in a fusion everything leads to the root"),
            };
            let related = vec![(Anchor::Part(root, Part::Name), "the root is here".to_owned())];
            self.fusion_error(id, "unused-in-fusion", message, related);
        }
    }

    fn fusion_error(
        &mut self,
        instruction: InstructionId,
        code: &'static str,
        message: String,
        related: Vec<(Anchor, String)>,
    ) {
        self.findings.push(InstructionFinding {
            instruction,
            part: Part::Name,
            severity: Severity::Error,
            code,
            message,
            shapes: None,
            related,
            fix: None,
        });
    }
}

/// Custom calls say themselves whether they have a side effect; of the others that is not known here.
fn is_pure_call(opcode: Opcode) -> bool {
    opcode == Opcode::CustomCall
}
