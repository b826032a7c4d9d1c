//! Code lenses above computations and kernels. Positions are cheap; titles are computed when the lens becomes
//! visible.

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

/// The content of a lens. A client that can show kernels gets three lenses above each: the time, the command
/// and the details.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    Time,
    Details,
}

impl Part {
    fn name(self) -> &'static str {
        match self {
            Part::Whole => "whole",
            Part::Time => "time",
            Part::Details => "details",
        }
    }

    fn named(name: &str) -> Part {
        [Part::Time, Part::Details].into_iter().find(|part| part.name() == name).unwrap_or(Part::Whole)
    }
}

impl Handlers {
    pub(super) fn lenses(&self, uri: Url) -> impl Future<Output = Result<Option<Vec<CodeLens>>>> {
        self.ask(
            &CODE_LENS,
            uri,
            Target::Document,
            |analysis, view| {
                // Kernels follow the computations.
                let computations = analysis.code_lens_places(view.file, false, MAX_LENSES)?.len();
                let has_kernels = view.session.settings.kernel_lenses;
                Ok((analysis.code_lens_places(view.file, has_kernels, MAX_LENSES)?, computations))
            },
            |view, (places, computations)| {
                let show = view.session.client.kernel_command();
                let lenses = places.into_iter().enumerate().flat_map(|(n, place)| {
                    let range = view.range(place);
                    let unresolved = |part: Part| {
                        let data = Some(json!({"uri": view.uri, "part": part.name()}));
                        CodeLens { range, command: None, data }
                    };
                    let Some(command) = show.filter(|_| n >= computations) else {
                        return vec![unresolved(Part::Whole)];
                    };
                    let command = Command {
                        title: "Show kernel".to_owned(),
                        command: command.to_owned(),
                        arguments: Some(vec![json!(view.uri), json!(range.start)]),
                    };
                    let show = CodeLens { range, command: Some(command), data: None };
                    vec![unresolved(Part::Time), show, unresolved(Part::Details)]
                });
                Some(lenses.collect())
            },
        )
    }

    /// The lens with its title, which is empty if the computation no longer exists.
    pub(super) fn resolve_lens(&self, lens: CodeLens) -> impl Future<Output = Result<CodeLens>> {
        let known = lens.command.clone();
        let sent = |key| lens.data.as_ref()?.get(key)?.as_str();
        let uri = sent("uri").and_then(|uri| Url::parse(uri).ok());
        let part = Part::named(sent("part").unwrap_or_default());
        let asked = uri.map(|uri| {
            self.ask(
                &RESOLVE,
                uri,
                Target::At(lens.range.start),
                |analysis, view| analysis.code_lens(view.file, view.span.start),
                move |view, found| found.map(|found| view.lens_command(found, part)),
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
    /// A click shows the callers or the kernel's memory accesses if the client supports it; otherwise the
    /// lens is plain text with an empty command.
    fn lens_command(&self, lens: ide::CodeLens, part: Part) -> Command {
        let title = match (part, lens.time) {
            (Part::Time, time) => time.unwrap_or_default(),
            (Part::Whole, Some(time)) => format!("{time} · {}", lens.title),
            (Part::Whole, None) | (Part::Details, _) => lens.title,
        };
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
