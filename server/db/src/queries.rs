//! From a piece's text to its block, and from the signatures of all pieces to the module.

use std::sync::Arc;

use ir::{Block, ComputationIndex, Exports, Graph, Module, ModuleFinding, Outline, SegmentRef, Signature};
use syntax::hlo::PieceState;

use crate::{File, Language, Piece};

/// The piece, parsed and lowered. Depends on its text alone. Text of another language is not lowered.
#[salsa::tracked(no_eq)]
pub fn block(db: &dyn salsa::Database, piece: Piece) -> Arc<Block> {
    let is_hlo = piece.file(db).is_none_or(|file| file.language(db) == Language::Hlo);
    let empty = Arc::from("");
    let text = if is_hlo { piece.text(db) } else { &empty };
    let parse = syntax::hlo::parse_units(text, PieceState::from_u8(piece.state(db)), piece.units(db));
    Arc::new(ir::lower(text.clone(), Arc::new(parse)))
}

/// The computations of this piece and what they call, by name: equal after edits inside of bodies that name no other
/// computation.
#[salsa::tracked]
pub fn outline(db: &dyn salsa::Database, piece: Piece) -> Arc<Outline> {
    Arc::new(block(db, piece).outline())
}

/// What callers of this piece's computations know of them: equal after edits that change no shape of a parameter or a root.
#[salsa::tracked]
pub fn signature(db: &dyn salsa::Database, piece: Piece) -> Arc<Signature> {
    Arc::new(block(db, piece).signature())
}

/// What the other parts of a giant computation may know of the instructions of this piece: equal after edits of names.
#[salsa::tracked]
pub(crate) fn exports(db: &dyn salsa::Database, piece: Piece) -> Arc<Exports> {
    Arc::new(block(db, piece).exports())
}

/// The computations of a file, its entry, and what is wrong between its pieces, by piece.
#[salsa::tracked]
pub fn module(db: &dyn salsa::Database, file: File) -> Arc<Module> {
    let outlines: Vec<&Outline> = file.pieces(db).iter().map(|&p| &**outline(db, p)).collect();
    let mut module = Module::build(outlines.iter().copied());
    module.findings.sort_by_key(|finding| finding.segment.piece);
    Arc::new(module)
}

/// What is wrong with computations that are cut into blocks, by piece.
#[salsa::tracked]
pub fn giant_findings(db: &dyn salsa::Database, file: File) -> Vec<ModuleFinding> {
    let pieces = file.pieces(db);
    let mut findings = module(db, file).giant_findings(|piece| signature(db, pieces[piece]));
    findings.sort_by_key(|finding| finding.segment.piece);
    findings
}

/// The op graph of a computation that is whole in its piece: a fusion's, a reducer's. Holds no offsets: equal after edits of
/// white space, and of other computations of the piece.
#[salsa::tracked(lru = 1024)]
pub fn graph(db: &dyn salsa::Database, piece: Piece, computation: u32) -> Option<Arc<Graph>> {
    Graph::build(&[(block(db, piece), computation)]).map(Arc::new)
}

/// The op graph of any computation. Of a giant one it copies every op, and nothing of it is kept: ask only when all
/// of it is wanted.
pub fn computation_graph(
    db: &dyn salsa::Database,
    file: File,
    index: ComputationIndex,
) -> Option<Arc<Graph>> {
    let module = module(db, file);
    let pieces = file.pieces(db);
    let segments = &module.computations.get(index)?.segments;
    if let [only] = segments.as_slice() {
        return graph(db, *pieces.get(only.piece)?, only.computation).clone();
    }
    let blocks: Vec<_> =
        segments.iter().map(|s: &SegmentRef| (block(db, pieces[s.piece]), s.computation)).collect();
    let parts: Vec<_> = blocks.iter().map(|&(b, c)| (&**b, c)).collect();
    Graph::build(&parts).map(Arc::new)
}
