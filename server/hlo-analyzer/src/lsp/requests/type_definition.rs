//! Go to type definition.

use ide::NavigationTarget;
use tower_lsp::lsp_types::request::{GotoTypeDefinitionParams, GotoTypeDefinitionResponse};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct TypeDefinition;

impl Request for TypeDefinition {
    const METHOD: &'static str = "textDocument/typeDefinition";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = GotoTypeDefinitionParams;
    type Found = Vec<NavigationTarget>;
    type Response = Option<GotoTypeDefinitionResponse>;

    fn subject(params: &GotoTypeDefinitionParams) -> Subject {
        Subject::at(&params.text_document_position_params)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &GotoTypeDefinitionParams) -> Cancellable<Self::Found> {
        analysis.goto_type_definition(view.file, view.span.start)
    }

    fn respond(view: &View, _: GotoTypeDefinitionParams, found: Self::Found) -> Result<Self::Response> {
        Ok(view.definitions(found))
    }
}
