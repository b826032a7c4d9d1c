//! Findings between the pieces of a function.

use std::sync::Arc;

use mlir::{Finding, OpId};

use super::elsewhere::Elsewhere;
use super::{GiantName, mlir_foreign, mlir_giant_index, mlir_links};
use crate::Piece;
use crate::mlir_queries::mlir_piece;

/// Findings about names that pieces of a function share, each with its other side in another piece.
#[salsa::tracked]
pub fn mlir_link_findings(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<(Finding, Option<GiantName>)>> {
    let read = mlir_piece(db, piece);
    if read.parts.is_empty() {
        return Arc::default();
    }
    let Some(elsewhere) = Elsewhere::of(db, piece) else { return Arc::default() };
    let (parse, text) = (&read.parse, &*read.text);
    let foreign = mlir_foreign(db, piece);
    let outside = |name: &str, op: OpId| elsewhere.outside(name, op);
    let found = mlir::check_outside(parse, text, &outside).into_iter();
    let mut findings: Vec<_> = found
        .map(|(finding, used)| {
            let definition = used.and_then(|used| elsewhere.find(used.span.of(text), used.op));
            (finding, definition)
        })
        .collect();
    for (nth, part) in read.parts.iter().enumerate() {
        for &value in &part.values {
            let name = parse.values[value as usize].name;
            if foreign.binary_search_by(|(part, f)| (*part, &**f).cmp(&(nth, name.of(text)))).is_err() {
                continue;
            }
            let first = mlir_giant_index(db, elsewhere.file).find(elsewhere.at, nth, name.of(text));
            if let Some(first) = first.filter(|first| first.piece as usize != elsewhere.at) {
                findings.push((mlir::redefinition(name, text), Some(first)));
            }
        }
    }
    let links = mlir_links(db, piece);
    for &(nth, _) in links.successors.iter().filter(|(_, found)| found.is_none()) {
        findings.push((mlir::unknown_block(parse.successors[nth as usize].span, text), None));
    }
    findings.sort_by_key(|(f, _)| (f.span.start, f.span.end));
    Arc::new(findings)
}
