//! What XLA's verifier refuses, piece by piece.
//!
//! A piece is verified again when its own text changes, or what it sees of others: the signatures of the computations
//! that it calls, the shapes that other blocks of its computation define, and the module's header.

use std::sync::Arc;

use ir::{
    Called, ComputationIndex, ExternalValue, InstructionFinding, Module, ModuleFinding, SegmentRef,
    Surroundings,
};

use syntax::hlo::ComputationKind;

use crate::externals::links;
use crate::giants::{Definition, ExportReader};
use crate::positions::position_of;
use crate::queries::{block, module, signature};
use crate::{File, Piece};

/// What a piece sees of the rest of its module. Equal after edits elsewhere that change no signature it reads.
#[salsa::tracked]
pub fn surroundings(db: &dyn salsa::Database, piece: Piece) -> Arc<Surroundings> {
    let mut around = Surroundings::default();
    let Some((file, at)) = position_of(db, piece) else { return Arc::new(around) };
    let module = module(db, file);
    let own = signature(db, piece);
    let section_of = |computation: u32| {
        module
            .computation_of(SegmentRef { piece: at, computation })
            .map_or(0, |c| module.computations[c].section)
    };
    // A piece lies in one module.
    let section = section_of(0);
    if let Some(settings) = module.settings(section) {
        around.replica_count = settings.replica_count;
        around.num_partitions = settings.num_partitions;
        around.is_scheduled = settings.is_scheduled;
    }
    let is_fused = |c| module.computation_of(c).is_some_and(|c| module.computations[c].is_fused);
    around.fused = (0..own.segments.len() as u32)
        .map(|computation| is_fused(SegmentRef { piece: at, computation }))
        .collect();
    for (_, name) in &own.callees {
        if around.callees.contains_key(name) {
            continue;
        }
        if let Some(index) = module.find_in(section, name)
            && let Some(called) = called(db, file, module, index)
        {
            around.callees.insert(name.clone(), Arc::new(called));
        }
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

/// A computation as its callers see it; nothing where its parameters or its root have no shape.
fn called(db: &dyn salsa::Database, file: File, module: &Module, index: ComputationIndex) -> Option<Called> {
    let pieces = file.pieces(db);
    let parts = &module.computations[index].segments;
    let segment = |part: &SegmentRef| &signature(db, pieces[part.piece]).segments[part.computation as usize];
    // A body that is open at the end of its piece may be a part of a giant one, or not closed: its signature does not say
    // whether it could be read.
    let is_read = |part: &SegmentRef| {
        let own = segment(part);
        let is_told = own.is_closed && own.kind != ComputationKind::Continued;
        is_told || *is_readable(db, pieces[part.piece], part.computation)
    };
    parts.iter().all(is_read).then(|| Called::of(parts.iter().map(segment)))?
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
    let called = |index: ComputationIndex| called(db, file, module, index);
    let mut findings = ir::verify_module(module, &called);
    findings.sort_by_key(|finding| finding.segment.piece);
    findings
}
