//! What a piece contributes to the [`Module`](crate::Module): its computations and its calls by name, without shapes and
//! without the numbers of instructions, so that most edits leave it as it is.

use std::ops::Range;
use std::sync::Arc;

use syntax::hlo::{ComputationId, ComputationKind, InstructionId, Opcode};

use crate::block::Block;
use crate::module::ModuleSettings;

/// Owner: the memo of `db::outline`, one per piece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    pub starts_module: bool,
    /// The name of the module, of a piece with a header.
    pub module: Option<Arc<str>>,
    pub settings: Option<Arc<ModuleSettings>>,
    /// Parallel to the computations of the piece.
    pub parts: Vec<OutlinePart>,
    /// Parallel to [`Block::callees`].
    pub calls: Vec<OutlineCall>,
    pub ends_in_body: bool,
}

/// A computation, or the part of a giant one that is in this piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlinePart {
    pub name: Arc<str>,
    pub role: PartRole,
    pub is_entry: bool,
    pub is_closed: bool,
}

/// What a part is to the list of computations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartRole {
    /// A computation starts here.
    Start,
    /// A text that consists of instructions.
    Bare,
    /// The body continues that of the previous piece.
    Continued,
    /// Written inside of an attribute: no computation of its own.
    Inline,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutlineCall {
    /// The computation that calls; for a call from an inline body, that around it.
    pub caller: ComputationId,
    pub callee: Arc<str>,
    pub is_fusion: bool,
}

impl Block {
    pub fn outline(&self) -> Outline {
        let parts = self.parse.computations.iter().map(|computation| OutlinePart {
            name: computation.name.of(&self.text).into(),
            role: match computation.kind {
                ComputationKind::Whole | ComputationKind::Headless => PartRole::Start,
                ComputationKind::Bare => PartRole::Bare,
                ComputationKind::Continued => PartRole::Continued,
                ComputationKind::Inline(_) => PartRole::Inline,
            },
            is_entry: computation.is_entry,
            is_closed: computation.is_closed,
        });
        let mut calls = self.callees().peekable();
        let around = if calls.peek().is_some() { self.computations_around() } else { Vec::new() };
        let calls = calls.map(|(instruction, span)| OutlineCall {
            caller: around[instruction as usize],
            callee: span.of(&self.text).into(),
            is_fusion: self.instruction(instruction).opcode == Some(Opcode::Fusion),
        });
        Outline {
            starts_module: self.parse.starts_module,
            module: self.parse.header.as_ref().map(|h| h.name.of(&self.text).into()),
            settings: self.settings().map(Arc::new),
            calls: calls.collect(),
            parts: parts.collect(),
            ends_in_body: self.parse.ends_in_body,
        }
    }

    /// The instructions that call computations, parallel to [`Block::callees`].
    pub fn call_sites(&self) -> Vec<InstructionId> {
        self.callees().map(|(instruction, _)| instruction).collect()
    }

    /// Of each instruction, the computation whose body holds it; of one in an inline body, that around it.
    fn computations_around(&self) -> Vec<ComputationId> {
        let mut around = vec![0; self.parse.instructions.len()];
        for (id, computation) in (0..).zip(&self.parse.computations) {
            // The holder is before the body that it holds.
            let outer = match computation.kind {
                ComputationKind::Inline(holder) => around.get(holder as usize).copied().unwrap_or_default(),
                _ => id,
            };
            let Range { start, end } = computation.instructions;
            around[start as usize..end as usize].fill(outer);
        }
        around
    }
}
