//! Signature help.

use tower_lsp::lsp_types::{
    self, ParameterInformation, ParameterLabel, SignatureHelpParams, SignatureInformation,
};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};
use crate::lsp::to_proto::documentation;

pub(in crate::lsp) struct SignatureHelp;

impl Request for SignatureHelp {
    const METHOD: &'static str = "textDocument/signatureHelp";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = SignatureHelpParams;
    type Found = Option<ide::SignatureHelp>;
    type Response = Option<lsp_types::SignatureHelp>;

    fn subject(params: &SignatureHelpParams) -> Subject {
        Subject::at(&params.text_document_position_params)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &SignatureHelpParams) -> Cancellable<Self::Found> {
        analysis.signature_help(view.file, view.span.start)
    }

    fn respond(view: &View, _: SignatureHelpParams, found: Self::Found) -> Result<Self::Response> {
        Ok(found.map(|help| view.signature_help(help)))
    }
}

impl View {
    fn signature_help(&self, help: ide::SignatureHelp) -> lsp_types::SignatureHelp {
        let markdown = self.session.client.markdown_completion;
        let label = &help.label;
        let units = |end: usize| label[..end].encode_utf16().count().try_into().unwrap_or(u32::MAX);
        let parameters = help.parameters.into_iter().map(|parameter| {
            let text = label.get(parameter.label.clone()).unwrap_or_default().to_owned();
            ParameterInformation {
                label: match self.session.client.label_offsets {
                    true => ParameterLabel::LabelOffsets([
                        units(parameter.label.start),
                        units(parameter.label.end),
                    ]),
                    false => ParameterLabel::Simple(text),
                },
                documentation: documentation(parameter.documentation.for_client(markdown), markdown),
            }
        });
        let parameters = parameters.collect();
        let active = help.active.and_then(|n| u32::try_from(n).ok());
        let signature = SignatureInformation {
            documentation: documentation(help.documentation.for_client(markdown), markdown),
            parameters: Some(parameters),
            active_parameter: active,
            label: help.label,
        };
        lsp_types::SignatureHelp {
            signatures: vec![signature],
            active_signature: Some(0),
            active_parameter: active,
        }
    }
}
