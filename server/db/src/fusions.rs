//! Where a file has fusions, and what they call.

use std::sync::Arc;

use ir::{AttributeKey, Opcode, SegmentRef};
use rustc_hash::FxHashSet;

use crate::compiles::compile_of;
use crate::queries::{block, module};
use crate::{File, Language, Piece};

/// The computations of the piece that hold fusions, ascending. Of each one: what else shares the piece depends on how the
/// text was cut.
#[salsa::tracked]
fn fusing_computations(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<u32>> {
    let block = block(db, piece);
    let computations = (0u32..).zip(&block.parse.computations);
    let holds_fusion = computations.filter(|(_, computation)| {
        let mut ids = computation.instructions.clone();
        ids.any(|id| block.instruction(id).opcode == Some(Opcode::Fusion))
    });
    Arc::new(holds_fusion.map(|(id, _)| id).collect())
}

/// Whether each computation of the module has fusions, by its index.
#[salsa::tracked]
pub fn has_fusions(db: &dyn salsa::Database, file: File) -> Arc<Vec<bool>> {
    let pieces = file.pieces(db);
    let holds = |segment: &SegmentRef| {
        let piece = pieces.get(segment.piece);
        piece.is_some_and(|&p| fusing_computations(db, p).binary_search(&segment.computation).is_ok())
    };
    let computations = module(db, file).computations.iter();
    Arc::new(computations.map(|computation| computation.segments.iter().any(holds)).collect())
}

/// Names of the computations that the piece's fusions call.
#[salsa::tracked]
fn fusion_calls(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<Box<str>>> {
    let block = block(db, piece);
    let calls = block.callees().filter(|&(id, _)| block.instruction(id).opcode == Some(Opcode::Fusion));
    Arc::new(calls.map(|(_, span)| span.of(&block.text).into()).collect())
}

#[salsa::tracked(returns(copy))]
fn has_mark_of_cpu(db: &dyn salsa::Database, piece: Piece) -> bool {
    let block = block(db, piece);
    // Most texts have no such word anywhere.
    if !gpu::is_of_cpu_backend(&block.text) && !gpu::is_call_of_cpu(&block.text) {
        return false;
    }
    block.parse.instructions.iter().any(|instruction| {
        block.parse.attributes_of(instruction).iter().any(|attribute| {
            let value = attribute.value_span.of(&block.text);
            match attribute.key {
                Some(AttributeKey::BackendConfig) => gpu::is_of_cpu_backend(value),
                Some(AttributeKey::CustomCallTarget) => gpu::is_call_of_cpu(value),
                _ => false,
            }
        })
    })
}

/// Whether XLA's CPU compiler made the module: the names in its dump folder say so, or one of its instructions. Then nothing in it is
/// a kernel of a GPU.
#[salsa::tracked(returns(copy))]
pub fn is_of_cpu(db: &dyn salsa::Database, file: File) -> bool {
    let is_dumped_by_cpu = || compile_of(db, file).is_some_and(|compile| compile.description(db).is_of_cpu());
    let has_mark = || file.pieces(db).iter().any(|&piece| has_mark_of_cpu(db, piece));
    file.language(db) != Language::Mlir && (is_dumped_by_cpu() || has_mark())
}

/// Names of all computations that fusions of the file call.
#[salsa::tracked]
pub fn fused_computations(db: &dyn salsa::Database, file: File) -> Arc<FxHashSet<Box<str>>> {
    let pieces = file.pieces(db).iter();
    Arc::new(pieces.flat_map(|&piece| fusion_calls(db, piece).iter().cloned()).collect())
}
