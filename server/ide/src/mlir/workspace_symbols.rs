//! The functions and other symbols of a file.

use crate::file_context::FileContext;
use crate::mlir::Mlir;
use crate::mlir::context::OpRef;
use crate::mlir::document_symbols::is_container;
use crate::workspace_symbols::{SymbolPlace, Symbols};
use crate::{SymbolKind, WorkspaceSymbol};

impl Symbols for Mlir {
    fn symbols(&self, context: &FileContext<'_>, _: bool, found: &mut dyn FnMut(&str, bool, SymbolPlace)) {
        for piece in 0..context.pieces() {
            crate::analysis::check_cancelled(context.db);
            let read = context.mlir_piece(piece);
            for (index, symbol) in read.parse.symbols.iter().enumerate().filter(|(_, s)| s.is_definition) {
                found(db::symbol_name(symbol.span.of(&read.text)), true, SymbolPlace::Symbol(piece, index));
            }
        }
    }

    fn workspace_symbol(&self, context: &FileContext<'_>, place: SymbolPlace) -> Option<WorkspaceSymbol> {
        let SymbolPlace::Symbol(piece, index) = place else { return None };
        let read = context.mlir_piece(piece);
        let symbol = read.parse.symbols[index];
        let container = read.parse.parent(symbol.op).and_then(|id| {
            let (start, _) = context.start_of(OpRef { piece, id })?;
            let read = context.mlir_piece(start.piece);
            Some(crate::mlir::document_symbols::name_of(&read.parse, start.id, &read.text).0)
        });
        Some(WorkspaceSymbol {
            name: db::symbol_name(symbol.span.of(&read.text)).to_owned(),
            container: container.unwrap_or_else(|| context.mlir_module().name.clone()),
            kind: match is_container(&read.parse, symbol.op, &read.text) {
                true => SymbolKind::Computation,
                false => SymbolKind::Constant,
            },
            range: context.range(piece, symbol.span),
        })
    }
}
