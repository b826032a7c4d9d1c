//! Renders sections: as Markdown for narrow hovers, or as plain text for terminals and clients without
//! Markdown. No other file knows Markdown.

use std::fmt::Write;

use text::{visible, visible_line};

use super::{Inline, Line, RichText, Section};

/// The form of the output.
#[derive(Debug, Clone, Copy)]
enum Form<'a> {
    Markdown,
    /// A cell of a Markdown table, which `|` would end.
    MarkdownCell,
    /// Code is indented by this.
    Plain(&'a str),
}

impl RichText {
    /// As Markdown. Every section ends with a line end.
    pub fn markdown(&self) -> String {
        self.rendered(Form::Markdown)
    }

    /// Without markup; code is indented by `indent`.
    pub fn plain_text(&self, indent: &str) -> String {
        let mut out = self.rendered(Form::Plain(indent));
        out.truncate(out.trim_end().len());
        out
    }

    /// As Markdown for a client that has it, otherwise as plain text.
    pub fn for_client(&self, has_markdown: bool) -> String {
        if has_markdown { self.markdown() } else { self.plain_text("") }
    }

    fn rendered(&self, form: Form<'_>) -> String {
        let mut out = String::new();
        for section in &self.sections {
            render(section, form, &mut out);
        }
        out
    }
}

impl Line {
    /// As Markdown, without a line end.
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        render_line(self, Form::Markdown, &mut out);
        out
    }

    /// Without markup.
    pub fn plain_text(&self) -> String {
        let mut out = String::new();
        render_line(self, Form::Plain(""), &mut out);
        out
    }

    /// As Markdown for a client that has it, otherwise as plain text.
    pub fn for_client(&self, has_markdown: bool) -> String {
        if has_markdown { self.markdown() } else { self.plain_text() }
    }
}

fn render(section: &Section, form: Form<'_>, out: &mut String) {
    let mut text_line = |prefix: &str, line: &Line, end: &str| {
        out.push_str(prefix);
        render_line(line, form, out);
        out.push_str(end);
    };
    match section {
        Section::Code { language, text } => match form {
            Form::Plain(indent) => {
                let text = visible(text);
                text.lines().for_each(|line| _ = writeln!(out, "{indent}{line}"));
            }
            _ => out.push_str(&fence(language, text)),
        },
        Section::Line(line) => text_line("", line, "\n"),
        Section::Paragraph(line) => text_line("", line, "\n\n"),
        Section::Item { depth, line } => text_line(&format!("{}- ", "  ".repeat(*depth)), line, "\n"),
        Section::NumberedItem { number, line } => text_line(&format!("{number}. "), line, "\n"),
        Section::Heading(line) => match form {
            Form::Plain(_) => text_line("", line, "\n\n"),
            _ => text_line("# ", line, "\n\n"),
        },
        Section::Space => out.push('\n'),
        Section::Divider => match form {
            Form::Plain(_) if out.is_empty() || out.ends_with("\n\n") => {}
            Form::Plain(_) => out.push('\n'),
            _ => out.push_str("---\n"),
        },
        Section::Table { columns, rows } => {
            let form = if matches!(form, Form::Markdown) { Form::MarkdownCell } else { form };
            let titles: Vec<&str> = columns.iter().map(|column| column.title).collect();
            _ = writeln!(out, "| {} |", titles.join(" | "));
            if matches!(form, Form::MarkdownCell) {
                let rules: Vec<&str> =
                    columns.iter().map(|column| if column.is_number { "--:" } else { "---" }).collect();
                _ = writeln!(out, "|{}|", rules.join("|"));
            }
            for row in rows {
                out.push('|');
                for cell in row {
                    out.push(' ');
                    render_line(cell, form, out);
                    out.push_str(" |");
                }
                out.push('\n');
            }
        }
    }
}

fn render_line(line: &Line, form: Form<'_>, out: &mut String) {
    for part in &line.0 {
        match (part, form) {
            (Inline::Words(text), _) => out.push_str(text),
            (Inline::Quoted(text) | Inline::Code(text), Form::Plain(_)) => out.push_str(&visible_line(text)),
            (Inline::Quoted(text), _) => out.push_str(&escaped(text)),
            (Inline::Code(text), Form::Markdown) => out.push_str(&code_span(text)),
            (Inline::Code(text), Form::MarkdownCell) => out.push_str(&code_span(text).replace('|', "\\|")),
            (Inline::Strong(line), Form::Plain(_)) => render_line(line, form, out),
            (Inline::Strong(line), _) => {
                out.push_str("**");
                render_line(line, form, out);
                out.push_str("**");
            }
            (Inline::Link { label, .. }, Form::Plain(_)) => out.push_str(&visible_line(label)),
            (Inline::Link { label, target }, _) => {
                _ = write!(out, "[{}]({})", escaped(label), target.uri());
            }
        }
    }
}

/// A fenced block of `language`. Control characters become control pictures, and the fence is longer than any
/// in the text.
fn fence(language: &str, text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// A code span that shows any text verbatim. Line ends become control pictures, because an empty line would
/// end the span.
fn code_span(text: &str) -> String {
    let text = visible_line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    // Markdown strips one blank on both sides; an empty span is not a span.
    let is_edge = |c: char| c == '`' || c == ' ';
    let pad = if text.is_empty() || text.starts_with(is_edge) || text.ends_with(is_edge) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The longest run of back-ticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Prose, escaped so that Markdown shows it verbatim inside a line: emphasis, links, images, tags and
/// addresses in it have no effect.
fn escaped(text: &str) -> String {
    let text = visible_line(text);
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let is_live = match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '~' | '|' | '#' => true,
            // Bare addresses become links without brackets.
            ':' => text[at..].starts_with("://"),
            '.' => text[..at].to_ascii_lowercase().ends_with("www"),
            '@' => true,
            _ => false,
        };
        if is_live {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::{Column, code, file_link, page_link, parts, quoted, strong};
    use super::*;

    #[test]
    fn spans_and_fences_are_longer_than_what_they_hold() {
        let shown = ["a", "", "a`b", "``", " x ", "a\n\n![x](y)"].map(code_span);
        assert_eq!(shown, ["`a`", "`  `", "``a`b``", "``` `` ```", "`  x  `", "`a␊␊![x](y)`"]);
        assert_eq!(fence("hlo", "a\n```\nb"), "````hlo\na\n```\nb\n````\n");
    }

    #[test]
    fn cells_hold_bars() {
        let mut text = RichText::default();
        let columns = [Column { title: "a", is_number: false }, Column { title: "b", is_number: true }];
        text.table(&columns, vec![vec![parts![code("x|y")], parts!["1"]]]);
        assert_eq!(text.markdown(), "| a | b |\n|---|--:|\n| `x\\|y` | 1 |\n");
        assert_eq!(text.plain_text(""), "| a | b |\n| x|y | 1 |");
    }

    #[test]
    fn links_lead_to_files_of_this_machine() {
        let link = |path: &str| {
            file_link("a]b.py:3".to_owned(), path, Some(3)).map(|link| Line::from(link).markdown())
        };
        assert_eq!(link("/x/a b(1).py").as_deref(), Some("[a\\]b.py:3](file:///x/a%20b%281%29.py#L3)"));
        for elsewhere in ["x.py", "//host/share/x.py", "/x/\u{1b}.py", "command:x", "C:\\x.py"] {
            assert_eq!(link(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn sections_read_well_in_both_forms() {
        let mut text = RichText::default();
        text.code("hlo", "%a = f32[2] `x`");
        text.divider();
        let link = page_link("a.py:3", "https://openxla.org");
        text.paragraph(parts![strong("from"), " ", code("jit(f)"), ", ", link]);
        text.item(quoted("[d0] *"));
        text.inner_item("i");
        text.numbered_item(1, "n");
        assert_eq!(
            text.markdown(),
            "```hlo\n%a = f32[2] `x`\n```\n---\n**from** `jit(f)`, [a.py:3](https://openxla.org)\n\n\
             - \\[d0\\] \\*\n  - i\n1. n\n"
        );
        assert_eq!(
            text.plain_text("    "),
            "    %a = f32[2] `x`\n\nfrom jit(f), a.py:3\n\n- [d0] *\n  - i\n1. n"
        );
    }

    #[test]
    fn documentation_marks_code_by_back_ticks() {
        let line = Line::documentation("`E(8)`: bits");
        assert_eq!((line.markdown().as_str(), line.plain_text().as_str()), ("`E(8)`: bits", "E(8): bits"));
    }
}
