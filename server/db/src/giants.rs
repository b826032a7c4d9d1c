//! Names across the blocks of a giant computation.

use std::sync::Arc;

use ir::{Export, ExportNames, Exports, Module, NameTable, SegmentRef};
use syntax::hlo::InstructionId;

use crate::queries::{block, exports, module};
use crate::{File, Piece};

type ShownNames = Vec<(InstructionId, ExportNames)>;

/// The names that a piece shows to the other parts of a giant computation: per computation of the piece, the first
/// instruction and the names from there. Apart from [`exports`], which change with every shape.
#[salsa::tracked]
pub(crate) fn shown_names(db: &dyn salsa::Database, piece: Piece) -> Arc<ShownNames> {
    Arc::new(block(db, piece).export_names())
}

/// Every instruction of the computations that are cut into blocks, by name.
/// Owner: the memo of [`giant_index`]. Invalidated when a name in such a computation changes, not by shapes.
/// Size: 16 bytes per instruction; the names stay in the signatures.
#[derive(Debug)]
pub struct GiantIndex {
    /// Per piece.
    names: Vec<Arc<ShownNames>>,
    /// Per computation of the module; empty for those in one piece.
    tables: Vec<NameTable>,
    /// Per computation: piece, computation and first number of each of its parts.
    parts: Vec<Vec<(SegmentRef, u32)>>,
    /// Second definitions of a name.
    duplicates: Vec<(SegmentRef, InstructionId)>,
}

/// An instruction of a giant computation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition {
    pub piece: u32,
    pub instruction: InstructionId,
}

impl Definition {
    /// Its shape and opcode. Reads the exports of its piece.
    pub fn export(self, db: &dyn salsa::Database, file: File) -> Option<&Export> {
        ExportReader::new(db, file).get(self)
    }
}

/// Reads what definitions export, of the same piece again without another query.
pub(crate) struct ExportReader<'db> {
    db: &'db dyn salsa::Database,
    pieces: &'db [Piece],
    last: Option<(u32, &'db Exports)>,
}

impl<'db> ExportReader<'db> {
    pub(crate) fn new(db: &'db dyn salsa::Database, file: File) -> ExportReader<'db> {
        ExportReader { db, pieces: file.pieces(db), last: None }
    }

    pub(crate) fn get(&mut self, definition: Definition) -> Option<&'db Export> {
        let of = match self.last {
            Some((piece, of)) if piece == definition.piece => of,
            _ => {
                let of: &'db Exports = exports(self.db, *self.pieces.get(definition.piece as usize)?);
                self.last = Some((definition.piece, of));
                of
            }
        };
        of.get(definition.instruction)
    }
}

#[salsa::tracked(no_eq)]
pub fn giant_index(db: &dyn salsa::Database, file: File) -> Arc<GiantIndex> {
    let module = module(db, file);
    let names = file.pieces(db).iter().map(|&p| shown_names(db, p).clone()).collect();
    Arc::new(GiantIndex::build(module, names))
}

/// Second definitions of a name, by piece. Mostly equal after edits of names.
#[salsa::tracked]
pub(crate) fn giant_duplicates(
    db: &dyn salsa::Database,
    file: File,
) -> Arc<Vec<(SegmentRef, InstructionId)>> {
    Arc::new(giant_index(db, file).duplicates.clone())
}

impl GiantIndex {
    fn build(module: &Module, names: Vec<Arc<ShownNames>>) -> GiantIndex {
        let mut index = GiantIndex { names, tables: Vec::new(), parts: Vec::new(), duplicates: Vec::new() };
        for computation in &module.computations {
            let mut parts = Vec::new();
            let mut table = NameTable::default();
            if computation.segments.len() > 1 {
                let mut first = 0;
                for &segment in &computation.segments {
                    parts.push((segment, first));
                    first += index.part(segment).1.len() as u32;
                }
                let name_of = |n: u32| index.name_in(&parts, n);
                table = NameTable::with_capacity(first as usize);
                let mut duplicates = Vec::new();
                for &(segment, first) in &parts {
                    let (start, names) = index.part(segment);
                    for local in 0..names.len() {
                        let name = names.get(local);
                        let n = local as u32;
                        if !name.is_empty() && table.insert(name, first + n, name_of).is_err() {
                            duplicates.push((segment, start + n));
                        }
                    }
                }
                index.duplicates.append(&mut duplicates);
            }
            index.parts.push(parts);
            index.tables.push(table);
        }
        index
    }

    fn part(&self, segment: SegmentRef) -> (InstructionId, &ExportNames) {
        let (start, names) = &self.names[segment.piece][segment.computation as usize];
        (*start, names)
    }

    fn part_of(parts: &[(SegmentRef, u32)], n: u32) -> (SegmentRef, u32) {
        let at = parts.partition_point(|&(_, first)| first <= n).max(1) - 1;
        (parts[at].0, n - parts[at].1)
    }

    fn name_in<'a>(&'a self, parts: &[(SegmentRef, u32)], n: u32) -> &'a str {
        let (segment, local) = Self::part_of(parts, n);
        self.part(segment).1.get(local as usize)
    }

    /// The definition of `name` in a computation that is cut into blocks.
    pub fn find(&self, computation: ir::ComputationIndex, name: &str) -> Option<Definition> {
        let parts = self.parts.get(computation)?;
        let n = self.tables[computation].get(name, |n| self.name_in(parts, n))?;
        let (segment, local) = Self::part_of(parts, n);
        Some(Definition { piece: segment.piece as u32, instruction: self.part(segment).0 + local })
    }
}
