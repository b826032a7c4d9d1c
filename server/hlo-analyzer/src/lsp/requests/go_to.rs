//! What the requests that go from a name to places have in common: definition, declaration, implementation, type definition.

use ide::{NavigationTarget, SourceFrame, StagePlace, TextRange};
use tower_lsp::lsp_types::{GotoDefinitionParams, GotoDefinitionResponse, TextDocumentPositionParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::bounds::MAX_TARGETS;

/// A request from a position to places.
pub(in crate::lsp) trait GoTo: 'static {
    const METHOD: &'static str;

    fn subject(at: &TextDocumentPositionParams) -> Subject {
        Subject::at(at)
    }

    fn find(snapshot: &Snapshot, at: &TextDocumentPositionParams) -> Cancellable<Targets>;
}

pub(in crate::lsp) enum Targets {
    Names(Vec<NavigationTarget>),
    /// The instruction in other stages of its compile.
    Stages(Vec<StagePlace>),
    /// The opcode, op name or location at the cursor, and the source lines that led to it.
    Source(TextRange, Vec<SourceFrame>),
    /// The name of the instruction from which a line of a kernel originates.
    Instruction(Option<TextRange>),
}

impl Targets {
    /// The source lines that led to the op at the cursor, if there are no other targets.
    pub(super) fn or_source(self, Snapshot { analysis, view }: &Snapshot) -> Cancellable<Targets> {
        let is_empty = match &self {
            Targets::Names(names) => names.is_empty(),
            Targets::Stages(places) => places.is_empty(),
            Targets::Source(..) | Targets::Instruction(_) => false,
        };
        if !is_empty {
            return Ok(self);
        }
        let frames = analysis.source_frames(view.file, view.span.start)?;
        Ok(frames.map_or(self, |(origin, frames)| Targets::Source(origin, frames)))
    }
}

impl<T: GoTo> Request for T {
    const METHOD: &'static str = <T as GoTo>::METHOD;
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = GotoDefinitionParams;
    type Found = Targets;
    type Response = Option<GotoDefinitionResponse>;

    fn subject(params: &GotoDefinitionParams) -> Subject {
        <T as GoTo>::subject(&params.text_document_position_params)
    }

    fn run(snapshot: &Snapshot, params: &GotoDefinitionParams) -> Cancellable<Targets> {
        T::find(snapshot, &params.text_document_position_params)
    }

    fn respond(view: &View, _: GotoDefinitionParams, found: Targets) -> Result<Self::Response> {
        Ok(match found {
            Targets::Names(targets) => view.definitions(view.first(MAX_TARGETS, "targets", targets)),
            Targets::Stages(places) => view.stage_targets(&view.first(MAX_TARGETS, "instructions", places)),
            Targets::Source(origin, frames) => {
                view.source_lines(origin, &view.first(MAX_TARGETS, "source lines", frames))
            }
            Targets::Instruction(name) => {
                name.map(|name| GotoDefinitionResponse::Scalar(view.location(name)))
            }
        })
    }
}
