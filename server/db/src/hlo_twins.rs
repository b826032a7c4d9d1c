//! Ops of MLIR as the instructions of HLO that read their operands in the same way.

use std::sync::Arc;

use indexing::{MapBeside, OpIndexing, Rules};
use ir::{Block, Graph, Op, Surroundings};
use mlir::OpId;
use mlir_hlo::{Environment, Slice};
use mlir_indexing::Source;
use rustc_hash::FxHashMap;
use syntax::hlo::PieceState;

use crate::Piece;
use crate::mlir_giants::mlir_link_findings;
use crate::mlir_imports::mlir_imported;
use crate::mlir_queries::mlir_piece;

/// An instruction in its graph. Made for one answer, and not kept: it costs what parsing a few lines costs.
pub struct HloTwin {
    graph: Graph,
    callees: FxHashMap<String, Arc<Graph>>,
    /// The names of the operands in the text of MLIR, in the order of the instruction's.
    pub operands: Vec<String>,
    /// More than one are elements of a tuple.
    pub results: usize,
}

/// Nothing for ops that HLO has no twin of, else the twin or why there is none.
pub fn hlo_twin(source: &Source<'_>, id: OpId) -> Option<Result<HloTwin, String>> {
    let environment = Environment::of_aliases(source.parse, source.text);
    let written = mlir_hlo::twin(Slice::whole(source.parse, source.text), &environment, id)?;
    Some(written.and_then(|op| {
        let block = block(&op.text).ok_or_else(|| "HLO has no such instruction".to_owned())?;
        HloTwin::of(&block, op).ok_or_else(|| "HLO has no such instruction".to_owned())
    }))
}

/// Nothing where the grammar of HLO has no such text.
fn block(text: &str) -> Option<Block> {
    let text: Arc<str> = text.into();
    let parse = syntax::hlo::parse(&text, PieceState::HEADER);
    parse.errors.is_empty().then(|| ir::lower(text, Arc::new(parse)))
}

impl HloTwin {
    fn of(block: &Block, op: mlir_hlo::Twin) -> Option<HloTwin> {
        let mut entry = None;
        let mut callees = FxHashMap::default();
        for (id, computation) in block.parse.computations.iter().enumerate() {
            let graph = Graph::build(&[(block, id as u32)])?;
            match computation.is_entry {
                true => entry = Some(graph),
                false => {
                    callees.insert(computation.name.of(&block.text).to_owned(), Arc::new(graph));
                }
            }
        }
        let mut graph = entry.filter(|graph| graph.is_complete)?;
        // Runtime values are shown with their names in the text.
        for (id, parameter) in graph.ops.iter().enumerate() {
            let operand = parameter.parameter.and_then(|number| op.operands.get(number as usize));
            if let Some(operand) = operand {
                graph.names[id] = operand.trim_start_matches('%').to_owned();
            }
        }
        Some(HloTwin { graph, callees, operands: op.operands, results: op.results })
    }

    pub fn op(&self) -> &Op {
        &self.graph.ops[self.graph.root as usize]
    }

    /// The operand that an op of the graph represents.
    pub(crate) fn operand(&self, op: ir::OpId) -> Option<usize> {
        Some(self.graph.ops.get(op as usize)?.parameter? as usize)
    }

    /// Output to input maps, simplified: a list per operand.
    pub fn maps(&self, output: usize, rules: Rules) -> OpIndexing {
        let mut maps = self.written_maps(output, rules);
        maps.simplify_by(rules);
        maps
    }

    /// Of a dot and an iota.
    pub fn maps_beside(&self) -> Vec<MapBeside> {
        let callees = |name: &str| self.callees.get(name).cloned();
        indexing::maps_beside(&self.graph, self.graph.root, &self.operands, &callees)
    }

    /// The same as the rules make them, with variables of one value.
    pub fn written_maps(&self, output: usize, rules: Rules) -> OpIndexing {
        let callees = |name: &str| self.callees.get(name).cloned();
        indexing::in_graph(&self.graph, self.graph.root, output, rules, &callees)
    }
}

/// What HLO's verifier says of the twins of StableHLO's and MHLO's ops: shapes that do not fit, slices out of bounds,
/// contracted dimensions of different extents. One finding per op; the op is named, and no place in the text.
#[salsa::tracked]
pub fn hlo_twin_findings(db: &dyn salsa::Database, piece: Piece) -> Vec<(OpId, String)> {
    let read = mlir_piece(db, piece);
    let is_checked = |id: &OpId| mlir_hlo::is_checked_as_hlo(&read.parse, &read.text, *id);
    let checked: Vec<OpId> = (0..read.parse.ops.len() as OpId).filter(is_checked).collect();
    // Nothing is imported for ops that are not looked at.
    if checked.is_empty() {
        return Vec::new();
    }
    let imported = mlir_imported(db, piece);
    let (parse, text) = (&*imported.parse, &*imported.text);
    let environment = Environment::of_aliases(parse, text);
    let mut found = Vec::new();
    let links = mlir_link_findings(db, piece);
    // Errors in an op's names or types are reported already.
    let is_told = |id: OpId| {
        let span = parse.op(id).head;
        let first = read.findings.partition_point(|f| f.span.start < span.start);
        let error = parse.errors.partition_point(|e| e.span.start < span.start);
        parse.errors.get(error).is_some_and(|e| e.span.start <= span.end)
            || read.findings.get(first).is_some_and(|f| f.span.start < span.end)
            || links.iter().any(|(f, _)| span.start <= f.span.start && f.span.start < span.end)
    };
    for id in checked {
        if mlir_hlo::allows_more_than_hlo(parse, text, id) || is_told(id) {
            continue;
        }
        let Some(Ok(op)) = mlir_hlo::twin(Slice::whole(parse, text), &environment, id) else { continue };
        let Some(block) = block(&op.text) else { continue };
        // What the parser of HLO refuses, then what its verifier does.
        if let Some(early) = block.findings.iter().find(|f| f.severity == ir::Severity::Error) {
            found.push((id, early.message.clone()));
            continue;
        }
        let root =
            block.parse.computations.iter().rposition(|c| c.is_entry).and_then(|c| block.root(c as u32));
        let findings = ir::verify(&block, &Surroundings::alone(&block));
        let is_about_it =
            |f: &ir::InstructionFinding| Some(f.instruction) == root && f.severity == ir::Severity::Error;
        found.extend(findings.into_iter().find(is_about_it).map(|f| (id, f.message)));
    }
    found
}
