//! Which array in memory each value is: a tuple and its elements share the arrays that they are made of.
//!
//! Source: XLA `tuple_points_to_analysis.cc`, `logical_buffer_analysis.cc`.

use std::ops::Index;
use std::sync::Arc;

use ir::ArrayShape;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use syntax::hlo::{AttributeKey, Opcode};

use super::layouts::{first_leaf, leaves};
use crate::module::{ComputationId, InstructionId, Module};

/// An array that an instruction defines, alone or in a tuple.
#[derive(Debug)]
pub(super) struct Buffer {
    pub(super) instruction: InstructionId,
    /// Its number among the arrays of the instruction's result.
    pub(super) leaf: usize,
    pub(super) array: Arc<ArrayShape>,
    /// The instructions whose result is just this array.
    pub(super) holders: SmallVec<[InstructionId; 1]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct BufferId(u32);

impl BufferId {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Debug, Default)]
pub(super) struct Buffers {
    all: Vec<Buffer>,
    of: FxHashMap<InstructionId, SmallVec<[BufferId; 1]>>,
}

impl Index<BufferId> for Buffers {
    type Output = Buffer;

    fn index(&self, id: BufferId) -> &Buffer {
        &self.all[id.index()]
    }
}

impl Buffers {
    /// Those of computations whose instructions are listed operands first. Buffers have numbers in that order.
    pub(super) fn new(module: &Module, order: &[(ComputationId, Vec<InstructionId>)]) -> Buffers {
        let mut buffers = Buffers::default();
        for (computation, instructions) in order {
            instructions.iter().for_each(|&id| buffers.add(module, id));
            for id in module.instructions(*computation) {
                if module[id].shape().tuple_elements().is_none()
                    && let Some(&buffer) = buffers.of(id).first()
                {
                    buffers.all[buffer.index()].holders.push(id);
                }
            }
        }
        buffers
    }

    fn add(&mut self, module: &Module, id: InstructionId) {
        let found = match self.forwarded(module, id) {
            Some(found) => found,
            None => {
                let mut found = SmallVec::new();
                for (leaf, array) in leaves(module[id].shape()).into_iter().enumerate() {
                    found.push(BufferId(self.all.len() as u32));
                    let (array, holders) = (array.clone(), SmallVec::new());
                    self.all.push(Buffer { instruction: id, leaf, array, holders });
                }
                found
            }
        };
        self.of.insert(id, found);
    }

    /// The arrays of an instruction that defines none, but passes those of its operands on.
    fn forwarded(&self, module: &Module, id: InstructionId) -> Option<SmallVec<[BufferId; 1]>> {
        let instruction = &module[id];
        let operands = instruction.operands();
        let first = || Some(self.of(*operands.first()?).into());
        match instruction.opcode() {
            Opcode::Tuple => Some(operands.iter().flat_map(|&operand| self.of(operand)).copied().collect()),
            Opcode::GetTupleElement => {
                let index = usize::try_from(instruction.attributes().int(AttributeKey::Index)?).ok()?;
                let start = first_leaf(module[*operands.first()?].shape(), index);
                let end = start + leaves(instruction.shape()).len();
                Some(self.of(*operands.first()?).get(start..end)?.into())
            }
            Opcode::Domain | Opcode::AddDependency | Opcode::OptBarrier => first(),
            Opcode::Copy if instruction.shape().tuple_elements().is_some() => first(),
            _ => None,
        }
    }

    /// The array behind each array of an instruction's result.
    pub(super) fn of(&self, id: InstructionId) -> &[BufferId] {
        self.of.get(&id).map_or(&[], |found| found)
    }

    /// The array at a place of an instruction's result, if it is this instruction that defines it.
    pub(super) fn defined(&self, id: InstructionId, leaf: usize) -> Option<BufferId> {
        self.of(id).get(leaf).copied().filter(|&buffer| self[buffer].instruction == id)
    }

    /// Whether the result of `user` contains an array of its operand.
    pub(super) fn is_forwarded(&self, operand: InstructionId, user: InstructionId) -> bool {
        self.of(operand).iter().any(|buffer| self.of(user).contains(buffer))
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}
