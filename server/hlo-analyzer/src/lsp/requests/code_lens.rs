//! Code lenses above computations and kernels. Positions are cheap; [`code_lens_resolve`](super::code_lens_resolve)
//! computes the title when a lens becomes visible.

use ide::TextRange;
use serde_json::json;
use tower_lsp::lsp_types::{self, CodeLensParams, Command};

use super::{Cancellable, Request, Result, Snapshot, Subject, View, WhenEdited};

pub(in crate::lsp) struct CodeLens;

const MAX_LENSES: usize = 20_000;

impl Request for CodeLens {
    const METHOD: &'static str = "textDocument/codeLens";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(32);
    type Params = CodeLensParams;
    /// Places, the number of those of computations among them, and that of the totals after fusion.
    type Found = (Vec<TextRange>, usize, Option<TextRange>);
    type Response = Option<Vec<lsp_types::CodeLens>>;

    fn subject(params: &CodeLensParams) -> Subject {
        Subject::document(&params.text_document)
    }

    fn run(Snapshot { analysis, view }: &Snapshot, _: &CodeLensParams) -> Cancellable<Self::Found> {
        // Kernels follow the computations.
        let computations = analysis.code_lens_places(view.file, false, MAX_LENSES)?.len();
        let has_kernels = view.session.settings.kernel_lenses;
        let places = analysis.code_lens_places(view.file, has_kernels, MAX_LENSES)?;
        let optimizer = match view.session.settings.optimizer_lenses {
            true => analysis.optimizer_lens_place(view.file)?,
            false => None,
        };
        Ok((places, computations, optimizer))
    }

    fn respond(
        view: &View,
        _: CodeLensParams,
        (places, computations, optimizer): Self::Found,
    ) -> Result<Self::Response> {
        if places.len() >= MAX_LENSES {
            view.say_more(MAX_LENSES, "lenses");
        }
        let show = view.session.client.kernel_command();
        let lenses = places.into_iter().enumerate().flat_map(|(n, place)| {
            let range = view.range(place);
            let unresolved = |part: Part| {
                let data = Some(json!({"uri": view.uri, "part": part.name()}));
                lsp_types::CodeLens { range, command: None, data }
            };
            let Some(command) = show.filter(|_| n >= computations) else {
                return vec![unresolved(Part::Whole)];
            };
            let command = Command {
                title: "Show kernel".to_owned(),
                command: command.to_owned(),
                arguments: Some(vec![json!(view.uri), json!(range.start)]),
            };
            let show = lsp_types::CodeLens { range, command: Some(command), data: None };
            vec![unresolved(Part::Time), show, unresolved(Part::Details)]
        });
        let optimizer = optimizer.map(|place| {
            let data = Some(json!({"uri": view.uri, "part": Part::Optimizer.name()}));
            lsp_types::CodeLens { range: view.range(place), command: None, data }
        });
        Ok(Some(lenses.chain(optimizer).collect()))
    }
}

/// The content of a lens. A client that can show kernels gets three lenses above each: the time, the command
/// and the details.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::lsp) enum Part {
    Whole,
    Time,
    Details,
    /// The totals of a module before and after fusion.
    Optimizer,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Whole => "whole",
            Part::Time => "time",
            Part::Details => "details",
            Part::Optimizer => "optimizer",
        }
    }

    pub(super) fn named(name: &str) -> Part {
        [Part::Time, Part::Details, Part::Optimizer]
            .into_iter()
            .find(|part| part.name() == name)
            .unwrap_or(Part::Whole)
    }
}
