//! Symbols of all open documents.

use ide::FileId;
use tower_lsp::lsp_types::{Location, SymbolInformation, WorkspaceSymbolParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::mailbox::Event;
use crate::lsp::to_proto::{symbol_kind, visible};

pub(in crate::lsp) struct WorkspaceSymbol;

/// The largest number of entries in the list; users narrow it by typing.
const MAX_SYMBOLS: usize = 256;

impl Request for WorkspaceSymbol {
    const METHOD: &'static str = "workspace/symbol";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = WorkspaceSymbolParams;
    type Found = (Vec<(FileId, ide::WorkspaceSymbol)>, usize);
    type Response = Option<Vec<SymbolInformation>>;

    fn subject(_: &WorkspaceSymbolParams) -> Subject {
        Subject::workspace()
    }

    fn run(Snapshot { analysis, .. }: &Snapshot, params: &WorkspaceSymbolParams) -> Cancellable<Self::Found> {
        analysis.workspace_symbols(&params.query, MAX_SYMBOLS)
    }

    fn respond(
        view: &View,
        _: WorkspaceSymbolParams,
        (symbols, omitted): Self::Found,
    ) -> Result<Self::Response> {
        if omitted > 0 {
            let text = format!("the first {MAX_SYMBOLS} symbols are listed; more letters narrow the list");
            view.session.mailbox.post(Event::WarnOnce(text));
        }
        Ok(Some(
            symbols.into_iter().filter_map(|(file, symbol)| view.workspace_symbol(file, symbol)).collect(),
        ))
    }
}

impl View {
    #[expect(deprecated, reason = "the type demands the field")]
    fn workspace_symbol(&self, file: FileId, symbol: ide::WorkspaceSymbol) -> Option<SymbolInformation> {
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
