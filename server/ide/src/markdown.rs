//! Markdown fragments for narrow hovers.
//!
//! Architecture Invariant: text of the file gets into Markdown only through [`code`], [`fence`], [`prose`]
//! and [`file_link`]. Dumps are untrusted: nothing in them becomes a link, an image or a tag.

use text::{is_invisible, visible, visible_line};

/// Bytes with a unit: `800 B`, `12.6 MB`. Powers of ten, as data sheets state bandwidth.
pub(crate) fn bytes(count: u64) -> String {
    const UNITS: [&str; 6] = ["B", "kB", "MB", "GB", "TB", "PB"];
    if count < 1000 {
        return format!("{count} B");
    }
    let mut value = count as f64;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = if value < 9.995 {
        2
    } else if value < 99.95 {
        1
    } else {
        0
    };
    let number = format!("{value:.decimals$}");
    let number = match number.contains('.') {
        true => number.trim_end_matches('0').trim_end_matches('.'),
        false => &number,
    };
    format!("{number} {}", UNITS[unit])
}

/// `1 launch`, `3 launches`, `0 functions`: a count with its unit, which is given in the singular.
pub fn counted(count: u64, one: &str) -> String {
    format!("{count} {}", plural(one, count == 1))
}

/// An average with its unit: `1 sector`, `3.5 sectors`.
pub(crate) fn averaged(average: f64, one: &str) -> String {
    let shown = figure(average);
    let is_one = shown == "1";
    format!("{shown} {}", plural(one, is_one))
}

fn plural(one: &str, is_one: bool) -> String {
    match is_one {
        true => one.to_owned(),
        // For example "launch" and "branch".
        false if one.ends_with("ch") => format!("{one}es"),
        false => format!("{one}s"),
    }
}

/// A number with at most two decimals.
pub(crate) fn figure(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A fenced block of `language`. Control characters become control pictures, and the fence is longer than any
/// in the text.
pub(crate) fn fence(language: &str, text: &str) -> String {
    let text = visible(text);
    let fence = "`".repeat(longest_run(&text).max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}\n")
}

/// A code span that shows any text verbatim. Line ends become control pictures, because an empty line would
/// end the span.
pub(crate) fn code(text: &str) -> String {
    let text = visible_line(text);
    let fence = "`".repeat(longest_run(&text) + 1);
    // Markdown strips one blank on both sides; an empty span is not a span.
    let is_edge = |c: char| c == '`' || c == ' ';
    let pad = if text.is_empty() || text.starts_with(is_edge) || text.ends_with(is_edge) { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// [`code`] in a table cell, where `|` would end the cell.
pub(crate) fn code_cell(text: &str) -> String {
    code(text).replace('|', "\\|")
}

/// The longest run of back-ticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// Prose that may quote the file, escaped so that Markdown shows it verbatim inside a line: emphasis, links,
/// images, tags and addresses in it have no effect.
pub(crate) fn prose(text: &str) -> String {
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

/// A link to a line of a local file. `None` if `path` is not absolute, or starts with the name of another
/// machine.
pub(crate) fn file_link(label: &str, path: &str, line: Option<u32>) -> Option<String> {
    let is_here = path.starts_with('/') && !path.starts_with("//") && !path.contains(is_invisible);
    let anchor = line.map_or_else(String::new, |line| format!("#L{line}"));
    is_here.then(|| format!("[{}](file://{}{anchor})", prose(label), percent_encoded(path)))
}

/// A path as part of a URI.
pub fn percent_encoded(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                out.push(byte.into())
            }
            _ => out += &format!("%{byte:02X}"),
        }
    }
    out
}

/// At most `limit` characters, with a mark for omitted text.
pub(crate) fn shorten(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_and_fences_are_longer_than_what_they_hold() {
        let shown = ["a", "", "a`b", "``", " x ", "a\n\n![x](y)"].map(code);
        assert_eq!(shown, ["`a`", "`  `", "``a`b``", "``` `` ```", "`  x  `", "`a␊␊![x](y)`"]);
        assert_eq!(fence("hlo", "a\n```\nb"), "````hlo\na\n```\nb\n````\n");
        assert_eq!(code_cell("a|b"), "`a\\|b`");
    }

    #[test]
    fn links_lead_to_files_of_this_machine() {
        let link = |path: &str| file_link("a]b.py:3", path, Some(3));
        assert_eq!(link("/x/a b(1).py").as_deref(), Some("[a\\]b.py:3](file:///x/a%20b%281%29.py#L3)"));
        for elsewhere in ["x.py", "//host/share/x.py", "/x/\u{1b}.py", "command:x", "C:\\x.py"] {
            assert_eq!(link(elsewhere), None, "{elsewhere}");
        }
    }

    #[test]
    fn one_is_singular() {
        let shown = [0, 1, 2].map(|n| format!("{}, {}", counted(n, "launch"), counted(n, "element")));
        assert_eq!(shown, ["0 launches, 0 elements", "1 launch, 1 element", "2 launches, 2 elements"]);
        let shown = [0.999, 1.0, 1.01, 3.5].map(|n| averaged(n, "sector"));
        assert_eq!(shown, ["1 sector", "1 sector", "1.01 sectors", "3.5 sectors"]);
    }

    #[test]
    fn bytes_have_three_digits() {
        let shown: Vec<_> = [0, 800, 1000, 1024, 12_582_912, 999_999, 1 << 40].map(bytes).to_vec();
        assert_eq!(shown, ["0 B", "800 B", "1 kB", "1.02 kB", "12.6 MB", "1 MB", "1.1 TB"]);
    }
}
