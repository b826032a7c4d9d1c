//! The computation or function under the cursor, as the root of a call hierarchy.

use ide::CallItem;
use tower_lsp::lsp_types::{CallHierarchyItem, CallHierarchyPrepareParams, SymbolKind};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::to_proto::visible;

pub(in crate::lsp) struct PrepareCallHierarchy;

impl Request for PrepareCallHierarchy {
    const METHOD: &'static str = "textDocument/prepareCallHierarchy";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = CallHierarchyPrepareParams;
    type Found = Option<CallItem>;
    type Response = Option<Vec<CallHierarchyItem>>;

    fn subject(params: &CallHierarchyPrepareParams) -> Subject {
        Subject::at(&params.text_document_position_params)
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        _: &CallHierarchyPrepareParams,
    ) -> Cancellable<Self::Found> {
        analysis.prepare_call_hierarchy(view.file, view.span.start)
    }

    fn respond(view: &View, _: CallHierarchyPrepareParams, found: Self::Found) -> Result<Self::Response> {
        Ok(found.map(|item| vec![view.call_item(item)]))
    }
}

impl View {
    pub(super) fn call_item(&self, item: CallItem) -> CallHierarchyItem {
        CallHierarchyItem {
            name: visible(item.name),
            kind: if item.is_entry { SymbolKind::MODULE } else { SymbolKind::FUNCTION },
            tags: None,
            detail: Some(item.detail).filter(|detail| !detail.is_empty()),
            uri: self.uri.clone(),
            range: self.range(item.range),
            selection_range: self.range(item.selection_range),
            data: None,
        }
    }
}
