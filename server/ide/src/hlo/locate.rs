//! The instruction at an offset, and what its names refer to.

use std::sync::Arc;

use ir::{Block, Graph, Module, OperandRef, SegmentRef, Shape};
use syntax::hlo::{AttributeKey, ComputationId, ComputationKind, InstructionId, ValueNode};

use crate::file_context::FileContext;

/// An instruction of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct InstructionRef {
    pub(crate) piece: usize,
    pub(crate) id: InstructionId,
}

/// For HLO.
impl<'a> FileContext<'a> {
    pub(crate) fn block(&self, piece: usize) -> &'a Arc<Block> {
        db::block(self.db, self.view.file.pieces(self.db)[piece])
    }

    pub(crate) fn module(&self) -> &'a Arc<Module> {
        db::module(self.db, self.view.file)
    }

    pub(crate) fn instruction_at(&self, offset: usize) -> Option<InstructionRef> {
        let (piece, local) = self.locate(offset);
        let at = |piece: usize, local: usize| {
            self.block(piece).parse.instruction_at(local).map(|id| InstructionRef { piece, id })
        };
        // The end of a piece's last line is the start of the next piece.
        at(piece, local).or_else(|| {
            let before = piece.checked_sub(1).filter(|_| local == 0)?;
            at(before, offset - self.view.starts[before].offset)
        })
    }

    pub(crate) fn offset_of(&self, at: InstructionRef) -> usize {
        self.range(at.piece, self.block(at.piece).instruction(at.id).name).start
    }

    /// The definition of an operand; `None` if unknown.
    pub(crate) fn definition(&self, at: InstructionRef, operand: usize) -> Option<InstructionRef> {
        let block = self.block(at.piece);
        let (operand, target) = block.operands_of(at.id).nth(operand)?;
        match target {
            OperandRef::Local(id) => Some(InstructionRef { piece: at.piece, id }),
            OperandRef::External(_) => self.definition_in_giant(at, operand.name.of(&block.text)),
            OperandRef::Missing => None,
        }
    }

    /// Looks up `name` in the other blocks of the computation that contains `at`.
    pub(crate) fn definition_in_giant(&self, at: InstructionRef, name: &str) -> Option<InstructionRef> {
        let computation = self.block(at.piece).parse.computation_of(at.id)?;
        let index = self.module().computation_of(SegmentRef { piece: at.piece, computation })?;
        let found = db::giant_index(self.db, self.view.file).find(index, name)?;
        Some(InstructionRef { piece: found.piece as usize, id: found.instruction })
    }

    pub(crate) fn shape(&self, at: InstructionRef) -> Option<&'a Shape> {
        self.block(at.piece).shape(at.id)
    }

    /// The op of an instruction, including the shapes of operands in other blocks.
    pub(crate) fn op(&self, at: InstructionRef) -> Option<ir::Op> {
        self.block(at.piece)
            .op(at.id, |name| self.definition_in_giant(at, name).and_then(|d| self.shape(d).cloned()))
    }

    /// The computation that an instruction calls `name`. Each module of a file has its own namespace.
    pub(crate) fn callee(&self, from: InstructionRef, name: &str) -> Option<usize> {
        let module = self.module();
        let section = self.enclosing_computation(from).map_or(0, |c| module.computations[c].section);
        module.find_in(section, name)
    }

    /// Like [`Self::computation_index`]; for an instruction in an inline body, the enclosing computation.
    pub(crate) fn enclosing_computation(&self, at: InstructionRef) -> Option<usize> {
        let parse = &self.block(at.piece).parse;
        let mut id = at.id;
        // An inline body follows the computation that contains it, so this terminates.
        for _ in 0..parse.computations.len() {
            let found = self.computation_index(InstructionRef { piece: at.piece, id });
            if found.is_some() {
                return found;
            }
            match parse.computations[parse.computation_of(id)? as usize].kind {
                ComputationKind::Inline(parent) => id = parent,
                _ => return None,
            }
        }
        None
    }

    /// The parts of the n-th computation that an instruction calls through an attribute, including inline
    /// bodies.
    pub(crate) fn called_by(
        &self,
        at: InstructionRef,
        key: AttributeKey,
        nth: usize,
    ) -> Option<Vec<SegmentRef>> {
        let block = self.block(at.piece);
        let attributes = block.parse.attributes_of(block.instruction(at.id));
        let name = match attributes.iter().find(|attribute| attribute.key == Some(key))?.value {
            ValueNode::Computation(span) => span,
            ValueNode::Computations { start, len } => *block.parse.spans(start, len).get(nth)?,
            ValueNode::Inline(computation) => return Some(vec![SegmentRef { piece: at.piece, computation }]),
            _ => return None,
        };
        let index = self.callee(at, name.of(&block.text))?;
        Some(self.module().computations[index].segments.clone())
    }

    /// The instruction that is parameter `number` of a computation.
    pub(crate) fn parameter_of(&self, segments: &[SegmentRef], number: u32) -> Option<InstructionRef> {
        segments.iter().find_map(|segment| {
            let block = self.block(segment.piece);
            let mut ids = block.parse.computations[segment.computation as usize].instructions.clone();
            let id = ids.find(|&id| block.parameter_number(id) == Some(number))?;
            Some(InstructionRef { piece: segment.piece, id })
        })
    }

    /// The root of a computation: the instruction marked `ROOT`, else the last one.
    pub(crate) fn root_of(&self, segments: &[SegmentRef]) -> Option<InstructionRef> {
        let root = |segment: &SegmentRef| {
            let block = self.block(segment.piece);
            let id = block.root(segment.computation)?;
            Some((block.instruction(id).is_root, InstructionRef { piece: segment.piece, id }))
        };
        let mut roots = segments.iter().filter_map(root);
        let last = roots.clone().next_back();
        roots.find(|(is_marked, _)| *is_marked).or(last).map(|(_, at)| at)
    }

    pub(crate) fn graph(&self, computation: usize) -> Option<Arc<Graph>> {
        db::computation_graph(self.db, self.view.file, computation)
    }

    /// The instruction called `name`: in `computation`, or else in the entry, or in the only computation that
    /// has it.
    pub(crate) fn find_instruction(&self, computation: Option<&str>, name: &str) -> Option<InstructionRef> {
        let module = self.module();
        let of = |index: usize| {
            let segments = &module.computations[index].segments;
            segments.iter().find_map(|s| {
                let id = self.block(s.piece).find(s.computation, name)?;
                Some(InstructionRef { piece: s.piece, id })
            })
        };
        if let Some(computation) = computation {
            return of(module.find(computation)?);
        }
        module.entry.and_then(of).or_else(|| (0..module.computations.len()).find_map(of))
    }

    /// The computation of the module that contains an instruction.
    pub(crate) fn computation_index(&self, at: InstructionRef) -> Option<usize> {
        let computation = self.block(at.piece).parse.computation_of(at.id)?;
        self.module().computation_of(SegmentRef { piece: at.piece, computation })
    }

    pub(crate) fn computation(&self, segment: SegmentRef) -> &'a syntax::hlo::Computation {
        &self.block(segment.piece).parse.computations[segment.computation as usize]
    }

    pub(crate) fn computation_id(&self, at: InstructionRef) -> Option<ComputationId> {
        self.block(at.piece).parse.computation_of(at.id)
    }
}
