//! Symbols of all open documents.

use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{Location, SymbolInformation, Url};

use super::handlers::Handlers;
use super::read::WhenEdited::Retry;
use super::read::{Route, Target};
use super::snapshot::View;
use super::to_proto::{symbol_kind, visible};

static WORKSPACE_SYMBOL: Route = Route { method: "workspace/symbol", when_edited: Retry(8) };

/// The largest number of entries in the list; users narrow it by typing.
const MAX_SYMBOLS: usize = 256;

impl Handlers {
    pub(super) fn workspace_symbols(
        &self,
        query: String,
    ) -> impl Future<Output = Result<Option<Vec<SymbolInformation>>>> {
        self.ask(
            &WORKSPACE_SYMBOL,
            // A placeholder: the request is about no document.
            Url::from_directory_path("/").unwrap_or_else(|()| unreachable!("/ is an absolute path")),
            Target::Workspace,
            move |analysis, _| analysis.workspace_symbols(&query, MAX_SYMBOLS),
            |view, (symbols, omitted)| {
                if omitted > 0 {
                    tracing::debug!("a list of symbols leaves out {omitted}");
                }
                Some(symbols.into_iter().filter_map(|(file, s)| view.workspace_symbol(file, s)).collect())
            },
        )
    }
}

impl View {
    #[expect(deprecated, reason = "the type demands the field")]
    fn workspace_symbol(&self, file: ide::FileId, symbol: ide::WorkspaceSymbol) -> Option<SymbolInformation> {
        let document = self.open.iter().find(|document| document.file == file)?;
        let range = self.range_in(&document.text, symbol.range);
        Some(SymbolInformation {
            name: visible(symbol.name),
            kind: symbol_kind(symbol.kind),
            tags: None,
            deprecated: None,
            location: Location::new(document.uri.clone(), range),
            container_name: Some(symbol.container).filter(|name| !name.is_empty()),
        })
    }
}
