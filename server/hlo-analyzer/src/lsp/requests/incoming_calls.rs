//! The callers of a computation or function.

use ide::{Call, CallDirection};
use tower_lsp::lsp_types::{CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::bounds::MAX_CALLS;

pub(in crate::lsp) struct IncomingCalls;

impl Request for IncomingCalls {
    const METHOD: &'static str = "callHierarchy/incomingCalls";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = CallHierarchyIncomingCallsParams;
    type Found = Vec<Call>;
    type Response = Option<Vec<CallHierarchyIncomingCall>>;

    fn subject(params: &CallHierarchyIncomingCallsParams) -> Subject {
        Subject::Part(params.item.uri.clone(), Target::At(params.item.selection_range.start))
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        _: &CallHierarchyIncomingCallsParams,
    ) -> Cancellable<Self::Found> {
        analysis.calls(view.file, view.span.start, CallDirection::Incoming)
    }

    fn respond(
        view: &View,
        _: CallHierarchyIncomingCallsParams,
        found: Self::Found,
    ) -> Result<Self::Response> {
        let call = |call: Call| CallHierarchyIncomingCall {
            from: view.call_item(call.item),
            from_ranges: view.call_places(call.from),
        };
        let found = view.first(MAX_CALLS, "callers", found);
        Ok(Some(found.into_iter().map(call).collect()))
    }
}
