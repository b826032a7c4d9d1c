//! Maps and verifier findings of MLIR ops by way of their ops of HLO.

use indexing::{MapBeside, OpIndexing, Rules};
use mlir::OpId;
use mlir_hlo::HloOp;
use mlir_ops::Source;

use crate::Piece;
use crate::mlir_giants::mlir_link_findings;
use crate::mlir_maps::with_imported_source;
use crate::mlir_queries::mlir_piece;

/// Output to input maps of the op, simplified: a list per operand.
pub fn hlo_op_maps(op: &HloOp, output: usize, rules: Rules) -> OpIndexing {
    let mut maps = written_hlo_op_maps(op, output, rules);
    maps.simplify_by(rules);
    maps
}

/// Maps between operands of a dot, and of an iota.
pub fn hlo_maps_beside(op: &HloOp) -> Vec<MapBeside> {
    let callees = |name: &str| op.callees.get(name).cloned();
    indexing::maps_beside(&op.graph, op.graph.root, &op.operands, &callees)
}

/// The same as the rules make them, with variables of one value.
pub fn written_hlo_op_maps(op: &HloOp, output: usize, rules: Rules) -> OpIndexing {
    let callees = |name: &str| op.callees.get(name).cloned();
    indexing::in_graph(&op.graph, op.graph.root, output, rules, &callees)
}

/// What HLO's verifier says of StableHLO's and MHLO's ops: shapes that do not fit, slices out of bounds,
/// contracted dimensions of different extents. One finding per op; the op is named, and no place in the text.
#[salsa::tracked]
pub fn hlo_op_findings(db: &dyn salsa::Database, piece: Piece) -> Vec<(OpId, String)> {
    let read = mlir_piece(db, piece);
    let is_checked = |id: &OpId| mlir_hlo::is_checked_as_hlo(&read.parse, &read.text, *id);
    let checked: Vec<OpId> = (0..read.parse.ops.len() as OpId).filter(is_checked).collect();
    // Nothing is imported for ops that are not looked at.
    if checked.is_empty() {
        return Vec::new();
    }
    let links = mlir_link_findings(db, piece);
    let of_all = |source: &Source<'_>| {
        let (parse, text) = (source.parse, source.text);
        // Errors in an op's names or types are reported already.
        let is_told = |id: OpId| {
            let span = parse.op(id).head;
            let first = read.findings.partition_point(|f| f.span.start < span.start);
            let error = parse.errors.partition_point(|e| e.span.start < span.start);
            parse.errors.get(error).is_some_and(|e| e.span.start <= span.end)
                || read.findings.get(first).is_some_and(|f| f.span.start < span.end)
                || links.iter().any(|(f, _)| span.start <= f.span.start && f.span.start < span.end)
        };
        let fault = |id: OpId| {
            if mlir_hlo::allows_more_than_hlo(parse, text, id) || is_told(id) {
                return None;
            }
            let op = mlir_hlo::hlo_op(source, id)?.ok().filter(|op| !op.only_maps)?;
            let graph_of = |name: &str| op.callees.get(name).cloned();
            Some((id, ir::op_fault(op.op(), &graph_of)?))
        };
        checked.into_iter().filter_map(fault).collect()
    };
    with_imported_source(db, piece, of_all).unwrap_or_default()
}
