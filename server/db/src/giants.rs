//! Names across the blocks of a giant computation.

use std::sync::Arc;

use ir::{Finding, Module, NameTable, SegmentRef, Shape, Signature};
use syntax::hlo::InstructionId;

use crate::queries::{block, module, signature};
use crate::{File, Piece};

/// Every instruction of the computations that are cut into blocks, by name.
/// Owner: the memo of [`giant_index`]. Invalidated when a name or a shape in such a computation changes.
/// Size: 16 bytes per instruction; the names stay in the signatures.
#[derive(Debug)]
pub struct GiantIndex {
    signatures: Vec<Arc<Signature>>,
    /// Per computation of the module; empty for those in one piece.
    tables: Vec<NameTable>,
    /// Per computation: piece, computation and first number of each of its parts.
    parts: Vec<Vec<(SegmentRef, u32)>>,
    /// Second definitions of a name.
    duplicates: Vec<(SegmentRef, InstructionId)>,
}

/// Where a name of a giant computation is defined.
pub struct Definition<'a> {
    pub piece: usize,
    pub instruction: InstructionId,
    pub shape: Option<&'a Shape>,
    pub opcode: Option<ir::Opcode>,
}

#[salsa::tracked(no_eq)]
pub fn giant_index(db: &dyn salsa::Database, file: File) -> Arc<GiantIndex> {
    let module = module(db, file);
    let signatures = file.pieces(db).iter().map(|&p| signature(db, p).clone()).collect();
    Arc::new(GiantIndex::build(module, signatures))
}

impl GiantIndex {
    fn build(module: &Module, signatures: Vec<Arc<Signature>>) -> GiantIndex {
        let mut index =
            GiantIndex { signatures, tables: Vec::new(), parts: Vec::new(), duplicates: Vec::new() };
        for computation in &module.computations {
            let mut parts = Vec::new();
            let mut table = NameTable::default();
            if computation.segments.len() > 1 {
                let mut first = 0;
                for &segment in &computation.segments {
                    parts.push((segment, first));
                    first += index.exports(segment).len() as u32;
                }
                let name_of = |n: u32| index.name_in(&parts, n);
                table = NameTable::with_capacity(first as usize);
                let mut duplicates = Vec::new();
                for &(segment, first) in &parts {
                    let segment = index.segment(segment);
                    for local in 0..segment.exports.len() as u32 {
                        let name = segment.export_name(local as usize);
                        if !name.is_empty() && table.insert(name, first + local, name_of).is_err() {
                            duplicates.push(first + local);
                        }
                    }
                }
                for n in duplicates {
                    let (segment, local) = Self::part_of(&parts, n);
                    let range =
                        &index.signatures[segment.piece].segments[segment.computation as usize].instructions;
                    index.duplicates.push((segment, range.start + local));
                }
            }
            index.parts.push(parts);
            index.tables.push(table);
        }
        index
    }

    fn segment(&self, segment: SegmentRef) -> &ir::Segment {
        &self.signatures[segment.piece].segments[segment.computation as usize]
    }

    fn exports(&self, segment: SegmentRef) -> &[ir::Export] {
        &self.segment(segment).exports
    }

    fn part_of(parts: &[(SegmentRef, u32)], n: u32) -> (SegmentRef, u32) {
        let at = parts.partition_point(|&(_, first)| first <= n).max(1) - 1;
        (parts[at].0, n - parts[at].1)
    }

    fn name_in<'a>(&'a self, parts: &[(SegmentRef, u32)], n: u32) -> &'a str {
        let (segment, local) = Self::part_of(parts, n);
        self.segment(segment).export_name(local as usize)
    }

    /// The definition of `name` in a computation that is cut into blocks.
    pub fn find(&self, computation: ir::ComputationIndex, name: &str) -> Option<Definition<'_>> {
        let parts = self.parts.get(computation)?;
        let n = self.tables[computation].get(name, |n| self.name_in(parts, n))?;
        let (segment, local) = Self::part_of(parts, n);
        let range = &self.signatures[segment.piece].segments[segment.computation as usize].instructions;
        let export = &self.exports(segment)[local as usize];
        Some(Definition {
            piece: segment.piece,
            instruction: range.start + local,
            shape: export.shape.as_ref(),
            opcode: export.opcode,
        })
    }
}

/// Names of other blocks that this piece uses and nobody defines above it, and names it defines a second time.
#[salsa::tracked]
pub fn link_findings(db: &dyn salsa::Database, piece: Piece) -> Vec<Finding> {
    let block = block(db, piece);
    let Some(file) = piece.file(db) else { return Vec::new() };
    let is_partial =
        block.parse.computations.iter().any(|c| c.kind == syntax::hlo::ComputationKind::Continued);
    if !is_partial && !block.parse.ends_in_body {
        return Vec::new();
    }
    let Some(at) = file.pieces(db).iter().position(|&p| p == piece) else { return Vec::new() };
    let module = module(db, file);
    let index = giant_index(db, file);
    let mut findings = Vec::new();
    let computation = module.computation_of(SegmentRef { piece: at, computation: 0 });
    for external in &block.externals {
        let name = external.name.of(&block.text);
        let found = computation.and_then(|c| index.find(c, name));
        let operand = &block.parse.operands[external.operand as usize];
        match found {
            Some(definition) if definition.piece < at => {
                let printed = operand.shape.map(|s| &block.shapes[s.0 as usize]);
                if let (Some(printed), Some(defined), syntax::hlo::OperandKind::Name) =
                    (printed, definition.shape, operand.kind)
                    && !printed.is_compatible(defined)
                {
                    let message = format!("{name} is {defined}, but {printed} is written here");
                    findings.push(Finding::error("operand-shape-mismatch", operand.span, message));
                }
            }
            _ => {
                let message = format!("no instruction named {name} above in this computation");
                findings.push(Finding::error("unknown-operand", external.name, message));
            }
        }
    }
    for (segment, instruction) in &index.duplicates {
        if segment.piece == at {
            let name = block.instruction(*instruction).name;
            let message = format!("an instruction named {} exists in this computation", name.of(&block.text));
            // Two of the same block are reported by the block itself.
            if !block.findings.iter().any(|f| f.span == name) {
                findings.push(Finding::error("duplicate-name", name, message));
            }
        }
    }
    findings
}
