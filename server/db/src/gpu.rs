//! What the GPU compiler makes of a fusion, a query per computation: an edit in one fusion leaves the others alone.

use std::sync::Arc;

use gpu::Partition;

use crate::{Piece, block, graph};

/// The functions of a computation that is whole in its piece. Nothing where it has no graph.
#[salsa::tracked(lru = 1024)]
pub fn partition(db: &dyn salsa::Database, piece: Piece, computation: u32) -> Option<Arc<Partition>> {
    let graph = graph(db, piece, computation).clone()?;
    let block = block(db, piece);
    let name = block.parse.computations.get(computation as usize)?.name.of(&block.text);
    let name = name.trim_start_matches('%');
    Some(Arc::new(gpu::partition(&graph, name, &|_| false, &indexing::no_callees)))
}
