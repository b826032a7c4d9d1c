//! Regions: bodies, loops and branches.

use mlir::{OpId, RegionId, last_segment};
use mlir_ops::{OpKind, OpText};

use super::Reader;
use crate::problem::Problem;
use crate::program::{Block, Kind, Op};

/// Regions in regions beyond this depth are refused.
const MAX_DEPTH: usize = 32;

impl Reader<'_> {
    /// The ops of the only block of a region.
    pub(super) fn region(&mut self, region: RegionId) -> Result<Block, Problem> {
        let at = Problem::at(self.line(self.parse().regions[region as usize].op));
        let blocks: Vec<_> = self.parse().blocks_of(region).take(2).collect();
        let &[block] = &blocks[..] else { return Err(at("a region that is not one block".into())) };
        if self.depth == MAX_DEPTH {
            return Err(at("regions nest too deep".into()));
        }
        self.depth += 1;
        let mut read = Block::default();
        for id in self.parse().ops_of(block) {
            match last_segment(self.parse().name(id, self.source.text)) {
                "yield" | "return" => {
                    let yielded = OpText::of_any_length(self.source, id).operands();
                    read.yields = self.values_of(&yielded).map_err(Problem::at(self.line(id)))?;
                }
                _ => {
                    let op = self.op(id)?;
                    read.ops.push(op);
                }
            }
        }
        self.depth -= 1;
        Ok(read)
    }

    /// `scf.for` and `scf.if`.
    pub(super) fn control(&mut self, id: OpId, text: &OpText<'_>) -> Result<Op, Problem> {
        let line = self.line(id);
        let operands = self.values_of(&text.operands()).map_err(Problem::at(line))?;
        let regions: Vec<RegionId> = self.parse().regions_of(id).collect();
        let mut blocks = Vec::new();
        for &region in &regions {
            let bound = match text.op {
                OpKind::ScfIf => Vec::new(),
                _ => self.bound(id, region),
            };
            let arguments = bound.into_iter().map(|value| self.define((value, 0))).collect();
            blocks.push(Block { arguments, ..self.region(region)? });
        }
        let kind = if text.op == OpKind::ScfIf { Kind::If } else { Kind::For };
        Ok(Op { line, kind, operands, results: self.results(id), blocks })
    }
}
