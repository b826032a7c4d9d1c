//! Converts our Markdown to plain text, for terminals and for clients without Markdown.

/// Removes fences, indenting their contents by `indent`; removes code spans, emphasis and escapes; replaces
/// links by their text.
pub fn plain_text(markdown: &str, indent: &str) -> String {
    let mut out = String::with_capacity(markdown.len());
    let mut open = 0;
    for line in markdown.lines() {
        let run = line.len() - line.trim_start_matches('`').len();
        if open > 0 {
            match run >= open && run == line.len() {
                true => open = 0,
                false => out += &format!("{indent}{line}\n"),
            }
        } else if run >= 3 && !line[run..].contains('`') {
            open = run;
        } else if line != "---" {
            out += &format!("{}\n", plain_line(line));
        } else if !out.is_empty() && !out.ends_with("\n\n") {
            out.push('\n');
        }
    }
    out.truncate(out.trim_end().len());
    out
}

fn plain_line(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let run = rest.len() - rest.trim_start_matches('`').len();
        if run > 0
            && let Some((text, behind)) = code_span(rest, run)
        {
            out += text;
            rest = behind;
        } else if let Some(escaped) =
            rest.strip_prefix('\\').filter(|r| r.starts_with(|c: char| c.is_ascii_punctuation()))
        {
            out.push_str(&escaped[..1]);
            rest = &escaped[1..];
        } else if let Some(behind) = rest.strip_prefix("**") {
            rest = behind;
        } else if let Some(label) = rest.strip_prefix('[')
            && let Some((label, behind)) = link(label)
        {
            out += &plain_line(label);
            rest = behind;
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

/// The content of a code span that starts with `run` back-ticks, and the text after it.
fn code_span(text: &str, run: usize) -> Option<(&str, &str)> {
    let inner = &text[run..];
    let mut at = 0;
    loop {
        at += inner[at..].find('`')?;
        let len = inner[at..].len() - inner[at..].trim_start_matches('`').len();
        if len == run {
            let said = &inner[..at];
            let padded = said.strip_prefix(' ').and_then(|s| s.strip_suffix(' '));
            return Some((padded.filter(|s| !s.trim().is_empty()).unwrap_or(said), &inner[at + len..]));
        }
        at += len;
    }
}

/// The label of a link, and the text after the link, for text that follows `[`.
fn link(text: &str) -> Option<(&str, &str)> {
    let mut is_escaped = false;
    let end = text.find(|c| {
        let ends = !is_escaped && (c == ']' || c == '[');
        is_escaped = c == '\\' && !is_escaped;
        ends
    })?;
    let target = text[end..].strip_prefix("](")?;
    let close = target.find([')', ' '])?;
    target[close..].strip_prefix(')').map(|behind| (&text[..end], behind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::{code, fence, file_link, prose};

    #[test]
    fn markdown_reads_well_without_markdown() {
        let markdown =
            "```hlo\n%a = f32[2] `x`\n```\n---\n**from** `jit(f)`, [a.py:3](file:///a.py#3) (d0) -> [d0]\n";
        assert_eq!(plain_text(markdown, ""), "%a = f32[2] `x`\n\nfrom jit(f), a.py:3 (d0) -> [d0]");
        assert_eq!(plain_text("```\na\n```\nb", "    "), "    a\nb");
    }

    #[test]
    fn what_was_escaped_is_what_was_written() {
        for text in ["a`b", "``", "[x](y) *z* <t> \\[", "](", "https://x.y", "a|b", "**", "--- ```"] {
            assert_eq!(plain_text(&code(text), ""), text);
            assert_eq!(plain_text(&prose(text), ""), text);
            assert_eq!(plain_text(&fence("hlo", text), ""), text);
            assert_eq!(file_link(text, "/x", None).map(|link| plain_text(&link, "")).as_deref(), Some(text));
        }
    }
}
