//! Functions that are cut: what a piece shows of its part of one to the others.
//!
//! Only what stands in the body itself is seen by other pieces, because cuts are made nowhere deeper. A name stands for what has
//! it first in the body, wherever that is; then for the last argument of that name.

use crate::tree::*;

/// The part of a function in one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionPart {
    /// The function, or what stands for it where it starts above.
    pub op: OpId,
    pub body: RegionId,
    /// It starts in a piece above.
    pub is_continued: bool,
    /// It goes on in the next piece, if there is one.
    pub is_open: bool,
    /// What the body itself defines, in the order of the text.
    pub values: Vec<ValueId>,
    /// What the function introduces.
    pub arguments: Vec<ValueId>,
    /// Blocks of the body; in a piece that continues it the first one goes on from above.
    pub blocks: Vec<BlockId>,
}

impl Parse {
    /// The parts of functions that are cut: of the one that is open at the start, and of the one that is open at the end.
    pub fn function_parts(&self) -> Vec<FunctionPart> {
        let [first, last] = self.cut_bodies();
        let bodies = first.into_iter().chain(last.filter(|_| last != first));
        let mut parts: Vec<FunctionPart> = bodies
            .map(|body| FunctionPart {
                op: self.regions[body as usize].op,
                body,
                is_continued: first == Some(body),
                is_open: last == Some(body),
                values: Vec::new(),
                arguments: Vec::new(),
                blocks: self.blocks_of(body).collect(),
            })
            .collect();
        if parts.is_empty() {
            return parts;
        }
        for (id, value) in self.values.iter().enumerate() {
            let block = match value.definition {
                Definition::Result(op) => self.op(op).block,
                Definition::BlockArgument(block) => Some(block),
                Definition::Binder(op) => {
                    // What stands behind the body introduces nothing in it.
                    let is_in_front =
                        |body: RegionId| value.name.start < self.regions[body as usize].span.start;
                    let is_here = |part: &&mut FunctionPart| {
                        part.op == op && !part.is_continued && is_in_front(part.body)
                    };
                    if let Some(part) = parts.iter_mut().find(is_here) {
                        part.arguments.push(id as ValueId);
                    }
                    continue;
                }
            };
            let region = block.map(|block| self.blocks[block as usize].region);
            if let Some(part) = parts.iter_mut().find(|part| Some(part.body) == region) {
                part.values.push(id as ValueId);
            }
        }
        parts
    }

    /// The body of a function that is cut around an op, and the op of the body that is it or holds it.
    pub fn in_cut_body(&self, op: OpId) -> Option<(RegionId, OpId)> {
        let bodies = self.cut_bodies();
        let mut id = op;
        while let Some(block) = self.op(id).block {
            let region = self.blocks[block as usize].region;
            if bodies.contains(&Some(region)) {
                return Some((region, id));
            }
            id = self.regions[region as usize].op;
        }
        None
    }
}
