//! Errors and warnings with the instruction they are about, and the access patterns of kernels that are not coalesced.

use ide::{AccessPatternQuery, Diagnostic, Severity, UNCOALESCED, counted, shorten};
use maud::{Markup, html};

use super::{Open, picture};
use crate::findings::Findings;

/// Access patterns that are drawn.
const PICTURES: usize = 20;
/// Characters of an instruction.
const WIDTH: usize = 400;

/// `2 errors · 3 warnings`
pub(super) fn facts(found: &Findings) -> Vec<String> {
    let count = |severity| found.diagnostics.shown.iter().filter(|one| one.severity == severity).count();
    let errors = (count(Severity::Error) + found.diagnostics.omitted) as u64;
    let warnings = (count(Severity::Warning) + found.more_warnings) as u64;
    let some = [(errors, "error"), (warnings, "warning")].into_iter().filter(|(count, _)| *count > 0);
    let mut facts: Vec<String> = some.map(|(count, what)| counted(count, what)).collect();
    if facts.is_empty() {
        facts.push("no findings".to_owned());
    }
    facts
}

pub(super) fn section(open: &Open, found: &Findings) -> Markup {
    let shown = &found.diagnostics.shown;
    if shown.is_empty() {
        return html! {};
    }
    let omitted = found.diagnostics.omitted + found.more_warnings;
    let mut pictures = 0;
    html! {
        h3 { "Findings" }
        @for one in shown {
            @let (first, rest) = one.message.split_once('\n').unwrap_or((&one.message, ""));
            div class=(format!("finding {}", word(one.severity))) {
                b { (word(one.severity)) } " " (first) " "
                span.note { (one.code) " at " (open.place(one.range.start)) }
                @for line in rest.lines() { div { (line) } }
                pre { (line(open, one)) }
                (open.origin(one.range.start))
                @if one.code == UNCOALESCED && pictures < PICTURES {
                    (access_pattern(open, one, &mut pictures))
                }
            }
        }
        @if omitted > 0 { p.note { (counted(omitted as u64, "finding")) " not listed" } }
    }
}

fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Information | Severity::Hint => "note",
    }
}

/// The line of the text that a finding starts in, without metadata.
fn line(open: &Open, one: &Diagnostic) -> String {
    let rope = &open.rope;
    let line = rope.line(rope.byte_to_line(one.range.start.min(rope.len_bytes()))).to_string();
    let line = line.trim();
    shorten(line.split_once(", metadata={").map_or(line, |(front, _)| front), WIDTH)
}

/// The addresses that the lanes of a warp access.
fn access_pattern(open: &Open, one: &Diagnostic, pictures: &mut usize) -> Markup {
    let query = AccessPatternQuery::default();
    let analysis = open.host.analysis();
    let Ok(Some(pattern)) = analysis.access_pattern(open.file, one.range.start, &query) else {
        return html! {};
    };
    *pictures += 1;
    html! {
        details {
            summary { (pattern.title) }
            (picture(&pattern.svg, &pattern.summary))
        }
    }
}
