//! The title of a code lens.

use serde_json::json;
use tower_lsp::lsp_types::{CodeLens, Command, Url};

use super::code_lens::Part;
use super::{Cancellable, Request, Result, Snapshot, Subject, Target, View, WhenEdited};
use crate::lsp::bounds::MAX_CALLS;
use crate::lsp::capabilities::{SHOW_ACCESS_PATTERN, SHOW_PREVIEW, SHOW_REFERENCES};

pub(in crate::lsp) struct CodeLensResolve;

impl Request for CodeLensResolve {
    const METHOD: &'static str = "codeLens/resolve";
    const WHEN_EDITED: WhenEdited = WhenEdited::Retry(8);
    type Params = CodeLens;
    type Found = Option<ide::CodeLens>;
    type Response = CodeLens;

    fn subject(lens: &CodeLens) -> Subject {
        match sent(lens, "uri").and_then(|uri| Url::parse(uri).ok()) {
            Some(uri) => Subject::Part(uri, Target::At(lens.range.start)),
            None => Subject::Nothing,
        }
    }

    fn run(Snapshot { analysis, view }: &Snapshot, lens: &CodeLens) -> Cancellable<Self::Found> {
        if part_of(lens) == Part::Optimizer {
            return if view.plans_kernels() { analysis.optimizer_lens(view.file) } else { Ok(None) };
        }
        analysis.code_lens(view.file, view.span.start, view.plans_memory())
    }

    fn respond(view: &View, lens: CodeLens, found: Self::Found) -> Result<Self::Response> {
        let part = part_of(&lens);
        let command = found.map_or_else(no_command, |found| view.lens_command(found, part));
        Ok(CodeLens { command: Some(command), ..lens })
    }
}

/// The lens if there is no document to ask about it.
pub(super) fn untitled(lens: CodeLens) -> CodeLens {
    CodeLens { command: Some(lens.command.unwrap_or_else(no_command)), ..lens }
}

fn part_of(lens: &CodeLens) -> Part {
    Part::named(sent(lens, "part").unwrap_or_default())
}

fn sent<'a>(lens: &'a CodeLens, key: &str) -> Option<&'a str> {
    lens.data.as_ref()?.get(key)?.as_str()
}

/// The computation or kernel of the lens no longer exists.
fn no_command() -> Command {
    Command { title: String::new(), command: String::new(), arguments: None }
}

impl View {
    /// A click shows the callers or the kernel's memory accesses if the client supports it; otherwise the
    /// lens is plain text with an empty command.
    fn lens_command(&self, lens: ide::CodeLens, part: Part) -> Command {
        let title = match (part, lens.time) {
            (Part::Time, time) => time.unwrap_or_default(),
            (Part::Whole, Some(time)) => format!("{time} · {}", lens.title),
            (Part::Whole, None) | (Part::Details | Part::Optimizer, _) => lens.title,
        };
        if part == Part::Optimizer && self.session.client.shows_previews {
            let arguments = vec![json!(self.uri), json!([ide::FUSION_PIPELINE])];
            return Command { title, command: SHOW_PREVIEW.to_owned(), arguments: Some(arguments) };
        }
        if lens.is_kernel && self.session.client.shows_access_patterns {
            let arguments = vec![json!(self.uri), json!(self.position(lens.range.start))];
            return Command { title, command: SHOW_ACCESS_PATTERN.to_owned(), arguments: Some(arguments) };
        }
        if !self.session.client.shows_references || lens.callers.is_empty() {
            return Command { title, command: String::new(), arguments: None };
        }
        let callers = self.first_shown(MAX_CALLS, "callers in a lens", lens.callers);
        let callers: Vec<_> = callers.into_iter().map(|range| self.location(range)).collect();
        let arguments = vec![json!(self.uri), json!(self.position(lens.range.start)), json!(callers)];
        Command { title, command: SHOW_REFERENCES.to_owned(), arguments: Some(arguments) }
    }
}
