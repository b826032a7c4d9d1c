//! Names of a whole file that nothing in it defines.

use std::sync::Arc;

use mlir::Finding;
use text::Span;

use crate::Piece;
use crate::mlir_queries::{mlir_module, mlir_piece, symbol_name};
use crate::positions::position_of;

/// Calls of functions, and aliases, that nothing in their part of the file defines.
#[salsa::tracked]
pub fn mlir_unknown_names(db: &dyn salsa::Database, piece: Piece) -> Arc<Vec<Finding>> {
    let read = mlir_piece(db, piece);
    let (parse, text) = (&*read.parse, &*read.text);
    let is_call = |op| parse.ops.get(op as usize).is_some_and(|_| mlir::needs_function(parse.name(op, text)));
    let calls = parse.symbols.iter().filter(|s| !s.is_definition && !s.is_nested && is_call(s.op));
    let calls: Vec<Span> = calls.map(|s| s.span).collect();
    let aliases: Vec<Span> = parse.aliases.iter().filter(|a| !a.is_definition).map(|a| a.span).collect();
    // What names nothing depends on nothing else.
    if calls.is_empty() && aliases.is_empty() {
        return Arc::default();
    }
    let Some((file, at)) = position_of(db, piece) else { return Arc::default() };
    let module = mlir_module(db, file);
    let unknown = |span: Span, code, message| Finding { span, code, message, related: None };
    let calls = calls.into_iter().filter_map(|span| {
        let name = symbol_name(span.of(text));
        let is_unknown = module.symbol(module.part_at(at, parse, span.start), name).is_empty();
        is_unknown.then(|| unknown(span, "unknown-symbol", format!("no function @{name} is defined here")))
    });
    let aliases = aliases.into_iter().filter_map(|span| {
        let name = span.of(text);
        let is_unknown = module.alias(module.part_at(at, parse, span.start), name).is_empty();
        is_unknown.then(|| unknown(span, "unknown-alias", format!("no alias {name} is defined here")))
    });
    Arc::new(calls.chain(aliases).collect())
}
