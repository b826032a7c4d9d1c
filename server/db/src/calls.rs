//! Which computation calls which.

use std::sync::Arc;

use ir::{ComputationIndex, Module, Outline, SegmentRef};
use syntax::hlo::InstructionId;

use crate::queries::{block, module, outline};
use crate::{File, Piece};

/// One mention of a computation in an instruction's attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallSite {
    pub caller: ComputationIndex,
    pub callee: ComputationIndex,
    pub piece: usize,
    pub instruction: InstructionId,
    /// Its place among [`ir::Block::callees`] of the piece.
    pub nth: u32,
}

/// Owner: the memo of [`call_graph`]. Invalidated when a call or the name of a computation changes, or the number of
/// instructions above a call in its piece; holds no offsets.
/// Size: 80 bytes per call, 48 per computation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallGraph {
    /// Per computation, in the order of the text.
    incoming: Vec<Vec<CallSite>>,
    outgoing: Vec<Vec<CallSite>>,
}

/// The instructions of a piece that call computations, parallel to [`ir::Block::callees`].
#[salsa::tracked]
fn call_sites(db: &dyn salsa::Database, piece: Piece) -> Vec<InstructionId> {
    block(db, piece).call_sites()
}

/// Names that no computation has are left out.
#[salsa::tracked]
pub fn call_graph(db: &dyn salsa::Database, file: File) -> Arc<CallGraph> {
    let module = module(db, file);
    let mut graph = CallGraph {
        incoming: vec![Vec::new(); module.computations.len()],
        outgoing: vec![Vec::new(); module.computations.len()],
    };
    for (at, &piece) in file.pieces(db).iter().enumerate() {
        graph.add(module, at, outline(db, piece), call_sites(db, piece));
    }
    Arc::new(graph)
}

impl CallGraph {
    fn add(&mut self, module: &Module, piece: usize, outline: &Outline, sites: &[InstructionId]) {
        let calls = outline.calls.iter().zip(sites).zip(module.callees(piece));
        for (nth, ((call, &instruction), callee)) in calls.enumerate() {
            let at = SegmentRef { piece, computation: call.caller };
            let (Some(caller), Some(callee)) = (module.computation_of(at), callee) else { continue };
            let site = CallSite { caller, callee, piece, instruction, nth: nth as u32 };
            self.incoming[callee].push(site);
            self.outgoing[caller].push(site);
        }
    }

    pub fn incoming(&self, callee: ComputationIndex) -> &[CallSite] {
        self.incoming.get(callee).map_or(&[], Vec::as_slice)
    }

    pub fn outgoing(&self, caller: ComputationIndex) -> &[CallSite] {
        self.outgoing.get(caller).map_or(&[], Vec::as_slice)
    }
}
