//! Warnings about code that computes nothing new, piece by piece, and what they ask about other pieces.
//!
//! A piece's warnings depend on its text alone. What lies outside is collected separately, so that an edit of one block runs
//! the rules on that block: names that later blocks of a giant computation use, computations that are never called.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use ir::{AttributeKey, Block, SegmentRef, Warning};
use rustc_hash::FxHasher;
use syntax::hlo::{ComputationKind, ValueNode};

use crate::queries::{block, module};
use crate::{File, Piece};

#[salsa::tracked]
pub fn block_warnings(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<Warning>> {
    Arc::new(ir::warnings(block(db, piece), &indexing::is_round_trip))
}

/// Names that a piece uses of the blocks above it, as hashes: a name that is taken for another costs a warning.
#[salsa::tracked]
pub fn outside_uses(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<u64>> {
    let block = block(db, piece);
    let first = block.parse.computations.first();
    if first.is_none_or(|c| c.kind != ComputationKind::Continued) {
        return Arc::default();
    }
    // A line that is not read may use anything of its computation.
    if !block.is_readable(0) {
        return Arc::new(vec![ANY_NAME]);
    }
    let mut names: Vec<u64> = block.externals.iter().map(|e| name_hash(e.name.of(&block.text))).collect();
    names.extend(predecessors(block));
    names.sort_unstable();
    names.dedup();
    Arc::new(names)
}

/// Names of control predecessors that the block does not define.
fn predecessors(block: &Block) -> impl Iterator<Item = u64> + '_ {
    let attributes = block.parse.attributes.iter();
    let lists = attributes.filter_map(|attribute| match (attribute.key, attribute.value) {
        (Some(AttributeKey::ControlPredecessors), ValueNode::Names { start, len }) => Some((start, len)),
        _ => None,
    });
    lists
        .flat_map(|(start, len)| block.parse.spans(start, len))
        .map(|span| span.of(&block.text))
        .filter(|name| block.find(0, name).is_none())
        .map(name_hash)
}

/// All names.
const ANY_NAME: u64 = u64::MAX;

fn name_hash(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    name.hash(&mut hasher);
    hasher.finish()
}

/// What all blocks of giant computations use of the blocks above them, sorted. Size: 8 bytes per name.
#[salsa::tracked]
pub fn giant_uses(db: &dyn salsa::Database, file: File) -> Arc<Vec<u64>> {
    let mut names: Vec<u64> =
        file.pieces(db).iter().flat_map(|&piece| outside_uses(db, piece).iter().copied()).collect();
    names.sort_unstable();
    names.dedup();
    Arc::new(names)
}

/// Whether another block than the one that defines it uses an instruction of a giant computation.
pub fn is_used_elsewhere(db: &dyn salsa::Database, file: File, name: &str) -> bool {
    let names = giant_uses(db, file);
    names.last() == Some(&ANY_NAME) || names.binary_search(&name_hash(name)).is_ok()
}

/// Computations that are neither called nor the entry of their module, in the order of the text.
#[salsa::tracked]
pub fn uncalled_computations(db: &dyn salsa::Database, file: File) -> Arc<Vec<SegmentRef>> {
    let module = module(db, file);
    let mut called = vec![false; module.computations.len()];
    for piece in 0..file.pieces(db).len() {
        for callee in module.callees(piece).flatten() {
            called[callee] = true;
        }
    }
    let uncalled = module.computations.iter().enumerate();
    let uncalled = uncalled.filter(|&(i, c)| !called[i] && !module.is_entry(i) && !c.name.is_empty());
    Arc::new(uncalled.filter_map(|(_, c)| c.segments.first().copied()).collect())
}
