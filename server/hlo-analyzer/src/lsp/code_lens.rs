//! The lines above computations and kernels. Where they stand is cheap to tell; what they say is told when they are on the screen.

use serde_json::json;
use tower_lsp::jsonrpc::Result;
use tower_lsp::lsp_types::{CodeLens, Command, Url};

use super::capabilities::{SHOW_ACCESS_PATTERN, SHOW_REFERENCES};
use super::handlers::Handlers;
use super::read::WhenEdited::Retry;
use super::read::{Route, Target};
use super::snapshot::View;

static CODE_LENS: Route = Route { method: "textDocument/codeLens", when_edited: Retry(32) };
static RESOLVE: Route = Route { method: "codeLens/resolve", when_edited: Retry(8) };

const MAX_LENSES: usize = 20_000;

impl Handlers {
    pub(super) fn lenses(&self, uri: Url) -> impl Future<Output = Result<Option<Vec<CodeLens>>>> {
        self.ask(
            &CODE_LENS,
            uri,
            Target::Document,
            |analysis, view| {
                // Those of kernels stand behind those of computations.
                let computations = analysis.code_lens_places(view.file, false, MAX_LENSES)?.len();
                let has_kernels = view.session.settings.kernel_lenses;
                Ok((analysis.code_lens_places(view.file, has_kernels, MAX_LENSES)?, computations))
            },
            |view, (places, computations)| {
                let data = Some(json!({"uri": view.uri}));
                let show = view.session.client.kernel_command();
                let lenses = places.into_iter().enumerate().flat_map(|(n, place)| {
                    let range = view.range(place);
                    let show = show.filter(|_| n >= computations).map(|command| Command {
                        title: "Show kernel".to_owned(),
                        command: command.to_owned(),
                        arguments: Some(vec![json!(view.uri), json!(range.start)]),
                    });
                    let show = show.map(|command| CodeLens { range, command: Some(command), data: None });
                    [Some(CodeLens { range, command: None, data: data.clone() }), show]
                });
                Some(lenses.flatten().collect())
            },
        )
    }

    /// The lens with its words; empty words where the computation is not there any more.
    pub(super) fn resolve_lens(&self, lens: CodeLens) -> impl Future<Output = Result<CodeLens>> {
        let known = lens.command.clone();
        let uri = lens.data.as_ref().and_then(|data| Url::parse(data.get("uri")?.as_str()?).ok());
        let asked = uri.map(|uri| {
            self.ask(
                &RESOLVE,
                uri,
                Target::At(lens.range.start),
                |analysis, view| analysis.code_lens(view.file, view.span.start),
                |view, found| found.map(|found| view.lens_command(found)),
            )
        });
        async move {
            let command = match asked {
                Some(asked) => asked.await?,
                None => known,
            };
            let empty = || Command { title: String::new(), command: String::new(), arguments: None };
            Ok(CodeLens { command: Some(command.unwrap_or_else(empty)), ..lens })
        }
    }
}

impl View {
    /// A click shows the callers, or how the kernel uses memory, where the client knows how. Else the lens is a text: an empty command does nothing.
    fn lens_command(&self, lens: ide::CodeLens) -> Command {
        let title = lens.title;
        if lens.is_kernel && self.session.client.shows_access_patterns {
            let arguments = vec![json!(self.uri), json!(self.position(lens.range.start))];
            return Command { title, command: SHOW_ACCESS_PATTERN.to_owned(), arguments: Some(arguments) };
        }
        if !self.session.client.shows_references || lens.callers.is_empty() {
            return Command { title, command: String::new(), arguments: None };
        }
        let callers: Vec<_> = lens.callers.into_iter().map(|range| self.location(range)).collect();
        let arguments = vec![json!(self.uri), json!(self.position(lens.range.start)), json!(callers)];
        Command { title, command: SHOW_REFERENCES.to_owned(), arguments: Some(arguments) }
    }
}
