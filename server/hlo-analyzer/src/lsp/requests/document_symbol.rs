//! The outline of a document.

use tower_lsp::lsp_types::{self, DocumentSymbolParams, DocumentSymbolResponse, Location};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::to_proto::{symbol_kind, visible};

pub(in crate::lsp) struct DocumentSymbol;

/// Outlines with more entries are cut: no editor shows them usefully, and some freeze.
const MAX_SYMBOLS: usize = 20_000;

impl Request for DocumentSymbol {
    const METHOD: &'static str = "textDocument/documentSymbol";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = DocumentSymbolParams;
    type Found = (Vec<ide::DocumentSymbol>, usize);
    type Response = Option<DocumentSymbolResponse>;

    fn subject(params: &DocumentSymbolParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &DocumentSymbolParams) -> Cancellable<Self::Found> {
        analysis.document_symbols(view.file, MAX_SYMBOLS)
    }

    fn respond(
        view: &View,
        _: DocumentSymbolParams,
        (symbols, omitted): Self::Found,
    ) -> Result<Self::Response> {
        if omitted > 0 {
            view.say_more(MAX_SYMBOLS, "symbols of the outline");
        }
        Ok(Some(view.document_symbols(symbols)))
    }
}

impl View {
    fn document_symbols(&self, symbols: Vec<ide::DocumentSymbol>) -> DocumentSymbolResponse {
        if self.session.client.hierarchical_symbols {
            return symbols.into_iter().map(|symbol| self.nested_symbol(symbol)).collect::<Vec<_>>().into();
        }
        let mut flat = Vec::new();
        symbols.into_iter().for_each(|symbol| self.flatten_symbol(symbol, None, &mut flat));
        flat.into()
    }

    #[expect(deprecated, reason = "the type demands the field")]
    fn nested_symbol(&self, symbol: ide::DocumentSymbol) -> lsp_types::DocumentSymbol {
        let children: Vec<_> = symbol.children.into_iter().map(|child| self.nested_symbol(child)).collect();
        lsp_types::DocumentSymbol {
            name: visible(symbol.name),
            detail: Some(symbol.detail).filter(|detail| !detail.is_empty()),
            kind: symbol_kind(symbol.kind),
            tags: None,
            deprecated: None,
            range: self.range(symbol.range),
            selection_range: self.range(symbol.selection_range),
            children: Some(children).filter(|children| !children.is_empty()),
        }
    }

    #[expect(deprecated, reason = "the type demands the field")]
    fn flatten_symbol(
        &self,
        symbol: ide::DocumentSymbol,
        container: Option<&str>,
        flat: &mut Vec<lsp_types::SymbolInformation>,
    ) {
        let name = visible(symbol.name);
        flat.push(lsp_types::SymbolInformation {
            name: name.clone(),
            kind: symbol_kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: Location::new(self.uri.clone(), self.range(symbol.range)),
            container_name: container.map(str::to_owned),
        });
        symbol.children.into_iter().for_each(|child| self.flatten_symbol(child, Some(&name), flat));
    }
}
