//! Cut functions: the part that a piece holds, as other pieces see it.
//!
//! Other pieces see only definitions directly in the body, because functions are cut nowhere deeper. A name
//! refers to its first definition in the body, wherever that is, else to the last argument with that name.

use text::Span;

use crate::tree::*;

/// The part of a function in one piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionPart {
    /// The function, or its placeholder if it starts in a piece above.
    pub op: OpId,
    pub body: RegionId,
    /// Whether it starts in a piece above.
    pub is_continued: bool,
    /// Whether it continues in the next piece, if there is one.
    pub is_open: bool,
    /// The values defined directly in the body, in text order.
    pub values: Vec<ValueId>,
    /// The arguments of the function.
    pub arguments: Vec<ValueId>,
    /// The blocks of the body. In a continued function the first one continues from above.
    pub blocks: Vec<BlockId>,
    /// Names that count as definitions because nothing in the piece defines them, but are operands if another
    /// piece does: `ins(%a : T)` of an op with a region.
    pub maybe_operands: Vec<Span>,
}

impl Parse {
    /// The bodies of [`function_parts`](Parse::function_parts), in the same order.
    pub(crate) fn part_bodies(&self) -> impl Iterator<Item = RegionId> + use<> {
        let [first, last] = self.cut_bodies();
        first.into_iter().chain(last.filter(|_| last != first))
    }

    /// The parts of cut functions: of the one open at the start, and of the one open at the end.
    pub fn function_parts(&self) -> Vec<FunctionPart> {
        let [first, last] = self.cut_bodies();
        let mut parts: Vec<FunctionPart> = self
            .part_bodies()
            .map(|body| FunctionPart {
                op: self.regions[body as usize].op,
                body,
                is_continued: first == Some(body),
                is_open: last == Some(body),
                values: Vec::new(),
                arguments: Vec::new(),
                blocks: self.blocks_of(body).collect(),
                maybe_operands: Vec::new(),
            })
            .collect();
        if parts.is_empty() {
            return parts;
        }
        for &(part, span) in &self.maybe_operands {
            parts[part].maybe_operands.push(span);
        }
        for (id, value) in self.values.iter().enumerate() {
            let block = match value.definition {
                Definition::Result(op) => self.op(op).block,
                Definition::BlockArgument(block) => Some(block),
                Definition::Binder(op) => {
                    // Names after the body are not bound in it.
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

    /// The body of the enclosing cut function, and the op directly in that body that is or contains `op`.
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
