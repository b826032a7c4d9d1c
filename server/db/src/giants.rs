//! Names across the blocks of a giant computation.

use std::sync::Arc;

use ir::{ComputationIndex, Export, ExportNames, Exports, SegmentRef};
use syntax::hlo::InstructionId;

use crate::queries::{block, exports, module};
use crate::{File, Piece};

mod index;

pub(crate) use index::Sources;
pub use index::{Definition, GiantIndex};

pub(crate) type ShownNames = Vec<(InstructionId, ExportNames)>;

/// The computations that are cut into blocks, with their parts, in the order of the text.
pub(crate) type Giants = Vec<(ComputationIndex, Vec<SegmentRef>)>;

/// The names that a piece shows to the other parts of a giant computation: per computation of the piece, the first
/// instruction and the names from there. Apart from [`exports`], which change with every shape.
#[salsa::tracked]
pub(crate) fn shown_names(db: &dyn salsa::Database, piece: Piece) -> Arc<ShownNames> {
    Arc::new(block(db, piece).export_names())
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

/// Equal after edits that leave each computation in its pieces.
#[salsa::tracked]
fn giants(db: &dyn salsa::Database, file: File) -> Arc<Giants> {
    let computations = module(db, file).computations.iter().enumerate();
    let cut = computations.filter(|(_, computation)| computation.segments.len() > 1);
    Arc::new(cut.map(|(index, computation)| (index, computation.segments.clone())).collect())
}

#[salsa::tracked(no_eq)]
pub fn giant_index(db: &dyn salsa::Database, file: File) -> Arc<GiantIndex> {
    let giants = giants(db, file);
    let names: Vec<_> = file.pieces(db).iter().map(|&p| shown_names(db, p).clone()).collect();
    let earlier = file.earlier_giants(db);
    let updated = earlier.get().and_then(|before| before.updated(giants.clone(), names.clone()));
    let index = Arc::new(updated.unwrap_or_else(|| GiantIndex::build(giants.clone(), names)));
    earlier.set(Some(index.clone()));
    index
}

/// Second definitions of a name, by piece. Mostly equal after edits of names.
#[salsa::tracked]
pub(crate) fn giant_duplicates(db: &dyn salsa::Database, file: File) -> Arc<Vec<(u32, InstructionId)>> {
    Arc::new(giant_index(db, file).duplicates())
}
