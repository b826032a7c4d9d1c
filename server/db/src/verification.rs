//! What XLA's verifier refuses, piece by piece.
//!
//! A piece is verified again when its own text changes, or what it sees of others: the signatures of the computations
//! that it calls, the shapes that other blocks of its computation define, and how the module runs.

use std::sync::Arc;

use ir::{
    Callable, Called, ComputationIndex, ExternalValue, InstructionFinding, ModuleFinding, Segment,
    SegmentRef, Surroundings,
};
use rustc_hash::FxHashSet;

use crate::externals::links;
use crate::giants::{Definition, ExportReader};
use crate::positions::position_of;
use crate::queries::{block, module, outline, signature};
use crate::{File, Piece};

/// What the module says of a piece. Equal after edits elsewhere that move none of its callees to another piece.
#[derive(Debug, Default, PartialEq, Eq)]
struct Calls {
    /// Without callees and externals.
    around: Surroundings,
    /// The called computations, each once, with the end of their parts in `parts`.
    callees: Vec<(Arc<str>, usize)>,
    parts: Vec<SegmentRef>,
}

#[salsa::tracked]
fn calls(db: &dyn salsa::Database, piece: Piece) -> Arc<Calls> {
    let Some((file, at)) = position_of(db, piece) else { return Arc::default() };
    let (module, own) = (module(db, file), outline(db, piece));
    let index_of = |computation| module.computation_of(SegmentRef { piece: at, computation });
    // A piece lies in one module.
    let section = index_of(0).map_or(0, |c| module.computations[c].section);
    let is_fused = |computation| index_of(computation).is_some_and(|c| module.computations[c].is_fused);
    let mut calls = Calls::default();
    calls.around.fused = (0..own.parts.len() as u32).map(is_fused).collect();
    if let Some(settings) = module.settings(section) {
        calls.around.replica_count = settings.replica_count;
        calls.around.num_partitions = settings.num_partitions;
        calls.around.is_scheduled = settings.is_scheduled;
    }
    let mut known = FxHashSet::default();
    for (call, callee) in own.calls.iter().zip(module.callees(at)) {
        if let Some(callee) = callee
            && known.insert(callee)
        {
            calls.parts.extend(&module.computations[callee].segments);
            calls.callees.push((call.callee.clone(), calls.parts.len()));
        }
    }
    Arc::new(calls)
}

/// What a piece sees of the rest of its module. Equal after edits elsewhere that change no signature it reads.
#[salsa::tracked]
pub fn surroundings(db: &dyn salsa::Database, piece: Piece) -> Arc<Surroundings> {
    let Some((file, _)) = position_of(db, piece) else { return Arc::default() };
    let calls = calls(db, piece);
    let mut around = calls.around.clone();
    let mut start = 0;
    for (name, end) in &calls.callees {
        if let Some(called) = called(db, file, &calls.parts[start..*end]) {
            around.callees.insert(name.clone(), called);
        }
        start = *end;
    }
    let block = block(db, piece);
    if !block.externals.is_empty() {
        let mut exports = ExportReader::new(db, file);
        let value = |link: &Option<Definition>| {
            let export = exports.get((*link)?)?;
            Some(ExternalValue { shape: export.shape.clone()?, opcode: export.opcode })
        };
        around.externals = links(db, piece).iter().map(value).collect();
    }
    Arc::new(around)
}

/// A computation as its callers see it, from its parts; nothing where its parameters or its root have no shape.
fn called(db: &dyn salsa::Database, file: File, parts: &[SegmentRef]) -> Option<Arc<Called>> {
    let pieces = file.pieces(db);
    let callable =
        |part: &SegmentRef| &signature(db, pieces[part.piece]).callables[part.computation as usize];
    if let [only] = parts
        && let Callable::Whole(called) = callable(only)
    {
        return called.clone();
    }
    let segments: Vec<&Segment> = parts.iter().map(|part| callable(part).part()).collect::<Option<_>>()?;
    // The signature of a part does not say whether it could be read.
    let is_readable = |part: &SegmentRef| *is_readable(db, pieces[part.piece], part.computation);
    parts.iter().all(is_readable).then(|| Called::of(segments.iter().copied()).map(Arc::new))?
}

/// Whether a part of a computation that is not whole in its piece has no error of the grammar: only its callers ask.
#[salsa::tracked]
fn is_readable(db: &dyn salsa::Database, piece: Piece, computation: u32) -> bool {
    block(db, piece).is_readable(computation)
}

#[salsa::tracked]
pub fn verify_findings(db: &dyn salsa::Database, piece: Piece) -> Vec<InstructionFinding> {
    ir::verify(block(db, piece), surroundings(db, piece))
}

/// Contradictions between a module's header and its computations, by piece.
#[salsa::tracked]
pub fn module_verify_findings(db: &dyn salsa::Database, file: File) -> Vec<ModuleFinding> {
    let module = module(db, file);
    let called = |index: ComputationIndex| called(db, file, &module.computations[index].segments);
    let mut findings = ir::verify_module(module, &called);
    findings.sort_by_key(|finding| finding.segment.piece);
    findings
}
