//! What a block of a giant computation uses of the blocks above it.

use std::sync::{Arc, Weak};

use ir::{Block, Finding};
use syntax::hlo::{ComputationKind, OperandKind};

use crate::Piece;
use crate::giants::{Definition, ExportReader, Sources, giant_duplicates, giant_index};
use crate::positions::position_of;
use crate::queries::block;

/// Parallel to `Block::externals`.
type Links = Arc<Vec<Option<Definition>>>;

/// The links of a block, and where they lead.
#[derive(Clone)]
pub struct EarlierLinks {
    block: Weak<Block>,
    at: usize,
    links: Links,
    sources: Sources,
}

/// Where each of the block's externals is defined, if anywhere above. An edit that changes names asks again, and changes it for
/// the blocks that use those names.
#[salsa::tracked]
pub fn links(db: &dyn salsa::Database, piece: Piece) -> Links {
    let (block, earlier) = (block(db, piece), piece.earlier_links(db));
    let place = position_of(db, piece).filter(|_| !block.externals.is_empty());
    let Some((file, at)) = place else {
        earlier.set(None);
        return Arc::default();
    };
    let index = giant_index(db, file);
    let before = earlier.get().filter(|before| before.at == at && is_same(&before.block, block));
    let kept = before.and_then(|before| Some((before.links, index.keeps(at, before.sources)?)));
    let (links, sources) = kept.unwrap_or_else(|| {
        let giant = index.giant_at(at);
        let find = |external: &ir::External| {
            let found = index.find_in(giant?, external.name.of(&block.text))?;
            Some(found).filter(|found| (found.piece as usize) < at)
        };
        let links: Vec<_> = block.externals.iter().map(find).collect();
        let sources = index.sources(&links);
        (Arc::new(links), sources)
    });
    earlier.set(Some(EarlierLinks { block: Arc::downgrade(block), at, links: links.clone(), sources }));
    links
}

fn is_same(before: &Weak<Block>, now: &Arc<Block>) -> bool {
    std::ptr::eq(before.as_ptr(), Arc::as_ptr(now))
}

/// Names of other blocks that this piece uses without a definition above it, and names it defines a second time.
#[salsa::tracked]
pub fn link_findings(db: &dyn salsa::Database, piece: Piece) -> Vec<Finding> {
    let block = block(db, piece);
    let is_continued = block.parse.computations.iter().any(|c| c.kind == ComputationKind::Continued);
    if !is_continued && !block.parse.ends_in_body {
        return Vec::new();
    }
    let Some((file, at)) = position_of(db, piece) else { return Vec::new() };
    let mut findings = Vec::new();
    let mut exports = ExportReader::new(db, file);
    for (external, link) in block.externals.iter().zip(links(db, piece).iter()) {
        let name = external.name.of(&block.text);
        let operand = &block.parse.operands[external.operand as usize];
        let Some(definition) = link else {
            let message = format!("no instruction named {name} above in this computation");
            findings.push(Finding::error("unknown-operand", external.name, message));
            continue;
        };
        let printed =
            operand.shape.filter(|_| operand.kind == OperandKind::Name).map(|s| &block.shapes[s.0 as usize]);
        // Shapes of other blocks are read where one is printed to compare with: canonical text prints none.
        let Some(printed) = printed else { continue };
        let defined = exports.get(*definition).and_then(|export| export.shape.as_ref());
        if let Some(defined) = defined.filter(|defined| !printed.is_compatible(defined)) {
            let message = format!("{name} is {defined}, but {printed} is written here");
            findings.push(Finding::error("operand-shape-mismatch", operand.span, message));
        }
    }
    let duplicates = giant_duplicates(db, file);
    let first = duplicates.partition_point(|&(piece, _)| (piece as usize) < at);
    for &(_, instruction) in duplicates[first..].iter().take_while(|&&(piece, _)| piece as usize == at) {
        let name = block.instruction(instruction).name;
        let message = format!("an instruction named {} exists in this computation", name.of(&block.text));
        // Two of the same block are reported by the block itself.
        if !block.findings.iter().any(|f| f.span == name) {
            findings.push(Finding::error("duplicate-name", name, message));
        }
    }
    findings
}
