//! What is known of modules and their compiles as one page of HTML, which needs no other file, no network and no scripts.

mod compile;
mod findings;
mod kernels;
mod memory;
mod page;

use ide::{AnalysisHost, FileId, SourceFrame};
use maud::{Markup, html};
use ropey::Rope;
use text::PositionEncoding;
use text::position::position;

use crate::diff::Source;
use crate::findings::{Findings, Wanted, findings};

pub use compile::compiles;

pub struct Options {
    /// The most kernels and values of a module.
    pub top: usize,
    /// The most findings of a module.
    pub findings: usize,
    /// Warn about kernels that transfer at least this many times the sectors they need.
    pub coalescing_threshold: f64,
}

/// A part of the page with its title, and facts for the head of the page.
pub struct Section {
    pub title: String,
    facts: Vec<String>,
    body: Markup,
}

/// The page. `name` is what was asked: a file or a folder.
pub fn page(name: &str, sections: &[Section]) -> String {
    page::page(name, sections)
}

/// An open file with its text.
struct Open {
    host: AnalysisHost,
    file: FileId,
    rope: Rope,
}

impl Open {
    /// `12:3`: line and column of an offset, both from 1; columns count bytes.
    fn place(&self, offset: usize) -> String {
        let at = position(&self.rope, offset, PositionEncoding::Utf8);
        format!("{}:{}", at.line + 1, at.column + 1)
    }

    /// What the framework says of the instruction at an offset.
    fn origin(&self, offset: usize) -> Markup {
        let op = self.host.analysis().framework_op(self.file, offset).unwrap_or_default();
        origin(op.name.as_deref(), op.source.as_ref())
    }
}

/// `jit(step)/tanh layer.py:9`
fn origin(name: Option<&str>, source: Option<&SourceFrame>) -> Markup {
    html! {
        @if let Some(name) = name { code { (name) } }
        @if let Some(frame) = source { " " span.source title=(frame.path) { (frame.short()) } }
    }
}

/// A module: its findings, kernels and memory.
pub fn module(source: &Source, options: &Options) -> Section {
    let mut host = AnalysisHost::new();
    host.use_device(source.device);
    host.set_coalescing_threshold(options.coalescing_threshold);
    let file = host.open(&source.name, ide::language_of(&source.name, &source.text), &source.text);
    let open = Open { host, file, rope: Rope::from_str(&source.text) };
    let analysis = open.host.analysis();
    let wanted =
        Wanted { limit: options.findings, hints: false, coalescing_threshold: options.coalescing_threshold };
    let found: Findings = findings(&analysis, file, &wanted);
    // There is no other writer, so the analysis cannot be cancelled.
    let heaviest = analysis.heaviest_kernels(file, options.top).unwrap_or_default();
    let memory = memory::section(&open, options.top);
    let facts = kernels::facts(&heaviest).into_iter();
    let facts = facts.chain(memory.facts).chain(findings::facts(&found)).collect();
    let body = html! {
        (kernels::section(&open, &heaviest))
        (findings::section(&open, &found))
        (memory.body)
    };
    let title = source.name.rsplit('/').next().unwrap_or(&source.name);
    Section { title: title.to_owned(), facts, body }
}

/// A picture of its own: its styles and names do not meet those of the page.
fn picture(svg: &str, words: &str) -> Markup {
    let data = format!("data:image/svg+xml,{}", ide::percent_encoded(svg));
    html! { img src=(data) alt=(words); }
}
