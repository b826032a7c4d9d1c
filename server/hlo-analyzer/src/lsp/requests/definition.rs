//! Go to definition: of a name, from an opcode or its metadata to the source lines that led to it, or from a line of a
//! kernel to its instruction.

use ide::{NavigationTarget, SourceFrame, TextRange};
use tower_lsp::lsp_types::{GotoDefinitionParams, GotoDefinitionResponse, TextDocumentPositionParams};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::kernel_tab::KernelTab;

pub(in crate::lsp) struct Definition;

impl Request for Definition {
    const METHOD: &'static str = "textDocument/definition";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = GotoDefinitionParams;
    type Found = Targets;
    type Response = Option<GotoDefinitionResponse>;

    fn subject(params: &GotoDefinitionParams) -> Subject {
        Subject::in_document_or_kernel(&params.text_document_position_params)
    }

    fn run(snapshot: &Snapshot, params: &GotoDefinitionParams) -> Cancellable<Targets> {
        let Snapshot { analysis, view } = snapshot;
        let TextDocumentPositionParams { text_document, position } = &params.text_document_position_params;
        let Ok(tab) = KernelTab::try_from(text_document.uri.clone()) else {
            let names = analysis.goto_definition(view.file, view.span.start)?;
            if !names.is_empty() {
                return Ok(Targets::Names(names));
            }
            let frames = analysis.source_frames(view.file, view.span.start)?;
            return Ok(
                frames.map_or(Targets::Names(names), |(origin, frames)| Targets::Source(origin, frames))
            );
        };
        let rendered = snapshot.render(&tab)?;
        let line = (position.line as usize).checked_sub(rendered.first);
        let instruction = line.and_then(|line| rendered.document.instruction_of(line));
        Ok(Targets::Instruction(instruction.and_then(|found| Some(found.at.as_ref()?.1.clone()))))
    }

    fn respond(view: &View, _: GotoDefinitionParams, found: Targets) -> Result<Self::Response> {
        Ok(match found {
            Targets::Names(targets) => view.definitions(targets),
            Targets::Source(origin, frames) => view.source_lines(origin, &frames),
            Targets::Instruction(name) => {
                name.map(|name| GotoDefinitionResponse::Scalar(view.location(name)))
            }
        })
    }
}

/// Where a definition is.
pub(in crate::lsp) enum Targets {
    Names(Vec<NavigationTarget>),
    /// The opcode, op name or location at the cursor, and the source lines that led to it.
    Source(TextRange, Vec<SourceFrame>),
    /// The name of the instruction from which a line of a kernel originates.
    Instruction(Option<TextRange>),
}
