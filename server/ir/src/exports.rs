//! What the parts of a giant computation, each in a piece of its own, know of each other's instructions.

use syntax::hlo::{Computation, ComputationId, ComputationKind, InstructionId, Opcode};

use crate::block::Block;
use crate::shape::Shape;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    pub shape: Option<Shape>,
    pub opcode: Option<Opcode>,
}

/// The instructions of a piece that other parts of their computation may use. Equal after edits of names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exports {
    /// Of each part of a giant computation, the first instruction and all from there.
    parts: Vec<(InstructionId, Vec<Export>)>,
}

impl Exports {
    pub fn get(&self, instruction: InstructionId) -> Option<&Export> {
        let behind = self.parts.partition_point(|&(start, _)| start <= instruction);
        let (start, exports) = self.parts.get(behind.checked_sub(1)?)?;
        exports.get((instruction - start) as usize)
    }
}

/// The names of instructions, one after the other. Size: the names and 4 bytes each.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportNames {
    text: Box<str>,
    ends: Box<[u32]>,
}

impl ExportNames {
    pub fn of<'a>(names: impl Iterator<Item = &'a str>) -> ExportNames {
        let mut text = String::new();
        let ends = names.map(|name| {
            text.push_str(name);
            text.len() as u32
        });
        let ends = ends.collect();
        ExportNames { text: text.into(), ends }
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name of the `nth` instruction; empty where there is none.
    pub fn get(&self, nth: usize) -> &str {
        let start = if nth == 0 { Some(&0) } else { self.ends.get(nth - 1) };
        let (Some(&start), Some(&end)) = (start, self.ends.get(nth)) else { return "" };
        &self.text[start as usize..end as usize]
    }
}

impl Block {
    /// Whether a computation has other parts in other pieces.
    pub(crate) fn is_partial(&self, id: ComputationId) -> bool {
        let is_last = id as usize + 1 == self.parse.computations.len();
        let kind = self.parse.computations[id as usize].kind;
        kind == ComputationKind::Continued || (is_last && self.parse.ends_in_body)
    }

    pub fn exports(&self) -> Exports {
        let export = |id| Export { shape: self.shape(id).cloned(), opcode: self.instruction(id).opcode };
        let partial = (0..).zip(&self.parse.computations).filter(|&(id, _)| self.is_partial(id));
        let parts = partial.map(|(_, computation)| {
            let range = computation.instructions.clone();
            (range.start, range.map(export).collect())
        });
        Exports { parts: parts.collect() }
    }

    /// Per computation, the first instruction and the names from there; of those that are whole in the piece none.
    pub fn export_names(&self) -> Vec<(InstructionId, ExportNames)> {
        let of = |(id, computation): (ComputationId, &Computation)| {
            let range = computation.instructions.clone();
            let shown = if self.is_partial(id) { range.clone() } else { 0..0 };
            (range.start, ExportNames::of(shown.map(|id| self.name(id))))
        };
        (0..).zip(&self.parse.computations).map(of).collect()
    }
}
