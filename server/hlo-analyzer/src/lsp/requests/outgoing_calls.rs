//! The computations or functions that one calls.

use ide::{Call, CallDirection};
use tower_lsp::lsp_types::{CallHierarchyOutgoingCall, CallHierarchyOutgoingCallsParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::bounds::MAX_CALLS;

pub(in crate::lsp) struct OutgoingCalls;

impl Request for OutgoingCalls {
    const METHOD: &'static str = "callHierarchy/outgoingCalls";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = CallHierarchyOutgoingCallsParams;
    type Found = Vec<Call>;
    type Response = Option<Vec<CallHierarchyOutgoingCall>>;

    fn subject(params: &CallHierarchyOutgoingCallsParams) -> Subject {
        Subject::Part(params.item.uri.clone(), Target::At(params.item.selection_range.start))
    }

    fn run(
        Snapshot { analysis, view }: &Snapshot,
        _: &CallHierarchyOutgoingCallsParams,
    ) -> Cancellable<Self::Found> {
        analysis.calls(view.file, view.span.start, CallDirection::Outgoing)
    }

    fn respond(
        view: &View,
        _: CallHierarchyOutgoingCallsParams,
        found: Self::Found,
    ) -> Result<Self::Response> {
        let call = |call: Call| CallHierarchyOutgoingCall {
            to: view.call_item(call.item),
            from_ranges: view.call_places(call.from),
        };
        let found = view.first(MAX_CALLS, "called computations", found);
        Ok(Some(found.into_iter().map(call).collect()))
    }
}
