//! Transfers and reductions that must be alike wherever they are in a module; here as far as one block holds them.
//! Source: `hlo_verifier.cc` VerifyChannels, VerifyLayoutConstrainedAllReduce.

use rustc_hash::FxHashMap;
use syntax::hlo::{AttributeKey, Instruction, InstructionId, Opcode, ValueNode};

use super::Verifier;
use crate::finding::{Anchor, InstructionFinding, Part, Severity};

impl Verifier<'_> {
    pub(super) fn check_channels(&mut self) {
        let has = |key| self.block.parse.attributes.iter().any(|attribute| attribute.key == Some(key));
        if has(AttributeKey::IsHostTransfer) {
            self.check_host_transfers();
        }
        if has(AttributeKey::ConstrainLayout) {
            self.check_constrained_reductions();
        }
    }

    /// Transfers to and from the host on one channel go one way.
    fn check_host_transfers(&mut self) {
        let block = self.block;
        let mut seen: FxHashMap<i64, InstructionId> = FxHashMap::default();
        for (id, instruction) in block.parse.instructions.iter().enumerate() {
            let id = id as InstructionId;
            if !matches!(instruction.opcode, Some(Opcode::Send | Opcode::Recv))
                || !self.is_true(instruction, AttributeKey::IsHostTransfer)
            {
                continue;
            }
            let Some(ValueNode::Int(channel)) = self.attribute(instruction, AttributeKey::ChannelId) else {
                continue;
            };
            let first = *seen.entry(channel).or_insert(id);
            if block.instruction(first).opcode != instruction.opcode {
                let message =
                    format!("channel {channel} of the host is used by {} the other way", block.name(first));
                self.unlike(id, first, "channel-id", Part::Value(AttributeKey::ChannelId), message);
            }
        }
    }

    /// All all-reduces have the layouts that are written, or none has.
    fn check_constrained_reductions(&mut self) {
        let mut first: Option<(InstructionId, bool)> = None;
        for (id, instruction) in self.block.parse.instructions.iter().enumerate() {
            if !matches!(instruction.opcode, Some(Opcode::AllReduce | Opcode::AllReduceStart)) {
                continue;
            }
            let is_constrained = self.is_true(instruction, AttributeKey::ConstrainLayout);
            let (other, is_other) = *first.get_or_insert((id as InstructionId, is_constrained));
            if is_other != is_constrained {
                let with = |is: bool| if is { "with" } else { "without" };
                let message = format!(
                    "{} constrain_layout, while {} is {} it: all all-reduces of a module are alike",
                    with(is_constrained),
                    self.block.name(other),
                    with(is_other)
                );
                return self.unlike(id as InstructionId, other, "constrain-layout", Part::Opcode, message);
            }
        }
    }

    fn attribute(&self, instruction: &Instruction, key: AttributeKey) -> Option<ValueNode> {
        let mut attributes = self.block.parse.attributes_of(instruction).iter();
        attributes.find(|attribute| attribute.key == Some(key)).map(|attribute| attribute.value)
    }

    fn is_true(&self, instruction: &Instruction, key: AttributeKey) -> bool {
        self.attribute(instruction, key) == Some(ValueNode::Bool(true))
    }

    fn unlike(
        &mut self,
        instruction: InstructionId,
        other: InstructionId,
        code: &'static str,
        part: Part,
        message: String,
    ) {
        self.findings.push(InstructionFinding {
            instruction,
            part,
            severity: Severity::Error,
            code,
            message,
            shapes: None,
            related: vec![(Anchor::Part(other, Part::Name), "the other one is here".to_owned())],
            fix: None,
        });
    }
}
